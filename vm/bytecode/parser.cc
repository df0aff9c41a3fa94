#include "vm/bytecode/parser.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "vm/base/status.h"
#include "vm/bytecode/builder.h"
#include "vm/bytecode/lexer.h"
#include "vm/bytecode/limits.h"
#include "vm/bytecode/text_form.h"

namespace trivet::vm {
namespace {

absl::Status BadType(absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not a type"));
}

// Takes "64x" off the front of `text`; false if there is no extent.
bool ConsumeExtent(absl::string_view* text, int64_t* extent) {
  size_t digits = 0;
  while (digits < text->size() && absl::ascii_isdigit(static_cast<unsigned char>((*text)[digits]))) ++digits;
  if (digits == 0 || digits >= text->size() || (*text)[digits] != 'x') return false;
  if (!absl::SimpleAtoi(text->substr(0, digits), extent)) return false;
  text->remove_prefix(digits + 1);
  return true;
}

// "ptr<ptr<f32>>" to f32 at depth 2.
bool ParseElementType(absl::string_view text, DType* dtype, int* depth) {
  *depth = 0;
  while (*depth < kMaxPointerDepth && absl::ConsumePrefix(&text, "ptr<")) {
    if (!absl::ConsumeSuffix(&text, ">")) return false;
    ++*depth;
  }
  *dtype = DTypeFromText(text);
  return *dtype != DType::kNone;
}

// Rules under which the result has the type of the first operand, so that the text may leave it out.
bool ResultIsFirstOperand(TypeRule rule) {
  return rule == TypeRule::kSameInteger || rule == TypeRule::kSameFloat || rule == TypeRule::kFloatInt ||
         rule == TypeRule::kSameTypeAxis || rule == TypeRule::kInsertSlice || rule == TypeRule::kHint ||
         rule == TypeRule::kAddPtr || rule == TypeRule::kSameType || rule == TypeRule::kAdvance;
}

Attribute DefaultAttribute(AttrKind kind) {
  if (kind == AttrKind::kString) return std::string();
  if (kind == AttrKind::kInts) return std::vector<int64_t>();
  return int64_t{0};
}

class Parser {
 public:
  Parser(absl::string_view text, absl::string_view file_name) : text_(text), file_name_(file_name), lexer_(text) {}

  absl::StatusOr<Module> ParseModule() {
    TRIVET_RETURN_IF_ERROR(Advance());
    if (token_.Is("module")) TRIVET_RETURN_IF_ERROR(ParseMetadata());
    while (token_.kind != TokenKind::kEnd) TRIVET_RETURN_IF_ERROR(ParseFunction());
    for (const FunctionUse& use : function_uses_) TRIVET_RETURN_IF_ERROR(Resolve(use));
    return std::move(module_);
  }

 private:
  // A "@name" in an attribute, whose function may come later in the text.
  struct FunctionUse {
    size_t function;
    OpId op;
    size_t attr;
    std::string name;
    Token token;
  };
  // The author's name of a value, and the spelling that tells it from others of that name.
  struct ValueName {
    Token token;
    std::string author;
  };

  // --- errors and tokens

  absl::Status ErrorAt(const Token& token, absl::string_view message) const {
    const size_t offset = std::min(token.offset, text_.size());
    const absl::string_view before = text_.substr(0, offset);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const size_t newline = before.rfind('\n');
    const size_t start = newline == absl::string_view::npos ? 0 : newline + 1;
    const size_t column = offset - start;
    // Of a very long line, the part around the place.
    constexpr size_t kShown = 160;
    const size_t skipped = column > kShown / 2 ? column - kShown / 2 : 0;
    const absl::string_view source = text_.substr(start, text_.find('\n', start) - start);
    std::string shown(source.size() < kShown ? source : source.substr(skipped, kShown));
    std::string caret(source.size() < kShown ? column : column - skipped, ' ');
    for (size_t i = 0; i < shown.size(); ++i) {
      if (shown[i] == '\t' && i < caret.size()) caret[i] = '\t';
      if (absl::ascii_iscntrl(static_cast<unsigned char>(shown[i])) && shown[i] != '\t') shown[i] = ' ';
    }
    return absl::InvalidArgumentError(absl::StrFormat("%s:%d:%d: error: %s\n%5d | %s\n      | %s^", file_name_, line,
                                                      column + 1, message, line, shown, caret));
  }

