// Every plan is carried out on the CPU (run_conversion.h): over all pairs of many small layouts, and over random ones.
// Then how good the plans are: kinds, shuffles and bank conflicts of the cases that matter.

#include "jit/layout/conversion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/unit/layout/layout_families.h"
#include "tests/unit/layout/run_conversion.h"

namespace trivet::jit {
namespace {

std::string Describe(const ConversionPlan& plan, const TileLayout& from, const TileLayout& to, int element_bits) {
  return absl::StrCat(element_bits, " bits, from ", from.ToString(), "\n to ", to.ToString(), "\n by ",
                      plan.ToString());
}

void ExpectRight(const TileLayout& from, const TileLayout& to, int element_bits, std::map<ConversionKind, int>* kinds) {
  const ConversionPlan plan = PlanConversion(from, to, element_bits);
  ++(*kinds)[plan.kind];
  EXPECT_EQ(RunConversion(plan, from, to, element_bits), "") << Describe(plan, from, to, element_bits);
  EXPECT_EQ(SharedBytes(plan) > 0, plan.kind == ConversionKind::kShared);
  if (plan.kind == ConversionKind::kShuffles) {  // the other way must be right too
    const ConversionPlan shared = PlanConversion(from, to, element_bits, {.allow_shuffles = false});
    EXPECT_EQ(RunConversion(shared, from, to, element_bits), "") << Describe(shared, from, to, element_bits);
  }
}

TEST(Conversion, AllPairsOfSmallLayouts) {
  std::map<ConversionKind, int> kinds;
  for (const Extents& shape : std::vector<Extents>{{}, {1}, {8}, {64}, {1024}, {4, 8}, {1, 64}, {16, 32}, {2, 4, 16}}) {
    for (int num_warps : {1, 4}) {
      const std::vector<TileLayout> layouts = SmallFamily(shape, num_warps);
      int element_bits = 8;  // a different width each time: all of them in the end
      for (const TileLayout& from : layouts) {
        for (const TileLayout& to : layouts) {
          ExpectRight(from, to, element_bits, &kinds);
          element_bits = element_bits == 64 ? 1 : element_bits == 1 ? 8 : 2 * element_bits;
          if (HasFailure()) return;
        }
      }
    }
  }
  for (ConversionKind kind :
       {ConversionKind::kNone, ConversionKind::kRegisters, ConversionKind::kShuffles, ConversionKind::kShared}) {
    EXPECT_GT(kinds[kind], 50) << static_cast<int>(kind);
  }
}

TEST(Conversion, RandomLayouts) {
  std::mt19937 random(2026);
  std::map<ConversionKind, int> kinds;
  const std::vector<Extents> shapes = {{2}, {32}, {128}, {16, 16}, {8, 64}, {4, 8, 32}};
  for (int i = 0; i < 5000; ++i) {
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
    ExpectRight(from, to, 8 << (i / 3 % 4), &kinds);
    if (HasFailure()) return;
  }
  EXPECT_GT(kinds[ConversionKind::kShuffles], 500);
  EXPECT_GT(kinds[ConversionKind::kShared], 500);
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

}  // namespace
}  // namespace trivet::jit
