#include "jit/layout/tile_layout.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "vm/base/check.h"

namespace trivet::jit {
namespace {

int Log2(int64_t n) { return std::countr_zero(static_cast<uint64_t>(n)); }

// Applies `map` to each base of a list.
template <typename Map>
std::vector<uint32_t> MapBases(const std::vector<uint32_t>& bases, const Map& map) {
  std::vector<uint32_t> out;
  out.reserve(bases.size());
  for (uint32_t base : bases) out.push_back(map(base));
  return out;
}

}  // namespace

TileLayout::TileLayout(Extents shape, std::vector<uint32_t> registers, std::vector<uint32_t> lanes,
                       std::vector<uint32_t> warps)
    : shape_(std::move(shape)), registers_(std::move(registers)), lanes_(std::move(lanes)), warps_(std::move(warps)) {
  TRIVET_CHECK(lanes_.size() == kLaneBits);
  uint32_t seen = 0;
  for (const auto* bases : {&registers_, &lanes_, &warps_}) {
    for (uint32_t base : *bases) {
      TRIVET_CHECK(base == 0 || (std::has_single_bit(base) && (seen & base) == 0));
      seen |= base;
    }
  }
  TRIVET_CHECK(seen + 1 == static_cast<uint64_t>(num_elements()));
}

TileLayout TileLayout::Blocked(absl::Span<const int64_t> shape, const BlockedSpec& spec) {
  Extents extents(shape.begin(), shape.end());
  // Index bits in the order in which they are given away: along order[0] first.
  std::vector<uint32_t> bits;
  for (int axis : spec.order) {
    int shift = 0;
    for (size_t i = static_cast<size_t>(axis) + 1; i < extents.size(); ++i) shift += Log2(extents[i]);
    for (int i = 0; i < Log2(extents[static_cast<size_t>(axis)]); ++i) bits.push_back(uint32_t{1} << (shift + i));
  }
  const int vector_bits = std::min<int>(Log2(spec.vector_elements),
                                        spec.order.empty() ? 0 : Log2(extents[static_cast<size_t>(spec.order[0])]));
  size_t next = 0;
  const auto take = [&](int count, std::vector<uint32_t>* to) {
    for (int i = 0; i < count; ++i) to->push_back(next < bits.size() ? bits[next++] : 0);
  };
  std::vector<uint32_t> registers, lanes, warps;
  for (int i = 0; i < vector_bits; ++i) registers.push_back(bits[next++]);
  take(kLaneBits, &lanes);
  take(Log2(spec.num_warps), &warps);
  while (next < bits.size()) registers.push_back(bits[next++]);
  return TileLayout(std::move(extents), std::move(registers), std::move(lanes), std::move(warps));
}

int64_t TileLayout::num_elements() const {
  int64_t n = 1;
  for (int64_t extent : shape_) n *= extent;
  return n;
}

int TileLayout::FindRegister(uint32_t element) const {
  uint32_t reg = 0;
  for (size_t i = 0; i < registers_.size(); ++i) {
    if ((element & registers_[i]) == 0) continue;
    reg |= uint32_t{1} << i;
    element ^= registers_[i];
  }
  return element == 0 ? static_cast<int>(reg) : -1;
}

uint32_t TileLayout::FreeThreadBits() const {
  uint32_t free = 0;
  for (size_t i = 0; i < lanes_.size(); ++i) free |= lanes_[i] == 0 ? uint32_t{1} << i : 0;
  for (size_t i = 0; i < warps_.size(); ++i) free |= warps_[i] == 0 ? uint32_t{1} << (kLaneBits + i) : 0;
  return free;
}

bool TileLayout::HasFreeRegisters() const {
  return std::find(registers_.begin(), registers_.end(), 0u) != registers_.end();
}

int TileLayout::VectorLength(int axis) const {
  const AxisBits bits = axis_bits(axis);
  int count = 0;
  while (count < bits.bits && static_cast<size_t>(count) < registers_.size() &&
         registers_[static_cast<size_t>(count)] == uint32_t{1} << (bits.shift + count)) {
    ++count;
  }
  return 1 << count;
}

LinearLayout TileLayout::Map() const {
  const int bits = Log2(num_elements());
  return LinearLayout(registers_, bits).Beside(LinearLayout(lanes_, bits)).Beside(LinearLayout(warps_, bits));
}

AxisBits TileLayout::axis_bits(int axis) const {
  AxisBits out;
  for (int i = axis + 1; i < rank(); ++i) out.shift += Log2(shape_[static_cast<size_t>(i)]);
  out.bits = Log2(shape_[static_cast<size_t>(axis)]);
  return out;
}

int64_t TileLayout::Coordinate(uint32_t element, int axis) const {
  const AxisBits bits = axis_bits(axis);
  return (element & bits.mask()) >> bits.shift;
}

TileLayout TileLayout::Reshaped(absl::Span<const int64_t> shape) const {
  return TileLayout(Extents(shape.begin(), shape.end()), registers_, lanes_, warps_);
}

TileLayout TileLayout::Transposed(absl::Span<const int64_t> order) const {
  Extents shape;
  for (int64_t axis : order) shape.push_back(shape_[static_cast<size_t>(axis)]);
  // Where each axis's bits begin in the result.
  absl::InlinedVector<int, 4> shift_to(shape_.size());
  int shift = 0;
  for (size_t i = order.size(); i-- > 0;) {
    shift_to[static_cast<size_t>(order[i])] = shift;
    shift += Log2(shape[i]);
  }
  const auto map = [&](uint32_t base) -> uint32_t {
    if (base == 0) return 0;
    const int bit = std::countr_zero(base);
    for (int axis = 0; axis < rank(); ++axis) {
      const AxisBits from = axis_bits(axis);
      if (bit < from.shift || bit >= from.shift + from.bits) continue;
      return uint32_t{1} << (bit - from.shift + shift_to[static_cast<size_t>(axis)]);
    }
    return 0;
  };
  return TileLayout(std::move(shape), MapBases(registers_, map), MapBases(lanes_, map), MapBases(warps_, map));
}

TileLayout TileLayout::Collapsed(int axis) const {
  const AxisBits bits = axis_bits(axis);
  const auto map = [&](uint32_t base) -> uint32_t {
    if ((base & bits.mask()) != 0) return 0;
    return base < uint32_t{1} << bits.shift ? base : base >> bits.bits;
  };
  Extents shape = shape_;
  shape[static_cast<size_t>(axis)] = 1;
  std::vector<uint32_t> registers = MapBases(registers_, map);
  std::erase(registers, 0u);
  return TileLayout(std::move(shape), std::move(registers), MapBases(lanes_, map), MapBases(warps_, map));
}

TileLayout TileLayout::WithoutAxis(int axis) const {
  TileLayout out = Collapsed(axis);
  out.shape_.erase(out.shape_.begin() + axis);
  return out;
}

std::string TileLayout::ToString() const {
  return absl::StrCat(absl::StrJoin(shape_, "x"), " registers {", absl::StrJoin(registers_, ", "), "} lanes {",
                      absl::StrJoin(lanes_, ", "), "} warps {", absl::StrJoin(warps_, ", "), "}");
}

}  // namespace trivet::jit
