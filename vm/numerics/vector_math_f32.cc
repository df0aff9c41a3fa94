// f32 functions: a kernel or the host's function in f64, rounded once. See vector_math.h.

#include <algorithm>
#include <array>
#include <cmath>

#include "vm/numerics/double_kernels.h"
#include "vm/numerics/independent_loop.h"
#include "vm/numerics/special_functions.h"
#include "vm/numerics/vector_math.h"

namespace trivet::vm::math {
namespace {

using Span = std::span<const float>;
using Out = std::span<float>;

// out[i] = float(function(double(x[i]))), vectorised if `function` is.
template <typename Function>
void Map(Span x, Out out, Function function) {
  const float* source = x.data();
  float* result = out.data();
  const size_t count = x.size();
  TRIVET_INDEPENDENT_LOOP
  for (size_t i = 0; i < count; ++i) {
    result[i] = static_cast<float>(function(static_cast<double>(source[i])));
  }
}

template <typename Function>
void Map(Span x, Span y, Out out, Function function) {
  for (size_t i = 0; i < x.size(); ++i) {
    out[i] = static_cast<float>(function(static_cast<double>(x[i]), static_cast<double>(y[i])));
  }
}

// A circular function: the vectorised kernel on a block of elements, then `exact` on those beyond its range, NaN and
// infinities among them. The block's inputs are copied because `out` may be `x`.
template <typename Kernel, typename Exact>
void MapReduced(Span x, Out out, Kernel kernel, Exact exact) {
  constexpr size_t kBlock = 256;
  std::array<float, kBlock> block;
  for (size_t begin = 0; begin < x.size(); begin += kBlock) {
    const size_t count = std::min(kBlock, x.size() - begin);
    std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(begin), count, block.begin());
    float* result = out.data() + begin;
    uint32_t any_beyond = 0;
    TRIVET_INDEPENDENT_LOOP
    for (size_t i = 0; i < count; ++i) {
      result[i] = static_cast<float>(kernel(static_cast<double>(block[i])));
      any_beyond |= std::fabs(block[i]) <= static_cast<float>(kernels::kReductionLimit) ? 0u : 1u;
    }
    if (any_beyond == 0) continue;
    for (size_t i = 0; i < count; ++i) {
      if (!(std::fabs(block[i]) <= static_cast<float>(kernels::kReductionLimit))) {
        result[i] = static_cast<float>(exact(static_cast<double>(block[i])));
      }
    }
  }
}

double Norm(double x, double y, double z, double w) {
  if (std::isinf(x) || std::isinf(y) || std::isinf(z) || std::isinf(w)) return kernels::kInfinity;
  return std::sqrt(x * x + y * y + z * z + w * w);  // squares of floats don't overflow f64
}

}  // namespace

void Sin(Span x, Out out) {
  MapReduced(x, out, kernels::Sin, [](double v) { return std::sin(v); });
}
void Cos(Span x, Out out) {
  MapReduced(x, out, kernels::Cos, [](double v) { return std::cos(v); });
}
void Tan(Span x, Out out) {
  MapReduced(x, out, kernels::Tan, [](double v) { return std::tan(v); });
}

#define TRIVET_UNARY(Name, expression)                 \
  void Name(Span in, Out out) {                        \
    Map(in, out, [](double x) { return expression; }); \
  }
TRIVET_UNARY(Exp, kernels::Exp(x))
TRIVET_UNARY(Exp2, kernels::Exp2(x))
TRIVET_UNARY(Exp10, kernels::Exp10(x))
TRIVET_UNARY(Expm1, kernels::Expm1(x))
TRIVET_UNARY(Log, kernels::Log(x))
TRIVET_UNARY(Log2, kernels::Log2(x))
TRIVET_UNARY(Log10, kernels::Log10(x))
TRIVET_UNARY(Sinpi, kernels::Sinpi(x))
TRIVET_UNARY(Cospi, kernels::Cospi(x))
TRIVET_UNARY(Sinh, kernels::Sinh(x))
TRIVET_UNARY(Cosh, kernels::Cosh(x))
TRIVET_UNARY(Tanh, kernels::Tanh(x))
TRIVET_UNARY(Erf, kernels::Erf(x))
TRIVET_UNARY(Rsqrt, kernels::Rsqrt(x))

