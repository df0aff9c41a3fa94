// Branch-free kernels in f64 whose results, rounded once, are the f32 functions of vector_math.h.
//
// Each takes any f64 that is a widened f32 (infinities, NaN and f32 subnormals included, unless it says otherwise)
// and is a chain of additions, multiplications, divisions, selects and integer operations, so that a loop
// over it vectorises. No fused multiply-add: the same bits on every host. Relative error: below 2^-36,
// mostly the fits' 2^-45 (kernel_coefficients.h, by tools/fit_coefficients.py).
//
// Shared devices:
//
// * Rounding to an integer by adding and subtracting 1.5 * 2^52: the sum's mantissa is the integer, in two's
//   complement, in its low bits. For |x| < 2^51.
// * 2^n by writing n + 1023 into an exponent field.
// * A select `x > limit ? limit : x` lets NaN pass.

#ifndef TRIVET_VM_NUMERICS_DOUBLE_KERNELS_H_
#define TRIVET_VM_NUMERICS_DOUBLE_KERNELS_H_

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "vm/numerics/kernel_coefficients.h"

namespace trivet::vm::kernels {

inline constexpr double kLn2 = 0x1.62e42fefa39efp-1;
inline constexpr double kLog2E = 0x1.71547652b82fep+0;
inline constexpr double kLn10 = 0x1.26bb1bbb55516p+1;
inline constexpr double kLog2Of10 = 0x1.a934f0979a371p+1;
inline constexpr double kLog10Of2 = 0x1.34413509f79ffp-2;
inline constexpr double kLog10E = 0x1.bcb7b1526e50ep-2;
inline constexpr double kPi = 0x1.921fb54442d18p+1;
inline constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

inline constexpr double kRoundingShift = 0x1.8p52;

inline uint64_t Bits(double x) { return std::bit_cast<uint64_t>(x); }
inline double FromBits(uint64_t bits) { return std::bit_cast<double>(bits); }

inline constexpr uint64_t kSignMask = uint64_t{1} << 63;
inline double WithSignOf(double x, double sign) { return FromBits((Bits(x) & ~kSignMask) | (Bits(sign) & kSignMask)); }
inline double Absolute(double x) { return FromBits(Bits(x) & ~kSignMask); }

// Horner's rule, lowest coefficient first.
template <size_t kCount>
double Polynomial(const std::array<double, kCount>& coefficients, double x) {
  double sum = coefficients[kCount - 1];
  for (size_t i = kCount - 1; i-- > 0;) sum = sum * x + coefficients[i];
  return sum;
}

// x == n + fraction, |fraction| <= 1/2; n also as bits, of which the low twelve are n modulo 4096.
struct Split {
  double n;
  uint64_t n_bits;
};
inline Split RoundToInteger(double x) {
  const double shifted = x + kRoundingShift;
  return {shifted - kRoundingShift, Bits(shifted)};
}

// 2^n for the n of a Split, |n| < 1022.
inline double PowerOfTwo(Split split) { return FromBits((split.n_bits + 1023) << 52); }

// e^r - 1 for |r| <= ln(2)/2, with full relative accuracy: r (1 + r Q(r)).
inline double Expm1Reduced(double r) { return r * (1.0 + r * Polynomial(kExpTail, r)); }

inline double Clamp(double x, double low, double high) {
  const double capped = x > high ? high : x;
  return capped < low ? low : capped;
}

// --- Exponentials: x = n ln2 + r, e^x = 2^n e^r. ------------------------------------------------------
//
// n ln2 is rounded to f64, an absolute error of 2^-53 * |x|: below 2^-45 for all x that don't overflow f32, so the
// two-part constant of Cody and Waite isn't needed. Inputs are clamped where the result has long become
// 0 or infinity in f32, and n stays small enough for PowerOfTwo.

inline double Exp(double x) {
  const double clamped = Clamp(x, -200.0, 200.0);
  const Split split = RoundToInteger(clamped * kLog2E);
  const double r = clamped - split.n * kLn2;
  return PowerOfTwo(split) * (1.0 + Expm1Reduced(r));
}

inline double Exp2(double x) {
  const double clamped = Clamp(x, -300.0, 300.0);
  const Split split = RoundToInteger(clamped);
  return PowerOfTwo(split) * (1.0 + Expm1Reduced((clamped - split.n) * kLn2));  // the difference is exact
}

inline double Exp10(double x) {
  const double clamped = Clamp(x, -90.0, 90.0);
  const Split split = RoundToInteger(clamped * kLog2Of10);
  const double r = (clamped - split.n * kLog10Of2) * kLn10;
  return PowerOfTwo(split) * (1.0 + Expm1Reduced(r));
}

// 2^n (e^r - 1) + (2^n - 1): nothing cancels, since for n != 0 both terms have one sign or the second dominates.
inline double Expm1(double x) {
  const double clamped = Clamp(x, -200.0, 200.0);
  const Split split = RoundToInteger(clamped * kLog2E);
  const double r = clamped - split.n * kLn2;
  const double scale = PowerOfTwo(split);
  return WithSignOf(scale * Expm1Reduced(r) + (scale - 1.0), x);  // the sign: for -0
}

// With t = e^|x| - 1: sinh |x| = (t + t/(t+1))/2.
inline double Sinh(double x) {
  const double t = Expm1(Absolute(x));
  return WithSignOf(0.5 * (t + t / (t + 1.0)), x);
}

inline double Cosh(double x) {
  const double e = Exp(Absolute(x));
  return 0.5 * (e + 1.0 / e);
}

// (e^2x - 1)/(e^2x + 1); 1 - tanh(20) is below 2^-56.
inline double Tanh(double x) {
  const double t = Expm1(2.0 * Clamp(x, -20.0, 20.0));
  return t / (t + 2.0);
}

// --- Logarithms: x = 2^e m with sqrt(1/2) <= m < sqrt(2), log x = e ln2 + 2 atanh(s), s = (m-1)/(m+1). ---
//
// Around 1, e is 0 and m - 1 exact: the relative accuracy stays. Elsewhere |log m| <= ln(2)/2 can't cancel e ln2.

struct LogParts {
  double exponent;
  double log_mantissa;
};
inline LogParts SplitLog(double x) {  // x > 0 and normal in f64, as every f32 is
  constexpr uint64_t kSqrtHalfBits = 0x3fe6a09e667f3bcdu;
  constexpr uint64_t kOneBits = uint64_t{1023} << 52;
  const uint64_t biased = (Bits(x) - kSqrtHalfBits + kOneBits) >> 52;  // e + 1023
  const double mantissa = FromBits(Bits(x) - ((biased - 1023) << 52));
  // 2^52 + (e + 1023), written into the low mantissa bits: a conversion that vectorises everywhere.
  const double exponent = FromBits(biased | 0x4330000000000000u) - (0x1p52 + 1023.0);
  const double s = (mantissa - 1.0) / (mantissa + 1.0);
  const double z = s * s;
  return {exponent, s * (2.0 + z * Polynomial(kLogTail, z))};
}

// `result` where x is positive and finite; the special values of every logarithm elsewhere.
inline double LogSpecial(double x, double result) {
  const double at_zero = x == 0.0 ? -kInfinity : kNan;
  const double not_infinite = x < kInfinity ? result : kInfinity;
  return x > 0.0 ? not_infinite : at_zero;
}

inline double Log(double x) {
  const LogParts parts = SplitLog(x);
  return LogSpecial(x, parts.exponent * kLn2 + parts.log_mantissa);
}
inline double Log2(double x) {
  const LogParts parts = SplitLog(x);
  return LogSpecial(x, parts.exponent + parts.log_mantissa * kLog2E);
}
inline double Log10(double x) {
  const LogParts parts = SplitLog(x);
  return LogSpecial(x, parts.exponent * kLog10Of2 + parts.log_mantissa * kLog10E);
}

// --- Circular functions: x = q pi/2 + r, |r| <= pi/4. --------------------------------------------------

// sin and cos of q pi/2 + r, given q modulo 4 in the low bits.
struct SinCos {
  double sin;
  double cos;
};
inline SinCos SinCosReduced(double r) {
  const double z = r * r;
  return {r * (1.0 + z * Polynomial(kSinTail, z)), 1.0 - 0.5 * z + z * z * Polynomial(kCosTail, z)};
}
inline double SinOfQuadrant(double r, uint64_t quadrant) {
  const SinCos both = SinCosReduced(r);
  const double value = (quadrant & 1) != 0 ? both.cos : both.sin;
  return FromBits(Bits(value) ^ ((quadrant & 2) << 62));
}

// Cody and Waite's reduction with pi/2 in three parts of 33, 33 and 53 bits: with q < 2^20 the first two products
// are exact, and so are the differences where x is near a multiple of pi/2. The third part leaves 2^-99,
// while no f32 in the range is closer to a multiple than 2^-40 or so.
inline constexpr double kReductionLimit = 0x1p20;
struct Reduced {
  double r;
  uint64_t quadrant;
};
inline Reduced ReduceByHalfPi(double x) {
  constexpr double kPart1 = 0x1.921fb544p+0;
  constexpr double kPart2 = 0x1.0b4611a6p-34;
  constexpr double kPart3 = 0x1.3198a2e037073p-69;
  const Split split = RoundToInteger(x * kTwoOverPi);
  return {((x - split.n * kPart1) - split.n * kPart2) - split.n * kPart3, split.n_bits};
}

// For |x| <= kReductionLimit only.
inline double Sin(double x) {
  const Reduced reduced = ReduceByHalfPi(x);
  return SinOfQuadrant(reduced.r, reduced.quadrant);
}
inline double Cos(double x) {
  const Reduced reduced = ReduceByHalfPi(x);
  return SinOfQuadrant(reduced.r, reduced.quadrant + 1);
}
inline double Tan(double x) {
  const Reduced reduced = ReduceByHalfPi(x);
  const SinCos both = SinCosReduced(reduced.r);
  const bool odd = (reduced.quadrant & 1) != 0;
  return (odd ? -both.cos : both.sin) / (odd ? both.sin : both.cos);
}

// 2x = q + fraction exactly. From 2^24 on every f32 is an even integer.
inline double Sinpi(double x) {
  const double small = Absolute(x) < 0x1p24 ? x : 0.0;
  const Split split = RoundToInteger(2.0 * small);
  const double value = SinOfQuadrant((small - 0.5 * split.n) * kPi, split.n_bits);
  const double result = value == 0.0 ? WithSignOf(0.0, x) : value;
  return Absolute(x) < kInfinity ? result : kNan;
}
inline double Cospi(double x) {
  const double small = Absolute(x) < 0x1p24 ? x : 0.0;
  const Split split = RoundToInteger(2.0 * small);
  const double value = SinOfQuadrant((small - 0.5 * split.n) * kPi, split.n_bits + 1) + 0.0;  // -0 becomes +0
  return Absolute(x) < kInfinity ? value : kNan;
}

// --- Others. --------------------------------------------------------------------------------------------

// Up to 1, an odd polynomial; from there 1 - erfc(x) with erfc(x) = e^(a polynomial). Past 4, erf is 1 in f32.
inline double Erf(double x) {
  const double a = Absolute(x);
  const double small = a * Polynomial(kErfSmall, a * a);
  const double capped = a > 4.0 ? 4.0 : a;
  const double big = 1.0 - Exp(Polynomial(kLogErfcBig, capped));
  return WithSignOf(a < 1.0 ? small : big, x);
}

inline double Rsqrt(double x) { return 1.0 / std::sqrt(x); }

}  // namespace trivet::vm::kernels

#endif  // TRIVET_VM_NUMERICS_DOUBLE_KERNELS_H_
