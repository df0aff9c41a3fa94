#include "vm/numerics/tolerance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace trivet::vm {
namespace {

TEST(Tolerance, OpClassesAreInOrderAndExplained) {
  for (size_t i = 0; i < OpClasses().size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(OpClasses()[i].op_class), i);
    EXPECT_GT(std::string(OpClasses()[i].reason).size(), 10u);
  }
  EXPECT_EQ(OpClasses().size(), static_cast<size_t>(OpClass::kDotNarrow) + 1);
}

TEST(Tolerance, WhatIsRoundedOnceMustBeEqual) {
  EXPECT_TRUE(ToleranceFor(OpClass::kExact).is_exact());
  EXPECT_TRUE(ToleranceFor(OpClass::kRounded).is_exact());
  EXPECT_TRUE(ToleranceForF64(OpClass::kRounded).is_exact());
  EXPECT_FALSE(ToleranceFor(OpClass::kDivide).is_exact());
  EXPECT_TRUE(ToleranceFor(MathFunction::kFloor, FloatFormat::kF16).is_exact());
}

TEST(Tolerance, SumsGrowWithTheirTerms) {
  const double few = ToleranceFor(OpClass::kSum, 16).relative_to_terms;
  EXPECT_EQ(ToleranceFor(OpClass::kSum, 1024).relative_to_terms, 64 * few);
  EXPECT_LT(ToleranceForF64(OpClass::kSum, 1024).relative_to_terms, few);
  EXPECT_GT(ToleranceFor(OpClass::kDotTf32, 64).relative_to_terms,
            ToleranceFor(OpClass::kDotTf32x3, 64).relative_to_terms);
  EXPECT_GT(ToleranceFor(OpClass::kDotTf32x3, 64).relative_to_terms,
            ToleranceFor(OpClass::kDotIeee, 64).relative_to_terms);
}

// The bound on a sum holds for the worst orders there are: ascending against descending magnitudes.
TEST(Tolerance, CoversAReorderedSum) {
  float forwards = 0, backwards = 0, magnitudes = 0;
  for (int i = 1; i <= 10'000; ++i) {
    forwards += 1.0f / static_cast<float>(i);
    backwards += 1.0f / static_cast<float>(10'001 - i);
    magnitudes += 1.0f / static_cast<float>(i);
  }
  ASSERT_NE(forwards, backwards);
  const Tolerance tolerance = ToleranceFor(OpClass::kSum, 10'000);
  EXPECT_LE(std::fabs(forwards - backwards),
            tolerance.ulp * UlpOf(FloatFormat::kF32, forwards) + tolerance.relative_to_terms * magnitudes);
}

// exp by ex2(x * log2(e)) in f32, as a GPU tier may do it, is inside exp's tolerance, and a plain 3 ulp is not.
TEST(Tolerance, CoversTheFastExp) {
  const Tolerance tolerance = ToleranceFor(MathFunction::kExp, FloatFormat::kF32);
  double worst = 0;
  for (float x = -80; x < 80; x += 0.37f) {
    const double product = static_cast<double>(static_cast<float>(x * 1.44269504f));
    const float fast = static_cast<float>(std::exp2(product));
    const float reference = static_cast<float>(std::exp(static_cast<double>(x)));
    const double ulp = std::fabs(static_cast<double>(fast) - reference) / UlpOf(FloatFormat::kF32, reference);
    worst = std::max(worst, ulp);
    EXPECT_LE(ulp, tolerance.ulp + tolerance.ulp_per_argument * std::fabs(x)) << x;
  }
  EXPECT_GT(worst, tolerance.ulp);
}

TEST(Tolerance, UlpIsTheSpacingOfTheFormat) {
  EXPECT_EQ(UlpOf(FloatFormat::kF32, 1.0), 0x1p-23);
  EXPECT_EQ(UlpOf(FloatFormat::kF32, 1.999), 0x1p-23);
  EXPECT_EQ(UlpOf(FloatFormat::kF32, 0.0), 0x1p-149);
  EXPECT_EQ(UlpOf(FloatFormat::kF16, 65504), 32);
  EXPECT_EQ(UlpOf(FloatFormat::kF16, 1e-8), 0x1p-24);
  EXPECT_EQ(UlpOf(FloatFormat::kBF16, -256.0), 2);
  EXPECT_EQ(UlpOf(FloatFormat::kF8E4M3, 448), 32);
  EXPECT_EQ(UlpOfF64(1.0), 0x1p-52);
  EXPECT_EQ(UlpOfF64(0.0), 0x1p-1074);
  EXPECT_TRUE(std::isinf(UlpOfF64(std::numeric_limits<double>::infinity())));
}

}  // namespace
}  // namespace trivet::vm