  std::string Found() const {
    if (token_.kind == TokenKind::kEnd) return "found the end of the text";
    constexpr size_t kShown = 40;
    return absl::StrCat("found '", token_.text.substr(0, kShown), token_.text.size() > kShown ? "..." : "", "'");
  }

  absl::Status Expected(absl::string_view what) const {
    return ErrorAt(token_, absl::StrCat("expected ", what, ", ", Found()));
  }

  absl::Status Advance() {
    token_ = lexer_.Next();
    return token_.kind == TokenKind::kBad ? ErrorAt(token_, absl::StrCat(lexer_.problem(), ": '", token_.text, "'"))
                                          : absl::OkStatus();
  }

  absl::Status Expect(absl::string_view spelling, absl::string_view where) {
    if (!token_.Is(spelling)) return Expected(absl::StrCat("'", spelling, "' ", where));
    return Advance();
  }

  // Takes `spelling` if it is next.
  absl::StatusOr<bool> Consume(absl::string_view spelling) {
    if (!token_.Is(spelling)) return false;
    TRIVET_RETURN_IF_ERROR(Advance());
    return true;
  }

  // --- pieces

  // The text between the quotes that `quoted` starts and ends with.
  absl::StatusOr<std::string> Unquote(const Token& token, absl::string_view quoted) const {
    std::string text;
    std::string problem;
    if (!absl::CUnescape(quoted.substr(1, quoted.size() - 2), &text, &problem)) return ErrorAt(token, problem);
    return text;
  }

  absl::StatusOr<std::string> ParseString(absl::string_view what) {
    if (token_.kind != TokenKind::kString) return Expected(what);
    TRIVET_ASSIGN_OR_RETURN(std::string text, Unquote(token_, token_.text));
    TRIVET_RETURN_IF_ERROR(Advance());
    return text;
  }

  absl::StatusOr<std::string> ParseSymbol() {
    if (token_.kind != TokenKind::kSymbol) return Expected("a function's name such as @add");
    std::string name(token_.text.substr(1));
    if (name[0] == '"') {
      TRIVET_ASSIGN_OR_RETURN(name, Unquote(token_, name));
    }
    TRIVET_RETURN_IF_ERROR(Advance());
    return name;
  }

  absl::StatusOr<ValueName> ParseValueName() {
    if (token_.kind != TokenKind::kValue) return Expected("a value such as %x");
    ValueName name{.token = token_, .author = ""};
    absl::string_view spelling = token_.text.substr(1);
    if (spelling[0] == '"') {
      TRIVET_ASSIGN_OR_RETURN(name.author, Unquote(token_, spelling.substr(0, spelling.rfind('"') + 1)));
    } else if (!absl::ascii_isdigit(static_cast<unsigned char>(spelling[0]))) {
      name.author = std::string(spelling.substr(0, spelling.find('.')));
    }
    TRIVET_RETURN_IF_ERROR(Advance());
    return name;
  }

  template <typename Int>
  absl::StatusOr<Int> ParseInteger(absl::string_view what) {
    Int value;
    if (token_.kind != TokenKind::kNumber || !absl::SimpleAtoi(token_.text, &value)) return Expected(what);
    TRIVET_RETURN_IF_ERROR(Advance());
    return value;
  }

  absl::StatusOr<Type> ParseTypeToken() {
    if (token_.kind != TokenKind::kWord && token_.kind != TokenKind::kType) return Expected("a type");
    absl::StatusOr<Type> type = ParseType(token_.text);
    if (!type.ok()) return Expected("a type");
    TRIVET_RETURN_IF_ERROR(Advance());
    return type;
  }

  absl::StatusOr<std::vector<Type>> ParseTypes() {
    std::vector<Type> types;
    while (true) {
      TRIVET_ASSIGN_OR_RETURN(Type type, ParseTypeToken());
      types.push_back(std::move(type));
      TRIVET_ASSIGN_OR_RETURN(const bool more, Consume(","));
      if (!more) return types;
    }
  }

