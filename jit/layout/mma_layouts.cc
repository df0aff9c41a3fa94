#include "jit/layout/mma_layouts.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "vm/base/check.h"

namespace trivet::jit {
namespace {

int Log2(int64_t n) { return std::countr_zero(static_cast<uint64_t>(n)); }

// Bits of one axis's coordinate, as bits of the row-major index, given away one by one.
class Axis {
 public:
  Axis(int shift, int bits) : shift_(shift), bits_(bits) {}

  // The index bit for `step`, a power of two along the axis.
  uint32_t At(int step) const {
    TRIVET_CHECK(Log2(step) < bits_, "the tile is smaller than the instruction");
    return uint32_t{1} << (shift_ + Log2(step));
  }
  // As At for each step, appended to `bases`.
  void Append(std::vector<uint32_t>* bases, std::initializer_list<int> steps) const {
    for (int step : steps) bases->push_back(At(step));
  }
  // From now on, Take gives the bits from `step` up.
  void StartAt(int step) { next_ = Log2(step); }
  // Appends the next `count` bits to `bases`, and zeros when there are no more.
  void Take(std::vector<uint32_t>* bases, int count) {
    for (; count > 0; --count) bases->push_back(next_ < bits_ ? uint32_t{1} << (shift_ + next_++) : 0);
  }
  void TakeRest(std::vector<uint32_t>* bases) { Take(bases, std::max(0, bits_ - next_)); }

