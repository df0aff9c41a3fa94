// Narrow floating-point formats: storage types, and exact conversions to and from f32 and f64.
//
// A format is a row of kFloatFormats. A finite code with sign s, exponent field e and mantissa field m
// (of M bits) means
//
//   e > 0:  (-1)^s * (1 + m / 2^M) * 2^(e - bias)          e == 0:  (-1)^s * (m / 2^M) * 2^(1 - bias)
//
// and `specials` says which codes, if any, are infinities and NaNs:
//
//   row        Triton's name    s/e/M   bias  largest  inf  NaN codes              overflow by default
//   f16        float16          1/5/10    15    65504  yes  e = 31, m != 0         to infinity
//   bf16       bfloat16         1/8/7    127  3.39e38  yes  e = 255, m != 0        to infinity
//   tf32       (dot operands)   1/8/10   127  3.40e38  yes  e = 255, m != 0        to infinity
//   f8e4m3     float8e4nv       1/4/3      7      448  no   0x7f 0xff              saturates
//   f8e5m2     float8e5         1/5/2     15    57344  yes  e = 31, m != 0         saturates
//   f8e4b8     float8e4b8       1/4/3      8      240  no   0x80 (no -0)           saturates
//   f8e5b16    float8e5b16      1/5/2     16    57344  no   0x80 (no -0)           saturates
//   f8e4b15    float8e4b15      1/4/3     15    1.875  no   none                   saturates at 1.75
//   f4e2m1     (mx operands)    1/2/1      1        6  no   none                   saturates
//   f8e8m0     (mx scales)      0/8/0    127    2^127  no   0xff (no zero, no sign) saturates
//
// Conversions round once, whatever the source, and never flush subnormals. The defaults are what PTX does:
//
// * cvt.rn.{f16,bf16}.f32 overflow to infinity; cvt.rn.satfinite.{e4m3x2,e5m2x2} turn everything too
//   large, infinities included, into the largest finite value, and keep NaN (PTX ISA, "cvt").
// * e2m1 has no NaN: satfinite makes it +6.
// * float8e4b15 exists only in software. Triton clamps the magnitude to 1.75 (0x7e; code 0x7f still reads
//   as 1.875), rounds ties away from zero, and a NaN becomes 1.75 with the NaN's sign.
// * ue8m0 ignores the sign; 0 and what is below 2^-127 become 2^-127.
//
// NaN. Widening and f16, bf16, tf32 keep the sign and the leading payload bits and set the quiet bit, as x86 and
// Arm do. GPUs give 0x7fff for f16 and bf16 instead: no program may depend on a payload, so comparisons treat
// all NaNs as one. f8 NaNs are positive, 0x7f, as on GPUs, or the one code that there is. (All of this, and
// the saturation above, was compared with sm_90.)

#ifndef TRIVET_VM_NUMERICS_FLOAT_FORMATS_H_
#define TRIVET_VM_NUMERICS_FLOAT_FORMATS_H_

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

