// Bits of constants: every element type there and back, and numbers that do not fit.
#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "vm/bytecode/builder.h"

namespace trivet::vm {
namespace {

TEST(ConstantsTest, IntegersWrapAndComeBack) {
  EXPECT_EQ(BitsOf(DType::kI8, int64_t{-1}), 0xff);
  EXPECT_EQ(IntValueOf(DType::kI8, 0xff), -1);
  EXPECT_EQ(IntValueOf(DType::kU8, 0xff), 255);
  EXPECT_EQ(BitsOf(DType::kI16, int64_t{0x12345}), 0x2345);
  EXPECT_EQ(BitsOf(DType::kI32, int64_t{-2}), 0xfffffffe);
  EXPECT_EQ(BitsOf(DType::kI64, int64_t{-2}), -2);
  EXPECT_EQ(IntValueOf(DType::kI64, INT64_MIN), INT64_MIN);
  EXPECT_EQ(BitsOf(DType::kI1, int64_t{2}), 1);
  EXPECT_EQ(IntValueOf(DType::kI1, 1), 1);
}

TEST(ConstantsTest, FloatsAsIntegersAreTruncated) {
  EXPECT_EQ(BitsOf(DType::kI32, 2.9), 2);
  EXPECT_EQ(BitsOf(DType::kI32, -2.9), 0xfffffffe);
  EXPECT_EQ(BitsOf(DType::kU64, 0x1p63), INT64_MIN);
  EXPECT_EQ(BitsOf(DType::kI32, std::numeric_limits<double>::infinity()), 0);
  EXPECT_EQ(BitsOf(DType::kI32, std::nan("")), 0);
  EXPECT_EQ(BitsOf(DType::kI1, 0.5), 1);
}

TEST(ConstantsTest, FloatsRoundOnce) {
  EXPECT_EQ(BitsOf(DType::kF32, 1.0), 0x3f800000);
  EXPECT_EQ(BitsOf(DType::kF32, 1.0 + 0x1p-24), 0x3f800000);  // a tie, to even
  EXPECT_EQ(BitsOf(DType::kF16, 65520.0), 0x7c00);            // rounds up to infinity
  EXPECT_EQ(BitsOf(DType::kF8E4M3, 1e9), 0x7e);               // saturates at 448
  EXPECT_EQ(BitsOf(DType::kF64, -0.0), INT64_MIN);
  EXPECT_EQ(BitsOf(DType::kBF16, int64_t{3}), 0x4040);
}

TEST(ConstantsTest, EveryNarrowCodeComesBack) {
  for (const DTypeInfo& info : AllDTypes()) {
    if (!IsFloat(info.dtype) || info.bits > 16) continue;
    for (int64_t bits = 0; bits < int64_t{1} << info.bits; ++bits) {
      const double value = ValueOf(info.dtype, bits);
      if (std::isnan(value)) continue;
      if (info.dtype == DType::kF8E5M2 && std::isinf(value)) continue;        // saturates
      if (info.dtype == DType::kF8E4B15 && std::abs(value) > 1.75) continue;  // clamped
      ASSERT_EQ(BitsOf(info.dtype, value), bits) << info.text;
    }
  }
}

}  // namespace
}  // namespace trivet::vm
