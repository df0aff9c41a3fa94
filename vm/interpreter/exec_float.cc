// Float arithmetic: addf .. nextafter, sqrt.
//
// f32 and f64 compute natively. Narrow formats compute in f32 and round once more, which gives the correctly rounded
// result for + - * / and sqrt: f32 has more than 2p + 2 bits for each of them, p being theirs (Figueroa, "When is
// double rounding innocuous?", 1995). An fma goes through f64, where
// the product is exact, and rounds the sum to odd (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums",
// 2008). Directed roundings compose: rounding up twice is rounding up once.
#include <bit>
#include <cstdint>
#include <span>

#include "vm/interpreter/elementwise.h"
#include "vm/numerics/directed_rounding.h"
#include "vm/numerics/float_ops.h"
#include "vm/numerics/vector_math.h"

namespace trivet::vm {
namespace {

// --- to nearest ------------------------------------------------------------------------------------------------------

struct AddFn {
  template <typename F>
  static F Apply(F a, F b) {
    return a + b;
  }
};
struct SubFn {
  template <typename F>
  static F Apply(F a, F b) {
    return a - b;
  }
};
struct MulFn {
  template <typename F>
  static F Apply(F a, F b) {
    return a * b;
  }
};
struct DivFn {
  template <typename F>
  static F Apply(F a, F b) {
    return a / b;
  }
};
struct FmaFn {
  static float Apply(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
  static double Apply(double a, double b, double c) { return __builtin_fma(a, b, c); }
};
// Of narrow operands, whose product is exact in f64. Their sum may not be: it is rounded to odd (to the neighbour whose
// last bit is set, unless exact), so that the rounding to the format sees on which side of a tie it lies. The error of
// the sum is exact by Knuth's two-sum.
struct NarrowFmaFn {
  static double Apply(double a, double b, double c) {
    const double product = a * b;
    const double sum = product + c;
    const double c_part = sum - product;
    const double error = (product - (sum - c_part)) + (c - c_part);
    const auto bits = std::bit_cast<int64_t>(sum);
    const int64_t step = (error > 0) == (sum > 0) ? 1 : -1;
    const bool is_inexact = error < 0 || error > 0;  // false for NaN: infinities stay
    return std::bit_cast<double>(is_inexact && (bits & 1) == 0 ? bits + step : bits);
  }
};

// --- under a directed rounding ---------------------------------------------------------------------------------------

using BinaryF32 = void (*)(Rounding, std::span<const float>, std::span<const float>, std::span<float>);
using BinaryF64 = void (*)(Rounding, std::span<const double>, std::span<const double>, std::span<double>);

template <Rounding kRounding, BinaryF32 kF32>
void DirectedF32(const void* const* in, void* out, int64_t n) {
  kF32(kRounding, In<float>(in[0], n), In<float>(in[1], n), Out<float>(out, n));
}
template <Rounding kRounding, BinaryF64 kF64>
void DirectedF64(const void* const* in, void* out, int64_t n) {
  kF64(kRounding, In<double>(in[0], n), In<double>(in[1], n), Out<double>(out, n));
}
template <Rounding kRounding, typename F>
void DirectedFma(const void* const* in, void* out, int64_t n) {
  FmaRounded(kRounding, In<F>(in[0], n), In<F>(in[1], n), In<F>(in[2], n), Out<F>(out, n));
}
template <Rounding kRounding, typename F>
void DirectedSqrt(const void* const* in, void* out, int64_t n) {
  SqrtRounded(kRounding, In<F>(in[0], n), Out<F>(out, n));
}
template <typename F>
void NearestSqrt(const void* const* in, void* out, int64_t n) {
  math::Sqrt(In<F>(in[0], n), Out<F>(out, n));
}

// Calls visit(integral_constant<Rounding>) for a directed rounding.
template <typename Visit>
PreparedOp VisitDirected(Rounding rounding, Visit&& visit) {
  switch (rounding) {
    case Rounding::kUp:
      return visit(std::integral_constant<Rounding, Rounding::kUp>{});
    case Rounding::kDown:
      return visit(std::integral_constant<Rounding, Rounding::kDown>{});
    default:
      return visit(std::integral_constant<Rounding, Rounding::kTowardZero>{});
  }
}

// An op of two operands that rounds to nearest by Fn, else by the span functions of directed_rounding.h.
template <typename Fn, BinaryF32 kF32, BinaryF64 kF64>
PreparedOp PrepareRounded(PrepareContext& cx, Rounding rounding) {
  const DType format = cx.result_type().dtype();
  if (rounding == Rounding::kNearestEven) {
    if (format == DType::kF32) return Elementwise<Fn, float, float, float>::Prepare(cx.result_count());
    if (format == DType::kF64) return Elementwise<Fn, double, double, double>::Prepare(cx.result_count());
    return PrepareNarrow(cx, &Elementwise<Fn, float, float, float>::Kernel, {});
  }
  return VisitDirected(rounding, [&]<Rounding kRounding>(std::integral_constant<Rounding, kRounding>) {
    return PrepareFloatKernels(cx, &DirectedF32<kRounding, kF32>, &DirectedF64<kRounding, kF64>, {kRounding});
  });
}

// --- exact: minimum, maximum, signs, neighbours ----------------------------------------------------------------------

struct MinIgnore {
  template <typename F>
  static F Apply(F a, F b) {
    return MinNum(a, b);
  }
};
struct MaxIgnore {
  template <typename F>
  static F Apply(F a, F b) {
    return MaxNum(a, b);
  }
};
struct MinPropagate {
  template <typename F>
  static F Apply(F a, F b) {
    return MinPropagateNan(a, b);
  }
};
struct MaxPropagate {
  template <typename F>
  static F Apply(F a, F b) {
    return MaxPropagateNan(a, b);
  }
};
struct ClampIgnore {
  template <typename F>
  static F Apply(F x, F low, F high) {
    return ClampNum(x, low, high);
  }
};
struct ClampPropagate {
  template <typename F>
  static F Apply(F x, F low, F high) {
    return ClampPropagateNan(x, low, high);
  }
};

// An op that gives one of its operands, or a NaN. Handlers is Binary or Ternary.
template <typename Fn, template <typename> typename Handlers>
PreparedOp PrepareChoosing(PrepareContext& cx) {
  const DType format = cx.result_type().dtype();
  if (format == DType::kF32) return Handlers<float>::template For<Fn>::Prepare(cx.result_count());
  if (format == DType::kF64) return Handlers<double>::template For<Fn>::Prepare(cx.result_count());
  return PrepareNarrow(cx, &Handlers<float>::template For<Fn>::Kernel, {.is_exact = true});
}
template <typename F>
struct Binary {
  template <typename Fn>
  using For = Elementwise<Fn, F, F, F>;
};
template <typename F>
struct Ternary {
  template <typename Fn>
  using For = Elementwise<Fn, F, F, F, F>;
};

template <typename U>
inline constexpr U kSignBit = static_cast<U>(U{1} << (sizeof(U) * 8 - 1));

// On the bits of formats with a sign bit and a zero of either sign.
struct FlipSign {
  template <typename U>
  static U Apply(U x) {
    return x ^ kSignBit<U>;
  }
};
struct ClearSign {
  template <typename U>
  static U Apply(U x) {
    return x & static_cast<U>(~kSignBit<U>);
  }
};
struct TakeSign {
  template <typename U>
  static U Apply(U x, U sign) {
    return (x & static_cast<U>(~kSignBit<U>)) | (sign & kSignBit<U>);
  }
};
// On the bits of f8e4b8 and f8e5b16, where the code of -0 is the NaN: it stays, and zero gets no sign.
struct FlipSignUnlessZero {
  static uint8_t Apply(uint8_t x) { return (x & 0x7f) == 0 ? x : x ^ 0x80; }
};
struct ClearSignUnlessNan {
  static uint8_t Apply(uint8_t x) { return x == 0x80 ? x : x & 0x7f; }
};
struct TakeSignUnlessZero {
  static uint8_t Apply(uint8_t x, uint8_t sign) { return (x & 0x7f) == 0 ? x : (x & 0x7f) | (sign & 0x80); }
};

bool HasNoMinusZero(DType format) { return format == DType::kF8E4B8 || format == DType::kF8E5B16; }

// The neighbour of x towards `towards` among the values of format T: codes count magnitudes upwards.
template <typename T>
struct NextCode {
  static T Apply(T x, T towards) {
    using Bits = typename T::Bits;
    constexpr Bits kSign = kSignBit<Bits>;
    const float from = Widen(x);
    const float to = Widen(towards);
    if (from != from) return x;
    if (to != to || from == to) return towards;
    const Bits magnitude = x.bits & static_cast<Bits>(~kSign);
    const bool is_up = to > from;
    if (magnitude == 0) return T{static_cast<Bits>(is_up ? 1 : kSign | 1)};
    const bool is_negative = (x.bits & kSign) != 0;
    const Bits next = static_cast<Bits>(is_negative == is_up ? magnitude - 1 : magnitude + 1);
    const bool keeps_sign = is_negative && !(T::kInfo.specials == Specials::kNanMinusZero && next == 0);
    return T{static_cast<Bits>(keeps_sign ? next | kSign : next)};
  }
};

template <typename F>
void NextAfterKernel(const void* const* in, void* out, int64_t n) {
  math::Nextafter(In<F>(in[0], n), In<F>(in[1], n), Out<F>(out, n));
}
template <typename F>
void FmodKernel(const void* const* in, void* out, int64_t n) {
  math::Fmod(In<F>(in[0], n), In<F>(in[1], n), Out<F>(out, n));
}

}  // namespace

#define TRIVET_PREPARE_ROUNDED(Name, Fn, Function)                             \
  absl::StatusOr<PreparedOp> Prepare##Name(PrepareContext& cx) {               \
    const auto rounding = cx.op().enum_attr<Rounding>(Name##Op::At::rounding); \
    return PrepareRounded<Fn, &Function, &Function>(cx, rounding);             \
  }
TRIVET_PREPARE_ROUNDED(AddF, AddFn, AddRounded)
TRIVET_PREPARE_ROUNDED(SubF, SubFn, SubRounded)
TRIVET_PREPARE_ROUNDED(MulF, MulFn, MulRounded)
TRIVET_PREPARE_ROUNDED(DivF, DivFn, DivRounded)  // the reference is always precise
#undef TRIVET_PREPARE_ROUNDED

absl::StatusOr<PreparedOp> PrepareFma(PrepareContext& cx) {
  const DType format = cx.result_type().dtype();
  const auto rounding = cx.op().enum_attr<Rounding>(FmaOp::At::rounding);
  if (rounding != Rounding::kNearestEven) {
    return VisitDirected(rounding, [&]<Rounding kRounding>(std::integral_constant<Rounding, kRounding>) {
      return PrepareFloatKernels(cx, &DirectedFma<kRounding, float>, &DirectedFma<kRounding, double>, {kRounding});
    });
  }
  if (format == DType::kF32) return Elementwise<FmaFn, float, float, float, float>::Prepare(cx.result_count());
  if (format == DType::kF64) return Elementwise<FmaFn, double, double, double, double>::Prepare(cx.result_count());
  return PrepareNarrowThroughF64(cx, &Elementwise<NarrowFmaFn, double, double, double, double>::Kernel, {});
}

absl::StatusOr<PreparedOp> PrepareSqrt(PrepareContext& cx) {
  const auto rounding = cx.op().enum_attr<Rounding>(SqrtOp::At::rounding);
  if (rounding == Rounding::kNearestEven) {
    return PrepareFloatKernels(cx, &NearestSqrt<float>, &NearestSqrt<double>, {});
  }
  return VisitDirected(rounding, [&]<Rounding kRounding>(std::integral_constant<Rounding, kRounding>) {
    return PrepareFloatKernels(cx, &DirectedSqrt<kRounding, float>, &DirectedSqrt<kRounding, double>, {kRounding});
  });
}

absl::StatusOr<PreparedOp> PrepareRemF(PrepareContext& cx) {
  return PrepareFloatKernels(cx, &FmodKernel<float>, &FmodKernel<double>, {.is_exact = true});
}

#define TRIVET_PREPARE_NAN_RULE(Name, Arity, Ignoring, Propagating) \
  absl::StatusOr<PreparedOp> Prepare##Name(PrepareContext& cx) {    \
    switch (cx.op().enum_attr<NanRule>(Name##Op::At::nan)) {        \
      case NanRule::kIgnore:                                        \
        return PrepareChoosing<Ignoring, Arity>(cx);                \
      case NanRule::kPropagate:                                     \
        return PrepareChoosing<Propagating, Arity>(cx);             \
    }                                                               \
    return PreparedOp{};                                            \
  }
TRIVET_PREPARE_NAN_RULE(MinF, Binary, MinIgnore, MinPropagate)
TRIVET_PREPARE_NAN_RULE(MaxF, Binary, MaxIgnore, MaxPropagate)
TRIVET_PREPARE_NAN_RULE(ClampF, Ternary, ClampIgnore, ClampPropagate)
#undef TRIVET_PREPARE_NAN_RULE

absl::StatusOr<PreparedOp> PrepareNegF(PrepareContext& cx) {
  const Type& type = cx.result_type();
  const int64_t count = cx.result_count();
  if (HasNoMinusZero(type.dtype())) return Elementwise<FlipSignUnlessZero, uint8_t, uint8_t>::Prepare(count);
  return VisitWidth(type.element_bytes(),
                    [&]<typename U>(TypeTag<U>) { return Elementwise<FlipSign, U, U>::Prepare(count); });
}

absl::StatusOr<PreparedOp> PrepareAbsF(PrepareContext& cx) {
  const Type& type = cx.result_type();
  const int64_t count = cx.result_count();
  if (HasNoMinusZero(type.dtype())) return Elementwise<ClearSignUnlessNan, uint8_t, uint8_t>::Prepare(count);
  return VisitWidth(type.element_bytes(),
                    [&]<typename U>(TypeTag<U>) { return Elementwise<ClearSign, U, U>::Prepare(count); });
}

absl::StatusOr<PreparedOp> PrepareCopySign(PrepareContext& cx) {
  const Type& type = cx.result_type();
  const int64_t count = cx.result_count();
  if (HasNoMinusZero(type.dtype())) return Elementwise<TakeSignUnlessZero, uint8_t, uint8_t, uint8_t>::Prepare(count);
  return VisitWidth(type.element_bytes(),
                    [&]<typename U>(TypeTag<U>) { return Elementwise<TakeSign, U, U, U>::Prepare(count); });
}

absl::StatusOr<PreparedOp> PrepareNextAfter(PrepareContext& cx) {
  const DType format = cx.result_type().dtype();
  if (!IsNarrowFloat(format)) return PrepareFloatKernels(cx, &NextAfterKernel<float>, &NextAfterKernel<double>, {});
  return VisitNarrow(
      format, [&]<typename T>(TypeTag<T>) { return Elementwise<NextCode<T>, T, T, T>::Prepare(cx.result_count()); });
}

}  // namespace trivet::vm
