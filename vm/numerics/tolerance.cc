#include "vm/numerics/tolerance.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trivet::vm {
namespace {

constexpr OpClassInfo kOpClasses[] = {
    {OpClass::kExact, "exact", "nothing is rounded, or there is one way to do it"},
    {OpClass::kRounded, "rounded", "one IEEE rounding, in every tier"},
    {OpClass::kDivide, "divide", "f32 division by div.full: 2 ulp (PTX ISA, div)"},
    {OpClass::kRemainder, "remainder", "the rounded quotient may fall on the other side of an integer"},
    {OpClass::kSum, "sum", "a tier sums in its own order"},
    {OpClass::kDotIeee, "dot ieee", "a tier sums in its own order, and may fuse products into sums"},
    {OpClass::kDotTf32, "dot tf32", "operands keep ten mantissa bits, cut off; a tier may round"},
    {OpClass::kDotTf32x3, "dot tf32x3", "three tf32 dots leave out the product of the two small parts"},
    {OpClass::kDotNarrow, "dot narrow", "products are exact; tensor cores cut off when they add"},
};

// What math_functions.def can't say in ulp.
struct MathException {
  MathFunction function;
  double ulp_per_argument_f32;
  double absolute_f32;
  double absolute_f64;
};
constexpr MathException kMathExceptions[] = {
    // ex2.approx(x * log2(e)): the rounding of the product counts |x| times (CUDA's __expf, __exp10f).
    {MathFunction::kExp, 1.173, 0, 0},
    {MathFunction::kExp10, 2.97, 0, 0},
    // Between the zeros at -2.46 and -2.75, and around 1 and 2, lgamma is small and its ulp finer still.
    {MathFunction::kLgamma, 0, 0x1p-22, 0x1p-50},
    // Around zeros CUDA bounds the absolute error (2.2e-6 for f32; 5e-12 for f64).
    {MathFunction::kJ0, 0, 2.2e-6, 5e-12},
    {MathFunction::kJ1, 0, 2.2e-6, 5e-12},
    {MathFunction::kY0, 0, 2.2e-6, 5e-12},
    {MathFunction::kY1, 0, 2.2e-6, 5e-12},
    {MathFunction::kJn, 0, 2.2e-6, 5e-12},
    {MathFunction::kYn, 0, 2.2e-6, 5e-12},
};

double UlpOf(int mantissa_bits, int min_exponent, double value) {
  if (!std::isfinite(value)) return std::numeric_limits<double>::infinity();
  const int exponent = value == 0 ? min_exponent : std::max(std::ilogb(value), min_exponent);
  return std::ldexp(1.0, exponent - mantissa_bits);
}

// Sum of n terms in any order, each partial sum rounded: at most n times half an ulp of the sum of magnitudes. Twice,
// for the reference errs too.
double SummingError(double epsilon, int64_t terms) {
  return epsilon * static_cast<double>(std::max<int64_t>(terms, 1));
}

Tolerance ForEpsilon(OpClass op_class, double epsilon, int64_t terms) {
  switch (op_class) {
    case OpClass::kExact:
    case OpClass::kRounded:
      return {};
    case OpClass::kDivide:
      return {.ulp = 2};
    case OpClass::kRemainder:
      return {.relative_to_terms = 1};
    case OpClass::kSum:
      return {.ulp = 1, .relative_to_terms = SummingError(epsilon, terms)};
    case OpClass::kDotIeee:
      return {.ulp = 1, .relative_to_terms = SummingError(epsilon, terms + 1)};
    case OpClass::kDotTf32:
      // Two operands, each cut off at 2^-10 here; a tier that rounds is up to 2^-10 away, once for each.
      return {.ulp = 1, .relative_to_terms = 0x1p-9 + SummingError(epsilon, terms + 1)};
    case OpClass::kDotTf32x3:
      return {.ulp = 1, .relative_to_terms = 0x1p-20 + SummingError(epsilon, terms + 1)};
    case OpClass::kDotNarrow:
      return {.ulp = 1, .relative_to_terms = SummingError(2 * epsilon, terms + 1)};
  }
  return {};
}

Tolerance ForMath(MathFunction function, bool is_f64) {
  const MathFunctionInfo& info = InfoOf(function);
  Tolerance result{.ulp = static_cast<double>(is_f64 ? info.tier_ulp_f64 : info.tier_ulp_f32)};
  for (const MathException& exception : kMathExceptions) {
    if (exception.function != function) continue;
    result.absolute = is_f64 ? exception.absolute_f64 : exception.absolute_f32;
    if (!is_f64) result.ulp_per_argument = exception.ulp_per_argument_f32;
  }
  return result;
}

}  // namespace

std::span<const OpClassInfo> OpClasses() { return kOpClasses; }

Tolerance ToleranceFor(OpClass op_class, int64_t terms) { return ForEpsilon(op_class, 0x1p-23, terms); }
Tolerance ToleranceForF64(OpClass op_class, int64_t terms) {
  const bool is_narrow = op_class == OpClass::kDotTf32 || op_class == OpClass::kDotTf32x3;
  return ForEpsilon(is_narrow ? OpClass::kDotIeee : op_class, 0x1p-52, terms);
}

Tolerance ToleranceFor(MathFunction function, FloatFormat format) {
  const Tolerance f32 = ForMath(function, /*is_f64=*/false);
  if (format == FloatFormat::kF32 || f32.is_exact()) return f32;
  Tolerance narrow{.ulp = 1, .absolute = f32.absolute};
  // In narrow ulps the f32 deviation is small, but for exp of large bf16 arguments not nothing.
  narrow.ulp_per_argument = std::ldexp(f32.ulp_per_argument, InfoOf(format).mantissa_bits - 23);
  return narrow;
}
Tolerance ToleranceForF64(MathFunction function) { return ForMath(function, /*is_f64=*/true); }

double UlpOf(FloatFormat format, double value) {
  const FloatFormatInfo& info = InfoOf(format);
  return UlpOf(info.mantissa_bits, 1 - info.bias, value);
}
double UlpOfF64(double value) { return UlpOf(52, -1022, value); }

}  // namespace trivet::vm
