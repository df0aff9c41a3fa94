#include "tests/support/case_file.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "vm/base/status.h"
#include "vm/bytecode/parser.h"

namespace trivet::vm {
namespace {

bool IsWordChar(char c) { return c == '_' || absl::ascii_isalnum(static_cast<unsigned char>(c)); }

// What is left of a directive.
class Scanner {
 public:
  Scanner(absl::string_view text, int line) : rest_(text), line_(line) {}

  bool Consume(absl::string_view what) {
    SkipBlanks();
    if (!absl::StartsWith(rest_, what)) return false;
    if (IsWordChar(what.back()) && rest_.size() > what.size() && IsWordChar(rest_[what.size()])) return false;
    rest_.remove_prefix(what.size());
    return true;
  }
  absl::Status Expect(absl::string_view what) {
    return Consume(what) ? absl::OkStatus() : Error(absl::StrCat("expected '", what, "'"));
  }
  bool AtEnd() {
    SkipBlanks();
    return rest_.empty();
  }
  // Up to a blank or one of "(),:=".
  std::string Word() {
    SkipBlanks();
    const size_t end = std::min(rest_.find_first_of(" (),:="), rest_.size());
    return std::string(Take(end));
  }
  // A list with its brackets, or a word.
  std::string Value() {
    SkipBlanks();
    if (!absl::StartsWith(rest_, "[")) return Word();
    int open = 0;
    for (size_t i = 0; i < rest_.size(); ++i) {
      if (rest_[i] == '[') ++open;
      if (rest_[i] == ']' && --open == 0) return std::string(Take(i + 1));
    }
    return std::string(Take(rest_.size()));
  }
  absl::StatusOr<std::string> String() {
    TRIVET_RETURN_IF_ERROR(Expect("\""));
    size_t end = 0;
    while (end < rest_.size() && rest_[end] != '"') end += rest_[end] == '\\' ? 2 : 1;
    if (end >= rest_.size()) return Error("expected '\"'");
    std::string text;
    if (!absl::CUnescape(Take(end), &text)) return Error("bad escape");
    TRIVET_RETURN_IF_ERROR(Expect("\""));
    return text;
  }
  absl::StatusOr<int64_t> Integer() {
    int64_t value;
    if (!absl::SimpleAtoi(Word(), &value)) return Error("expected an integer");
    return value;
  }
  absl::Status Error(absl::string_view message) const {
    return absl::InvalidArgumentError(absl::StrCat("line ", line_, ": ", message, " before '", rest_, "'"));
  }