  absl::Status ParseLocation(Location* location) {
    if (!token_.Is("loc")) return absl::OkStatus();
    TRIVET_RETURN_IF_ERROR(Advance());
    TRIVET_RETURN_IF_ERROR(Expect("(", "after 'loc'"));
    TRIVET_ASSIGN_OR_RETURN(const std::string file, ParseString("a file name in quotes"));
    TRIVET_RETURN_IF_ERROR(Expect(":", "after the file name"));
    location->file = InternFile(file);
    TRIVET_ASSIGN_OR_RETURN(location->line, ParseInteger<uint32_t>("a line number"));
    TRIVET_RETURN_IF_ERROR(Expect(":", "after the line"));
    TRIVET_ASSIGN_OR_RETURN(location->column, ParseInteger<uint32_t>("a column number"));
    return Expect(")", "after the column");
  }

  // Module::InternFile in constant time: a text may name many files.
  uint32_t InternFile(const std::string& file) {
    const auto [it, is_new] = files_.emplace(file, static_cast<uint32_t>(module_.files.size()));
    if (is_new) module_.files.push_back(file);
    return it->second;
  }

  absl::Status ParseMetadata() {
    TRIVET_RETURN_IF_ERROR(Advance());
    TRIVET_RETURN_IF_ERROR(Expect("{", "after 'module'"));
    bool more = !token_.Is("}");
    while (more) {
      std::string key(token_.text);
      if (token_.kind == TokenKind::kWord) {
        TRIVET_RETURN_IF_ERROR(Advance());
      } else {
        TRIVET_ASSIGN_OR_RETURN(key, ParseString("a key"));
      }
      TRIVET_RETURN_IF_ERROR(Expect("=", "after the key"));
      TRIVET_ASSIGN_OR_RETURN(std::string value, ParseString("a value in quotes"));
      module_.metadata.emplace_back(std::move(key), std::move(value));
      TRIVET_ASSIGN_OR_RETURN(more, Consume(","));
    }
    auto& metadata = module_.metadata;
    std::sort(metadata.begin(), metadata.end());
    const auto twice = std::adjacent_find(metadata.begin(), metadata.end(),
                                          [](const auto& a, const auto& b) { return a.first == b.first; });
    if (twice != metadata.end()) return ErrorAt(token_, absl::StrCat("key '", twice->first, "' is given twice"));
    return Expect("}", "after the metadata");
  }

  // --- functions and regions

  absl::Status ParseFunction() {
    Function function;
    function.is_kernel = token_.Is("kernel");
    if (!function.is_kernel && !token_.Is("func")) return Expected("'kernel' or 'func'");
    TRIVET_RETURN_IF_ERROR(Advance());
    const Token name_token = token_;
    TRIVET_ASSIGN_OR_RETURN(function.name, ParseSymbol());
    if (!function_indices_.emplace(function.name, module_.functions.size()).second) {
      return ErrorAt(name_token, absl::StrCat("function '", function.name, "' is defined twice"));
    }
    function.body = function.AddRegion();
    fn_ = &function;
    values_.clear();
    TRIVET_RETURN_IF_ERROR(ParseParams(function.body));
    TRIVET_ASSIGN_OR_RETURN(const bool has_results, Consume("->"));
    if (has_results) {
      TRIVET_ASSIGN_OR_RETURN(const bool has_parentheses, Consume("("));
      TRIVET_ASSIGN_OR_RETURN(function.result_types, ParseTypes());
      if (has_parentheses) TRIVET_RETURN_IF_ERROR(Expect(")", "after the result types"));
    }
    TRIVET_RETURN_IF_ERROR(ParseLocation(&function.location));
    TRIVET_RETURN_IF_ERROR(Expect("{", "before the function's body"));
    TRIVET_RETURN_IF_ERROR(ParseOps(function.body, 1));
    module_.functions.push_back(std::move(function));
    return absl::OkStatus();
  }

