// Every plan is carried out on the CPU (run_conversion.h): over all pairs of many small layouts, and over random ones.
// Then how good the plans are: kinds, shuffles and bank conflicts of the cases that matter.

#include "jit/layout/conversion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "jit/layout/mma_layouts.h"
#include "tests/unit/layout/layout_families.h"
#include "tests/unit/layout/run_conversion.h"

namespace trivet::jit {
namespace {

std::string Describe(const ConversionPlan& plan, const TileLayout& from, const TileLayout& to, int element_bits) {
  return absl::StrCat(element_bits, " bits, from ", from.ToString(), "\n to ", to.ToString(), "\n by ",
                      plan.ToString());
}

// How often what was chosen: a test that never meets a kind shows nothing.
struct Counts {
  std::map<ConversionKind, int> kinds;
  std::map<ScratchAccess::Instruction, int> stores, loads;
};

void ExpectRight(const TileLayout& from, const TileLayout& to, int element_bits, Counts* counts) {
  const ConversionPlan plan = PlanConversion(from, to, element_bits);
  ++counts->kinds[plan.kind];
  EXPECT_EQ(RunConversion(plan, from, to, element_bits), "") << Describe(plan, from, to, element_bits);
  EXPECT_EQ(SharedBytes(plan) > 0, plan.kind == ConversionKind::kShared);
  // The other ways must be right too.
  if (plan.kind == ConversionKind::kShuffles) {
    const ConversionPlan shared = PlanConversion(from, to, element_bits, {.allow_shuffles = false});
    EXPECT_EQ(RunConversion(shared, from, to, element_bits), "") << Describe(shared, from, to, element_bits);
  }
  if (element_bits == 16) {
    const ConversionPlan matrix = PlanConversion(
        from, to, element_bits, {.allow_shuffles = false, .allow_ldmatrix = true, .allow_stmatrix = true});
    EXPECT_EQ(RunConversion(matrix, from, to, element_bits), "") << Describe(matrix, from, to, element_bits);
    ++counts->stores[matrix.shared.store.instruction];
    ++counts->loads[matrix.shared.load.instruction];
  }
}

TEST(Conversion, AllPairsOfSmallLayouts) {
  Counts counts;
  for (const Extents& shape : std::vector<Extents>{{}, {1}, {8}, {64}, {1024}, {4, 8}, {16, 32}, {2, 4, 16}}) {
    for (int num_warps : {1, 4}) {
      const std::vector<TileLayout> layouts = SmallFamily(shape, num_warps);
      int element_bits = 8;  // a different width each time: all of them in the end
      for (const TileLayout& from : layouts) {
        for (const TileLayout& to : layouts) {
          ExpectRight(from, to, element_bits, &counts);
          element_bits = element_bits == 64 ? 1 : element_bits == 1 ? 8 : 2 * element_bits;
          if (HasFailure()) return;
        }
      }
    }
  }
  for (ConversionKind kind :
       {ConversionKind::kNone, ConversionKind::kRegisters, ConversionKind::kShuffles, ConversionKind::kShared}) {
    EXPECT_GT(counts.kinds[kind], 50) << static_cast<int>(kind);
  }
}

TEST(Conversion, RandomLayouts) {
  std::mt19937 random(2026);
  Counts counts;
  const std::vector<Extents> shapes = {{2}, {32}, {128}, {16, 16}, {8, 64}, {4, 8, 32}};
  for (int i = 0; i < 4000; ++i) {
    const Extents& shape = shapes[static_cast<size_t>(i) % shapes.size()];
    const int num_warps = 1 << (i / 7 % 4);
    const TileLayout from = RandomLayout(shape, num_warps, random);
    TileLayout to = RandomLayout(shape, num_warps, random);
    // Half of the time nothing crosses warps, or there would be few shuffles.
    if (i % 2 == 0) {
      std::vector<uint32_t> bases = from.register_bases();
      bases.insert(bases.end(), from.lane_bases().begin(), from.lane_bases().end());
      std::shuffle(bases.begin(), bases.end(), random);
      to = TileLayout(shape, {bases.begin() + kLaneBits, bases.end()}, {bases.begin(), bases.begin() + kLaneBits},
                      from.warp_bases());
    }
    ExpectRight(from, to, 8 << (i / 3 % 4), &counts);
    if (HasFailure()) return;
  }
  EXPECT_GT(counts.kinds[ConversionKind::kShuffles], 500);
  EXPECT_GT(counts.kinds[ConversionKind::kShared], 500);
  for (auto instruction : {ScratchAccess::Instruction::kVector, ScratchAccess::Instruction::kMatrix,
                           ScratchAccess::Instruction::kMatrixTransposed}) {
    EXPECT_GT(counts.stores[instruction], 20) << static_cast<int>(instruction);
    EXPECT_GT(counts.loads[instruction], 20) << static_cast<int>(instruction);
  }
}

TEST(Conversion, RoundsKeepTheScratchMemorySmall) {
  const Extents shape = {64, 128};
  const TileLayout rows = TileLayout::Blocked(shape, {.order = {1, 0}, .vector_elements = 4, .num_warps = 1});
  const TileLayout columns = TileLayout::Blocked(shape, {.order = {0, 1}, .vector_elements = 4, .num_warps = 1});
  for (int64_t limit : {1 << 20, 32768, 16384, 1}) {
    const ConversionPlan plan = PlanConversion(rows, columns, 32, {.max_shared_bytes = limit});
    ASSERT_EQ(plan.kind, ConversionKind::kShared);
    EXPECT_EQ(RunConversion(plan, rows, columns, 32), "") << limit;
    EXPECT_EQ(SharedBytes(plan) * static_cast<int64_t>(plan.shared.store.rounds.size()), 64 * 128 * 4);
    EXPECT_LE(SharedBytes(plan), std::max<int64_t>(limit, 16384));
  }
}

// Cases that matter --------------------------------------------------------------------------------------------------

TileLayout Rows(const Extents& shape, int vector, int num_warps = 4) {
  return TileLayout::Blocked(shape, {.order = {1, 0}, .vector_elements = vector, .num_warps = num_warps});
}
TileLayout Columns(const Extents& shape, int vector, int num_warps = 4) {
  return TileLayout::Blocked(shape, {.order = {0, 1}, .vector_elements = vector, .num_warps = num_warps});
}

// As few wavefronts as the bytes allow: 128 of a warp in each.
int LeastWavefronts(const TileLayout& layout, int element_bits) {
  return layout.num_registers() * kWarpSize * element_bits / 8 / 128;
}

ConversionPlan PlanThroughShared(const TileLayout& from, const TileLayout& to, int element_bits, bool allow_matrix) {
  const ConversionPlan plan =
      PlanConversion(from, to, element_bits,
                     {.allow_shuffles = false, .allow_ldmatrix = allow_matrix, .allow_stmatrix = allow_matrix});
  EXPECT_EQ(plan.kind, ConversionKind::kShared);
  EXPECT_EQ(RunConversion(plan, from, to, element_bits), "") << Describe(plan, from, to, element_bits);
  return plan;
}

TEST(Conversion, TransposesOfWordsHaveNoConflicts) {
  for (int num_warps : {1, 2, 4, 8}) {
    for (int vector : {1, 2, 4}) {
      for (const Extents& shape : std::vector<Extents>{{32, 32}, {64, 64}, {128, 32}}) {
        const TileLayout rows = Rows(shape, vector, num_warps), columns = Columns(shape, vector, num_warps);
        for (const auto& [from, to] : {std::pair(rows, columns), std::pair(columns, rows)}) {
          const ConversionPlan plan = PlanThroughShared(from, to, 32, false);
          EXPECT_EQ(TotalWavefronts(plan.shared.store), LeastWavefronts(from, 32)) << Describe(plan, from, to, 32);
          EXPECT_EQ(TotalWavefronts(plan.shared.load), LeastWavefronts(to, 32)) << Describe(plan, from, to, 32);
        }
      }
    }
  }
}

// Vectors of eight along a row to vectors of eight along a column, 64x64, 4 warps: wide stores would leave loads of
// single elements, which are a wavefront each: 4 + 32, against 32 + 32 without vectors.
TEST(Conversion, TransposesOfHalves) {
  const TileLayout rows = Rows({64, 64}, 8), columns = Columns({64, 64}, 8);
  const ConversionPlan plan = PlanThroughShared(rows, columns, 16, false);
  SCOPED_TRACE(Describe(plan, rows, columns, 16));
  EXPECT_LE(TotalWavefronts(plan.shared.store) + TotalWavefronts(plan.shared.load), 32 + 16);
}

TEST(Conversion, FromRowsToOperandsByLdmatrix) {
  for (int64_t extent : {64, 128}) {
    for (const MmaWarps& warps : {MmaWarps{.m = 1}, MmaWarps{.m = 2, .n = 2}, MmaWarps{.m = 4}}) {
      const TileLayout rows = Rows({extent, 64}, 8, warps.m * warps.n);
      const TileLayout a = MmaOperandA({extent, 64}, warps, MmaKind::kHalf);
      const TileLayout b = MmaOperandB({extent, 64}, warps, MmaKind::kHalf);
      for (const TileLayout& operand : {a, b}) {
        const ConversionPlan plan = PlanThroughShared(rows, operand, 16, true);
        SCOPED_TRACE(Describe(plan, rows, operand, 16));
        EXPECT_EQ(plan.shared.store.vector_elements, 8);
        EXPECT_EQ(plan.shared.load.instruction,
                  operand == a ? ScratchAccess::Instruction::kMatrix : ScratchAccess::Instruction::kMatrixTransposed);
        EXPECT_EQ(TotalWavefronts(plan.shared.store), LeastWavefronts(rows, 16));
        EXPECT_EQ(TotalWavefronts(plan.shared.load), LeastWavefronts(operand, 16));
      }
    }
  }
}

// Operands of other widths, and without ldmatrix: still no conflicts.
TEST(Conversion, FromRowsToOperandsByVectors) {
  for (MmaKind kind : {MmaKind::kHalf, MmaKind::kTf32, MmaKind::kByte}) {
    const int element_bits = kind == MmaKind::kHalf ? 16 : kind == MmaKind::kTf32 ? 32 : 8;
    const TileLayout rows = Rows({64, 64}, 128 / element_bits);
    const TileLayout a = MmaOperandA({64, 64}, {.m = 2, .n = 2}, kind);
    const ConversionPlan plan = PlanThroughShared(rows, a, element_bits, false);
    SCOPED_TRACE(Describe(plan, rows, a, element_bits));
    EXPECT_EQ(TotalWavefronts(plan.shared.store), LeastWavefronts(rows, element_bits));
    EXPECT_EQ(TotalWavefronts(plan.shared.load), LeastWavefronts(a, element_bits));
  }
}

TEST(Conversion, FromResultsToRows) {
  const TileLayout c = MmaResult({64, 64}, {.m = 2, .n = 2}, MmaKind::kHalf);
  const ConversionPlan words = PlanThroughShared(c, Rows({64, 64}, 4), 32, false);
  SCOPED_TRACE(words.ToString());
  EXPECT_LE(TotalWavefronts(words.shared.store) + TotalWavefronts(words.shared.load), 2 * 32);
  const ConversionPlan halves = PlanThroughShared(c, Rows({64, 64}, 8), 16, true);
  SCOPED_TRACE(halves.ToString());
  EXPECT_EQ(halves.shared.store.instruction, ScratchAccess::Instruction::kMatrix);
  EXPECT_EQ(halves.shared.load.vector_elements, 8);
  EXPECT_EQ(TotalWavefronts(halves.shared.store) + TotalWavefronts(halves.shared.load), 2 * 16);
  const ConversionPlan columns = PlanThroughShared(c, Columns({64, 64}, 8), 16, true);
  SCOPED_TRACE(columns.ToString());
  EXPECT_EQ(columns.shared.store.instruction, ScratchAccess::Instruction::kMatrixTransposed);
  EXPECT_EQ(TotalWavefronts(columns.shared.store) + TotalWavefronts(columns.shared.load), 2 * 16);
}

// The result of one product is an operand of the next as it stands, which attention relies on.
TEST(Conversion, FromResultsToOperandAIsARename) {
  const MmaWarps warps = {.m = 4};
  const ConversionPlan plan =
      PlanConversion(MmaResult({64, 64}, warps, MmaKind::kHalf), MmaOperandA({64, 64}, warps, MmaKind::kHalf), 16);
  EXPECT_LE(plan.kind, ConversionKind::kRegisters) << plan.ToString();
}

// A row's sums, of a slice of the result, spread over threads again: lanes read what another lane has.
TEST(Conversion, SlicesMoveByShuffles) {
  const TileLayout slice = MmaResult({64, 32}, {.m = 4}, MmaKind::kHalf).WithoutAxis(1);
  const TileLayout blocked = TileLayout::Blocked({64}, {.order = {0}, .num_warps = 4});
  EXPECT_EQ(PlanConversion(slice, slice, 32).kind, ConversionKind::kNone);
  const ConversionPlan plan = PlanConversion(blocked, slice, 32);
  EXPECT_EQ(RunConversion(plan, blocked, slice, 32), "") << plan.ToString();
  const TileLayout one_warp = MmaResult({64, 32}, {}, MmaKind::kHalf).WithoutAxis(1);
  const TileLayout one_blocked = TileLayout::Blocked({64}, {.order = {0}, .num_warps = 1});
  EXPECT_EQ(PlanConversion(one_warp, one_blocked, 32).kind, ConversionKind::kShuffles);
  EXPECT_EQ(PlanConversion(one_blocked, one_warp, 32).kind, ConversionKind::kShuffles);
}

TEST(BankWavefronts, CountsWordsOfABank) {
  const auto count = [](int stride, int bytes) {
    std::vector<int64_t> offsets;
    for (int lane = 0; lane < kWarpSize; ++lane) offsets.push_back(int64_t{lane} * stride);
    return BankWavefronts(offsets, bytes);
  };
  EXPECT_EQ(count(4, 4), 1);
  EXPECT_EQ(count(0, 4), 1) << "one word for all";
  EXPECT_EQ(count(2, 2), 1) << "two halves of a word";
  EXPECT_EQ(count(8, 4), 2);
  EXPECT_EQ(count(128, 4), 32);
  EXPECT_EQ(count(132, 4), 1);
  EXPECT_EQ(count(8, 8), 2);
  EXPECT_EQ(count(16, 16), 4);
  EXPECT_EQ(count(128, 16), 32);
  EXPECT_EQ(count(144, 16), 4);
  std::vector<int64_t> some(kWarpSize, -1);
  EXPECT_EQ(BankWavefronts(some, 4), 0);
  some[3] = 128, some[9] = 0;
  EXPECT_EQ(BankWavefronts(some, 4), 2);
}

}  // namespace
}  // namespace trivet::jit
