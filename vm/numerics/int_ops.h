// Integer arithmetic with every result defined: what C++ leaves undefined (signed overflow, shifts past the
// width, division by zero, casts out of range) gets the meaning that a Triton kernel sees on an NVIDIA GPU.
//
//   case                              result                         source
//   add, sub, mul, neg, abs overflow  wraps modulo 2^width           PTX add, sub, mul.lo
//   x / 0, x % 0                      all ones (-1; unsigned: max)   PTX leaves it open; measured on sm_90 for s32,
//                                                                    u32, s64, u64
//   min / -1, min % -1                min (wraps), 0                 two's complement; the same on sm_90
//   shl, lshr by >= width             0                              PTX shl, shr.u clamp the amount
//   ashr by >= width                  0 or -1, by sign               PTX shr.s
//   float -> int out of range         nearest end of the range       PTX cvt.rzi saturates
//   NaN -> int                        0 from f32 to up to 32 bits,   PTX cvt, "Notes": 1 << (width - 1) where the
//                                     else only the top bit          source is f64 or the result has 64 bits
//   clz(0), ffs(0), popc(0)           width, 0, 0                    PTX clz; CUDA __ffs
//
// Everything is constexpr, branch-free where the operation is, and works for all widths, so that loops over
// it vectorise. Shift amounts are read as unsigned: a negative one is past the width.

#ifndef TRIVET_VM_NUMERICS_INT_OPS_H_
#define TRIVET_VM_NUMERICS_INT_OPS_H_

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace trivet::vm {

namespace internal {

// Unsigned type in which `T`'s arithmetic is done: at least `unsigned`, because u16 * u16 would be promoted to
// int and overflow.
template <std::integral T>
using WrapType = std::make_unsigned_t<std::common_type_t<std::make_unsigned_t<T>, unsigned>>;

template <std::integral T>
inline constexpr int kWidth = static_cast<int>(sizeof(T) * 8);

}  // namespace internal

template <std::integral T>
constexpr T WrapAdd(T a, T b) {
  using U = internal::WrapType<T>;
  return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
}

template <std::integral T>
constexpr T WrapSub(T a, T b) {
  using U = internal::WrapType<T>;
  return static_cast<T>(static_cast<U>(a) - static_cast<U>(b));
}

template <std::integral T>
constexpr T WrapMul(T a, T b) {
  using U = internal::WrapType<T>;
  return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
}

template <std::integral T>
constexpr T WrapNeg(T a) {
  return WrapSub(T{0}, a);
}

// |a|; the smallest signed value is its own magnitude.
template <std::integral T>
constexpr T WrapAbs(T a) {
  if constexpr (std::is_signed_v<T>) return a < 0 ? WrapNeg(a) : a;
  return a;
}

// Quotient truncated towards zero.
template <std::integral T>
constexpr T DivTrunc(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return WrapNeg(a);
  }
  return static_cast<T>(a / b);
}

// Remainder with the sign of the dividend: for b != 0, a == DivTrunc(a, b) * b + RemTrunc(a, b), modulo 2^width.
template <std::integral T>
constexpr T RemTrunc(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
  }
  return static_cast<T>(a % b);
}

// Quotient rounded towards minus infinity, as Python's //. Same results as DivTrunc for b == 0.
template <std::integral T>
constexpr T DivFloor(T a, T b) {
  const T quotient = DivTrunc(a, b);
  if constexpr (std::is_signed_v<T>) {
    if (b != 0 && RemTrunc(a, b) != 0 && (a < 0) != (b < 0)) return WrapSub(quotient, T{1});
  }
  return quotient;
}

template <std::integral T>
constexpr T ShiftLeft(T a, T amount) {
  using U = internal::WrapType<T>;
  const auto by = static_cast<std::make_unsigned_t<T>>(amount);
  const U shifted = static_cast<U>(a) << (by & (internal::kWidth<T> - 1));
  return by < internal::kWidth<T> ? static_cast<T>(shifted) : T{0};
}

// Shifts zeros in, whatever the signedness of `T`.
template <std::integral T>
constexpr T ShiftRightLogical(T a, T amount) {
  using U = std::make_unsigned_t<T>;
  const U by = static_cast<U>(amount);
  const U shifted = static_cast<U>(static_cast<U>(a) >> (by & (internal::kWidth<T> - 1)));
  return by < internal::kWidth<T> ? static_cast<T>(shifted) : T{0};
}