namespace trivet::vm {

// How an inexact result is chosen among its two neighbours.
enum class Rounding : uint8_t {
  kNearestEven,  // PTX .rn; ties to the even code
  kTowardZero,   // PTX .rz
  kUp,           // PTX .rp, towards +infinity
  kDown,         // PTX .rm, towards -infinity
  kNearestAway,  // PTX .rna; ties away from zero
};

// What becomes of a value whose rounded magnitude is above the largest finite one.
enum class Overflow : uint8_t {
  kInfinity,  // IEEE 754 section 7.4: infinity, or the largest finite value where a directed mode points
              // inwards. A format without infinity gives NaN; one without NaN saturates.
  kSaturate,  // the largest finite value, also for infinities (PTX .satfinite)
};

enum class FloatFormat : uint8_t {
  kF16,
  kBF16,
  kTF32,
  kF32,
  kF8E4M3,
  kF8E5M2,
  kF8E4B8,
  kF8E5B16,
  kF8E4B15,
  kF4E2M1,
  kF8E8M0,
};
inline constexpr size_t kFloatFormatCount = 11;

// Which codes are not finite numbers.
enum class Specials : uint8_t {
  kIeee,          // top exponent: infinity (m == 0) and NaN
  kNanAllOnes,    // only the all-ones magnitude is NaN; no infinity ("fn")
  kNanMinusZero,  // only the code of -0 is NaN; no infinity, no -0 ("fnuz")
  kNone,          // every code is a finite number
  kScale,         // e8m0: unsigned, no zero, 0xff is NaN
};

// One row per format; see the top of the file.
struct FloatFormatInfo {
  FloatFormat format;
  const char* name;
  int bits;
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Specials specials;
  uint32_t max_finite_code;  // what saturation produces, without the sign
  uint32_t nan_code;         // the NaN made from nothing, without the sign; what NaN becomes in kNone
  Rounding default_rounding;
  Overflow default_overflow;
};

inline constexpr std::array<FloatFormatInfo, kFloatFormatCount> kFloatFormats = {{
    {FloatFormat::kF16, "f16", 16, 5, 10, 15, Specials::kIeee, 0x7bff, 0x7e00, Rounding::kNearestEven,
     Overflow::kInfinity},
    {FloatFormat::kBF16, "bf16", 16, 8, 7, 127, Specials::kIeee, 0x7f7f, 0x7fc0, Rounding::kNearestEven,
     Overflow::kInfinity},
    {FloatFormat::kTF32, "tf32", 19, 8, 10, 127, Specials::kIeee, 0x3fbff, 0x3fe00, Rounding::kNearestAway,
     Overflow::kInfinity},
    {FloatFormat::kF32, "f32", 32, 8, 23, 127, Specials::kIeee, 0x7f7fffff, 0x7fc00000, Rounding::kNearestEven,
     Overflow::kInfinity},
    {FloatFormat::kF8E4M3, "f8e4m3", 8, 4, 3, 7, Specials::kNanAllOnes, 0x7e, 0x7f, Rounding::kNearestEven,
     Overflow::kSaturate},
    {FloatFormat::kF8E5M2, "f8e5m2", 8, 5, 2, 15, Specials::kIeee, 0x7b, 0x7f, Rounding::kNearestEven,
     Overflow::kSaturate},
    {FloatFormat::kF8E4B8, "f8e4b8", 8, 4, 3, 8, Specials::kNanMinusZero, 0x7f, 0x80, Rounding::kNearestEven,
     Overflow::kSaturate},
    {FloatFormat::kF8E5B16, "f8e5b16", 8, 5, 2, 16, Specials::kNanMinusZero, 0x7f, 0x80, Rounding::kNearestEven,
     Overflow::kSaturate},
    {FloatFormat::kF8E4B15, "f8e4b15", 8, 4, 3, 15, Specials::kNone, 0x7e, 0x7e, Rounding::kNearestAway,
     Overflow::kSaturate},
    {FloatFormat::kF4E2M1, "f4e2m1", 4, 2, 1, 1, Specials::kNone, 0x7, 0x7, Rounding::kNearestEven,
     Overflow::kSaturate},
    {FloatFormat::kF8E8M0, "f8e8m0", 8, 8, 0, 127, Specials::kScale, 0xfe, 0xff, Rounding::kNearestEven,
     Overflow::kSaturate},
}};

constexpr const FloatFormatInfo& InfoOf(FloatFormat format) { return kFloatFormats[static_cast<size_t>(format)]; }

// Storage of one element. Plain bits, so tiles of them are arrays of integers with a type.
template <FloatFormat kFormatValue, typename BitsType>
struct NarrowFloat {
  using Bits = BitsType;
  static constexpr FloatFormat kFormat = kFormatValue;
  static constexpr const FloatFormatInfo& kInfo = InfoOf(kFormatValue);

  Bits bits;

