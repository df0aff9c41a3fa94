#include <cctype>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "frontend/ptx.h"
#include "vm/base/status.h"

namespace trivet::frontend {
namespace {

// Without comments; braces that only group statements become blanks.
std::string Clean(absl::string_view text) {
  std::string out;
  bool statement_start = true;
  int vector_depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "//") {
      while (i < text.size() && text[i] != '\n') ++i;
      out += ' ';
      continue;
    }
    if (text.substr(i, 2) == "/*") {
      const size_t end = text.find("*/", i + 2);
      i = end == absl::string_view::npos ? text.size() : end + 1;
      out += ' ';
      continue;
    }
    const char ch = text[i];
    if (ch == '{' && statement_start) continue;
    if (ch == '{') ++vector_depth;
    if (ch == '}') {
      if (vector_depth == 0) continue;
      --vector_depth;
    }
    if (ch == ';')
      statement_start = true;
    else if (std::isspace(static_cast<unsigned char>(ch)) == 0)
      statement_start = false;
    out += ch == '\n' || ch == '\t' || ch == '\r' ? ' ' : ch;
  }
  return out;
}

// At commas that are not inside braces.
std::vector<std::string> SplitOperands(absl::string_view text) {
  std::vector<std::string> parts;
  std::string current;
  int depth = 0;
  for (char ch : text) {
    if (ch == '{') ++depth;
    if (ch == '}') --depth;
    if (ch == ',' && depth == 0) {
      parts.push_back(std::string(absl::StripAsciiWhitespace(current)));
      current.clear();
    } else {
      current += ch;
    }
  }
  if (!absl::StripAsciiWhitespace(current).empty()) parts.push_back(std::string(absl::StripAsciiWhitespace(current)));
  return parts;
}

absl::StatusOr<PtxOperand> ParseOperand(absl::string_view text, int depth) {
  PtxOperand operand;
  const auto bad = [&] { return absl::InvalidArgumentError(absl::StrCat("operand '", text, "'")); };
  if (text.empty() || depth > 1) return bad();
  if (text[0] == '{') {
    operand.kind = PtxOperand::Kind::kVector;
    if (text.back() != '}') return bad();
    for (const std::string& part : SplitOperands(text.substr(1, text.size() - 2))) {
      TRIVET_ASSIGN_OR_RETURN(PtxOperand item, ParseOperand(part, depth + 1));
      operand.items.push_back(std::move(item));
    }
    return operand;
  }
  if (text[0] == '$') {
    operand.kind = PtxOperand::Kind::kArgument;
    if (!absl::SimpleAtoi(text.substr(1), &operand.argument) || operand.argument < 0) return bad();
    return operand;
  }
  if (text.size() == 10 && (text.substr(0, 2) == "0f" || text.substr(0, 2) == "0F")) {
    uint32_t bits = 0;
    if (!absl::SimpleHexAtoi(text.substr(2), &bits)) return bad();
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    operand.kind = PtxOperand::Kind::kNumber;
    operand.is_float = true;
    operand.number = static_cast<double>(value);
    return operand;
  }
  if (std::isdigit(static_cast<unsigned char>(text[0])) != 0 || text[0] == '-') {
    operand.kind = PtxOperand::Kind::kNumber;
    absl::string_view digits = text;
    absl::ConsumeSuffix(&digits, "U");
    int64_t number = 0;
    if (digits.size() > 2 && (digits.substr(0, 2) == "0x" || digits.substr(0, 2) == "0X")) {
      if (!absl::SimpleHexAtoi(digits, &operand.bits)) return bad();
    } else if (absl::SimpleAtoi(digits, &number)) {
      operand.bits = static_cast<uint64_t>(number);
    } else if (absl::SimpleAtod(digits, &operand.number)) {
      operand.is_float = true;
    } else {
      return bad();
    }
    return operand;
  }
  if (text[0] == '[') return absl::InvalidArgumentError(absl::StrCat("the memory operand '", text, "'"));
  if (text[0] == '%' && text.find('.') != absl::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat("the special register '", text, "'"));
  }
  operand.name = std::string(text);
  return operand;
}

}  // namespace

absl::StatusOr<std::vector<PtxInstruction>> ParsePtx(absl::string_view text) {
  std::vector<PtxInstruction> instructions;
  const std::string clean = Clean(text);
  for (absl::string_view statement : absl::StrSplit(clean, ';')) {
    statement = absl::StripAsciiWhitespace(statement);
    if (statement.empty() || absl::ConsumePrefix(&statement, ".reg")) continue;
    PtxInstruction instruction;
    instruction.text = std::string(statement);
    if (statement[0] == '@') {
      const size_t blank = std::min(statement.find(' '), statement.size());
      absl::string_view predicate = statement.substr(1, blank - 1);
      instruction.predicate_negated = absl::ConsumePrefix(&predicate, "!");
      instruction.predicate = std::string(predicate);
      statement = absl::StripAsciiWhitespace(statement.substr(blank));
    }
    const size_t blank = std::min(statement.find(' '), statement.size());
    std::vector<std::string> name = absl::StrSplit(statement.substr(0, blank), '.');
    instruction.root = name[0];
    instruction.modifiers.assign(name.begin() + 1, name.end());
    for (const std::string& part : SplitOperands(statement.substr(blank))) {
      absl::StatusOr<PtxOperand> operand = ParseOperand(part, 0);
      if (!operand.ok())
        return absl::InvalidArgumentError(absl::StrCat(operand.status().message(), " in '", instruction.text, "'"));
      instruction.operands.push_back(*std::move(operand));
    }
    instructions.push_back(std::move(instruction));
  }
  return instructions;
}

}  // namespace trivet::frontend
