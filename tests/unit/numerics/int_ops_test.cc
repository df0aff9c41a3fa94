// Integer edge cases for every width and signedness, against arithmetic in 128 bits.

#include "vm/numerics/int_ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace trivet::vm {
namespace {

using Wide = __int128;

template <typename T>
T Wrapped(Wide value) {
  return static_cast<T>(static_cast<unsigned __int128>(value));
}

template <typename T>
std::vector<T> Samples() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> samples = {0,
                            1,
                            2,
                            3,
                            7,
                            8,
                            31,
                            32,
                            63,
                            64,
                            100,
                            Limits::max(),
                            Limits::min(),
                            static_cast<T>(Limits::max() - 1),
                            static_cast<T>(Limits::min() + 1),
                            static_cast<T>(-1),
                            static_cast<T>(-2),
                            static_cast<T>(-7),
                            static_cast<T>(Limits::max() / 2)};
  std::mt19937_64 random(sizeof(T));
  for (int i = 0; i < 200; ++i) samples.push_back(static_cast<T>(random()));
  return samples;
}

template <typename T>
class IntOpsTest : public testing::Test {};
using IntTypes = testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(IntOpsTest, IntTypes);

TYPED_TEST(IntOpsTest, ArithmeticWraps) {
  using T = TypeParam;
  for (const T a : Samples<T>()) {
    EXPECT_EQ(WrapNeg(a), Wrapped<T>(-Wide{a}));
    EXPECT_EQ(WrapAbs(a), Wrapped<T>(a < 0 ? -Wide{a} : Wide{a}));
    for (const T b : Samples<T>()) {
      EXPECT_EQ(WrapAdd(a, b), Wrapped<T>(Wide{a} + b));
      EXPECT_EQ(WrapSub(a, b), Wrapped<T>(Wide{a} - b));
      EXPECT_EQ(WrapMul(a, b),
                static_cast<T>(static_cast<unsigned __int128>(Wide{a}) * static_cast<unsigned __int128>(Wide{b})));
      constexpr int kBits = sizeof(T) * 8;
      if constexpr (std::is_signed_v<T>) {
        EXPECT_EQ(MulHigh(a, b), static_cast<T>((Wide{a} * b) >> kBits));
      } else {
        EXPECT_EQ(MulHigh(a, b), static_cast<T>((static_cast<unsigned __int128>(a) * b) >> kBits));
      }
      EXPECT_EQ(HalvingAdd(a, b), static_cast<T>((Wide{a} + b) >> 1));
      EXPECT_EQ(RoundingHalvingAdd(a, b), static_cast<T>((Wide{a} + b + 1) >> 1));
      EXPECT_EQ(Wide{AbsoluteDifference(a, b)}, a > b ? Wide{a} - b : Wide{b} - a);
    }
  }
}

TYPED_TEST(IntOpsTest, DivisionIsTotal) {
  using T = TypeParam;
  for (const T a : Samples<T>()) {
    EXPECT_EQ(DivTrunc(a, T{0}), static_cast<T>(-1));
    EXPECT_EQ(RemTrunc(a, T{0}), static_cast<T>(-1));
    for (const T b : Samples<T>()) {
      if (b == 0) continue;
      EXPECT_EQ(WrapAdd(WrapMul(DivTrunc(a, b), b), RemTrunc(a, b)), a);
      EXPECT_EQ(DivTrunc(a, b), Wrapped<T>(Wide{a} / b));
      EXPECT_EQ(RemTrunc(a, b), Wrapped<T>(Wide{a} % b));
      const Wide truncated = Wide{a} / b;
      EXPECT_EQ(DivFloor(a, b), Wrapped<T>(truncated - (Wide{a} % b != 0 && (a < 0) != (b < 0) ? 1 : 0)));
    }
  }
}

