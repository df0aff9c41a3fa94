#include "tests/unit/layout/layout_families.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace trivet::jit {
namespace {

void AddUnique(std::vector<TileLayout>* layouts, TileLayout layout) {
  if (std::find(layouts->begin(), layouts->end(), layout) == layouts->end()) layouts->push_back(std::move(layout));
}

}  // namespace

std::vector<TileLayout> BlockedFamily(const Extents& shape, int num_warps) {
  std::vector<TileLayout> out;
  std::vector<int> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    for (int vector = 1; vector <= 16; vector *= 2) {
      AddUnique(&out,
                TileLayout::Blocked(
                    shape, {.order = {order.begin(), order.end()}, .vector_elements = vector, .num_warps = num_warps}));
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return out;
}

std::vector<TileLayout> SmallFamily(const Extents& shape, int num_warps) {
  std::vector<TileLayout> out = BlockedFamily(shape, num_warps);
  for (int axis = 0; axis <= static_cast<int>(shape.size()); ++axis) {
    Extents larger = shape;
    larger.insert(larger.begin() + axis, 16);
    for (const TileLayout& layout : BlockedFamily(larger, num_warps)) AddUnique(&out, layout.WithoutAxis(axis));
  }
  if (shape.size() == 2) {
    const int64_t flat[] = {shape[0] * shape[1]};
    const int64_t swapped[] = {shape[1], shape[0]};
    const int64_t order[] = {1, 0};
    for (const TileLayout& layout : BlockedFamily(Extents(std::begin(flat), std::end(flat)), num_warps)) {
      AddUnique(&out, layout.Reshaped(shape));
      AddUnique(&out, layout.Reshaped(swapped).Transposed(order));
    }
  }
  return out;
}

TileLayout RandomLayout(const Extents& shape, int num_warps, std::mt19937& random) {
  const auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  int64_t elements = 1;
  for (int64_t extent : shape) elements *= extent;
  const size_t bits = static_cast<size_t>(std::countr_zero(static_cast<uint64_t>(elements)));
  std::vector<uint32_t> index(bits);
  for (size_t i = 0; i < bits; ++i) index[i] = uint32_t{1} << i;
  std::shuffle(index.begin(), index.end(), random);

  std::vector<uint32_t> lanes(kLaneBits),
      warps(static_cast<size_t>(std::countr_zero(static_cast<uint32_t>(num_warps))));
  const size_t holes = below(4);  // more makes copies likelier
  for (auto* bases : {&lanes, &warps}) {
    for (uint32_t& base : *bases) {
      if (index.empty() || below(4) < holes) continue;
      base = index.back();
      index.pop_back();
    }
  }
  std::vector<uint32_t> registers = std::move(index);
  for (size_t extra = below(6); extra > 3; --extra) registers.push_back(0);
  std::shuffle(registers.begin(), registers.end(), random);
  return TileLayout(shape, std::move(registers), std::move(lanes), std::move(warps));
}

}  // namespace trivet::jit
