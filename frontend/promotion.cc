// Which element type the operands of an arithmetic operator meet in, as "Triton Semantics" in Triton's documentation
// describes it: a number adapts to a tile; otherwise the wider float wins, half precision divides in f32, and integers
// follow C's usual arithmetic conversions.
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "frontend/emitter.h"

namespace trivet::frontend {

using vm::DType;

namespace {

bool IsFp8(DType t) { return vm::IsFloat(t) && vm::InfoOf(t).bits == 8; }

// bool < integer < float.
int KindOf(DType t) { return vm::IsBool(t) ? 0 : vm::IsFloat(t) ? 2 : 1; }

DType PromoteIntegers(DType a, DType b) {
  const int bits_a = vm::InfoOf(a).bits, bits_b = vm::InfoOf(b).bits;
  const bool unsigned_a = !vm::IsSignedInteger(a), unsigned_b = !vm::IsSignedInteger(b);
  if (unsigned_a == unsigned_b) return bits_a > bits_b ? a : b;
  if (unsigned_a) return bits_a >= bits_b ? a : b;
  return bits_b >= bits_a ? b : a;
}

}  // namespace

Promotion Promote(DType a, bool a_is_number, DType b, bool b_is_number, bool for_division) {
  if (a_is_number != b_is_number) {
    const DType number = a_is_number ? a : b;
    const DType other = a_is_number ? b : a;
    if (KindOf(number) <= KindOf(other)) {
      if (for_division && (other == DType::kF16 || other == DType::kBF16)) return {DType::kF32, ""};
      return {other, ""};
    }
  }
  const auto either = [&](DType t) { return a == t || b == t; };
  if (either(DType::kF64)) return {DType::kF64, ""};
  if (either(DType::kF32)) return {DType::kF32, ""};
  if (either(DType::kF16)) return {for_division ? DType::kF32 : DType::kF16, ""};
  if (a == DType::kBF16 && b == DType::kBF16) return {for_division ? DType::kF32 : DType::kBF16, ""};
  if (either(DType::kBF16)) return {DType::kF32, ""};
  if (IsFp8(a) && IsFp8(b)) return {a == b ? a : DType::kF16, ""};
  if (vm::IsFloat(a) || vm::IsFloat(b)) {
    return {DType::kNone, absl::StrCat("unexpected types ", vm::InfoOf(a).text, " and ", vm::InfoOf(b).text)};
  }
  if (for_division && vm::IsSignedInteger(a) != vm::IsSignedInteger(b)) {
    return {DType::kNone, absl::StrCat("Cannot use /, // or % with ", vm::InfoOf(a).text, " and ", vm::InfoOf(b).text,
                                       " because they have different signedness; cast one of them explicitly")};
  }
  return {PromoteIntegers(a, b), ""};
}

DType DTypeOfNumber(const Constant& number) {
  if (std::holds_alternative<bool>(number)) return DType::kI1;
  if (const Int* i = std::get_if<Int>(&number)) {
    if (*i >= -(Int{1} << 31) && *i < (Int{1} << 31)) return DType::kI32;
    if (*i >= 0 && *i < (Int{1} << 32)) return DType::kU32;
    if (*i >= -(Int{1} << 63) && *i < (Int{1} << 63)) return DType::kI64;
    if (*i >= 0 && *i < (Int{1} << 64)) return DType::kU64;
    return DType::kNone;
  }
  if (const double* d = std::get_if<double>(&number)) {
    const double magnitude = std::fabs(*d);
    const bool fits =
        magnitude == 0 || std::isinf(*d) || std::isnan(*d) ||
        (magnitude >= std::numeric_limits<float>::min() && magnitude <= std::numeric_limits<float>::max());
    return fits ? DType::kF32 : DType::kF64;
  }
  return DType::kNone;
}

}  // namespace trivet::frontend
