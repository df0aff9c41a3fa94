// Compile-time values of the language (tl.constexpr): None, bool, int, float, string, element types; and their
// operators, which are Python's (// rounds down, / gives a float), not those of run-time values.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "absl/strings/string_view.h"
#include "vm/bytecode/types.h"

namespace trivet::frontend {

__extension__ using Int = __int128;  // wide enough for every 64-bit constant, signed or not, and products of them

struct NoneValue {
  friend bool operator==(NoneValue, NoneValue) = default;
};

using Constant = std::variant<NoneValue, bool, Int, double, std::string, vm::Type>;

inline bool IsNone(const Constant& c) { return std::holds_alternative<NoneValue>(c); }
// bool, int or float.
inline bool IsNumber(const Constant& c) {
  return std::holds_alternative<bool>(c) || std::holds_alternative<Int>(c) || std::holds_alternative<double>(c);
}
// The integer that a bool or int is; nothing for others.
std::optional<Int> AsInt(const Constant& c);
// The float that a number is; nothing for others.
std::optional<double> AsDouble(const Constant& c);
// Python's truth value.
bool IsTrue(const Constant& c);

std::string IntToString(Int value);
// Nothing if `digits` (with optional sign) is not an integer of fewer than 127 bits.
std::optional<Int> IntFromString(absl::string_view digits);
// As Python's repr: None, True, 12, 1.5, 'text', fp32.
std::string ToString(const Constant& c);
// A unique spelling, for keys: the type is part of it.
std::string KeyOf(const Constant& c);

// Results of an operator: the value, or why there is none.
struct ConstantResult {
  std::optional<Constant> value;
  std::string error;
};
// op as in ast.h: arithmetic, bitwise and comparison operators.
ConstantResult EvaluateBinary(absl::string_view op, const Constant& a, const Constant& b);
ConstantResult EvaluateUnary(absl::string_view op, const Constant& a);

// The spelling that Triton gives a type in messages and names: "fp32", "pointer<fp16>", "<['64', '32'], fp16>".
std::string TritonName(const vm::Type& type);

}  // namespace trivet::frontend
