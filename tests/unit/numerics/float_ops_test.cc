#include "vm/numerics/float_ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace trivet::vm {
namespace {

template <typename F>
class FloatOpsTest : public testing::Test {
 protected:
  static constexpr F kInf = std::numeric_limits<F>::infinity();
  static constexpr F kNan = std::numeric_limits<F>::quiet_NaN();
  const std::vector<F> values = {F{0},
                                 -F{0},
                                 F{1},
                                 F{-1},
                                 F{2.5},
                                 kInf,
                                 -kInf,
                                 kNan,
                                 -kNan,
                                 std::numeric_limits<F>::signaling_NaN(),
                                 std::numeric_limits<F>::denorm_min(),
                                 -std::numeric_limits<F>::denorm_min(),
                                 std::numeric_limits<F>::max()};
  static bool Same(F a, F b) {
    return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
  }
  // a before b on the number line, with -0 before +0; neither is NaN.
  static bool Below(F a, F b) { return a < b || (a == b && std::signbit(a) && !std::signbit(b)); }
};
using FloatTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(FloatOpsTest, FloatTypes);

TYPED_TEST(FloatOpsTest, MinAndMax) {
  using F = TypeParam;
  for (const F a : this->values) {
    for (const F b : this->values) {
      const bool any_nan = std::isnan(a) || std::isnan(b);
      const F number = std::isnan(a) ? b : a;  // where one is NaN
      const F low = any_nan ? number : this->Below(b, a) ? b : a;
      const F high = any_nan ? number : this->Below(a, b) ? b : a;
      EXPECT_TRUE(this->Same(MinNum(a, b), low)) << a << " " << b;
      EXPECT_TRUE(this->Same(MaxNum(a, b), high)) << a << " " << b;
      EXPECT_TRUE(this->Same(MinPropagateNan(a, b), any_nan ? this->kNan : low)) << a << " " << b;
      EXPECT_TRUE(this->Same(MaxPropagateNan(a, b), any_nan ? this->kNan : high)) << a << " " << b;
    }
  }
}

TYPED_TEST(FloatOpsTest, NanResultsAreQuiet) {
  using F = TypeParam;
  using Bits = internal::BitsOf<F>;
  const F signalling = std::bit_cast<F>(static_cast<Bits>(std::bit_cast<Bits>(this->kInf) | 1));
  const F quiet = std::bit_cast<F>(static_cast<Bits>(std::bit_cast<Bits>(signalling) | internal::kQuietBit<F>));
  auto bits = [](F x) { return std::bit_cast<Bits>(x); };
  EXPECT_EQ(bits(MinNum(signalling, signalling)), bits(quiet));
  EXPECT_EQ(bits(MaxNum(signalling, signalling)), bits(quiet));
  EXPECT_EQ(bits(MinPropagateNan(signalling, F{1})), bits(quiet));
  EXPECT_EQ(bits(MaxPropagateNan(F{1}, signalling)), bits(quiet));
}

TYPED_TEST(FloatOpsTest, ClampAndSaturate) {
  using F = TypeParam;
  EXPECT_EQ(ClampNum(F{5}, F{-1}, F{2}), F{2});
  EXPECT_EQ(ClampNum(F{-5}, F{-1}, F{2}), F{-1});
  EXPECT_EQ(ClampNum(this->kNan, F{-1}, F{2}), F{-1});
  EXPECT_TRUE(std::isnan(ClampPropagateNan(this->kNan, F{-1}, F{2})));
  EXPECT_EQ(ClampNum(F{0}, F{3}, F{2}), F{2});
  EXPECT_EQ(SaturateToUnit(this->kNan), F{0});
  EXPECT_EQ(SaturateToUnit(F{7}), F{1});
  EXPECT_EQ(SaturateToUnit(F{0.5}), F{0.5});
  EXPECT_FALSE(std::signbit(SaturateToUnit(-F{0})));
}

TYPED_TEST(FloatOpsTest, SignsTouchOneBit) {
  using F = TypeParam;
  for (const F a : this->values) {
    EXPECT_FALSE(std::signbit(Magnitude(a)));
    EXPECT_NE(std::signbit(Negated(a)), std::signbit(a));
    if (std::isnan(a)) continue;
    EXPECT_EQ(Magnitude(a), std::fabs(a));
    EXPECT_EQ(Negated(a), -a);
  }
}

}  // namespace
}  // namespace trivet::vm