  // Equality of codes, not of numbers: NaN equals itself, and 0 differs from -0.
  friend constexpr bool operator==(NarrowFloat, NarrowFloat) = default;
};

using F16 = NarrowFloat<FloatFormat::kF16, uint16_t>;
using BF16 = NarrowFloat<FloatFormat::kBF16, uint16_t>;
using F8E4M3 = NarrowFloat<FloatFormat::kF8E4M3, uint8_t>;
using F8E5M2 = NarrowFloat<FloatFormat::kF8E5M2, uint8_t>;
using F8E4B8 = NarrowFloat<FloatFormat::kF8E4B8, uint8_t>;
using F8E5B16 = NarrowFloat<FloatFormat::kF8E5B16, uint8_t>;
using F8E4B15 = NarrowFloat<FloatFormat::kF8E4B15, uint8_t>;
using F4E2M1 = NarrowFloat<FloatFormat::kF4E2M1, uint8_t>;  // one element, in the low four bits
using F8E8M0 = NarrowFloat<FloatFormat::kF8E8M0, uint8_t>;

static_assert(sizeof(F16) == 2 && std::is_trivially_copyable_v<F16>);
static_assert(sizeof(F8E4M3) == 1 && std::is_trivially_copyable_v<F8E4M3>);

template <typename T>
concept NarrowFloatElement = requires(T value) {
  { T::kFormat } -> std::convertible_to<FloatFormat>;
  { value.bits } -> std::convertible_to<uint32_t>;
};

// --- The generic pair: any format, one value; the others are checked against these. -------------------

// The code nearest to `value` under `rounding`, in the low InfoOf(format).bits bits. Exact for every double,
// hence for every float.
uint32_t EncodeFloat(FloatFormat format, double value, Rounding rounding, Overflow overflow);

// The value of `code`, exactly. Upper bits of `code` are ignored.
double DecodeFloat(FloatFormat format, uint32_t code);

// --- One value, inlined: what handlers use inside loops. ----------------------------------------------

namespace internal {

template <typename Source>
struct SourceLayout;
template <>
struct SourceLayout<float> {
  using Bits = uint32_t;
  static constexpr int kMantissaBits = 23;
  static constexpr int kBias = 127;
};
template <>
struct SourceLayout<double> {
  using Bits = uint64_t;
  static constexpr int kMantissaBits = 52;
  static constexpr int kBias = 1023;
};

// 2^exponent for -1022 <= exponent <= 1023.
constexpr double PowerOfTwo(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

constexpr double DecodeGeneric(const FloatFormatInfo& info, uint32_t code) {
  const uint32_t mantissa_mask = (uint32_t{1} << info.mantissa_bits) - 1;
  const uint32_t exponent_mask = (uint32_t{1} << info.exponent_bits) - 1;
  const uint32_t mantissa = code & mantissa_mask;
  const uint32_t exponent = (code >> info.mantissa_bits) & exponent_mask;
  if (info.specials == Specials::kScale) {
    return exponent == 0xff ? std::numeric_limits<double>::quiet_NaN()
                            : PowerOfTwo(static_cast<int>(exponent) - info.bias);
  }
  const bool negative = ((code >> (info.bits - 1)) & 1) != 0;
  const uint32_t magnitude = (exponent << info.mantissa_bits) | mantissa;
  // A NaN keeps sign and payload; its quiet bit gets set.
  const uint64_t sign = static_cast<uint64_t>(negative) << 63;
  const uint64_t nan = sign | 0x7ff8'0000'0000'0000u | (static_cast<uint64_t>(mantissa) << (52 - info.mantissa_bits));
  switch (info.specials) {
    case Specials::kIeee:
      if (exponent == exponent_mask) {
        return std::bit_cast<double>(mantissa != 0 ? nan : sign | 0x7ff0'0000'0000'0000u);
      }
      break;
    case Specials::kNanAllOnes:
      if (magnitude == ((exponent_mask << info.mantissa_bits) | mantissa_mask)) return std::bit_cast<double>(nan);
      break;
    case Specials::kNanMinusZero:
      if (negative && magnitude == 0) return std::numeric_limits<double>::quiet_NaN();
      break;
    case Specials::kNone:
    case Specials::kScale:
      break;
  }
  const double value = exponent == 0 ? static_cast<double>(mantissa) * PowerOfTwo(1 - info.bias - info.mantissa_bits)
                                     : static_cast<double>(mantissa | (mantissa_mask + 1)) *
                                           PowerOfTwo(static_cast<int>(exponent) - info.bias - info.mantissa_bits);
  return negative ? -value : value;
}

// What to add to a number of which the lowest bits, all below `step` (a power of two, at least 2), are then cut
// off, so that it is rounded. `is_odd`: whether the lowest bit that stays is set.
template <typename Bits>
constexpr Bits RoundingAddend(Rounding rounding, bool negative, Bits is_odd, Bits step) {
  switch (rounding) {
    case Rounding::kNearestEven:
      return (step >> 1) - 1 + is_odd;
    case Rounding::kNearestAway:
      return step >> 1;
    case Rounding::kTowardZero:
      return 0;
    case Rounding::kUp:
      return negative ? Bits{0} : step - 1;
    case Rounding::kDown:
      return negative ? step - 1 : Bits{0};
  }
  return 0;
}

// Whether an overflowing finite value becomes infinity, rather than the largest finite value.
constexpr bool OverflowsOutwards(Rounding rounding, bool negative) {
  switch (rounding) {
    case Rounding::kNearestEven:
    case Rounding::kNearestAway:
      return true;
    case Rounding::kTowardZero:
      return false;
    case Rounding::kUp:
      return !negative;
    case Rounding::kDown:
      return negative;
  }
  return true;
}

// Rounds by integer arithmetic on the source's bits, without branches on the value, so that a loop over it
// vectorises when `info`, `rounding` and `overflow` are compile-time constants. Independent of the floating-
// point environment. The idea: exponent and mantissa fields read as one integer count the format's
// values upwards, so a carry out of the mantissa lands in the exponent, as it should.
template <typename Source>
constexpr uint32_t EncodeGeneric(const FloatFormatInfo& info, Source value, Rounding rounding, Overflow overflow) {
  using Layout = SourceLayout<Source>;
  using Bits = typename Layout::Bits;
  constexpr int kWidth = static_cast<int>(sizeof(Bits) * 8);
  constexpr Bits kInfinityBits = static_cast<Bits>(2 * Layout::kBias + 1) << Layout::kMantissaBits;
  constexpr Bits kImplicitBit = Bits{1} << Layout::kMantissaBits;

  const Bits source_bits = std::bit_cast<Bits>(value);
  const bool negative = (source_bits >> (kWidth - 1)) != 0;
  const Bits magnitude = source_bits & ~(Bits{1} << (kWidth - 1));
  const Bits exponent = magnitude >> Layout::kMantissaBits;

  const Bits rebias = static_cast<Bits>(Layout::kBias - info.bias);
  const Bits drop = static_cast<Bits>(Layout::kMantissaBits - info.mantissa_bits);
  const Bits min_normal = rebias + 1;  // exponent field, in the source, of the format's smallest normal

  // A normal result drops a fixed number of bits; a subnormal one also those that its fixed exponent costs.
  // With the source's own range (bf16 and tf32 from f32) the two are the same: the source's subnormals are the
  // format's.
  const bool is_normal = rebias == 0 || exponent >= min_normal;
  const Bits significand = (magnitude & (kImplicitBit - 1)) | (exponent != 0 ? kImplicitBit : Bits{0});
  const Bits true_exponent = exponent != 0 ? exponent : Bits{1};
  const Bits subnormal_shift = drop + min_normal - true_exponent;
  const Bits max_shift = static_cast<Bits>(Layout::kMantissaBits + 2);  // everything is cut off, and is below half
  const Bits shift = is_normal ? drop : (subnormal_shift < max_shift ? subnormal_shift : max_shift);
  const Bits kept_and_dropped = is_normal ? magnitude - (rebias << Layout::kMantissaBits) : significand;
  const Bits is_odd = (kept_and_dropped >> shift) & 1;
  Bits code = (kept_and_dropped + RoundingAddend(rounding, negative, is_odd, Bits{1} << shift)) >> shift;

  const bool is_nan = magnitude > kInfinityBits;
  const bool is_infinity = magnitude == kInfinityBits;
  const Bits max_finite = info.max_finite_code;
  const Bits nan = info.nan_code;
  const bool payload_kept = info.specials == Specials::kIeee && info.bits > 8;
  const Bits above = overflow == Overflow::kSaturate || info.specials == Specials::kNone ? max_finite
                     : info.specials == Specials::kIeee                                  ? max_finite + 1
                                                                                         : nan;
  const Bits overflowed = OverflowsOutwards(rounding, negative) || is_infinity ? above : max_finite;
  code = code > max_finite || is_infinity ? overflowed : code;
  const Bits payload = (magnitude >> drop) & ((Bits{1} << info.mantissa_bits) - 1);
  const Bits nan_code = payload_kept ? (nan | payload) : nan;
  code = is_nan ? nan_code : code;

  Bits sign = static_cast<Bits>(negative) << (info.bits - 1);
  if (info.specials == Specials::kNanMinusZero) sign = code == 0 || code == nan ? Bits{0} : sign;
  const bool nan_has_sign = info.bits > 8 || info.format == FloatFormat::kF8E4B15;
  if (!nan_has_sign) sign = is_nan ? Bits{0} : sign;
  return static_cast<uint32_t>(code | sign);
}

// e8m0: the exponent alone; no sign, no zero, and the smallest code stands for all that is below it.
constexpr uint32_t EncodeScale(double value, Rounding rounding, Overflow overflow) {
  constexpr uint64_t kInfinityBits = 0x7ff0'0000'0000'0000u;
  constexpr uint64_t kSmallest = uint64_t{1023 - 127} << 52;  // 2^-127
  const uint64_t magnitude = std::bit_cast<uint64_t>(value) & 0x7fff'ffff'ffff'ffffu;
  if (magnitude > kInfinityBits) return 0xff;
  if (magnitude == kInfinityBits) return overflow == Overflow::kSaturate ? 0xfe : 0xff;
  if (magnitude <= kSmallest) return 0;
  const uint64_t above_smallest = magnitude - kSmallest;
  const uint64_t is_odd = (above_smallest >> 52) & 1;
  const uint64_t code = (above_smallest + RoundingAddend(rounding, false, is_odd, uint64_t{1} << 52)) >> 52;
  if (code <= 0xfe) return static_cast<uint32_t>(code);
  return overflow == Overflow::kSaturate || !OverflowsOutwards(rounding, false) ? 0xfe : 0xff;
}

template <FloatFormat kFormat>
constexpr std::array<float, 256> MakeDecodeTable() {
  std::array<float, 256> table{};
  for (uint32_t code = 0; code < 256; ++code) {
    table[code] = static_cast<float>(DecodeGeneric(InfoOf(kFormat), code));
  }
  return table;
}

template <FloatFormat kFormat>
inline constexpr std::array<float, 256> kDecodeTable = MakeDecodeTable<kFormat>();

}  // namespace internal

// The value of `x` as f32, exactly. (2^-127, the smallest e8m0, is an f32 subnormal.)
template <NarrowFloatElement T>
constexpr float Widen(T x) {
  if constexpr (T::kFormat == FloatFormat::kBF16) {
    const uint32_t wide = static_cast<uint32_t>(x.bits) << 16;
    const bool is_nan = (wide & 0x7fff'ffffu) > 0x7f80'0000u;
    return std::bit_cast<float>(is_nan ? wide | 0x0040'0000u : wide);
  } else if constexpr (T::kFormat == FloatFormat::kF16) {
    // Shifted into place, the fields read as an f32 whose exponent is 112 too small; the product puts that
    // right, and normalises subnormals on the way. Exact.
    const uint32_t magnitude = static_cast<uint32_t>(x.bits & 0x7fffu) << 13;
    const uint32_t sign = static_cast<uint32_t>(x.bits & 0x8000u) << 16;
    const uint32_t scaled = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
    const bool is_special = magnitude >= (31u << 23);
    const bool is_nan = magnitude > (31u << 23);
    const uint32_t special = is_special ? 0x7f80'0000u : 0u;
    const uint32_t quiet = is_nan ? 0x0040'0000u : 0u;
    return std::bit_cast<float>(sign | scaled | special | quiet);
  } else {
    return internal::kDecodeTable<T::kFormat>[x.bits];
  }
}
constexpr float Widen(float x) { return x; }
constexpr double Widen(double x) { return x; }

// The T nearest to `x`, in T's default manner unless told otherwise. `Source` is float or double. With the
// last two arguments constant, a loop over this vectorises.
template <NarrowFloatElement T, typename Source>
constexpr T Round(Source x, Rounding rounding = T::kInfo.default_rounding,
                  Overflow overflow = T::kInfo.default_overflow) {
  if constexpr (T::kFormat == FloatFormat::kF8E8M0) {
    return T{static_cast<typename T::Bits>(internal::EncodeScale(x, rounding, overflow))};
  } else {
    return T{static_cast<typename T::Bits>(internal::EncodeGeneric(T::kInfo, x, rounding, overflow))};
  }
}
// f32 and f64 as results: so that templates over element types can say Round<T> throughout.
template <std::same_as<float> T, typename Source>
constexpr T Round(Source x) {
  return static_cast<float>(x);
}
template <std::same_as<double> T, typename Source>
constexpr T Round(Source x) {
  return static_cast<double>(x);
}

// `x` with ten mantissa bits, the rest zero. The default is cvt.rna.tf32.f32. An f32 operand that reaches a tensor core
// unconverted is cut off (kTowardZero): PTX ISA, mma, "the lower 13 bits are ignored".
constexpr float RoundToTf32(float x, Rounding rounding = Rounding::kNearestAway) {
  return std::bit_cast<float>(internal::EncodeGeneric(InfoOf(FloatFormat::kTF32), x, rounding, Overflow::kInfinity)
                              << 13);
}

// f64 to f32 in any rounding mode.
constexpr float RoundToF32(double x, Rounding rounding, Overflow overflow = Overflow::kInfinity) {
  return std::bit_cast<float>(internal::EncodeGeneric(InfoOf(FloatFormat::kF32), x, rounding, overflow));
}

// --- Bulk. Spans have equal length and are disjoint or, where element sizes agree, identical. ----------
// Instantiated for every storage type above. The same bits as Widen and Round, element by element,
// whatever instruction set is used.

template <NarrowFloatElement T>
void WidenToF32(std::span<const T> in, std::span<float> out);

template <NarrowFloatElement T>
void WidenToF64(std::span<const T> in, std::span<double> out);

template <NarrowFloatElement T>
void RoundFromF32(std::span<const float> in, std::span<T> out, Rounding rounding = T::kInfo.default_rounding,
                  Overflow overflow = T::kInfo.default_overflow);

template <NarrowFloatElement T>
void RoundFromF64(std::span<const double> in, std::span<T> out, Rounding rounding = T::kInfo.default_rounding,
                  Overflow overflow = T::kInfo.default_overflow);

void RoundToTf32(std::span<const float> in, std::span<float> out, Rounding rounding = Rounding::kNearestAway);
void RoundToF32(std::span<const double> in, std::span<float> out, Rounding rounding = Rounding::kNearestEven);

// Two f4e2m1 share a byte in memory, the element of the lower index in the low half. `packed` has half as
// many elements as `elements`.
void UnpackF4(std::span<const uint8_t> packed, std::span<F4E2M1> elements);
void PackF4(std::span<const F4E2M1> elements, std::span<uint8_t> packed);

}  // namespace trivet::vm

#endif  // TRIVET_VM_NUMERICS_FLOAT_FORMATS_H_
