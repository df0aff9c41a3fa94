#include "frontend/constants.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace trivet::frontend {

std::optional<Int> AsInt(const Constant& c) {
  if (const bool* b = std::get_if<bool>(&c)) return Int{*b};
  if (const Int* i = std::get_if<Int>(&c)) return *i;
  return std::nullopt;
}

std::optional<double> AsDouble(const Constant& c) {
  if (const double* d = std::get_if<double>(&c)) return *d;
  if (std::optional<Int> i = AsInt(c)) return static_cast<double>(*i);
  return std::nullopt;
}

bool IsTrue(const Constant& c) {
  if (IsNone(c)) return false;
  if (std::optional<double> d = AsDouble(c)) return *d != 0;
  if (const std::string* s = std::get_if<std::string>(&c)) return !s->empty();
  return true;
}

std::string IntToString(Int value) {
  if (value == 0) return "0";
  const bool negative = value < 0;
  __extension__ unsigned __int128 rest =
      negative ? -static_cast<unsigned __int128>(value) : static_cast<unsigned __int128>(value);
  std::string digits;
  for (; rest != 0; rest /= 10) digits += static_cast<char>('0' + static_cast<int>(rest % 10));
  if (negative) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::optional<Int> IntFromString(absl::string_view digits) {
  bool negative = false;
  if (!digits.empty() && (digits[0] == '-' || digits[0] == '+')) {
    negative = digits[0] == '-';
    digits.remove_prefix(1);
  }
  if (digits.empty() || digits.size() > 37) return std::nullopt;
  Int value = 0;
  for (char ch : digits) {
    if (ch < '0' || ch > '9') return std::nullopt;
    value = value * 10 + (ch - '0');
  }
  return negative ? -value : value;
}

namespace {

// Python's repr of a float: shortest form that reads back, always with a point or exponent.
std::string DoubleToString(double d) {
  if (std::isnan(d)) return "nan";
  if (std::isinf(d)) return d < 0 ? "-inf" : "inf";
  for (int precision = 1; precision <= 17; ++precision) {
    std::string text = absl::StrFormat("%.*g", precision, d);
    if (std::strtod(text.c_str(), nullptr) != d) continue;
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
  }
  return absl::StrFormat("%.17g", d);
}

ConstantResult Fail(std::string message) { return {std::nullopt, std::move(message)}; }
ConstantResult Ok(Constant value) { return {std::move(value), ""}; }

std::string TypeNameOf(const Constant& c) {
  if (IsNone(c)) return "NoneType";
  if (std::holds_alternative<bool>(c)) return "bool";
  if (std::holds_alternative<Int>(c)) return "int";
  if (std::holds_alternative<double>(c)) return "float";
  if (std::holds_alternative<std::string>(c)) return "str";
  return "dtype";
}

template <typename T>
std::optional<bool> CompareOrdered(absl::string_view op, const T& a, const T& b) {
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  if (op == ">") return a > b;
  if (op == ">=") return a >= b;
  return std::nullopt;
}

Int FloorDiv(Int a, Int b) {
  Int q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

ConstantResult IntBinary(absl::string_view op, Int a, Int b, bool both_bool) {
  constexpr Int kLimit = Int{1} << 96;
  Int result = 0;
  if (op == "+") {
    result = a + b;
  } else if (op == "-") {
    result = a - b;
  } else if (op == "*") {
    if (__builtin_mul_overflow(a, b, &result)) return Fail("integer constant too large");
  } else if (op == "//" || op == "%") {
    if (b == 0) return Fail("integer division or modulo by zero");
    result = op == "//" ? FloorDiv(a, b) : a - FloorDiv(a, b) * b;
  } else if (op == "/") {
    if (b == 0) return Fail("division by zero");
    return Ok(static_cast<double>(a) / static_cast<double>(b));
  } else if (op == "**") {
    if (b < 0 && a == 0) return Fail("zero to a negative power");
    if (b < 0) return Ok(std::pow(static_cast<double>(a), static_cast<double>(b)));
    result = 1;
    if (a == 0 || a == 1) {
      result = b == 0 ? 1 : a;
    } else if (a == -1) {
      result = b % 2 == 0 ? 1 : -1;
    } else if (b > 127) {
      return Fail("integer constant too large");
    } else {
      for (Int i = 0; i < b; ++i) {
        if (__builtin_mul_overflow(result, a, &result)) return Fail("integer constant too large");
      }
    }
  } else if (op == "<<") {
    if (b < 0) return Fail("negative shift count");
    if (b > 90) return a == 0 ? Ok(Int{0}) : Fail("integer constant too large");
    if (__builtin_mul_overflow(a, Int{1} << static_cast<int>(b), &result)) return Fail("integer constant too large");
  } else if (op == ">>") {
    if (b < 0) return Fail("negative shift count");
    result = b > 120 ? (a < 0 ? -1 : 0) : a >> static_cast<int>(b);
  } else if (op == "&" || op == "|" || op == "^") {
    result = op == "&" ? (a & b) : op == "|" ? (a | b) : (a ^ b);
    if (both_bool) return Ok(result != 0);
  } else {
    return Fail(absl::StrCat("operator ", op, " is not defined for integers"));
  }
  if (result > kLimit || result < -kLimit) return Fail("integer constant too large");
  return Ok(result);
}

ConstantResult FloatBinary(absl::string_view op, double a, double b) {
  if (op == "+") return Ok(a + b);
  if (op == "-") return Ok(a - b);
  if (op == "*") return Ok(a * b);
  if (op == "**") {
    if (a == 0 && b < 0) return Fail("zero to a negative power");
    const double power = std::pow(a, b);
    if (a < 0 && std::isfinite(a) && std::isfinite(b) && std::isnan(power))
      return Fail("a power that is not a real number");
    if (std::isinf(power) && std::isfinite(a) && std::isfinite(b)) return Fail("float result too large");
    return Ok(power);
  }
  if (op == "/" || op == "//" || op == "%") {
    if (b == 0) return Fail("float division by zero");
    if (op == "/") return Ok(a / b);
    // As Python: the remainder has the sign of b, and a == (a // b) * b + a % b as exactly as floats can.
    double remainder = std::fmod(a, b);
    double quotient = (a - remainder) / b;
    if (remainder != 0 && (remainder < 0) != (b < 0)) {
      remainder += b;
      quotient -= 1;
    } else if (remainder == 0) {
      remainder = std::copysign(0.0, b);
    }
    if (op == "%") return Ok(remainder);
    if (quotient == 0) return Ok(std::copysign(0.0, a / b));
    const double floored = std::floor(quotient);
    return Ok(quotient - floored > 0.5 ? floored + 1 : floored);
  }
  return Fail(absl::StrCat("operator ", op, " is not defined for floats"));
}

}  // namespace

std::string ToString(const Constant& c) {
  if (IsNone(c)) return "None";
  if (const bool* b = std::get_if<bool>(&c)) return *b ? "True" : "False";
  if (const Int* i = std::get_if<Int>(&c)) return IntToString(*i);
  if (const double* d = std::get_if<double>(&c)) return DoubleToString(*d);
  if (const std::string* s = std::get_if<std::string>(&c)) return absl::StrCat("'", *s, "'");
  return TritonName(std::get<vm::Type>(c));
}

std::string KeyOf(const Constant& c) { return absl::StrCat(TypeNameOf(c), ":", ToString(c)); }

ConstantResult EvaluateBinary(absl::string_view op, const Constant& a, const Constant& b) {
  if (op == "is" || op == "is not") {
    const bool same = a.index() == b.index() && a == b;
    return Ok((op == "is") == same);
  }
  std::optional<Int> ia = AsInt(a), ib = AsInt(b);
  if (ia && ib) {
    if (std::optional<bool> r = CompareOrdered(op, *ia, *ib)) return Ok(*r);
    return IntBinary(op, *ia, *ib, std::holds_alternative<bool>(a) && std::holds_alternative<bool>(b));
  }
  std::optional<double> da = AsDouble(a), db = AsDouble(b);
  if (da && db) {
    if (std::optional<bool> r = CompareOrdered(op, *da, *db)) return Ok(*r);
    return FloatBinary(op, *da, *db);
  }
  const auto* sa = std::get_if<std::string>(&a);
  const auto* sb = std::get_if<std::string>(&b);
  if (sa && sb) {
    if (op == "in" || op == "not in") return Ok((sb->find(*sa) != std::string::npos) == (op == "in"));
    if (std::optional<bool> r = CompareOrdered(op, *sa, *sb)) return Ok(*r);
    if (op == "+") return Ok(*sa + *sb);
  }
  if (op == "==" || op == "!=") return Ok((a == b) == (op == "=="));
  return Fail(absl::StrCat("unsupported operand types for ", op, ": '", TypeNameOf(a), "' and '", TypeNameOf(b), "'"));
}

ConstantResult EvaluateUnary(absl::string_view op, const Constant& a) {
  if (op == "not") return Ok(!IsTrue(a));
  if (std::optional<Int> i = AsInt(a)) {
    if (op == "-") return Ok(-*i);
    if (op == "+") return Ok(*i);
    if (op == "~") return Ok(~*i);
  }
  if (const double* d = std::get_if<double>(&a)) {
    if (op == "-") return Ok(-*d);
    if (op == "+") return Ok(*d);
  }
  return Fail(absl::StrCat("bad operand type for unary ", op, ": '", TypeNameOf(a), "'"));
}

std::string TritonName(const vm::Type& type) {
  if (type.is_none()) return "void";
  std::string element = vm::InfoOf(type.dtype()).triton_name;
  for (int i = 0; i < type.pointer_depth(); ++i) element = absl::StrCat("pointer<", element, ">");
  if (type.is_scalar()) return element;
  std::string shape = absl::StrJoin(type.shape(), ", ");
  if (type.is_block_ptr()) return absl::StrCat("block_ptr<[", shape, "], ", element, ">");
  if (type.is_desc()) return absl::StrCat("tensor_descriptor<[", shape, "], ", element, ">");
  return absl::StrCat("<[", shape, "], ", element, ">");
}

}  // namespace trivet::frontend