 private:
  int shift_;
  int bits_;
  int next_ = 0;
};

// The axes of a tile [rows, columns] or [batch, rows, columns].
struct Axes {
  explicit Axes(absl::Span<const int64_t> shape)
      : columns(0, Log2(shape[shape.size() - 1])),
        rows(Log2(shape[shape.size() - 1]), Log2(shape[shape.size() - 2])),
        batch(Log2(shape[shape.size() - 1] * shape[shape.size() - 2]), shape.size() == 3 ? Log2(shape[0]) : 0) {
    TRIVET_CHECK(shape.size() == 2 || shape.size() == 3);
  }
  Axis columns;
  Axis rows;
  Axis batch;
};

struct Bases {
  std::vector<uint32_t> registers;
  std::vector<uint32_t> lanes;
  std::vector<uint32_t> warps;
};

TileLayout ToLayout(absl::Span<const int64_t> shape, Bases bases) {
  return TileLayout(Extents(shape.begin(), shape.end()), std::move(bases.registers), std::move(bases.lanes),
                    std::move(bases.warps));
}

// Registers and lanes of one instruction's operand, whose rows or columns `mn` go over the lanes from the third bit on.
void AppendOperand(MmaKind kind, bool is_a, const Axis& mn, const Axis& k, Bases* out) {
  switch (kind) {
    case MmaKind::kHalf:
      k.Append(&out->registers, {1});
      if (is_a) mn.Append(&out->registers, {8});
      k.Append(&out->registers, {8});
      k.Append(&out->lanes, {2, 4});
      break;
    case MmaKind::kTf32:
      if (is_a) mn.Append(&out->registers, {8});
      k.Append(&out->registers, {4});
      k.Append(&out->lanes, {1, 2});
      break;
    case MmaKind::kByte:
      k.Append(&out->registers, {1, 2});
      if (is_a) mn.Append(&out->registers, {8});
      k.Append(&out->registers, {16});
      k.Append(&out->lanes, {4, 8});
      break;
    case MmaKind::kDouble:
      k.Append(&out->lanes, {1, 2});
      break;
  }
  mn.Append(&out->lanes, {1, 2, 4});
}

// Registers and lanes of one instruction's result; m16n8 has two halves of eight rows, m8n8 one.
void AppendResult(int instruction_m, const Axes& axes, Bases* out) {
  axes.columns.Append(&out->registers, {1});
  if (instruction_m == 16) axes.rows.Append(&out->registers, {8});
  axes.columns.Append(&out->lanes, {2, 4});
  axes.rows.Append(&out->lanes, {1, 2, 4});
}

constexpr int kWarpgroupWarps = 4;
constexpr int kInstructionKBytes = 32;
constexpr int kChunkBytes = 16;  // what swizzles move
constexpr int kAtomRows = 8;

}  // namespace

MmaSize InstructionSize(MmaKind kind) {
  switch (kind) {
    case MmaKind::kHalf:
      return {.m = 16, .n = 8, .k = 16};
    case MmaKind::kTf32:
      return {.m = 16, .n = 8, .k = 8};
    case MmaKind::kByte:
      return {.m = 16, .n = 8, .k = 32};
    case MmaKind::kDouble:
      return {.m = 8, .n = 8, .k = 4};
  }
  return {};
}

MmaWarps SpreadWarps(absl::Span<const int64_t> result_shape, int num_warps, MmaKind kind) {
  const MmaSize size = InstructionSize(kind);
  const size_t rank = result_shape.size();
  MmaWarps warps;
  int64_t rows = result_shape[rank - 2], columns = result_shape[rank - 1], batch = rank == 3 ? result_shape[0] : 1;
  for (; num_warps > 1; num_warps /= 2) {
    if (batch > 1) {
      batch /= 2;
      warps.batch *= 2;
    } else if (rows > size.m && (rows >= columns || columns <= size.n)) {
      rows /= 2;
      warps.m *= 2;
    } else if (columns > size.n) {
      columns /= 2;
      warps.n *= 2;
    } else {
      warps.m *= 2;  // copies
    }
  }
  return warps;
}

TileLayout MmaResult(absl::Span<const int64_t> shape, const MmaWarps& warps, MmaKind kind) {
  const MmaSize size = InstructionSize(kind);
  Axes axes(shape);
  Bases out;
  AppendResult(size.m, axes, &out);
  axes.rows.StartAt(size.m);
  axes.columns.StartAt(size.n);
  axes.rows.Take(&out.warps, Log2(warps.m));
  axes.columns.Take(&out.warps, Log2(warps.n));
  axes.batch.Take(&out.warps, Log2(warps.batch));
  axes.columns.TakeRest(&out.registers);
  axes.rows.TakeRest(&out.registers);
  axes.batch.TakeRest(&out.registers);
  return ToLayout(shape, std::move(out));
}

TileLayout MmaOperandA(absl::Span<const int64_t> shape, const MmaWarps& warps, MmaKind kind) {
  const MmaSize size = InstructionSize(kind);
  Axes axes(shape);
  Bases out;
  AppendOperand(kind, /*is_a=*/true, axes.rows, axes.columns, &out);
  axes.rows.StartAt(size.m);
  axes.columns.StartAt(size.k);
  axes.rows.Take(&out.warps, Log2(warps.m));
  out.warps.resize(out.warps.size() + static_cast<size_t>(Log2(warps.n)));  // warps along N share A
  axes.batch.Take(&out.warps, Log2(warps.batch));
  axes.columns.TakeRest(&out.registers);
  axes.rows.TakeRest(&out.registers);
  axes.batch.TakeRest(&out.registers);
  return ToLayout(shape, std::move(out));
}

TileLayout MmaOperandB(absl::Span<const int64_t> shape, const MmaWarps& warps, MmaKind kind) {
  const MmaSize size = InstructionSize(kind);
  Axes axes(shape);
  Bases out;
  AppendOperand(kind, /*is_a=*/false, axes.columns, axes.rows, &out);
  axes.rows.StartAt(size.k);
  axes.columns.StartAt(size.n);
  out.warps.resize(static_cast<size_t>(Log2(warps.m)));  // warps along M share B
  axes.columns.Take(&out.warps, Log2(warps.n));
  axes.batch.Take(&out.warps, Log2(warps.batch));
  axes.rows.TakeRest(&out.registers);
  axes.columns.TakeRest(&out.registers);
  axes.batch.TakeRest(&out.registers);
  return ToLayout(shape, std::move(out));
}

TileLayout WgmmaResult(absl::Span<const int64_t> shape, const MmaWarps& warpgroups, int instruction_n) {
  Axes axes(shape);
  Bases out;
  AppendResult(16, axes, &out);
  axes.rows.StartAt(16);
  axes.columns.StartAt(8);
  axes.rows.Take(&out.warps, Log2(kWarpgroupWarps * warpgroups.m));
  axes.columns.Take(&out.registers, Log2(instruction_n / 8));
  axes.columns.Take(&out.warps, Log2(warpgroups.n));
  axes.batch.Take(&out.warps, Log2(warpgroups.batch));
  axes.columns.TakeRest(&out.registers);
  axes.rows.TakeRest(&out.registers);
  axes.batch.TakeRest(&out.registers);
  return ToLayout(shape, std::move(out));
}

TileLayout WgmmaOperandA(absl::Span<const int64_t> shape, const MmaWarps& warpgroups, MmaKind kind) {
  TRIVET_CHECK(kind != MmaKind::kDouble);
  return MmaOperandA(shape, {.m = kWarpgroupWarps * warpgroups.m, .n = warpgroups.n, .batch = warpgroups.batch}, kind);
}

WgmmaSharedLayout WgmmaOperandInShared(absl::Span<const int64_t> shape, int k_axis, int contiguous_axis,
                                       int element_bits) {
  TRIVET_CHECK(shape.size() == 2 && element_bits >= 8);
  const int element_bytes = element_bits / 8;
  const int64_t width = shape[static_cast<size_t>(contiguous_axis)] * element_bytes;  // bytes
  const int64_t rows = shape[static_cast<size_t>(1 - contiguous_axis)];
  const int64_t row_bytes = std::min<int64_t>(width, 128);
  TRIVET_CHECK(row_bytes >= kChunkBytes && rows >= kAtomRows, "the tile is smaller than an atom");

  WgmmaSharedLayout out;
  out.bytes = width * rows;
  out.k = static_cast<int>(shape[static_cast<size_t>(k_axis)]);
  out.mn = static_cast<int>(shape[static_cast<size_t>(1 - k_axis)]);
  out.is_transposed = contiguous_axis != k_axis;
  TRIVET_CHECK(!out.is_transposed || element_bits == 16);
  TRIVET_CHECK(out.k * element_bytes >= kInstructionKBytes, "the tile is smaller than the instruction");
  out.row_bytes = static_cast<int>(row_bytes);
  out.element_bytes = element_bytes;
  out.swizzle_code = row_bytes == 128 ? 1 : row_bytes == 64 ? 2 : row_bytes == 32 ? 3 : 0;
  const int64_t next_rows = kAtomRows * row_bytes;  // one atom on
  const int64_t next_panel = rows * row_bytes;
  // Without a swizzle and with M or N contiguous the two fields change places.
  const bool swapped = out.is_transposed && out.swizzle_code == 0;
  out.stride_offset = swapped ? next_panel : next_rows;
  out.leading_offset = swapped ? next_rows : next_panel;
  if (!out.is_transposed && out.swizzle_code != 0) out.leading_offset = 16;

  // Byte of each bit along the contiguous axis, then of each bit along the rows.
  std::vector<uint32_t> along, across;
  for (int64_t byte = element_bytes; byte < width; byte *= 2) {
    along.push_back(static_cast<uint32_t>(byte < row_bytes ? byte : byte / row_bytes * next_panel));
  }
  for (int64_t row = 1; row < rows; row *= 2) {
    const uint32_t offset = static_cast<uint32_t>(row * row_bytes);
    // The swizzle: address bits from 7 on, within an atom, onto the chunk.
    across.push_back(offset ^ (row < kAtomRows ? (offset >> 7) * kChunkBytes : 0));
  }
  std::vector<uint32_t> bases = contiguous_axis == 1 ? along : across;
  const std::vector<uint32_t>& high = contiguous_axis == 1 ? across : along;
  bases.insert(bases.end(), high.begin(), high.end());
  out.offsets = LinearLayout(std::move(bases), Log2(out.bytes));
  return out;
}

uint64_t WgmmaSharedLayout::DescriptorBits() const {
  return static_cast<uint64_t>(swizzle_code) << 62 | static_cast<uint64_t>(stride_offset >> 4) << 32 |
         static_cast<uint64_t>(leading_offset >> 4) << 16;
}

int64_t WgmmaSharedLayout::OffsetOf(int64_t mn_index, int64_t k_index) const {
  const int64_t along = (is_transposed ? mn_index : k_index) * element_bytes;
  const int64_t row = is_transposed ? k_index : mn_index;
  const int64_t rows = is_transposed ? k : mn;
  return along / row_bytes * (rows * row_bytes) + along % row_bytes + row * row_bytes;
}

}  // namespace trivet::jit