  // "(%a: f32, %b: i32)".
  absl::Status ParseParams(RegionId region) {
    TRIVET_RETURN_IF_ERROR(Expect("(", "before the parameters"));
    bool more = !token_.Is(")");
    while (more) {
      TRIVET_ASSIGN_OR_RETURN(const ValueName name, ParseValueName());
      TRIVET_RETURN_IF_ERROR(Expect(":", "and the parameter's type"));
      TRIVET_ASSIGN_OR_RETURN(Type type, ParseTypeToken());
      TRIVET_RETURN_IF_ERROR(Define(name, fn_->AddParam(region, std::move(type), name.author)));
      TRIVET_ASSIGN_OR_RETURN(more, Consume(","));
    }
    return Expect(")", "after the parameters");
  }

  absl::Status Define(const ValueName& name, ValueId value) {
    if (values_.emplace(name.token.text, value).second) return absl::OkStatus();
    return ErrorAt(name.token, absl::StrCat("value ", name.token.text, " is defined twice in this function"));
  }

  // Ops up to and with the closing brace.
  absl::Status ParseOps(RegionId region, int depth) {
    while (!token_.Is("}")) {
      if (token_.kind == TokenKind::kEnd) return Expected("'}'");
      TRIVET_RETURN_IF_ERROR(ParseOperation(region, depth));
    }
    return Advance();
  }

  absl::StatusOr<RegionId> ParseRegion(const OpInfo& info, int depth) {
    if (depth >= Limits().max_nesting) {
      return ErrorAt(token_, absl::StrCat("regions are nested more than ", Limits().max_nesting, " deep"));
    }
    TRIVET_RETURN_IF_ERROR(Expect("{", absl::StrCat("and a region of ", info.text)));
    const RegionId region = fn_->AddRegion();
    TRIVET_ASSIGN_OR_RETURN(const bool has_params, Consume("^"));
    if (has_params) {
      TRIVET_RETURN_IF_ERROR(ParseParams(region));
      TRIVET_RETURN_IF_ERROR(Expect(":", "after the region's parameters"));
    }
    TRIVET_RETURN_IF_ERROR(ParseOps(region, depth + 1));
    return region;
  }

  // --- ops

  absl::Status ParseOperation(RegionId region, int depth) {
    std::vector<ValueName> results;
    if (token_.kind == TokenKind::kValue) {
      bool more = true;
      while (more) {
        TRIVET_ASSIGN_OR_RETURN(ValueName name, ParseValueName());
        results.push_back(std::move(name));
        TRIVET_ASSIGN_OR_RETURN(more, Consume(","));
      }
      TRIVET_RETURN_IF_ERROR(Expect("=", "after the names of results"));
    }
    const Token op_token = token_;
    const OpInfo* info = token_.kind == TokenKind::kWord ? FindOpByText(token_.text) : nullptr;
    if (info == nullptr) return Expected("an op");
    TRIVET_RETURN_IF_ERROR(Advance());
    if (info->num_results != kVariadicResults && static_cast<size_t>(info->num_results) != results.size()) {
      return ErrorAt(op_token, absl::StrCat(info->text, " has ", info->num_results, " results, but ", results.size(),
                                            " names stand before it"));
    }

    Operation op;
    op.opcode = info->op;
    TRIVET_RETURN_IF_ERROR(ParseOperands(*info, op_token, &op));
    Token literal;
    std::vector<FunctionUse> uses;
    TRIVET_RETURN_IF_ERROR(ParseAttributes(*info, &op, &literal, &uses));
    TRIVET_ASSIGN_OR_RETURN(const std::vector<Type> types, ParseResultTypes(*info, op, results.size()));
    if (literal.kind != TokenKind::kEnd) TRIVET_RETURN_IF_ERROR(SetConstant(literal, types, &op));
    TRIVET_RETURN_IF_ERROR(ParseLocation(&op.location));
    for (int i = 0; i < info->num_regions; ++i) {
      if (i > 0)
        TRIVET_RETURN_IF_ERROR(Expect(RegionSeparator(info->op), absl::StrCat("and another region of ", info->text)));
      TRIVET_ASSIGN_OR_RETURN(const RegionId inner, ParseRegion(*info, depth));
      op.regions.push_back(inner);
    }
    for (size_t i = 0; i < results.size(); ++i) {
      const ValueId value = fn_->AddValue(types[i], results[i].author);
      TRIVET_RETURN_IF_ERROR(Define(results[i], value));
      op.results.push_back(value);
    }
    const OpId id = fn_->AppendOp(region, std::move(op));
    for (FunctionUse& use : uses) {
      use.op = id;
      function_uses_.push_back(std::move(use));
    }
    return absl::OkStatus();
  }