// Shifts copies of the top bit in, whatever the signedness of `T`.
template <std::integral T>
constexpr T ShiftRightArithmetic(T a, T amount) {
  using U = std::make_unsigned_t<T>;
  using S = std::make_signed_t<T>;
  const U by = static_cast<U>(amount);
  const U clamped = by < internal::kWidth<T> ? by : static_cast<U>(internal::kWidth<T> - 1);
  return static_cast<T>(static_cast<S>(a) >> clamped);
}

// Upper half of the product of twice the width.
template <std::integral T>
constexpr T MulHigh(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> 64);
  } else {
    using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> internal::kWidth<T>);
  }
}

// Leading zeros; the width for 0.
template <std::integral T>
constexpr int CountLeadingZeros(T a) {
  return std::countl_zero(static_cast<std::make_unsigned_t<T>>(a));
}

template <std::integral T>
constexpr int PopCount(T a) {
  return std::popcount(static_cast<std::make_unsigned_t<T>>(a));
}

// One plus the index of the lowest set bit; 0 for 0.
template <std::integral T>
constexpr int FindFirstSet(T a) {
  return a == 0 ? 0 : std::countr_zero(static_cast<std::make_unsigned_t<T>>(a)) + 1;
}

// Bits in the opposite order. Swaps halves of halves: single bits, pairs, nibbles, ...
template <std::integral T>
constexpr T BitReverse(T a) {
  uint64_t bits = static_cast<std::make_unsigned_t<T>>(a);
  bits = ((bits >> 1) & 0x5555'5555'5555'5555u) | ((bits & 0x5555'5555'5555'5555u) << 1);
  bits = ((bits >> 2) & 0x3333'3333'3333'3333u) | ((bits & 0x3333'3333'3333'3333u) << 2);
  bits = ((bits >> 4) & 0x0f0f'0f0f'0f0f'0f0fu) | ((bits & 0x0f0f'0f0f'0f0f'0f0fu) << 4);
  bits = __builtin_bswap64(bits);
  return static_cast<T>(bits >> (64 - internal::kWidth<T>));
}

// Average without overflow: (a + b) / 2 rounded down, or up (CUDA __hadd, __rhadd).
template <std::integral T>
constexpr T HalvingAdd(T a, T b) {
  return static_cast<T>((a & b) + ((a ^ b) >> 1));
}
template <std::integral T>
constexpr T RoundingHalvingAdd(T a, T b) {
  return static_cast<T>((a | b) - ((a ^ b) >> 1));
}

// |a - b| as unsigned, plus nothing lost to overflow (CUDA __sad without its third operand).
template <std::integral T>
constexpr std::make_unsigned_t<T> AbsoluteDifference(T a, T b) {
  using U = std::make_unsigned_t<T>;
  return a > b ? static_cast<U>(static_cast<U>(a) - static_cast<U>(b))
               : static_cast<U>(static_cast<U>(b) - static_cast<U>(a));
}

// Truncates `x` towards zero. Saturates out of range. NaN gives 0 or, where `F` is double or `T` has 64 bits, the value
// of the top bit alone. `F` is float or double.
//
// The bounds are compared as floats: 2^(digits) is exact in both types and is the first value too large, and
// the smallest signed value is exact too. The range test comes first, so the cast is always defined.
template <std::integral T, std::floating_point F>
constexpr T FloatToInt(F x) {
  constexpr F kTooLarge = static_cast<F>(T{1} << (std::numeric_limits<T>::digits - 1)) * F{2};
  constexpr F kSmallest = static_cast<F>(std::numeric_limits<T>::min());
  constexpr bool kNanIsTopBit = sizeof(F) == 8 || sizeof(T) == 8;
  constexpr T kOfNan = kNanIsTopBit ? static_cast<T>(std::make_unsigned_t<T>{1} << (internal::kWidth<T> - 1)) : T{0};
  if (x != x) return kOfNan;
  if (x >= kTooLarge) return std::numeric_limits<T>::max();
  if (x <= kSmallest) return std::numeric_limits<T>::min();
  return static_cast<T>(x);
}

}  // namespace trivet::vm

#endif  // TRIVET_VM_NUMERICS_INT_OPS_H_
