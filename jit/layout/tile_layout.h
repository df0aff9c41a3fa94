// Where the elements of a tile live: which register of which lane of which warp holds which element.
//
// A program runs on 32 * 2^w threads. A thread is (lane, warp); it has 2^r registers for the tile. The layout is the
// map
//
//   (bits of register, bits of lane, bits of warp)  ->  row-major index of the element in the tile
//
// and is linear over F2: every input bit selects one bit of the index, and the index is their sum. So a layout is a
// list of bases, one for each input bit. A base is a power of two (the bit of the index that this input bit means), or
// zero (the input bit does not matter: the same element in several places). No two inputs have the same base.
//
// Worked example: a 4x8 tile, two registers, of 4 lanes to keep it small, 4 warps. Index = 8 * row + column, 5 bits.
//
//   registers {1}   lanes {2, 4}   warps {8, 16}       register 1 of lane 3 of warp 2: 1 + 2 + 4 + 16 = 23: row 2,
//   column 7
//
//           column  0     1     2     3     4  ...          t0:0 is lane 0, register 0
//   row 0, warp 0   t0:0  t0:1  t1:0  t1:1  t2:0            vectors of two along a row, rows over warps
//
// Extents are powers of two (a tier pads before it comes here). Reshaping changes nothing but the shape; transposing
// permutes bits; dropping an axis makes its bases zero. See docs/layouts.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "jit/layout/linear_layout.h"

namespace trivet::jit {

using Extents = absl::InlinedVector<int64_t, 4>;

inline constexpr int kLaneBits = 5;
inline constexpr int kWarpSize = 1 << kLaneBits;

// The bits of a row-major index that belong to one axis: [shift, shift + bits).
struct AxisBits {
  int shift = 0;
  int bits = 0;
  uint32_t mask() const { return ((uint32_t{1} << bits) - 1) << shift; }
};

// How a tile without matrix instructions is spread: vectors along the fastest axis, then lanes, then warps; what is
// left over goes to further registers.
struct BlockedSpec {
  absl::InlinedVector<int, 4> order;  // axes, the one of neighbouring addresses first
  int vector_elements = 1;            // consecutive elements along order[0] in one thread; a power of two
  int num_warps = 4;                  // a power of two
};

class TileLayout {
 public:
  TileLayout() = default;
  // `lanes` has kLaneBits bases. Extents are powers of two whose product is at most 2^20; see above for the bases.
  TileLayout(Extents shape, std::vector<uint32_t> registers, std::vector<uint32_t> lanes, std::vector<uint32_t> warps);
  static TileLayout Blocked(absl::Span<const int64_t> shape, const BlockedSpec& spec);

  const Extents& shape() const { return shape_; }
  int rank() const { return static_cast<int>(shape_.size()); }
  int64_t num_elements() const;
  int num_registers() const { return 1 << registers_.size(); }
  int num_warps() const { return 1 << warps_.size(); }
  const std::vector<uint32_t>& register_bases() const { return registers_; }
  const std::vector<uint32_t>& lane_bases() const { return lanes_; }
  const std::vector<uint32_t>& warp_bases() const { return warps_; }

  // Row-major index of the element that the thread (lane 0, warp 0) has in `reg`; that of another thread is the sum
  // (no bit is in both) of this and ThreadElement. Requires 0 <= reg < num_registers().
  uint32_t RegisterElement(int reg) const { return Sum(registers_, static_cast<uint32_t>(reg)); }
  // Requires 0 <= thread < 32 * num_warps(); thread = lane + 32 * warp.
  uint32_t ThreadElement(int thread) const {
    return Sum(lanes_, static_cast<uint32_t>(thread) % kWarpSize) |
           Sum(warps_, static_cast<uint32_t>(thread) / kWarpSize);
  }
  uint32_t Element(int reg, int thread) const { return RegisterElement(reg) | ThreadElement(thread); }
  // The register whose RegisterElement is `element`, or -1.
  int FindRegister(uint32_t element) const;

  // Bits of lane + 32 * warp that do not matter: threads that differ in them only have the same elements.
  uint32_t FreeThreadBits() const;
  bool HasFreeRegisters() const;
  // Consecutive registers that hold consecutive elements along `axis`, starting at a multiple of that: a power of two.
  int VectorLength(int axis) const;

  // The same as one map, from (register, lane, warp), register lowest, to the row-major index.
  LinearLayout Map() const;

  AxisBits axis_bits(int axis) const;
  // Coordinate along `axis` of row-major index `element`.
  int64_t Coordinate(uint32_t element, int axis) const;

  // The same places for the same elements in row-major order under another shape.
  TileLayout Reshaped(absl::Span<const int64_t> shape) const;
  // Axis i of the result is axis order[i] of this.
  TileLayout Transposed(absl::Span<const int64_t> order) const;
  // The axis has extent 1 in the result, and its bases are zero. Registers that then repeat others are dropped.
  TileLayout Collapsed(int axis) const;
  // As Collapsed, and the axis disappears from the shape.
  TileLayout WithoutAxis(int axis) const;

  std::string ToString() const;
  friend bool operator==(const TileLayout&, const TileLayout&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const TileLayout& l) {
    return H::combine(std::move(h), l.shape_, l.registers_, l.lanes_, l.warps_);
  }

 private:
  static uint32_t Sum(const std::vector<uint32_t>& bases, uint32_t bits) {
    uint32_t sum = 0;
    for (size_t i = 0; bits != 0; ++i, bits >>= 1) {
      if ((bits & 1) != 0) sum |= bases[i];
    }
    return sum;
  }

  Extents shape_;
  std::vector<uint32_t> registers_;
  std::vector<uint32_t> lanes_;
  std::vector<uint32_t> warps_;
};

}  // namespace trivet::jit
