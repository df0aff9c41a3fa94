// Mathematical functions: floor .. erfcx, Bessel functions, norms, classification. What they compute is vm/numerics'
// business (vector_math.h); here each op meets its function.
#include <cstdint>
#include <span>

#include "vm/interpreter/elementwise.h"
#include "vm/numerics/vector_math.h"

namespace trivet::vm {
namespace {

// FloatKernels of functions over spans. R is the result's type, X and Y are the operands'.
template <typename R, typename X, void (*kFunction)(std::span<const X>, std::span<R>)>
void Unary(const void* const* in, void* out, int64_t n) {
  kFunction(In<X>(in[0], n), Out<R>(out, n));
}
template <typename R, typename X, typename Y, void (*kFunction)(std::span<const X>, std::span<const Y>, std::span<R>)>
void Binary(const void* const* in, void* out, int64_t n) {
  kFunction(In<X>(in[0], n), In<Y>(in[1], n), Out<R>(out, n));
}
template <typename F, void (*kFunction)(std::span<const F>, std::span<const F>, std::span<const F>, std::span<F>)>
void Ternary(const void* const* in, void* out, int64_t n) {
  kFunction(In<F>(in[0], n), In<F>(in[1], n), In<F>(in[2], n), Out<F>(out, n));
}
template <typename F, void (*kFunction)(std::span<const F>, std::span<const F>, std::span<const F>, std::span<const F>,
                                        std::span<F>)>
void Quaternary(const void* const* in, void* out, int64_t n) {
  kFunction(In<F>(in[0], n), In<F>(in[1], n), In<F>(in[2], n), In<F>(in[3], n), Out<F>(out, n));
}

struct SignIsSet {
  template <typename U>
  static uint8_t Apply(U x) {
    return static_cast<uint8_t>(x >> (sizeof(U) * 8 - 1));
  }
};

constexpr NarrowResult kRounds{};
constexpr NarrowResult kExact{.is_exact = true};

}  // namespace

// Op, function, whether a narrow result can be inexact.
#define TRIVET_UNARY(Name, Function, result)                                                                       \
  absl::StatusOr<PreparedOp> Prepare##Name(PrepareContext& cx) {                                                   \
    return PrepareFloatKernels(cx, &Unary<float, float, &math::Function>, &Unary<double, double, &math::Function>, \
                               result);                                                                            \
  }
TRIVET_UNARY(Floor, Floor, kExact)
TRIVET_UNARY(Ceil, Ceil, kExact)
TRIVET_UNARY(Trunc, Trunc, kExact)
TRIVET_UNARY(Round, RoundAway, kExact)
TRIVET_UNARY(Rint, RoundEven, kExact)
TRIVET_UNARY(Saturate, Saturate, kExact)
TRIVET_UNARY(Logb, Logb, kExact)
TRIVET_UNARY(Rsqrt, Rsqrt, kRounds)
TRIVET_UNARY(Cbrt, Cbrt, kRounds)
TRIVET_UNARY(Rcbrt, Rcbrt, kRounds)
TRIVET_UNARY(Exp, Exp, kRounds)
TRIVET_UNARY(Exp2, Exp2, kRounds)
TRIVET_UNARY(Exp10, Exp10, kRounds)
TRIVET_UNARY(Expm1, Expm1, kRounds)
TRIVET_UNARY(Log, Log, kRounds)
TRIVET_UNARY(Log2, Log2, kRounds)
TRIVET_UNARY(Log10, Log10, kRounds)
TRIVET_UNARY(Log1p, Log1p, kRounds)
TRIVET_UNARY(Sin, Sin, kRounds)
TRIVET_UNARY(Cos, Cos, kRounds)
TRIVET_UNARY(Tan, Tan, kRounds)
TRIVET_UNARY(SinPi, Sinpi, kRounds)
TRIVET_UNARY(CosPi, Cospi, kRounds)
TRIVET_UNARY(Asin, Asin, kRounds)
TRIVET_UNARY(Acos, Acos, kRounds)
TRIVET_UNARY(Atan, Atan, kRounds)
TRIVET_UNARY(Sinh, Sinh, kRounds)
TRIVET_UNARY(Cosh, Cosh, kRounds)
TRIVET_UNARY(Tanh, Tanh, kRounds)
TRIVET_UNARY(Asinh, Asinh, kRounds)
TRIVET_UNARY(Acosh, Acosh, kRounds)
TRIVET_UNARY(Atanh, Atanh, kRounds)
TRIVET_UNARY(Erf, Erf, kRounds)
TRIVET_UNARY(Erfc, Erfc, kRounds)
TRIVET_UNARY(ErfInv, Erfinv, kRounds)
TRIVET_UNARY(ErfcInv, Erfcinv, kRounds)
TRIVET_UNARY(Erfcx, Erfcx, kRounds)
TRIVET_UNARY(NormCdf, Normcdf, kRounds)
TRIVET_UNARY(NormCdfInv, Normcdfinv, kRounds)
TRIVET_UNARY(TGamma, Tgamma, kRounds)
TRIVET_UNARY(LGamma, Lgamma, kRounds)
TRIVET_UNARY(BesselJ0, J0, kRounds)
TRIVET_UNARY(BesselJ1, J1, kRounds)
TRIVET_UNARY(BesselY0, Y0, kRounds)
TRIVET_UNARY(BesselY1, Y1, kRounds)
TRIVET_UNARY(BesselI0, CylBesselI0, kRounds)
TRIVET_UNARY(BesselI1, CylBesselI1, kRounds)
#undef TRIVET_UNARY