TRIVET_UNARY(Log1p, std::log1p(x))
TRIVET_UNARY(Asin, std::asin(x))
TRIVET_UNARY(Acos, std::acos(x))
TRIVET_UNARY(Atan, std::atan(x))
TRIVET_UNARY(Asinh, std::asinh(x))
TRIVET_UNARY(Acosh, std::acosh(x))
TRIVET_UNARY(Atanh, std::atanh(x))
TRIVET_UNARY(Cbrt, std::cbrt(x))
TRIVET_UNARY(Rcbrt, 1.0 / std::cbrt(x))
TRIVET_UNARY(Erfc, std::erfc(x))
TRIVET_UNARY(Erfinv, special::Erfinv(x))
TRIVET_UNARY(Erfcinv, special::Erfcinv(x))
TRIVET_UNARY(Erfcx, special::Erfcx(x))
TRIVET_UNARY(Normcdf, special::Normcdf(x))
TRIVET_UNARY(Normcdfinv, special::Normcdfinv(x))
TRIVET_UNARY(Tgamma, std::tgamma(x))
TRIVET_UNARY(Lgamma, special::Lgamma(x))
TRIVET_UNARY(J0, special::Jn(0, x))
TRIVET_UNARY(J1, special::Jn(1, x))
TRIVET_UNARY(Y0, special::Yn(0, x))
TRIVET_UNARY(Y1, special::Yn(1, x))
TRIVET_UNARY(CylBesselI0, special::CylBesselI0(x))
TRIVET_UNARY(CylBesselI1, special::CylBesselI1(x))
#undef TRIVET_UNARY

#define TRIVET_BINARY(Name, expression)                                     \
  void Name(Span first, Span second, Out out) {                             \
    Map(first, second, out, [](double x, double y) { return expression; }); \
  }
TRIVET_BINARY(Pow, std::pow(x, y))
TRIVET_BINARY(Atan2, std::atan2(x, y))
TRIVET_BINARY(Hypot, Norm(x, y, 0, 0))
TRIVET_BINARY(Rhypot, 1.0 / Norm(x, y, 0, 0))
#undef TRIVET_BINARY

void Norm3d(Span x, Span y, Span z, Out out) {
  for (size_t i = 0; i < x.size(); ++i) out[i] = static_cast<float>(Norm(x[i], y[i], z[i], 0));
}
void Rnorm3d(Span x, Span y, Span z, Out out) {
  for (size_t i = 0; i < x.size(); ++i) out[i] = static_cast<float>(1.0 / Norm(x[i], y[i], z[i], 0));
}
void Norm4d(Span x, Span y, Span z, Span w, Out out) {
  for (size_t i = 0; i < x.size(); ++i) out[i] = static_cast<float>(Norm(x[i], y[i], z[i], w[i]));
}
void Rnorm4d(Span x, Span y, Span z, Span w, Out out) {
  for (size_t i = 0; i < x.size(); ++i) out[i] = static_cast<float>(1.0 / Norm(x[i], y[i], z[i], w[i]));
}

void Jn(std::span<const int32_t> n, Span x, Out out) {
  for (size_t i = 0; i < x.size(); ++i) out[i] = static_cast<float>(special::Jn(n[i], x[i]));
}
void Yn(std::span<const int32_t> n, Span x, Out out) {
  for (size_t i = 0; i < x.size(); ++i) out[i] = static_cast<float>(special::Yn(n[i], x[i]));
}
void Powi(Span x, std::span<const int32_t> n, Out out) {
  for (size_t i = 0; i < x.size(); ++i) {
    out[i] = static_cast<float>(std::pow(static_cast<double>(x[i]), static_cast<double>(n[i])));
  }
}

}  // namespace trivet::vm::math