 private:
  void SkipBlanks() { rest_ = absl::StripLeadingAsciiWhitespace(rest_); }
  absl::string_view Take(size_t count) {
    const absl::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  absl::string_view rest_;
  const int line_;
};

// A case before its types are filled in.
struct Template {
  std::string name;
  int line = 0;
  std::vector<std::pair<char, std::vector<std::string>>> types;  // {'T', {"f16", "f32"}}
  std::string text;
  struct Directive {
    int line;
    std::string text;
  };
  std::vector<Directive> directives;
};

// Replaces lone `letter`s by `type`.
std::string Substitute(absl::string_view text, char letter, absl::string_view type) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool ends = i + 1 == text.size() || !IsWordChar(text[i + 1]);
    const bool follows_extent =
        i >= 2 && text[i - 1] == 'x' && absl::ascii_isdigit(static_cast<unsigned char>(text[i - 2]));
    const bool starts = i == 0 || !IsWordChar(text[i - 1]) || follows_extent;
    if (text[i] == letter && starts && ends) {
      absl::StrAppend(&out, type);
    } else {
      out += text[i];
    }
  }
  return out;
}

// "addf T = f16 f32 U = i16 i32".
absl::Status ReadHeader(absl::string_view text, Template* into) {
  const std::vector<std::string> words = absl::StrSplit(text, ' ', absl::SkipEmpty());
  for (size_t i = 0; i < words.size(); ++i) {
    if (i == 0) {
      into->name = words[i];
    } else if (i + 1 < words.size() && words[i + 1] == "=" && words[i].size() == 1) {
      into->types.emplace_back(words[i][0], std::vector<std::string>());
      ++i;
    } else if (!into->types.empty()) {
      into->types.back().second.push_back(words[i]);
    }
  }
  for (const auto& [letter, types] : into->types) {
    if (types.size() != into->types[0].second.size()) {
      return absl::InvalidArgumentError(absl::StrCat("line ", into->line, ": lists of types differ in length"));
    }
  }
  if (into->name.empty()) return absl::InvalidArgumentError(absl::StrCat("line ", into->line, ": case without a name"));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Template>> SplitCases(absl::string_view text) {
  std::vector<Template> cases;
  int line = 0;
  bool continues = false;  // the line before was a directive
  for (absl::string_view row : absl::StrSplit(text, '\n')) {
    ++line;
    absl::string_view directive = row;
    if (absl::ConsumePrefix(&directive, "; case ")) {
      cases.emplace_back();
      cases.back().line = line;
      TRIVET_RETURN_IF_ERROR(ReadHeader(directive, &cases.back()));
      cases.back().text = std::string(static_cast<size_t>(line), '\n');
      continues = false;
      continue;
    }
    if (cases.empty()) continue;  // the comment on top of the file
    absl::StrAppend(&cases.back().text, row, "\n");
    auto& directives = cases.back().directives;
    if (continues && absl::ConsumePrefix(&directive, ";  ")) {
      absl::StrAppend(&directives.back().text, " ", directive);
    } else {
      continues = absl::StartsWith(row, "; run") || absl::StartsWith(row, "; memory ");
      if (continues) directives.push_back({line, std::string(row.substr(2))});
    }
  }
  return cases;
}

absl::StatusOr<CaseTensor> ReadMemory(Scanner* scan) {
  CaseTensor tensor;
  tensor.name = scan->Word();
  TRIVET_RETURN_IF_ERROR(scan->Expect(":"));
  TRIVET_ASSIGN_OR_RETURN(tensor.element, ParseType(scan->Word()));
  TRIVET_RETURN_IF_ERROR(scan->Expect("="));
  tensor.contents = scan->Value();
  return tensor;
}

absl::StatusOr<CaseRun> ReadRun(Scanner* scan, int line) {
  CaseRun run;
  run.line = line;
  TRIVET_RETURN_IF_ERROR(scan->Expect("@"));
  run.function = scan->Word();
  TRIVET_RETURN_IF_ERROR(scan->Expect("("));
  if (!scan->Consume(")")) {
    do {
      run.arguments.push_back(scan->Value());
    } while (scan->Consume(","));
    TRIVET_RETURN_IF_ERROR(scan->Expect(")"));
  }
  while (!scan->AtEnd()) {
    const bool is_near = scan->Consume("~=");
    if (is_near || scan->Consume("==")) {
      run.results.emplace();
      do {
        run.results->push_back(scan->Value());
      } while (scan->Consume(","));
      if (is_near) {
        TRIVET_RETURN_IF_ERROR(scan->Expect("ulp"));
        TRIVET_RETURN_IF_ERROR(scan->Expect("("));
        TRIVET_ASSIGN_OR_RETURN(run.ulp, scan->Integer());
        TRIVET_RETURN_IF_ERROR(scan->Expect(")"));
      }
    } else if (scan->Consume("grid")) {
      TRIVET_RETURN_IF_ERROR(scan->Expect("("));
      for (size_t axis = 0; axis < 3; ++axis) {
        if (axis > 0 && !scan->Consume(",")) break;
        TRIVET_ASSIGN_OR_RETURN(run.grid[axis], scan->Integer());
      }
      TRIVET_RETURN_IF_ERROR(scan->Expect(")"));
    } else if (scan->Consume("leaves")) {
      do {
        std::string name = scan->Word();
        TRIVET_RETURN_IF_ERROR(scan->Expect("="));
        run.leaves.emplace_back(std::move(name), scan->Value());
      } while (scan->Consume(","));
    } else if (scan->Consume("traps")) {
      TRIVET_ASSIGN_OR_RETURN(run.traps, scan->String());
    } else if (scan->Consume("prints")) {
      TRIVET_ASSIGN_OR_RETURN(run.prints, scan->String());
    } else {
      return scan->Error("expected ==, ~=, grid, leaves, traps or prints");
    }
  }
  if (!run.results && run.leaves.empty() && !run.traps && !run.prints)
    return scan->Error("nothing is expected of the run");
  return run;
}

// "if f16 in f16 bf16:" or ":"; false if the run is not for this type.
absl::StatusOr<bool> Applies(Scanner* scan) {
  if (!scan->Consume("if")) {
    TRIVET_RETURN_IF_ERROR(scan->Expect(":"));
    return true;
  }
  const std::string type = scan->Word();
  TRIVET_RETURN_IF_ERROR(scan->Expect("in"));
  bool applies = false;
  while (!scan->Consume(":")) {
    const std::string listed = scan->Word();
    if (listed.empty()) return scan->Error("expected ':'");
    applies |= listed == type;
  }
  return applies;
}

absl::StatusOr<OpCase> Instantiate(const Template& from, size_t instance) {
  OpCase filled;
  filled.name = from.name;
  filled.text = from.text;
  std::vector<Template::Directive> directives = from.directives;
  for (const auto& [letter, types] : from.types) {
    absl::StrAppend(&filled.name, " ", std::string(1, letter), "=", types[instance]);
    filled.text = Substitute(filled.text, letter, types[instance]);
    for (auto& directive : directives) directive.text = Substitute(directive.text, letter, types[instance]);
  }
  for (const auto& directive : directives) {
    Scanner scan(directive.text, directive.line);
    if (scan.Consume("memory")) {
      TRIVET_ASSIGN_OR_RETURN(CaseTensor tensor, ReadMemory(&scan));
      filled.memory.push_back(std::move(tensor));
    } else {
      TRIVET_RETURN_IF_ERROR(scan.Expect("run"));
      TRIVET_ASSIGN_OR_RETURN(const bool applies, Applies(&scan));
      if (!applies) continue;
      TRIVET_ASSIGN_OR_RETURN(CaseRun run, ReadRun(&scan, directive.line));
      filled.runs.push_back(std::move(run));
    }
  }
  return filled;
}

// "p", "p+2".
absl::StatusOr<int64_t> ReadAddress(absl::string_view text, const Type& element,
                                    const std::map<std::string, uint64_t>& addresses) {
  const std::vector<std::string> parts = absl::StrSplit(text, absl::MaxSplits('+', 1));
  const auto found = addresses.find(parts[0]);
  if (found == addresses.end()) return absl::InvalidArgumentError(absl::StrCat("no tensor '", parts[0], "'"));
  int64_t offset = 0;
  if (parts.size() == 2 && !absl::SimpleAtoi(parts[1], &offset)) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not a pointer"));
  }
  return static_cast<int64_t>(found->second) + offset * element.Pointee().element_bytes();
}

// Adds what one entry of a list stands for: 1.5, 0*4, 0..3, _ or p+2.
absl::Status ReadEntry(absl::string_view entry, const Type& element, const std::map<std::string, uint64_t>& addresses,
                       Elements* out) {
  if (entry == "_") {
    out->push_back(std::nullopt);
    return absl::OkStatus();
  }
  if (element.is_pointer() && !absl::StartsWith(entry, "0x")) {
    TRIVET_ASSIGN_OR_RETURN(const int64_t address, ReadAddress(entry, element, addresses));
    out->push_back(address);
    return absl::OkStatus();
  }
  const size_t dots = entry.find("..");
  if (dots != absl::string_view::npos) {
    int64_t first, last;
    if (!absl::SimpleAtoi(entry.substr(0, dots), &first) || !absl::SimpleAtoi(entry.substr(dots + 2), &last)) {
      return absl::InvalidArgumentError(absl::StrCat("'", entry, "' is not a range"));
    }
    for (int64_t i = first; i <= last; ++i) {
      TRIVET_ASSIGN_OR_RETURN(const int64_t bits, ParseElement(element.dtype(), absl::StrCat(i)));
      out->push_back(bits);
    }
    return absl::OkStatus();
  }
  int64_t repeats = 1;
  const size_t star = entry.find('*');
  if (star != absl::string_view::npos && !absl::SimpleAtoi(entry.substr(star + 1), &repeats)) {
    return absl::InvalidArgumentError(absl::StrCat("'", entry, "' is not a repeat"));
  }
  const absl::string_view literal = entry.substr(0, star);
  if (literal == "_") {
    out->insert(out->end(), static_cast<size_t>(repeats), std::nullopt);
    return absl::OkStatus();
  }
  TRIVET_ASSIGN_OR_RETURN(const int64_t bits,
                          ParseElement(element.is_pointer() ? DType::kU64 : element.dtype(), literal));
  out->insert(out->end(), static_cast<size_t>(repeats), bits);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<OpCase>> ReadCases(absl::string_view text) {
  TRIVET_ASSIGN_OR_RETURN(const std::vector<Template> templates, SplitCases(text));
  std::vector<OpCase> cases;
  for (const Template& from : templates) {
    const size_t instances = from.types.empty() ? 1 : from.types[0].second.size();
    for (size_t i = 0; i < instances; ++i) {
      TRIVET_ASSIGN_OR_RETURN(OpCase filled, Instantiate(from, i));
      cases.push_back(std::move(filled));
    }
  }
  return cases;
}

absl::StatusOr<Elements> ReadElements(absl::string_view text, const Type& element, int64_t count,
                                      const std::map<std::string, uint64_t>& addresses) {
  Elements elements;
  for (absl::string_view entry : absl::StrSplit(text, absl::ByAnyChar("[], "), absl::SkipEmpty())) {
    TRIVET_RETURN_IF_ERROR(ReadEntry(entry, element, addresses, &elements));
  }
  if (!absl::StartsWith(text, "[") && elements.size() == 1) elements.resize(static_cast<size_t>(count), elements[0]);
  if (count >= 0 && elements.size() != static_cast<size_t>(count)) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' has ", elements.size(), " elements, not ", count));
  }
  return elements;
}

}  // namespace trivet::vm
