// Fragments against the formulas of the PTX ISA, written down here as they stand there: row and column of element i of
// lane l. The layouts are built from bits, so the two have nothing in common.

#include "jit/layout/mma_layouts.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <set>
#include <utility>
#include <vector>

namespace trivet::jit {
namespace {

using RowColumn = std::pair<int, int>;
using Formula = std::function<RowColumn(int lane, int i)>;

struct Fragment {
  Formula a, b, c;
  int a_elements, b_elements, c_elements;
};

// PTX ISA, sections "Matrix Fragments for mma.m8n8k4 with .f64", "mma.m16n8k8" (tf32), "mma.m16n8k16 with floating
// point type", "mma.m16n8k32": groupID = %laneid >> 2, threadID_in_group = %laneid % 4.
Fragment FragmentOf(MmaKind kind) {
  const Formula c16x8 = [](int lane, int i) {
    return RowColumn{i < 2 ? lane / 4 : lane / 4 + 8, lane % 4 * 2 + (i & 1)};
  };
  switch (kind) {
    case MmaKind::kHalf:
      return {.a =
                  [](int lane, int i) {
                    const int row = i < 2 || (i >= 4 && i < 6) ? lane / 4 : lane / 4 + 8;
                    return RowColumn{row, i < 4 ? lane % 4 * 2 + (i & 1) : lane % 4 * 2 + (i & 1) + 8};
                  },
              .b =
                  [](int lane, int i) {
                    return RowColumn{i < 2 ? lane % 4 * 2 + (i & 1) : lane % 4 * 2 + (i & 1) + 8, lane / 4};
                  },
              .c = c16x8,
              .a_elements = 8,
              .b_elements = 4,
              .c_elements = 4};
    case MmaKind::kTf32:
      return {.a =
                  [](int lane, int i) {
                    return RowColumn{i == 0 || i == 2 ? lane / 4 : lane / 4 + 8, i < 2 ? lane % 4 : lane % 4 + 4};
                  },
              .b =
                  [](int lane, int i) {
                    return RowColumn{i == 0 ? lane % 4 : lane % 4 + 4, lane / 4};
                  },
              .c = c16x8,
              .a_elements = 4,
              .b_elements = 2,
              .c_elements = 4};
    case MmaKind::kByte:
      return {.a =
                  [](int lane, int i) {
                    const int row = i < 4 || (i >= 8 && i < 12) ? lane / 4 : lane / 4 + 8;
                    return RowColumn{row, i < 8 ? lane % 4 * 4 + (i & 3) : lane % 4 * 4 + (i & 3) + 16};
                  },
              .b =
                  [](int lane, int i) {
                    return RowColumn{i < 4 ? lane % 4 * 4 + (i & 3) : lane % 4 * 4 + (i & 3) + 16, lane / 4};
                  },
              .c = c16x8,
              .a_elements = 16,
              .b_elements = 8,
              .c_elements = 4};
    case MmaKind::kDouble:
      return {.a =
                  [](int lane, int) {
                    return RowColumn{lane / 4, lane % 4};
                  },
              .b =
                  [](int lane, int) {
                    return RowColumn{lane % 4, lane / 4};
                  },
              .c =
                  [](int lane, int i) {
                    return RowColumn{lane / 4, lane % 4 * 2 + (i & 1)};
                  },
              .a_elements = 1,
              .b_elements = 1,
              .c_elements = 2};
  }
  return {};
}

constexpr MmaKind kKinds[] = {MmaKind::kHalf, MmaKind::kTf32, MmaKind::kByte, MmaKind::kDouble};

RowColumn Place(const TileLayout& layout, int reg, int thread) {
  const uint32_t element = layout.Element(reg, thread);
  const int rank = layout.rank();
  return {static_cast<int>(layout.Coordinate(element, rank - 2)),
          static_cast<int>(layout.Coordinate(element, rank - 1))};
}

// Registers [first, first + count) of each lane of `warp` are the instruction's fragment at (row, column).
void ExpectFragment(const TileLayout& layout, const Formula& formula, int count, int warp, int first, int row,
                    int column) {
  for (int lane = 0; lane < kWarpSize; ++lane) {
    for (int i = 0; i < count; ++i) {
      RowColumn expected = formula(lane, i);
      expected.first += row;
      expected.second += column;
      ASSERT_EQ(Place(layout, first + i, warp * kWarpSize + lane), expected)
          << layout.ToString() << " lane " << lane << " element " << i << " warp " << warp;
    }
  }
}

TEST(MmaLayouts, OneInstruction) {
  for (MmaKind kind : kKinds) {
    const MmaSize size = InstructionSize(kind);
    const Fragment fragment = FragmentOf(kind);
    const TileLayout a = MmaOperandA({size.m, size.k}, {}, kind);
    const TileLayout b = MmaOperandB({size.k, size.n}, {}, kind);
    const TileLayout c = MmaResult({size.m, size.n}, {}, kind);
    EXPECT_EQ(a.num_registers(), fragment.a_elements);
    EXPECT_EQ(b.num_registers(), fragment.b_elements);
    EXPECT_EQ(c.num_registers(), fragment.c_elements);
    ExpectFragment(a, fragment.a, fragment.a_elements, 0, 0, 0, 0);
    ExpectFragment(b, fragment.b, fragment.b_elements, 0, 0, 0, 0);
    ExpectFragment(c, fragment.c, fragment.c_elements, 0, 0, 0, 0);
  }
}

// Register groups in the order that the header promises, two repetitions each way, two warps each way.
TEST(MmaLayouts, RepetitionsAndWarps) {
  for (MmaKind kind : kKinds) {
    const MmaSize size = InstructionSize(kind);
    const Fragment fragment = FragmentOf(kind);
    const int64_t m = 4 * size.m, n = 8 * size.n, k = 2 * size.k;
    const MmaWarps warps = {.m = 2, .n = 2};
    const TileLayout a = MmaOperandA({m, k}, warps, kind);
    const TileLayout b = MmaOperandB({k, n}, warps, kind);
    const TileLayout c = MmaResult({m, n}, warps, kind);
    for (int warp = 0; warp < 4; ++warp) {
      const int warp_m = warp % 2, warp_n = warp / 2;
      for (int rep_m = 0; rep_m < 2; ++rep_m) {
        for (int rep_k = 0; rep_k < 2; ++rep_k) {
          ExpectFragment(a, fragment.a, fragment.a_elements, warp, (rep_m * 2 + rep_k) * fragment.a_elements,
                         (rep_m * 2 + warp_m) * size.m, rep_k * size.k);
        }
        for (int rep_n = 0; rep_n < 4; ++rep_n) {
          ExpectFragment(c, fragment.c, fragment.c_elements, warp, (rep_m * 4 + rep_n) * fragment.c_elements,
                         (rep_m * 2 + warp_m) * size.m, (rep_n * 2 + warp_n) * size.n);
        }
      }
      for (int rep_n = 0; rep_n < 4; ++rep_n) {
        for (int rep_k = 0; rep_k < 2; ++rep_k) {
          ExpectFragment(b, fragment.b, fragment.b_elements, warp, (rep_n * 2 + rep_k) * fragment.b_elements,
                         rep_k * size.k, (rep_n * 2 + warp_n) * size.n);
        }
      }
    }
    EXPECT_EQ(a.FreeThreadBits(), 2u << kLaneBits);
    EXPECT_EQ(b.FreeThreadBits(), 1u << kLaneBits);
    EXPECT_EQ(c.FreeThreadBits(), 0u);
  }
}

TEST(MmaLayouts, BatchComesLast) {
  const MmaWarps warps = {.m = 2, .batch = 2};
  const TileLayout one = MmaResult({32, 16}, {.m = 2}, MmaKind::kHalf);
  const TileLayout four = MmaResult({4, 32, 16}, warps, MmaKind::kHalf);
  EXPECT_EQ(four.num_registers(), 2 * one.num_registers());
  for (int reg = 0; reg < four.num_registers(); ++reg) {
    for (int thread = 0; thread < 128; ++thread) {
      const uint32_t batch = static_cast<uint32_t>(thread / 64 + 2 * (reg / one.num_registers()));
      EXPECT_EQ(four.Element(reg, thread), batch * 512 + one.Element(reg % one.num_registers(), thread % 64));
    }
  }
}

TEST(MmaLayouts, WarpsAreSpreadEvenly) {
  const auto spread = [](std::vector<int64_t> shape, int num_warps, MmaKind kind = MmaKind::kHalf) {
    const MmaWarps warps = SpreadWarps(shape, num_warps, kind);
    return std::array{warps.m, warps.n, warps.batch};
  };
  EXPECT_EQ(spread({128, 128}, 4), (std::array{2, 2, 1}));
  EXPECT_EQ(spread({64, 256}, 4), (std::array{1, 4, 1}));
  EXPECT_EQ(spread({16, 64}, 4), (std::array{1, 4, 1}));
  EXPECT_EQ(spread({256, 32}, 8), (std::array{8, 1, 1}));
  EXPECT_EQ(spread({2, 64, 64}, 8), (std::array{2, 2, 2}));
  EXPECT_EQ(spread({16, 8}, 4), (std::array{4, 1, 1})) << "copies, since there is no more work";
}

TEST(MmaLayouts, TooManyWarpsHaveCopies) {
  const TileLayout c = MmaResult({16, 8}, {.m = 4}, MmaKind::kHalf);
  EXPECT_EQ(c.num_warps(), 4);
  EXPECT_EQ(c.num_registers(), 4);
  EXPECT_EQ(c.FreeThreadBits(), 3u << kLaneBits);
}

// PTX ISA, "Matrix fragments for wgmma.mma_async.m64nNk16", D: warp w of the warpgroup holds rows 16 w + lane / 4 (+
// 8); d[i] of columns 8 (i / 4) + 2 (lane % 4) + i % 2, the second pair of each four in the rows + 8.
TEST(WgmmaLayouts, ResultIsTheFragment) {
  const TileLayout d = WgmmaResult({128, 512}, {.m = 2, .n = 2}, 128);
  for (int warp = 0; warp < 16; ++warp) {
    const int group_m = warp / 4 % 2, group_n = warp / 8;
    for (int rep = 0; rep < 2; ++rep) {
      const Formula formula = [](int lane, int i) {
        return RowColumn{lane / 4 + 8 * (i / 2 % 2), 8 * (i / 4) + lane % 4 * 2 + i % 2};
      };
      ExpectFragment(d, formula, 64, warp, rep * 64, 64 * group_m + 16 * (warp % 4), 256 * rep + 128 * group_n);
    }
  }
}

TEST(WgmmaLayouts, OperandAIsThatOfMma) {
  for (MmaKind kind : {MmaKind::kHalf, MmaKind::kTf32, MmaKind::kByte}) {
    const MmaSize size = InstructionSize(kind);
    const Fragment fragment = FragmentOf(kind);
    const TileLayout a = WgmmaOperandA({128, 2 * size.k}, {.n = 2}, kind);
    for (int warp = 0; warp < 8; ++warp) {
      for (int rep = 0; rep < 4; ++rep) {
        ExpectFragment(a, fragment.a, fragment.a_elements, warp, rep * fragment.a_elements,
                       64 * (rep / 2) + 16 * (warp % 4), rep % 2 * size.k);
      }
    }
  }
}

// Swizzle as the PTX ISA and TMA have it: address bits [4, 4 + b) ^= bits [7, 7 + b), for 128, 64, 32 bytes and b = 3,
// 2, 1.
int64_t Swizzled(int64_t byte, int row_bytes) {
  const int64_t mask = row_bytes / 16 - 1;
  return byte ^ ((byte >> 7 & mask) << 4);
}

TEST(WgmmaLayouts, SharedOperandsAreSwizzledRows) {
  for (int element_bits : {8, 16, 32}) {
    const int bytes = element_bits / 8;
    for (int64_t mn : {8, 64, 256}) {
      for (int64_t k : {32 / bytes, 64 / bytes, 128 / bytes, 512 / bytes}) {
        for (bool is_transposed : {false, true}) {
          if (is_transposed && element_bits != 16) continue;
          for (bool is_a : {true, false}) {
            const int k_axis = is_a ? 1 : 0;
            const Extents shape = is_a ? Extents{mn, k} : Extents{k, mn};
            const WgmmaSharedLayout layout =
                WgmmaOperandInShared(shape, k_axis, is_transposed ? 1 - k_axis : k_axis, element_bits);
            const int64_t width = (is_transposed ? mn : k) * bytes, rows = is_transposed ? k : mn;
            EXPECT_EQ(layout.row_bytes, std::min<int64_t>(128, width));
            EXPECT_EQ(layout.swizzle_code, layout.row_bytes == 128  ? 1
                                           : layout.row_bytes == 64 ? 2
                                           : layout.row_bytes == 32 ? 3
                                                                    : 0);
            EXPECT_TRUE(layout.offsets.IsBijective() || bytes > 1);
            EXPECT_TRUE(layout.offsets.IsInjective());
            EXPECT_EQ(layout.bytes, mn * k * bytes);
            for (int64_t i = 0; i < mn; ++i) {
              for (int64_t j = 0; j < k; ++j) {
                const int64_t along = (is_transposed ? i : j) * bytes, row = is_transposed ? j : i;
                const int64_t panel = along / layout.row_bytes;
                const int64_t byte =
                    panel * rows * layout.row_bytes + row * layout.row_bytes + along % layout.row_bytes;
                const int64_t index = is_a ? i * k + j : j * mn + i;
                ASSERT_EQ(layout.offsets.Apply(static_cast<uint32_t>(index)), Swizzled(byte, layout.row_bytes))
                    << i << " " << j;
                EXPECT_EQ(layout.OffsetOf(i, j), byte);
              }
            }
          }
        }
      }
    }
  }
}

// How the hardware reads an operand of one instruction, from the fields of the descriptor: core matrices of eight rows
// of 16 bytes, put together as the table "Strides" of the PTX ISA says, then the swizzle over the address.
int64_t HardwareByte(const WgmmaSharedLayout& layout, int64_t start, int64_t mn, int64_t k) {
  const int64_t row_bytes = layout.row_bytes;
  int64_t byte;
  if (!layout.is_transposed) {
    const int64_t along = k * layout.element_bytes;
    if (row_bytes == 16) {
      byte = along / 16 * layout.leading_offset + mn / 8 * layout.stride_offset + mn % 8 * 16 + along % 16;
    } else {
      byte = mn / 8 * layout.stride_offset + mn % 8 * row_bytes + along;
    }
  } else {
    const int64_t along = mn * layout.element_bytes;
    if (row_bytes == 16) {
      byte = along / 16 * layout.stride_offset + k / 8 * layout.leading_offset + k % 8 * 16 + along % 16;
    } else {
      byte = along / row_bytes * layout.leading_offset + k / 8 * layout.stride_offset + k % 8 * row_bytes +
             along % row_bytes;
    }
  }
  return Swizzled(start + byte, static_cast<int>(row_bytes));
}

TEST(WgmmaLayouts, DescriptorsFindEveryElement) {
  for (bool is_transposed : {false, true}) {
    for (int64_t mn : {8, 16, 32, 64, 128}) {
      for (int64_t k : {16, 32, 64, 128}) {
        const WgmmaSharedLayout layout = WgmmaOperandInShared({mn, k}, 1, is_transposed ? 0 : 1, 16);
        const int64_t instruction_mn = std::min<int64_t>(mn, 64);
        for (int64_t i = 0; i < mn; ++i) {
          for (int64_t j = 0; j < k; ++j) {
            const int64_t first_i = i / instruction_mn * instruction_mn, first_j = j / 16 * 16;
            EXPECT_EQ(HardwareByte(layout, layout.OffsetOf(first_i, first_j), i - first_i, j - first_j),
                      layout.offsets.Apply(static_cast<uint32_t>(i * k + j)))
                << is_transposed << " " << mn << "x" << k << " at " << i << " " << j;
          }
        }
      }
    }
  }
}

TEST(WgmmaLayouts, DescriptorConstants) {
  // The constants of two measured kernels: A [128, 64] with K contiguous, B [64, 256] with N contiguous.
  const WgmmaSharedLayout a = WgmmaOperandInShared({128, 64}, 1, 1, 16);
  EXPECT_EQ(a.DescriptorBits(), uint64_t{1} << 62 | uint64_t{64} << 32 | uint64_t{1} << 16);
  EXPECT_EQ(a.OffsetOf(64, 0), 8192);
  EXPECT_EQ(a.OffsetOf(0, 16), 32);
  const WgmmaSharedLayout b = WgmmaOperandInShared({64, 256}, 0, 1, 16);
  EXPECT_EQ(b.DescriptorBits(), uint64_t{1} << 62 | uint64_t{64} << 32 | uint64_t{512} << 16);
  EXPECT_EQ(b.OffsetOf(0, 16), 2048);
  EXPECT_EQ(b.OffsetOf(64, 0), 8192);
}

}  // namespace
}  // namespace trivet::jit
