// The table of functions, and those that are one formula for f32 and f64.

#include "vm/numerics/vector_math.h"

#include <bit>
#include <climits>
#include <cmath>
#include <limits>

#include "vm/numerics/float_ops.h"
#include "vm/numerics/independent_loop.h"

namespace trivet::vm {
namespace {

constexpr MathFunctionInfo kMathFunctions[] = {
#define TRIVET_MATH_UNARY(Name, ...) {MathFunction::k##Name, MathKind::kUnary, __VA_ARGS__},
#define TRIVET_MATH_BINARY(Name, ...) {MathFunction::k##Name, MathKind::kBinary, __VA_ARGS__},
#define TRIVET_MATH_TERNARY(Name, ...) {MathFunction::k##Name, MathKind::kTernary, __VA_ARGS__},
#define TRIVET_MATH_QUATERNARY(Name, ...) {MathFunction::k##Name, MathKind::kQuaternary, __VA_ARGS__},
#define TRIVET_MATH_ORDER(Name, ...) {MathFunction::k##Name, MathKind::kOrder, __VA_ARGS__},
#define TRIVET_MATH_EXPONENT(Name, ...) {MathFunction::k##Name, MathKind::kExponent, __VA_ARGS__},
#define TRIVET_MATH_PREDICATE(Name, ...) {MathFunction::k##Name, MathKind::kPredicate, __VA_ARGS__},
#define TRIVET_MATH_INTEGER(Name, ...) {MathFunction::k##Name, MathKind::kInteger, __VA_ARGS__},
#include "vm/numerics/math_functions.def"
#undef TRIVET_MATH_UNARY
#undef TRIVET_MATH_BINARY
#undef TRIVET_MATH_TERNARY
#undef TRIVET_MATH_QUATERNARY
#undef TRIVET_MATH_ORDER
#undef TRIVET_MATH_EXPONENT
#undef TRIVET_MATH_PREDICATE
#undef TRIVET_MATH_INTEGER
};

template <typename F, typename Result, typename Function>
void Map(std::span<const F> x, std::span<Result> out, Function function) {
  const F* source = x.data();
  Result* result = out.data();
  const size_t count = x.size();
  TRIVET_INDEPENDENT_LOOP
  for (size_t i = 0; i < count; ++i) result[i] = function(source[i]);
}

template <typename A, typename B, typename Result, typename Function>
void Map(std::span<const A> a, std::span<const B> b, std::span<Result> out, Function function) {
  const A* first = a.data();
  const B* second = b.data();
  Result* result = out.data();
  const size_t count = a.size();
  TRIVET_INDEPENDENT_LOOP
  for (size_t i = 0; i < count; ++i) result[i] = function(first[i], second[i]);
}

// x - trunc(x) is exact, and so is the sum: from 2^(digits-1) on there is no fraction.
template <typename F>
F RoundHalfAway(F x) {
  const F whole = std::trunc(x);
  const F step = std::fabs(x - whole) >= F{0.5} ? F{1} : F{0};
  return std::isinf(x) ? x : whole + std::copysign(step, x);
}

template <typename F>
F PositiveDifference(F x, F y) {
  const F difference = x > y ? x - y : F{0};
  return x != x || y != y ? x + y : difference;
}

template <typename F>
int32_t ExponentOf(F x) {
  if (x == 0 || x != x) return INT_MIN;
  if (std::isinf(x)) return INT_MAX;
  return std::ilogb(x);
}

template <typename F>
F ScaledByPowerOfTwo(F x, int32_t n) {
  return std::scalbn(x, n);
}

template <typename F>
constexpr internal::BitsOf<F> kInfinityBits = std::bit_cast<internal::BitsOf<F>>(std::numeric_limits<F>::infinity());

template <typename F>
internal::BitsOf<F> MagnitudeBits(F x) {
  return std::bit_cast<internal::BitsOf<F>>(Magnitude(x));
}

}  // namespace

std::span<const MathFunctionInfo> MathFunctions() { return kMathFunctions; }

const MathFunctionInfo& InfoOf(MathFunction function) { return kMathFunctions[static_cast<size_t>(function)]; }

namespace math {

// Both overloads of a function given by one expression in x (or x and y) of type F.
#define TRIVET_UNARY(Name, expression)                           \
  void Name(std::span<const float> in, std::span<float> out) {   \
    Map(in, out, [](float x) -> float { return expression; });   \
  }                                                              \
  void Name(std::span<const double> in, std::span<double> out) { \
    Map(in, out, [](double x) -> double { return expression; }); \
  }
#define TRIVET_TO(Name, Result, expression)                                 \
  void Name(std::span<const float> in, std::span<Result> out) {             \
    using F [[maybe_unused]] = float;                                       \
    Map(in, out, [](float x) { return static_cast<Result>(expression); });  \
  }                                                                         \
  void Name(std::span<const double> in, std::span<Result> out) {            \
    using F [[maybe_unused]] = double;                                      \
    Map(in, out, [](double x) { return static_cast<Result>(expression); }); \
  }
#define TRIVET_BINARY(Name, expression)                                                    \
  void Name(std::span<const float> a, std::span<const float> b, std::span<float> out) {    \
    Map(a, b, out, [](float x, float y) -> float { return expression; });                  \
  }                                                                                        \
  void Name(std::span<const double> a, std::span<const double> b, std::span<double> out) { \
    Map(a, b, out, [](double x, double y) -> double { return expression; });               \
  }

TRIVET_UNARY(Sqrt, std::sqrt(x))
TRIVET_UNARY(Floor, std::floor(x))
TRIVET_UNARY(Ceil, std::ceil(x))
TRIVET_UNARY(Trunc, std::trunc(x))
TRIVET_UNARY(RoundAway, RoundHalfAway(x))
TRIVET_UNARY(RoundEven, std::nearbyint(x))
TRIVET_UNARY(Logb, std::logb(x))
TRIVET_UNARY(Saturate, SaturateToUnit(x))

TRIVET_BINARY(Fmod, std::fmod(x, y))
TRIVET_BINARY(Remainder, std::remainder(x, y))
TRIVET_BINARY(Fdim, PositiveDifference(x, y))
TRIVET_BINARY(Copysign, std::copysign(x, y))
TRIVET_BINARY(Nextafter, std::nextafter(x, y))

TRIVET_TO(IsFinite, uint8_t, MagnitudeBits(x) < kInfinityBits<F>)
TRIVET_TO(IsInf, uint8_t, MagnitudeBits(x) == kInfinityBits<F>)
TRIVET_TO(IsNan, uint8_t, MagnitudeBits(x) > kInfinityBits<F>)
TRIVET_TO(SignBit, uint8_t, std::bit_cast<internal::BitsOf<F>>(x) >> (sizeof(F) * 8 - 1))
TRIVET_TO(Ilogb, int32_t, ExponentOf(x))

#undef TRIVET_UNARY
#undef TRIVET_TO
#undef TRIVET_BINARY

void Ldexp(std::span<const float> x, std::span<const int32_t> n, std::span<float> out) {
  Map(x, n, out, ScaledByPowerOfTwo<float>);
}
void Ldexp(std::span<const double> x, std::span<const int32_t> n, std::span<double> out) {
  Map(x, n, out, ScaledByPowerOfTwo<double>);
}

}  // namespace math
}  // namespace trivet::vm
