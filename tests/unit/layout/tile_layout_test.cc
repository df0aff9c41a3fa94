// Tile layouts: the example of the header, and each operation against what it means for the coordinates of elements.

#include "jit/layout/tile_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "jit/layout/draw.h"
#include "tests/unit/layout/layout_families.h"

namespace trivet::jit {
namespace {

const std::vector<Extents>& Shapes() {
  static const auto& shapes =
      *new std::vector<Extents>{{}, {1}, {64}, {4, 8}, {16, 1}, {32, 16}, {2, 8, 4}, {4, 1, 16}};
  return shapes;
}

std::vector<TileLayout> Family() {
  std::mt19937 random(4);
  std::vector<TileLayout> out;
  for (const Extents& shape : Shapes()) {
    for (int num_warps : {1, 4}) {
      for (TileLayout& layout : BlockedFamily(shape, num_warps)) out.push_back(std::move(layout));
      for (int i = 0; i < 5; ++i) out.push_back(RandomLayout(shape, num_warps, random));
    }
  }
  return out;
}

std::vector<int64_t> Coordinates(const TileLayout& layout, uint32_t element) {
  std::vector<int64_t> out;
  for (int axis = 0; axis < layout.rank(); ++axis) out.push_back(layout.Coordinate(element, axis));
  return out;
}

// Row-major index, the slow way.
uint32_t IndexOf(const Extents& shape, const std::vector<int64_t>& coordinates) {
  int64_t index = 0;
  for (size_t i = 0; i < shape.size(); ++i) index = index * shape[i] + coordinates[i];
  return static_cast<uint32_t>(index);
}

TEST(TileLayout, TheHeadersExample) {
  // Two registers along a row, then lanes, then warps over rows; lanes 4 and up have copies.
  const TileLayout layout({4, 8}, {1}, {2, 4, 0, 0, 0}, {8, 16});
  EXPECT_EQ(layout.Element(1, 3 + 2 * kWarpSize), 23u);
  EXPECT_EQ(layout.Coordinate(23, 0), 2);
  EXPECT_EQ(layout.Coordinate(23, 1), 7);
  EXPECT_EQ(layout.FreeThreadBits(), 0b11100u);
  EXPECT_EQ(layout.ToString(), "4x8 registers {1} lanes {2, 4, 0, 0, 0} warps {8, 16}");
}

TEST(TileLayout, EveryElementIsSomewhereAndCoordinatesAreRowMajor) {
  for (const TileLayout& layout : Family()) {
    SCOPED_TRACE(layout.ToString());
    std::set<uint32_t> seen;
    const LinearLayout map = layout.Map();
    for (int thread = 0; thread < kWarpSize * layout.num_warps(); ++thread) {
      for (int reg = 0; reg < layout.num_registers(); ++reg) {
        const uint32_t element = layout.Element(reg, thread);
        seen.insert(element);
        ASSERT_EQ(map.Apply(static_cast<uint32_t>(reg + thread * layout.num_registers())), element);
        ASSERT_EQ(IndexOf(layout.shape(), Coordinates(layout, element)), element);
      }
      ASSERT_EQ(layout.ThreadElement(thread),
                layout.ThreadElement(thread & ~static_cast<int>(layout.FreeThreadBits())));
    }
    EXPECT_EQ(static_cast<int64_t>(seen.size()), layout.num_elements());
    for (int reg = 0; reg < layout.num_registers(); ++reg) {
      const int found = layout.FindRegister(layout.RegisterElement(reg));
      ASSERT_GE(found, 0);
      EXPECT_EQ(layout.RegisterElement(found), layout.RegisterElement(reg));
    }
    EXPECT_EQ(layout.HasFreeRegisters(), [&] {
      std::set<uint32_t> elements;
      for (int reg = 0; reg < layout.num_registers(); ++reg) elements.insert(layout.RegisterElement(reg));
      return elements.size() < static_cast<size_t>(layout.num_registers());
    }());
  }
}

TEST(TileLayout, BlockedIsVectorsThenLanesThenWarps) {
  const TileLayout rows = TileLayout::Blocked({16, 64}, {.order = {1, 0}, .vector_elements = 4, .num_warps = 2});
  EXPECT_EQ(rows.ToString(), "16x64 registers {1, 2, 256, 512} lanes {4, 8, 16, 32, 64} warps {128}");
  EXPECT_EQ(rows.VectorLength(1), 4);
  EXPECT_EQ(rows.VectorLength(0), 1);
  const TileLayout columns = TileLayout::Blocked({16, 64}, {.order = {0, 1}, .vector_elements = 2, .num_warps = 2});
  EXPECT_EQ(columns.ToString(), "16x64 registers {64, 8, 16, 32} lanes {128, 256, 512, 1, 2} warps {4}");
  EXPECT_EQ(columns.VectorLength(0), 2);
  const TileLayout small = TileLayout::Blocked({8}, {.order = {0}, .vector_elements = 16, .num_warps = 4});
  EXPECT_EQ(small.ToString(), "8 registers {1, 2, 4} lanes {0, 0, 0, 0, 0} warps {0, 0}");
  EXPECT_EQ(small.FreeThreadBits(), 0b1111111u);
}

TEST(TileLayout, TransposingPermutesCoordinates) {
  for (const TileLayout& layout : Family()) {
    std::vector<int64_t> order(static_cast<size_t>(layout.rank()));
    std::iota(order.begin(), order.end(), 0);
    do {
      const TileLayout transposed = layout.Transposed(order);
      SCOPED_TRACE(layout.ToString() + " to " + transposed.ToString());
      for (int thread = 0; thread < kWarpSize * layout.num_warps(); thread += 7) {
        for (int reg = 0; reg < layout.num_registers(); ++reg) {
          const std::vector<int64_t> before = Coordinates(layout, layout.Element(reg, thread));
          const std::vector<int64_t> after = Coordinates(transposed, transposed.Element(reg, thread));
          for (size_t i = 0; i < order.size(); ++i) ASSERT_EQ(after[i], before[static_cast<size_t>(order[i])]);
        }
      }
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST(TileLayout, ReshapingKeepsTheIndex) {
  const TileLayout layout = TileLayout::Blocked({4, 16}, {.order = {0, 1}, .vector_elements = 2, .num_warps = 1});
  const TileLayout reshaped = layout.Reshaped({2, 32});
  for (int thread = 0; thread < kWarpSize; ++thread) EXPECT_EQ(reshaped.Element(1, thread), layout.Element(1, thread));
  EXPECT_EQ(reshaped.shape(), (Extents{2, 32}));
}

TEST(TileLayout, SlicingDropsOneCoordinate) {
  for (const TileLayout& layout : Family()) {
    for (int axis = 0; axis < layout.rank(); ++axis) {
      const TileLayout collapsed = layout.Collapsed(axis);
      const TileLayout slice = layout.WithoutAxis(axis);
      SCOPED_TRACE(layout.ToString() + " to " + collapsed.ToString());
      EXPECT_FALSE(collapsed.HasFreeRegisters());
      EXPECT_EQ(slice.rank(), layout.rank() - 1);
      std::set<std::vector<int64_t>> before, after;
      for (int thread : {0, 5, 31, kWarpSize * layout.num_warps() - 1}) {
        before.clear(), after.clear();
        for (int reg = 0; reg < layout.num_registers(); ++reg) {
          std::vector<int64_t> coordinates = Coordinates(layout, layout.Element(reg, thread));
          coordinates.erase(coordinates.begin() + axis);
          before.insert(coordinates);
        }
        for (int reg = 0; reg < slice.num_registers(); ++reg) {
          const std::vector<int64_t> coordinates = Coordinates(slice, slice.Element(reg, thread));
          after.insert(coordinates);
          std::vector<int64_t> with_axis = Coordinates(collapsed, collapsed.Element(reg, thread));
          EXPECT_EQ(with_axis[static_cast<size_t>(axis)], 0);
          with_axis.erase(with_axis.begin() + axis);
          EXPECT_EQ(with_axis, coordinates);
        }
        EXPECT_EQ(after, before) << "thread " << thread;
      }
    }
  }
}

TEST(DrawLayout, Pictures) {
  EXPECT_EQ(DrawLayout(TileLayout({2, 4}, {1}, {2, 4, 0, 0, 0}, {})),
            "t0:0x8 t0:1x8 t1:0x8 t1:1x8\n"
            "t2:0x8 t2:1x8 t3:0x8 t3:1x8\n");
  EXPECT_EQ(DrawLayout(TileLayout({32}, {}, {1, 2, 4, 8, 16}, {}).Reshaped({8, 2, 2})).substr(0, 41),
            "[0, :, :]\nt0:0  t1:0\nt2:0  t3:0\n[1, :, :]");
  EXPECT_EQ(DrawLayout(TileLayout({}, {}, {0, 0, 0, 0, 0}, {})), "t0:0x32\n");
}

}  // namespace
}  // namespace trivet::jit
