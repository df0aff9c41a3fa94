// Conversions: cast, bitcast, ptr_to_int, int_to_ptr.
//
// cast rounds once, whatever the pair. Where the host has no such conversion it takes two stages over a chunk, of which
// only the second rounds: a narrow float is widened to f32 exactly; an integer goes to f64 with a sticky last bit.
#include <algorithm>
#include <bit>
#include <span>
#include <type_traits>

#include "vm/interpreter/elementwise.h"
#include "vm/numerics/int_ops.h"

namespace trivet::vm {
namespace {

// --- one element -----------------------------------------------------------------------------------------------------

// To an integer of the width of T: wraps, or extends by the sign of the source.
template <typename T>
struct ToInteger {
  template <typename S>
  static T Apply(S x) {
    return static_cast<T>(x);
  }
};

// The host converts integers to floats with one rounding, to nearest even; f32 to f64 and back likewise.
template <typename F>
struct ToFloat {
  template <typename S>
  static F Apply(S x) {
    return static_cast<F>(x);
  }
};

// Truncates and saturates.
template <typename T>
struct ToIntegerSaturating {
  template <typename F>
  static T Apply(F x) {
    return FloatToInt<T>(x);
  }
};

// To i1. A NaN is not zero.
struct IsNotZero {
  template <typename T>
  static uint8_t Apply(T x) {
    return static_cast<uint8_t>(x != T{});
  }
};

struct LowBit {
  static uint8_t Apply(uint8_t x) { return x & 1; }
};

// The magnitude of an integer.
template <typename T>
constexpr std::make_unsigned_t<T> MagnitudeOf(T x) {
  using U = std::make_unsigned_t<T>;
  return x < T{0} ? static_cast<U>(U{0} - static_cast<U>(x)) : static_cast<U>(x);
}

// x as f64, but for what f64 has no room for: of more than 53 bits, the last tells whether any beyond was set. Rounding
// that to 51 bits or fewer, in any mode, gives what rounding x would.
struct ToF64Sticky {
  template <typename T>
  static double Apply(T x) {
    if constexpr (sizeof(T) < 8) {
      return static_cast<double>(x);
    } else {
      constexpr uint64_t kDropped = 0x7ff;
      const uint64_t magnitude = MagnitudeOf(x);
      const uint64_t sticky = (magnitude & ~kDropped) | ((magnitude & kDropped) != 0 ? kDropped + 1 : 0);
      const auto value = static_cast<double>((magnitude >> 53) == 0 ? magnitude : sticky);
      return x < T{0} ? -value : value;
    }
  }
};

// A 64-bit integer as f64 under a directed rounding.
template <Rounding kRounding>
struct ToF64Directed {
  template <typename T>
  static double Apply(T x) {
    const uint64_t magnitude = MagnitudeOf(x);
    const int drop = std::max(0, 64 - 53 - std::countl_zero(magnitude));
    const uint64_t remainder = magnitude & ((uint64_t{1} << drop) - 1);
    const bool is_away =
        remainder != 0 && ((kRounding == Rounding::kUp && x >= T{0}) || (kRounding == Rounding::kDown && x < T{0}));
    const uint64_t kept = (magnitude >> drop) + (is_away ? 1 : 0);
    const double value = static_cast<double>(kept) * static_cast<double>(uint64_t{1} << drop);
    return x < T{0} ? -value : value;
  }
};

// --- arrays ----------------------------------------------------------------------------------------------------------

struct CastMode {
  Rounding rounding;
  Overflow overflow;
};

using Stage = void (*)(const void* in, void* out, int64_t count, CastMode mode);

template <typename T>
void Widen32(const void* in, void* out, int64_t count, CastMode) {
  WidenToF32<T>(In<T>(in, count), Out<float>(out, count));
}
template <typename T>
void Widen64(const void* in, void* out, int64_t count, CastMode) {
  WidenToF64<T>(In<T>(in, count), Out<double>(out, count));
}
template <typename T>
void NarrowF32(const void* in, void* out, int64_t count, CastMode mode) {
  RoundFromF32<T>(In<float>(in, count), Out<T>(out, count), mode.rounding, mode.overflow);
}
template <typename T>
void NarrowF64(const void* in, void* out, int64_t count, CastMode mode) {
  RoundFromF64<T>(In<double>(in, count), Out<T>(out, count), mode.rounding, mode.overflow);
}
void F64ToF32(const void* in, void* out, int64_t count, CastMode mode) {
  const double* from = static_cast<const double*>(in);
  float* to = static_cast<float*>(out);
  for (int64_t i = 0; i < count; ++i) to[i] = RoundToF32(from[i], mode.rounding, mode.overflow);
}
template <typename T>
void IntegerToF64(const void* in, void* out, int64_t count, CastMode) {
  Elementwise<ToF64Sticky, double, T>::Kernel(&in, out, count);
}

struct StagedPayload {
  Stage first;
  Stage second;  // null: `first` alone
  CastMode mode;
  int64_t count;
  int in_bytes;
  int out_bytes;
};

void RunStaged(ExecContext& cx, const Instr& at) {
  const StagedPayload& payload = at.payload<StagedPayload>();
  const std::byte* in = cx.Operand<std::byte>(at, 0);
  std::byte* out = cx.Result<std::byte>(at);
  if (payload.second == nullptr) return payload.first(in, out, payload.count, payload.mode);
  alignas(kSlotAlignment) double between[kChunkElements];
  for (int64_t start = 0; start < payload.count; start += kChunkElements) {
    const int64_t count = std::min(kChunkElements, payload.count - start);
    payload.first(in + start * payload.in_bytes, between, count, payload.mode);
    payload.second(between, out + start * payload.out_bytes, count, payload.mode);
  }
}

PreparedOp PrepareStaged(const PrepareContext& cx, CastMode mode, Stage first, Stage second = nullptr) {
  return MakePrepared(&RunStaged, StagedPayload{first, second, mode, cx.result_count(),
                                                cx.operand_type(0).element_bytes(), cx.result_type().element_bytes()});
}

// --- by class of source and destination ------------------------------------------------------------------------------

PreparedOp PrepareToBool(const PrepareContext& cx, DType from) {
  const int64_t count = cx.result_count();
  if (from == DType::kF32) return Elementwise<IsNotZero, uint8_t, float>::Prepare(count);
  if (from == DType::kF64) return Elementwise<IsNotZero, uint8_t, double>::Prepare(count);
  if (IsFloat(from)) return PrepareNarrow(cx, &Elementwise<IsNotZero, uint8_t, float>::Kernel, {});
  return VisitWidth(InfoOf(from).storage_bytes,
                    [&]<typename U>(TypeTag<U>) { return Elementwise<IsNotZero, uint8_t, U>::Prepare(count); });
}

PreparedOp PrepareIntegerToInteger(int64_t count, DType from, DType to) {
  const int from_bytes = InfoOf(from).storage_bytes;
  const int to_bytes = InfoOf(to).storage_bytes;
  if (from_bytes == to_bytes) return PrepareCopy(count * to_bytes);
  return VisitWidth(to_bytes, [&]<typename U>(TypeTag<U>) {
    // Only a longer result asks for the sign.
    const auto prepare = [&]<typename S>(TypeTag<S>) { return Elementwise<ToInteger<U>, U, S>::Prepare(count); };
    return from_bytes > to_bytes ? VisitWidth(from_bytes, prepare) : VisitInteger(from, prepare);
  });
}

PreparedOp PrepareIntegerToFloat(const PrepareContext& cx, DType from, DType to, CastMode mode) {
  const int64_t count = cx.result_count();
  return VisitInteger(from, [&]<typename S>(TypeTag<S>) -> PreparedOp {
    if (IsNarrowFloat(to)) {
      return VisitNarrow(
          to, [&]<typename T>(TypeTag<T>) { return PrepareStaged(cx, mode, &IntegerToF64<S>, &NarrowF64<T>); });
    }
    const bool is_nearest = mode.rounding == Rounding::kNearestEven;
    if (to == DType::kF32) {
      return is_nearest ? Elementwise<ToFloat<float>, float, S>::Prepare(count)
                        : PrepareStaged(cx, mode, &IntegerToF64<S>, &F64ToF32);
    }
    if constexpr (sizeof(S) == 8) {
      switch (mode.rounding) {
        case Rounding::kUp:
          return Elementwise<ToF64Directed<Rounding::kUp>, double, S>::Prepare(count);
        case Rounding::kDown:
          return Elementwise<ToF64Directed<Rounding::kDown>, double, S>::Prepare(count);
        case Rounding::kTowardZero:
          return Elementwise<ToF64Directed<Rounding::kTowardZero>, double, S>::Prepare(count);
        case Rounding::kNearestEven:
        case Rounding::kNearestAway:
          break;
      }
    }
    return Elementwise<ToFloat<double>, double, S>::Prepare(count);
  });
}

PreparedOp PrepareFloatToInteger(const PrepareContext& cx, DType from, DType to) {
  const int64_t count = cx.result_count();
  return VisitInteger(to, [&]<typename T>(TypeTag<T>) {
    using FromF32 = Elementwise<ToIntegerSaturating<T>, T, float>;
    using FromF64 = Elementwise<ToIntegerSaturating<T>, T, double>;
    if (from == DType::kF32) return FromF32::Prepare(count);
    if (from == DType::kF64) return FromF64::Prepare(count);
    return PrepareNarrow(cx, &FromF32::Kernel, {});
  });
}

PreparedOp PrepareFloatToFloat(const PrepareContext& cx, DType from, DType to, CastMode mode) {
  const int64_t count = cx.result_count();
  if (from == to) return PrepareCopy(count * InfoOf(to).storage_bytes);
  if (from == DType::kF32 && to == DType::kF64) return Elementwise<ToFloat<double>, double, float>::Prepare(count);
  if (from == DType::kF64 && to == DType::kF32) {
    return mode.rounding == Rounding::kNearestEven ? Elementwise<ToFloat<float>, float, double>::Prepare(count)
                                                   : PrepareStaged(cx, mode, &F64ToF32);
  }
  if (!IsNarrowFloat(to)) {
    return VisitNarrow(from, [&]<typename T>(TypeTag<T>) {
      return PrepareStaged(cx, mode, to == DType::kF32 ? &Widen32<T> : &Widen64<T>);
    });
  }
  return VisitNarrow(to, [&]<typename T>(TypeTag<T>) {
    if (from == DType::kF32) return PrepareStaged(cx, mode, &NarrowF32<T>);
    if (from == DType::kF64) return PrepareStaged(cx, mode, &NarrowF64<T>);
    const Stage widen = VisitNarrow(from, []<typename S>(TypeTag<S>) -> Stage { return &Widen32<S>; });
    return PrepareStaged(cx, mode, widen, &NarrowF32<T>);
  });
}

}  // namespace

absl::StatusOr<PreparedOp> PrepareCast(PrepareContext& cx) {
  const DType from = cx.operand_type(CastOp::In::x).dtype();
  const DType to = cx.result_type().dtype();
  if (from == to) return PrepareCopy(cx.result_count() * InfoOf(to).storage_bytes);
  if (to == DType::kI1) return PrepareToBool(cx, from);
  if (IsInteger(from) && IsInteger(to)) return PrepareIntegerToInteger(cx.result_count(), from, to);
  if (IsInteger(to)) return PrepareFloatToInteger(cx, from, to);

  CastMode mode{cx.op().enum_attr<Rounding>(CastOp::At::rounding), Overflow::kInfinity};
  if (IsNarrowFloat(to)) {  // f32 and f64 neither saturate nor have a rounding of their own
    if (cx.op().bool_attr(CastOp::At::saturate)) mode.overflow = Overflow::kSaturate;
    if (mode.rounding == Rounding::kNearestEven) {
      mode.rounding = VisitNarrow(to, []<typename T>(TypeTag<T>) { return T::kInfo.default_rounding; });
    }
  }
  return IsInteger(from) ? PrepareIntegerToFloat(cx, from, to, mode) : PrepareFloatToFloat(cx, from, to, mode);
}

absl::StatusOr<PreparedOp> PrepareBitcast(PrepareContext& cx) {
  const Type& from = cx.operand_type(BitcastOp::In::x);
  const Type& to = cx.result_type();
  if (to.is_bool() && !from.is_bool()) return Elementwise<LowBit, uint8_t, uint8_t>::Prepare(cx.result_count());
  return PrepareCopy(cx.result_count() * to.element_bytes());
}

absl::StatusOr<PreparedOp> PreparePtrToInt(PrepareContext& cx) { return PrepareCopy(cx.result_count() * 8); }

absl::StatusOr<PreparedOp> PrepareIntToPtr(PrepareContext& cx) { return PrepareCopy(cx.result_count() * 8); }

}  // namespace trivet::vm