  absl::Status ParseOperands(const OpInfo& info, const Token& op_token, Operation* op) {
    // Operands begin on the op's line: else "print" would take the results of the next op for its operands.
    bool more = !token_.starts_line && (token_.kind == TokenKind::kValue || token_.Is("_"));
    while (more) {
      const size_t position = op->operands.size();
      if (token_.Is("_")) {
        if (position >= info.operands.size() || info.operands[position].kind != OperandKind::kOptional) {
          return ErrorAt(token_, absl::StrCat("operand ", position + 1, " of ", info.text, " cannot be absent"));
        }
        op->operands.push_back(ValueId::None());
        TRIVET_RETURN_IF_ERROR(Advance());
      } else {
        if (token_.kind != TokenKind::kValue) return Expected("a value such as %x, or '_'");
        const auto found = values_.find(token_.text);
        if (found == values_.end()) {
          return ErrorAt(token_, absl::StrCat("value ", token_.text, " is not defined before this use"));
        }
        op->operands.push_back(found->second);
        TRIVET_RETURN_IF_ERROR(Advance());
      }
      TRIVET_ASSIGN_OR_RETURN(more, Consume(","));
    }
    const auto fixed = static_cast<size_t>(info.num_fixed_operands());
    while (op->operands.size() < fixed && info.operands[op->operands.size()].kind == OperandKind::kOptional) {
      op->operands.push_back(ValueId::None());
    }
    if (op->operands.size() < fixed) {
      return ErrorAt(op_token, absl::StrCat(info.text, " needs operand '", info.operands[op->operands.size()].name,
                                            "', but has ", op->operands.size(), " operands"));
    }
    if (op->operands.size() > fixed && !info.has_variadic()) {
      return ErrorAt(op_token, absl::StrCat(info.text, " takes ", fixed, " operands, but has ", op->operands.size()));
    }
    return absl::OkStatus();
  }