#define TRIVET_BINARY(Name, Function, result)                                             \
  absl::StatusOr<PreparedOp> Prepare##Name(PrepareContext& cx) {                          \
    return PrepareFloatKernels(cx, &Binary<float, float, float, &math::Function>,         \
                               &Binary<double, double, double, &math::Function>, result); \
  }
TRIVET_BINARY(Pow, Pow, kRounds)
TRIVET_BINARY(Atan2, Atan2, kRounds)
TRIVET_BINARY(Hypot, Hypot, kRounds)
TRIVET_BINARY(Rhypot, Rhypot, kRounds)
TRIVET_BINARY(Fdim, Fdim, kRounds)
TRIVET_BINARY(Remainder, Remainder, kExact)
#undef TRIVET_BINARY

#define TRIVET_NORM(Name, Arity, Function)                                                                    \
  absl::StatusOr<PreparedOp> Prepare##Name(PrepareContext& cx) {                                              \
    return PrepareFloatKernels(cx, &Arity<float, &math::Function>, &Arity<double, &math::Function>, kRounds); \
  }
TRIVET_NORM(Norm3d, Ternary, Norm3d)
TRIVET_NORM(Rnorm3d, Ternary, Rnorm3d)
TRIVET_NORM(Norm4d, Quaternary, Norm4d)
TRIVET_NORM(Rnorm4d, Quaternary, Rnorm4d)
#undef TRIVET_NORM

// The order comes first, the format is that of x.
#define TRIVET_ORDER(Name, Function)                                                                         \
  absl::StatusOr<PreparedOp> Prepare##Name(PrepareContext& cx) {                                             \
    return PrepareFloatKernels(cx, &Binary<float, int32_t, float, &math::Function>,                          \
                               &Binary<double, int32_t, double, &math::Function>, kRounds, Name##Op::In::x); \
  }
TRIVET_ORDER(BesselJn, Jn)
TRIVET_ORDER(BesselYn, Yn)
#undef TRIVET_ORDER

#define TRIVET_EXPONENT(Name, Function)                                                     \
  absl::StatusOr<PreparedOp> Prepare##Name(PrepareContext& cx) {                            \
    return PrepareFloatKernels(cx, &Binary<float, float, int32_t, &math::Function>,         \
                               &Binary<double, double, int32_t, &math::Function>, kRounds); \
  }
TRIVET_EXPONENT(Ldexp, Ldexp)
TRIVET_EXPONENT(Powi, Powi)
#undef TRIVET_EXPONENT

#define TRIVET_CLASSIFY(Name, R, Function)                                                                         \
  absl::StatusOr<PreparedOp> Prepare##Name(PrepareContext& cx) {                                                   \
    return PrepareFloatKernels(cx, &Unary<R, float, &math::Function>, &Unary<R, double, &math::Function>, kExact); \
  }
TRIVET_CLASSIFY(Ilogb, int32_t, Ilogb)
TRIVET_CLASSIFY(IsNan, uint8_t, IsNan)
TRIVET_CLASSIFY(IsInf, uint8_t, IsInf)
TRIVET_CLASSIFY(IsFinite, uint8_t, IsFinite)
#undef TRIVET_CLASSIFY

absl::StatusOr<PreparedOp> PrepareSignBit(PrepareContext& cx) {
  return VisitWidth(cx.operand_type(SignBitOp::In::x).element_bytes(), [&]<typename U>(TypeTag<U>) {
    return Elementwise<SignIsSet, uint8_t, U>::Prepare(cx.result_count());
  });
}

}  // namespace trivet::vm
