// Numbers to the bits that `constant` holds, and back.
#include <bit>
#include <cmath>

#include "vm/base/check.h"
#include "vm/bytecode/builder.h"
#include "vm/numerics/float_formats.h"

namespace trivet::vm {
namespace {

// Bits above the element's width are zero.
int64_t Truncate(DType dtype, uint64_t bits) {
  const int width = InfoOf(dtype).bits;
  return static_cast<int64_t>(width == 64 ? bits : bits & ((uint64_t{1} << width) - 1));
}

FloatFormat FormatOf(DType dtype) {
  switch (dtype) {
    case DType::kF8E4M3:
      return FloatFormat::kF8E4M3;
    case DType::kF8E5M2:
      return FloatFormat::kF8E5M2;
    case DType::kF8E4B8:
      return FloatFormat::kF8E4B8;
    case DType::kF8E5B16:
      return FloatFormat::kF8E5B16;
    case DType::kF8E4B15:
      return FloatFormat::kF8E4B15;
    case DType::kF16:
      return FloatFormat::kF16;
    case DType::kBF16:
      return FloatFormat::kBF16;
    case DType::kF32:
      return FloatFormat::kF32;
    case DType::kNone:
    case DType::kI1:
    case DType::kI8:
    case DType::kI16:
    case DType::kI32:
    case DType::kI64:
    case DType::kU8:
    case DType::kU16:
    case DType::kU32:
    case DType::kU64:
    case DType::kF64:
      break;
  }
  TRIVET_CHECK(false, "not a narrow float");
}

// Truncated towards zero, modulo 2^64; 0 for what is not finite.
uint64_t ToInteger(double value) {
  if (!std::isfinite(value)) return 0;
  const double magnitude = std::fmod(std::trunc(std::fabs(value)), 0x1p64);
  const auto bits = static_cast<uint64_t>(magnitude);
  return value < 0 ? 0 - bits : bits;
}

}  // namespace

int64_t BitsOf(DType dtype, double value) {
  if (dtype == DType::kI1) return value != 0 ? 1 : 0;
  if (dtype == DType::kF64) return std::bit_cast<int64_t>(value);
  if (!IsFloat(dtype)) return Truncate(dtype, ToInteger(value));
  const FloatFormatInfo& info = InfoOf(FormatOf(dtype));
  return EncodeFloat(info.format, value, info.default_rounding, info.default_overflow);
}

int64_t BitsOf(DType dtype, int64_t value) {
  if (dtype == DType::kI1) return value != 0 ? 1 : 0;
  if (IsFloat(dtype)) return BitsOf(dtype, static_cast<double>(value));
  return Truncate(dtype, static_cast<uint64_t>(value));
}

double ValueOf(DType dtype, int64_t bits) {
  TRIVET_CHECK(IsFloat(dtype), "not a float");
  if (dtype == DType::kF64) return std::bit_cast<double>(bits);
  return DecodeFloat(FormatOf(dtype), static_cast<uint32_t>(bits));
}

int64_t IntValueOf(DType dtype, int64_t bits) {
  TRIVET_CHECK(!IsFloat(dtype), "not an integer");
  const int unused = 64 - InfoOf(dtype).bits;
  const auto shifted = static_cast<uint64_t>(bits) << unused;
  return IsSignedInteger(dtype) ? static_cast<int64_t>(shifted) >> unused : static_cast<int64_t>(shifted >> unused);
}

}  // namespace trivet::vm