TYPED_TEST(IntOpsTest, ShiftsPastTheWidth) {
  using T = TypeParam;
  using U = std::make_unsigned_t<T>;
  using S = std::make_signed_t<T>;
  constexpr int kBits = sizeof(T) * 8;
  for (const T a : Samples<T>()) {
    for (int by = 0; by < 100; ++by) {
      const T amount = static_cast<T>(by);
      EXPECT_EQ(ShiftLeft(a, amount),
                by < kBits ? static_cast<T>(static_cast<unsigned __int128>(Wide{a}) << by) : T{0});
      EXPECT_EQ(ShiftRightLogical(a, amount), by < kBits ? static_cast<T>(Wide{static_cast<U>(a)} >> by) : T{0});
      EXPECT_EQ(ShiftRightArithmetic(a, amount), static_cast<T>(Wide{static_cast<S>(a)} >> by));
    }
    // A negative amount, or an unsigned one with the top bit set, is past the width.
    EXPECT_EQ(ShiftLeft(a, static_cast<T>(-1)), T{0});
    EXPECT_EQ(ShiftRightLogical(a, static_cast<T>(-1)), T{0});
    EXPECT_EQ(ShiftRightArithmetic(a, static_cast<T>(-1)), static_cast<T>(static_cast<S>(a) < 0 ? -1 : 0));
  }
}

TYPED_TEST(IntOpsTest, BitCounts) {
  using T = TypeParam;
  using U = std::make_unsigned_t<T>;
  constexpr int kBits = sizeof(T) * 8;
  for (const T a : Samples<T>()) {
    int ones = 0, leading = kBits, first = 0;
    U reversed = 0;
    for (int i = 0; i < kBits; ++i) {
      if (((static_cast<U>(a) >> i) & 1) == 0) continue;
      ++ones;
      leading = kBits - 1 - i;
      if (first == 0) first = i + 1;
      reversed = static_cast<U>(reversed | U{1} << (kBits - 1 - i));
    }
    EXPECT_EQ(PopCount(a), ones);
    EXPECT_EQ(CountLeadingZeros(a), leading);
    EXPECT_EQ(FindFirstSet(a), first);
    EXPECT_EQ(BitReverse(a), static_cast<T>(reversed));
  }
}

template <typename T, typename F>
void CheckFloatToInt() {
  using Limits = std::numeric_limits<T>;
  const bool nan_is_top_bit = sizeof(F) == 8 || sizeof(T) == 8;
  const T top_bit = static_cast<T>(Wide{1} << (sizeof(T) * 8 - 1));
  EXPECT_EQ((FloatToInt<T>(std::numeric_limits<F>::quiet_NaN())), nan_is_top_bit ? top_bit : T{0});
  EXPECT_EQ((FloatToInt<T>(std::numeric_limits<F>::infinity())), Limits::max());
  EXPECT_EQ((FloatToInt<T>(-std::numeric_limits<F>::infinity())), Limits::min());
  EXPECT_EQ((FloatToInt<T>(F{-0.0})), T{0});
  EXPECT_EQ((FloatToInt<T>(static_cast<F>(-0.75))), T{0});
  EXPECT_EQ((FloatToInt<T>(static_cast<F>(100.99))), T{100});
  EXPECT_EQ((FloatToInt<T>(static_cast<F>(-100.99))), std::is_signed_v<T> ? static_cast<T>(-100) : T{0});
  // The floats around both ends of the range.
  for (const long double end : {static_cast<long double>(Limits::max()), static_cast<long double>(Limits::min())}) {
    F x = static_cast<F>(end);
    for (int i = 0; i < 4; ++i) x = std::nextafter(x, -std::numeric_limits<F>::infinity());
    for (int i = 0; i < 9; ++i, x = std::nextafter(x, std::numeric_limits<F>::infinity())) {
      const long double whole = std::trunc(static_cast<long double>(x));
      const T want = whole > Limits::max()   ? Limits::max()
                     : whole < Limits::min() ? Limits::min()
                                             : static_cast<T>(whole);
      EXPECT_EQ(FloatToInt<T>(x), want) << std::hexfloat << x;
    }
  }
}
TYPED_TEST(IntOpsTest, FloatToIntSaturates) {
  CheckFloatToInt<TypeParam, float>();
  CheckFloatToInt<TypeParam, double>();
}

static_assert(DivTrunc(std::numeric_limits<int32_t>::min(), -1) == std::numeric_limits<int32_t>::min());
static_assert(MulHigh<int64_t>(-1, 1) == -1);

}  // namespace
}  // namespace trivet::vm
