// f64 functions: the host's where it is within one ulp, else its extended-precision form rounded to f64, or
// special_functions.h. See vector_math.h.

#include <math.h>  // for exp10l

#include <cmath>

#include "vm/numerics/special_functions.h"
#include "vm/numerics/vector_math.h"

namespace trivet::vm::math {
namespace {
using Span = std::span<const double>;
using Out = std::span<double>;
using Wide = long double;
}  // namespace

#define TRIVET_UNARY(Name, expression)          \
  void Name(Span in, Out out) {                 \
    for (size_t i = 0; i < in.size(); ++i) {    \
      const double x = in[i];                   \
      out[i] = static_cast<double>(expression); \
    }                                           \
  }
TRIVET_UNARY(Exp, std::exp(x))
TRIVET_UNARY(Exp2, std::exp2(x))
TRIVET_UNARY(Log, std::log(x))
TRIVET_UNARY(Log2, std::log2(x))
TRIVET_UNARY(Sin, std::sin(x))
TRIVET_UNARY(Cos, std::cos(x))
TRIVET_UNARY(Tan, std::tan(x))
TRIVET_UNARY(Asin, std::asin(x))
TRIVET_UNARY(Acos, std::acos(x))
TRIVET_UNARY(Atan, std::atan(x))

TRIVET_UNARY(Exp10, exp10l(x))
TRIVET_UNARY(Expm1, std::expm1(Wide{x}))
TRIVET_UNARY(Log10, std::log10(Wide{x}))
TRIVET_UNARY(Log1p, std::log1p(Wide{x}))
TRIVET_UNARY(Sinh, std::sinh(Wide{x}))
TRIVET_UNARY(Cosh, std::cosh(Wide{x}))
TRIVET_UNARY(Tanh, std::tanh(Wide{x}))
TRIVET_UNARY(Asinh, std::asinh(Wide{x}))
TRIVET_UNARY(Acosh, std::acosh(Wide{x}))
TRIVET_UNARY(Atanh, std::atanh(Wide{x}))
TRIVET_UNARY(Cbrt, std::cbrt(Wide{x}))
TRIVET_UNARY(Rcbrt, 1 / std::cbrt(Wide{x}))
TRIVET_UNARY(Rsqrt, 1 / std::sqrt(Wide{x}))
TRIVET_UNARY(Erf, std::erf(Wide{x}))
TRIVET_UNARY(Erfc, std::erfc(Wide{x}))
TRIVET_UNARY(Tgamma, std::tgamma(Wide{x}))

TRIVET_UNARY(Sinpi, special::Sinpi(x))
TRIVET_UNARY(Cospi, special::Cospi(x))
TRIVET_UNARY(Erfinv, special::Erfinv(x))
TRIVET_UNARY(Erfcinv, special::Erfcinv(x))
TRIVET_UNARY(Erfcx, special::Erfcx(x))
TRIVET_UNARY(Normcdf, special::Normcdf(x))
TRIVET_UNARY(Normcdfinv, special::Normcdfinv(x))
TRIVET_UNARY(Lgamma, special::Lgamma(x))
TRIVET_UNARY(J0, special::Jn(0, x))
TRIVET_UNARY(J1, special::Jn(1, x))
TRIVET_UNARY(Y0, special::Yn(0, x))
TRIVET_UNARY(Y1, special::Yn(1, x))
TRIVET_UNARY(CylBesselI0, special::CylBesselI0(x))
TRIVET_UNARY(CylBesselI1, special::CylBesselI1(x))
#undef TRIVET_UNARY

#define TRIVET_BINARY(Name, expression)         \
  void Name(Span first, Span second, Out out) { \
    for (size_t i = 0; i < first.size(); ++i) { \
      const double x = first[i];                \
      const double y = second[i];               \
      out[i] = expression;                      \
    }                                           \
  }
TRIVET_BINARY(Pow, std::pow(x, y))
TRIVET_BINARY(Atan2, std::atan2(x, y))
TRIVET_BINARY(Hypot, special::Norm({x, y}))
TRIVET_BINARY(Rhypot, special::Rnorm({x, y}))
#undef TRIVET_BINARY

void Norm3d(Span x, Span y, Span z, Out out) {
  for (size_t i = 0; i < x.size(); ++i) out[i] = special::Norm({x[i], y[i], z[i]});
}
void Rnorm3d(Span x, Span y, Span z, Out out) {
  for (size_t i = 0; i < x.size(); ++i) out[i] = special::Rnorm({x[i], y[i], z[i]});
}
void Norm4d(Span x, Span y, Span z, Span w, Out out) {
  for (size_t i = 0; i < x.size(); ++i) out[i] = special::Norm({x[i], y[i], z[i], w[i]});
}
void Rnorm4d(Span x, Span y, Span z, Span w, Out out) {
  for (size_t i = 0; i < x.size(); ++i) out[i] = special::Rnorm({x[i], y[i], z[i], w[i]});
}

void Jn(std::span<const int32_t> n, Span x, Out out) {
  for (size_t i = 0; i < x.size(); ++i) out[i] = special::Jn(n[i], x[i]);
}
void Yn(std::span<const int32_t> n, Span x, Out out) {
  for (size_t i = 0; i < x.size(); ++i) out[i] = special::Yn(n[i], x[i]);
}
void Powi(Span x, std::span<const int32_t> n, Out out) {
  for (size_t i = 0; i < x.size(); ++i) out[i] = std::pow(x[i], static_cast<double>(n[i]));
}

}  // namespace trivet::vm::math
