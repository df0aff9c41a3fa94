// The examples of the header, and the laws of linear maps over random ones, checked by enumeration.

#include "jit/layout/linear_layout.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <set>
#include <vector>

namespace trivet::jit {
namespace {

LinearLayout Random(int in_bits, int out_bits, std::mt19937& random) {
  std::vector<uint32_t> bases;
  for (int i = 0; i < in_bits; ++i) bases.push_back(static_cast<uint32_t>(random()) & ((uint32_t{1} << out_bits) - 1));
  return LinearLayout(bases, out_bits);
}

std::set<uint32_t> ImageOf(const LinearLayout& layout) {
  std::set<uint32_t> image;
  for (uint32_t x = 0; x < uint32_t{1} << layout.in_bits(); ++x) image.insert(layout.Apply(x));
  return image;
}

TEST(LinearLayout, TheHeadersSwizzle) {
  const LinearLayout swizzle({1, 2, 5, 10}, 4);
  const uint32_t table[4][4] = {{0, 1, 2, 3}, {5, 4, 7, 6}, {0xa, 0xb, 8, 9}, {0xf, 0xe, 0xd, 0xc}};
  for (uint32_t row = 0; row < 4; ++row) {
    for (uint32_t column = 0; column < 4; ++column) {
      EXPECT_EQ(swizzle.Apply(4 * row + column), table[row][column]);
      EXPECT_EQ(swizzle.Apply(4 * row + column), 4 * row + (column ^ row));
    }
  }
  EXPECT_EQ(swizzle.Inverse(), swizzle);
  EXPECT_TRUE(swizzle.IsBijective());
  EXPECT_FALSE(swizzle.IsPermutation());
  EXPECT_EQ(swizzle.ToString(), "4 -> 4 bits {1, 2, 5, 10}");
}

TEST(LinearLayout, TheHeadersFreeVariables) {
  const LinearLayout layout({1, 0, 2, 3}, 2);
  EXPECT_EQ(layout.Rank(), 2);
  EXPECT_EQ(layout.FreeInputs(), 0b1010u);
  EXPECT_EQ(layout.Kernel(), (std::vector<uint32_t>{0b0010, 0b1101}));
  EXPECT_EQ(layout.Solve(3), 0b0101u);
}

TEST(LinearLayout, Identities) {
  EXPECT_EQ(LinearLayout::Identity(3), LinearLayout({1, 2, 4}, 3));
  EXPECT_TRUE(LinearLayout::Identity(5).IsPermutation());
  EXPECT_TRUE(LinearLayout({4, 1, 2}, 3).IsPermutation());
  EXPECT_FALSE(LinearLayout({4, 1}, 3).IsPermutation()) << "not onto";
  EXPECT_FALSE(LinearLayout({1, 1}, 2).IsPermutation());
  EXPECT_FALSE(LinearLayout({0, 1}, 1).IsPermutation());
  EXPECT_EQ(LinearLayout().Rank(), 0);
  EXPECT_TRUE(LinearLayout().IsBijective());
  EXPECT_EQ(LinearLayout({1, 2}, 2).Beside(LinearLayout({3}, 2)), LinearLayout({1, 2, 3}, 2));
  EXPECT_NE(LinearLayout({1}, 1), LinearLayout({1}, 2)) << "the codomain counts";
}

TEST(LinearLayout, LawsOfRandomMaps) {
  std::mt19937 random(8);
  for (int i = 0; i < 500; ++i) {
    const int inner_bits = static_cast<int>(random() % 8), bits = static_cast<int>(random() % 8);
    const int out_bits = static_cast<int>(random() % 8);
    const LinearLayout inner = Random(inner_bits, bits, random), outer = Random(bits, out_bits, random);
    SCOPED_TRACE(outer.ToString() + " after " + inner.ToString());
    const LinearLayout both = outer.After(inner);
    for (uint32_t x = 0; x < uint32_t{1} << inner_bits; ++x) {
      ASSERT_EQ(both.Apply(x), outer.Apply(inner.Apply(x)));
      const uint32_t y = static_cast<uint32_t>(random()) & ((uint32_t{1} << inner_bits) - 1);
      ASSERT_EQ(inner.Apply(x ^ y), inner.Apply(x) ^ inner.Apply(y));
    }

    const std::set<uint32_t> image = ImageOf(outer);
    ASSERT_EQ(image.size(), size_t{1} << outer.Rank());
    EXPECT_EQ(outer.IsInjective(), image.size() == size_t{1} << bits);
    EXPECT_EQ(outer.IsSurjective(), image.size() == size_t{1} << out_bits);
    EXPECT_EQ(outer.Rank() + std::popcount(outer.FreeInputs()), bits);
    EXPECT_EQ(outer.Kernel().size(), static_cast<size_t>(std::popcount(outer.FreeInputs())));
    for (uint32_t x : outer.Kernel()) {
      EXPECT_NE(x, 0u);
      EXPECT_EQ(outer.Apply(x), 0u);
    }
    for (uint32_t y = 0; y < uint32_t{1} << out_bits; ++y) {
      const std::optional<uint32_t> x = outer.Solve(y);
      ASSERT_EQ(x.has_value(), image.contains(y));
      if (!x) continue;
      EXPECT_EQ(outer.Apply(*x), y);
      EXPECT_EQ(*x & outer.FreeInputs(), 0u);
    }
    const std::optional<LinearLayout> right = outer.RightInverse();
    ASSERT_EQ(right.has_value(), outer.IsSurjective());
    if (right) {
      EXPECT_EQ(outer.After(*right), LinearLayout::Identity(out_bits));
    }
    const std::optional<LinearLayout> inverse = outer.Inverse();
    ASSERT_EQ(inverse.has_value(), outer.IsBijective());
    if (inverse) {
      EXPECT_EQ(inverse->After(outer), LinearLayout::Identity(bits));
    }
  }
}

}  // namespace
}  // namespace trivet::jit
