// Inline float operations in which NaN, signed zero or contraction need care. All are branch-free selects, so
// loops over them vectorise. `F` is float or double.

#ifndef TRIVET_VM_NUMERICS_FLOAT_OPS_H_
#define TRIVET_VM_NUMERICS_FLOAT_OPS_H_

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace trivet::vm {

namespace internal {
template <std::floating_point F>
using BitsOf = std::conditional_t<sizeof(F) == 4, uint32_t, uint64_t>;

template <std::floating_point F>
inline constexpr BitsOf<F> kQuietBit = BitsOf<F>{1} << (std::numeric_limits<F>::digits - 2);

template <std::floating_point F>
constexpr F Quieted(F nan) {
  return std::bit_cast<F>(std::bit_cast<BitsOf<F>>(nan) | kQuietBit<F>);
}
}  // namespace internal

// minNum: a NaN is ignored if the other operand is a number; -0 < +0. Triton's default (PTX min).
// For equal operands, or-ing the bits gives -0 out of a pair of zeros and changes nothing else.
template <std::floating_point F>
constexpr F MinNum(F a, F b) {
  using Bits = internal::BitsOf<F>;
  const F both = std::bit_cast<F>(static_cast<Bits>(std::bit_cast<Bits>(a) | std::bit_cast<Bits>(b)));
  const F ordered = a == b ? both : (a < b ? a : b);
  const F without_a = a != a ? b : ordered;
  const F chosen = b != b ? a : without_a;
  return chosen != chosen ? internal::Quieted(chosen) : chosen;
}

// maxNum: a NaN is ignored if the other operand is a number; -0 < +0. Triton's default (PTX max).
template <std::floating_point F>
constexpr F MaxNum(F a, F b) {
  using Bits = internal::BitsOf<F>;
  const F both = std::bit_cast<F>(static_cast<Bits>(std::bit_cast<Bits>(a) & std::bit_cast<Bits>(b)));
  const F ordered = a == b ? both : (a > b ? a : b);
  const F without_a = a != a ? b : ordered;
  const F chosen = b != b ? a : without_a;
  return chosen != chosen ? internal::Quieted(chosen) : chosen;
}

// minimum: NaN if either operand is (the first one's, quiet); -0 < +0. PropagateNan.ALL (PTX min.NaN).
template <std::floating_point F>
constexpr F MinPropagateNan(F a, F b) {
  const F chosen = b != b ? b : MinNum(a, b);
  return a == a ? (chosen != chosen ? internal::Quieted(chosen) : chosen) : internal::Quieted(a);
}

// maximum: NaN if either operand is (the first one's, quiet); -0 < +0. PropagateNan.ALL (PTX max.NaN).
template <std::floating_point F>
constexpr F MaxPropagateNan(F a, F b) {
  const F chosen = b != b ? b : MaxNum(a, b);
  return a == a ? (chosen != chosen ? internal::Quieted(chosen) : chosen) : internal::Quieted(a);
}

// Limits x to [low, high]; for low > high, high. A NaN x gives low (PTX: max then min) ...
template <std::floating_point F>
constexpr F ClampNum(F x, F low, F high) {
  return MinNum(MaxNum(x, low), high);
}
// ... or stays NaN.
template <std::floating_point F>
constexpr F ClampPropagateNan(F x, F low, F high) {
  return MinPropagateNan(MaxPropagateNan(x, low), high);
}

// x limited to [0, 1]; NaN and -0 give +0 (PTX .sat).
template <std::floating_point F>
constexpr F SaturateToUnit(F x) {
  const F capped = x < F{1} ? x : F{1};
  return x > F{0} ? capped : F{0};
}

// |x| and -x touch the sign bit only, also of NaN.
template <std::floating_point F>
constexpr F Magnitude(F x) {
  using Bits = internal::BitsOf<F>;
  return std::bit_cast<F>(static_cast<Bits>(std::bit_cast<Bits>(x) & (~Bits{0} >> 1)));
}
template <std::floating_point F>
constexpr F Negated(F x) {
  using Bits = internal::BitsOf<F>;
  return std::bit_cast<F>(static_cast<Bits>(std::bit_cast<Bits>(x) ^ (~(~Bits{0} >> 1))));
}

}  // namespace trivet::vm

#endif  // TRIVET_VM_NUMERICS_FLOAT_OPS_H_