  // "axis=1 cache=ca"; the bits of a constant are a literal without a key, given back in `literal`.
  absl::Status ParseAttributes(const OpInfo& info, Operation* op, Token* literal, std::vector<FunctionUse>* uses) {
    std::vector<bool> is_set(info.attrs.size());
    for (const AttrInfo& attr : info.attrs) op->attrs.push_back(DefaultAttribute(attr.kind));
    for (size_t i = 0; i < info.attrs.size(); ++i) {
      if (info.attrs[i].kind != AttrKind::kBits) continue;
      if (token_.kind != TokenKind::kNumber && token_.kind != TokenKind::kWord) return Expected("a literal");
      *literal = token_;
      is_set[i] = true;
      TRIVET_RETURN_IF_ERROR(Advance());
    }
    while (token_.kind == TokenKind::kWord && !token_.starts_line && !token_.Is("loc")) {
      const auto* attr = std::find_if(info.attrs.begin(), info.attrs.end(),
                                      [this](const AttrInfo& a) { return token_.text == a.name; });
      if (attr == info.attrs.end())
        return ErrorAt(token_, absl::StrCat(info.text, " has no attribute '", token_.text, "'"));
      const auto index = static_cast<size_t>(attr - info.attrs.begin());
      if (is_set[index]) return ErrorAt(token_, absl::StrCat("attribute '", token_.text, "' is given twice"));
      is_set[index] = true;
      TRIVET_RETURN_IF_ERROR(Advance());
      TRIVET_RETURN_IF_ERROR(Expect("=", "after the attribute's name"));
      if (token_.kind == TokenKind::kSymbol && attr->kind == AttrKind::kFunction) {
        const Token at = token_;
        TRIVET_ASSIGN_OR_RETURN(std::string name, ParseSymbol());
        uses->push_back({module_.functions.size(), OpId::None(), index, std::move(name), at});
      } else {
        TRIVET_ASSIGN_OR_RETURN(op->attrs[index], ParseAttribute(*attr));
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Attribute> ParseAttribute(const AttrInfo& attr) {
    const std::string of = absl::StrCat(" for attribute '", attr.name, "'");
    switch (attr.kind) {
      case AttrKind::kString:
        return ParseString(absl::StrCat("a text in quotes", of));
      case AttrKind::kInts:
        return ParseIntegers();
      case AttrKind::kBool:
        if (token_.Is("true") || token_.Is("false")) {
          const int64_t value = token_.Is("true") ? 1 : 0;
          TRIVET_RETURN_IF_ERROR(Advance());
          return value;
        }
        return ParseInteger<int64_t>(absl::StrCat("true or false", of));
      case AttrKind::kEnum: {
        for (const EnumValue& value : ValuesOf(attr.enum_type)) {
          if (!token_.Is(value.text)) continue;
          TRIVET_RETURN_IF_ERROR(Advance());
          return value.number;
        }
        std::vector<absl::string_view> texts;
        for (const EnumValue& value : ValuesOf(attr.enum_type)) texts.push_back(value.text);
        return ParseInteger<int64_t>(absl::StrCat("one of ", absl::StrJoin(texts, ", "), of));
      }
      case AttrKind::kFunction:
        return ParseInteger<int64_t>(absl::StrCat("a function's name such as @add", of));
      case AttrKind::kI64:
      case AttrKind::kBits:
        break;
    }
    return ParseInteger<int64_t>(absl::StrCat("an integer", of));
  }

  // "[1, -2]".
  absl::StatusOr<Attribute> ParseIntegers() {
    TRIVET_RETURN_IF_ERROR(Expect("[", "before a list of integers"));
    std::vector<int64_t> values;
    bool more = !token_.Is("]");
    while (more) {
      TRIVET_ASSIGN_OR_RETURN(const int64_t value, ParseInteger<int64_t>("an integer"));
      values.push_back(value);
      TRIVET_ASSIGN_OR_RETURN(more, Consume(","));
    }
    TRIVET_RETURN_IF_ERROR(Expect("]", "after the list"));
    return values;
  }

  // ": f32, i32", one a result.
  absl::StatusOr<std::vector<Type>> ParseResultTypes(const OpInfo& info, const Operation& op, size_t num_results) {
    const Token at = token_;
    std::vector<Type> types;
    if (token_.Is(":")) {
      TRIVET_RETURN_IF_ERROR(Advance());
      TRIVET_ASSIGN_OR_RETURN(types, ParseTypes());
    } else if (num_results == 1 && ResultIsFirstOperand(info.rule) && !op.operands[0].is_none()) {
      types.push_back(fn_->type(op.operands[0]));
    } else if (num_results > 0) {
      return Expected("':' and the types of the results");
    }
    if (types.size() != num_results) {
      return ErrorAt(at, absl::StrCat(types.size(), " types for ", num_results, " results"));
    }
    return types;
  }

  absl::Status SetConstant(const Token& literal, absl::Span<const Type> types, Operation* op) {
    const DType dtype = types[0].is_number() ? types[0].dtype() : DType::kNone;
    absl::StatusOr<int64_t> bits = ParseElement(dtype, literal.text);
    if (!bits.ok()) return ErrorAt(literal, bits.status().message());
    for (size_t i = 0; i < op->attrs.size(); ++i) {
      if (op->info().attrs[i].kind == AttrKind::kBits) op->attrs[i] = *bits;
    }
    return absl::OkStatus();
  }

  absl::Status Resolve(const FunctionUse& use) {
    const auto found = function_indices_.find(use.name);
    if (found == function_indices_.end()) {
      return ErrorAt(use.token, absl::StrCat("there is no function '", use.name, "'"));
    }
    module_.functions[use.function].op(use.op).attrs[use.attr] = static_cast<int64_t>(found->second);
    return absl::OkStatus();
  }

  const absl::string_view text_;
  const absl::string_view file_name_;
  Lexer lexer_;
  Token token_;
  Module module_;
  absl::flat_hash_map<std::string, size_t> function_indices_;
  absl::flat_hash_map<std::string, uint32_t> files_;
  std::vector<FunctionUse> function_uses_;
  // Of the function being read.
  Function* fn_ = nullptr;
  absl::flat_hash_map<absl::string_view, ValueId> values_;  // by spelling
};

absl::StatusOr<int64_t> ParseIntegerElement(DType dtype, absl::string_view literal) {
  const DTypeInfo& info = InfoOf(dtype);
  if (literal == "true" || literal == "false") {
    if (IsBool(dtype)) return literal == "true" ? 1 : 0;
  } else if (uint64_t natural; absl::SimpleAtoi(literal, &natural)) {
    const int magnitude_bits = info.bits - (IsSignedInteger(dtype) ? 1 : 0);
    if (magnitude_bits == 64 || natural >> magnitude_bits == 0) return BitsOf(dtype, static_cast<int64_t>(natural));
    return absl::InvalidArgumentError(absl::StrCat(literal, " is out of range for ", info.text));
  } else if (int64_t negative; absl::SimpleAtoi(literal, &negative)) {
    if (IsSignedInteger(dtype) && negative >= -(int64_t{1} << (info.bits - 2)) * 2) return BitsOf(dtype, negative);
    return absl::InvalidArgumentError(absl::StrCat(literal, " is out of range for ", info.text));
  }
  return absl::InvalidArgumentError(absl::StrCat("'", literal, "' is not a literal of type ", info.text));
}

}  // namespace

absl::StatusOr<Module> Parse(absl::string_view text, absl::string_view file_name) {
  return Parser(text, file_name).ParseModule();
}

absl::StatusOr<Type> ParseType(absl::string_view text) {
  absl::string_view rest = text;
  TypeKind kind = TypeKind::kNone;
  if (absl::ConsumePrefix(&rest, "tile<")) kind = TypeKind::kValue;
  if (absl::ConsumePrefix(&rest, "blockptr<")) kind = TypeKind::kBlockPtr;
  if (absl::ConsumePrefix(&rest, "desc<")) kind = TypeKind::kDesc;
  Type::Shape shape;
  if (kind != TypeKind::kNone) {
    if (!absl::ConsumeSuffix(&rest, ">")) return BadType(text);
    int64_t extent;
    while (ConsumeExtent(&rest, &extent)) {
      if (shape.size() == static_cast<size_t>(kMaxRank)) {
        return absl::InvalidArgumentError(absl::StrCat("type of more than ", kMaxRank, " dimensions"));
      }
      shape.push_back(extent);
    }
    if (shape.empty()) return BadType(text);
  }
  DType dtype;
  int depth;
  if (!ParseElementType(rest, &dtype, &depth)) return BadType(text);
  switch (kind) {
    case TypeKind::kNone:
    case TypeKind::kValue:
      return Type::PointerTile(shape, dtype, depth);
    case TypeKind::kBlockPtr:
      if (depth == 0) return Type::BlockPtr(shape, dtype);
      break;
    case TypeKind::kDesc:
      if (depth == 0) return Type::Desc(shape, dtype);
      break;
  }
  return BadType(text);
}

absl::StatusOr<int64_t> ParseElement(DType dtype, absl::string_view literal) {
  uint64_t raw;
  if (absl::StartsWith(literal, "0x")) {
    if (absl::SimpleHexAtoi(literal, &raw)) return static_cast<int64_t>(raw);
    return absl::InvalidArgumentError(absl::StrCat(literal, " has more than 64 bits"));
  }
  if (!IsDTypeCode(static_cast<uint64_t>(dtype))) {
    return absl::InvalidArgumentError("a constant of this type is written as bits, 0x...");
  }
  if (!IsFloat(dtype)) return ParseIntegerElement(dtype, literal);
  double value;
  const bool is_word = !literal.empty() && absl::ascii_isalpha(static_cast<unsigned char>(literal[0]));
  if ((is_word && literal != "inf" && literal != "nan") || !absl::SimpleAtod(literal, &value)) {
    return absl::InvalidArgumentError(absl::StrCat("'", literal, "' is not a literal of type ", InfoOf(dtype).text));
  }
  return BitsOf(dtype, value);
}

}  // namespace trivet::vm
