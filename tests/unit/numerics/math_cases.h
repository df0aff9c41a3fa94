// What the tests of vector_math share: each function's two bulk forms beside its definition in extended precision,
// and distances in ulp.

#ifndef TRIVET_TESTS_UNIT_NUMERICS_MATH_CASES_H_
#define TRIVET_TESTS_UNIT_NUMERICS_MATH_CASES_H_

#include <math.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "vm/numerics/vector_math.h"

namespace trivet::vm {

using Extended = long double;

template <typename F>
using UnaryBulk = void (*)(std::span<const F>, std::span<F>);

struct UnaryCase {
  MathFunction function;
  UnaryBulk<float> f32;
  UnaryBulk<double> f64;
  Extended (*exact)(Extended);  // null: only golden values say

  template <typename F>
  UnaryBulk<F> bulk() const {
    if constexpr (sizeof(F) == 4) {
      return f32;
    } else {
      return f64;
    }
  }
};

template <typename F>
F Evaluate(UnaryBulk<F> bulk, F x) {
  F out;
  bulk(std::span<const F>(&x, 1), std::span<F>(&out, 1));
  return out;
}

// |got - exact| in units of F's spacing around `exact`; infinity where one is NaN or infinite and the other isn't.
template <typename F>
double UlpDistance(F got, Extended exact) {
  if (std::isnan(exact) || std::isnan(got)) {
    return std::isnan(exact) && std::isnan(got) ? 0 : std::numeric_limits<double>::infinity();
  }
  // From halfway beyond the largest value on, infinity is the right answer.
  using Limits = std::numeric_limits<F>;
  const Extended past_largest =
      static_cast<Extended>(Limits::max()) + std::ldexp(Extended{1}, Limits::max_exponent - Limits::digits - 1);
  if (std::fabs(exact) >= past_largest) exact = std::copysign(std::numeric_limits<Extended>::infinity(), exact);
  if (std::isinf(exact) || std::isinf(got)) {
    return static_cast<Extended>(got) == exact ? 0 : std::numeric_limits<double>::infinity();
  }
  const int exponent = exact == 0 ? Limits::min_exponent - 1 : std::max(std::ilogb(exact), Limits::min_exponent - 1);
  const Extended ulp = std::ldexp(Extended{1}, exponent - (Limits::digits - 1));
  return static_cast<double>(std::fabs(static_cast<Extended>(got) - exact) / ulp);
}

// sin(pi x) for |x| <= 1, an exact zero at both ends.
inline Extended SinOfHalfTurns(Extended x) {
  const Extended folded = std::fabs(x) > 0.5L ? std::copysign(1 - std::fabs(x), x) : x;
  return std::sin(M_PIl * folded);
}

// clang-format off
#define TRIVET_CASE(Name, expression) \
  {MathFunction::k##Name, math::Name, math::Name, [](Extended x) -> Extended { return expression; }},
#define TRIVET_GOLDEN_ONLY(Name) {MathFunction::k##Name, math::Name, math::Name, nullptr},

// Every unary function.
inline const UnaryCase kUnaryCases[] = {
    TRIVET_CASE(Exp, std::exp(x))
    TRIVET_CASE(Exp2, std::exp2(x))
    TRIVET_CASE(Exp10, exp10l(x))
    TRIVET_CASE(Expm1, std::expm1(x))
    TRIVET_CASE(Log, std::log(x))
    TRIVET_CASE(Log2, std::log2(x))
    TRIVET_CASE(Log10, std::log10(x))
    TRIVET_CASE(Log1p, std::log1p(x))
    TRIVET_CASE(Sin, std::sin(x))
    TRIVET_CASE(Cos, std::cos(x))
    TRIVET_CASE(Tan, std::tan(x))
    TRIVET_CASE(Sinpi, SinOfHalfTurns(std::remainder(x, Extended{2})))
    TRIVET_CASE(Cospi, SinOfHalfTurns(0.5L - std::fabs(std::remainder(x, Extended{2}))))
    TRIVET_CASE(Asin, std::asin(x))
    TRIVET_CASE(Acos, std::acos(x))
    TRIVET_CASE(Atan, std::atan(x))
    TRIVET_CASE(Sinh, std::sinh(x))
    TRIVET_CASE(Cosh, std::cosh(x))
    TRIVET_CASE(Tanh, std::tanh(x))
    TRIVET_CASE(Asinh, std::asinh(x))
    TRIVET_CASE(Acosh, std::acosh(x))
    TRIVET_CASE(Atanh, std::atanh(x))
    TRIVET_CASE(Cbrt, std::cbrt(x))
    TRIVET_CASE(Rcbrt, 1 / std::cbrt(x))
    TRIVET_CASE(Sqrt, std::sqrt(x))
    TRIVET_CASE(Rsqrt, 1 / std::sqrt(x))
    TRIVET_CASE(Erf, std::erf(x))
    TRIVET_CASE(Erfc, std::erfc(x))
    TRIVET_GOLDEN_ONLY(Erfinv)
    TRIVET_GOLDEN_ONLY(Erfcinv)
    TRIVET_GOLDEN_ONLY(Erfcx)
    TRIVET_CASE(Normcdf, std::erfc(-x / 1.41421356237309504880168872420969808L) / 2)
    TRIVET_GOLDEN_ONLY(Normcdfinv)
    TRIVET_CASE(Tgamma, std::tgamma(x))
    TRIVET_CASE(Lgamma, std::lgamma(x))
    TRIVET_CASE(J0, j0l(x))
    TRIVET_CASE(J1, j1l(x))
    TRIVET_CASE(Y0, x < 0 ? Extended(NAN) : y0l(x))
    TRIVET_CASE(Y1, x < 0 ? Extended(NAN) : y1l(x))
    TRIVET_GOLDEN_ONLY(CylBesselI0)
    TRIVET_GOLDEN_ONLY(CylBesselI1)
    TRIVET_CASE(Logb, std::logb(x))
    TRIVET_CASE(Floor, std::floor(x))
    TRIVET_CASE(Ceil, std::ceil(x))
    TRIVET_CASE(Trunc, std::trunc(x))
    TRIVET_CASE(RoundAway, std::round(x))
    TRIVET_CASE(RoundEven, std::nearbyint(x))
    TRIVET_CASE(Saturate, x > 0 ? std::min(x, Extended{1}) : Extended{0})
};
// clang-format on
#undef TRIVET_CASE
#undef TRIVET_GOLDEN_ONLY

}  // namespace trivet::vm

#endif  // TRIVET_TESTS_UNIT_NUMERICS_MATH_CASES_H_
