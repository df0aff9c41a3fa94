#include "vm/interpreter/strided_copy.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "vm/bytecode/types.h"
#include "vm/numerics/independent_loop.h"

namespace trivet::vm {
namespace {

template <typename U>
void CopyRow(const StridedAxis& axis, const U* from, U* to) {
  std::memcpy(to, from, static_cast<size_t>(axis.extent) * sizeof(U));
}

template <typename U>
void FillRow(const StridedAxis& axis, const U* from, U* to) {
  std::fill_n(to, axis.extent, *from);
}

template <typename U>
void ReverseRow(const StridedAxis& axis, const U* from, U* to) {
  TRIVET_INDEPENDENT_LOOP
  for (int64_t i = 0; i < axis.extent; ++i) to[i] = from[-i];
}

template <typename U>
void GatherRow(const StridedAxis& axis, const U* from, U* to) {
  TRIVET_INDEPENDENT_LOOP
  for (int64_t i = 0; i < axis.extent; ++i) to[i] = from[i * axis.from_stride];
}

template <typename U>
void MoveRow(const StridedAxis& axis, const U* from, U* to) {
  TRIVET_INDEPENDENT_LOOP
  for (int64_t i = 0; i < axis.extent; ++i) to[i * axis.to_stride] = from[i * axis.from_stride];
}

// Calls visit(from_offset, to_offset) for each index of `axes`.
template <typename Visit>
void ForEachIndex(absl::Span<const StridedAxis> axes, const Visit& visit) {
  std::array<int64_t, kMaxRank> index{};
  int64_t from = 0;
  int64_t to = 0;
  while (true) {
    visit(from, to);
    size_t axis = axes.size();
    while (axis > 0) {
      --axis;
      from += axes[axis].from_stride;
      to += axes[axis].to_stride;
      if (++index[axis] < axes[axis].extent) break;
      from -= axes[axis].from_stride * axes[axis].extent;
      to -= axes[axis].to_stride * axes[axis].extent;
      index[axis] = 0;
      if (axis == 0) return;
    }
    if (axes.empty()) return;
  }
}

// Rows and columns of a block: a block of each side fits the first-level cache, a line of each is used up.
constexpr int64_t kBlock = 32;

// Rows shorter than this cost more in counting than in copying.
constexpr int64_t kShortRow = 8;

}  // namespace

template <typename U, void (*InnerLoop)(const StridedAxis& axis, const U* from, U* to)>
void StridedCopy::RunRows(const StridedCopy& copy, const std::byte* from, std::byte* to) {
  const U* source = reinterpret_cast<const U*>(from) + copy.from_base_;
  U* target = reinterpret_cast<U*>(to) + copy.to_base_;
  const absl::Span<const StridedAxis> axes = copy.axes_;
  const StridedAxis inner = axes.back();
  ForEachIndex(axes.subspan(0, axes.size() - 1), [&](int64_t from_offset, int64_t to_offset) {
    InnerLoop(inner, source + from_offset, target + to_offset);
  });
}

template <typename U>
void StridedCopy::RunTranspose(const StridedCopy& copy, const std::byte* from, std::byte* to) {
  const U* source = reinterpret_cast<const U*>(from) + copy.from_base_;
  U* target = reinterpret_cast<U*>(to) + copy.to_base_;
  const absl::Span<const StridedAxis> axes = copy.axes_;
  const StridedAxis rows = axes[axes.size() - 2];     // contiguous in `from`
  const StridedAxis columns = axes[axes.size() - 1];  // contiguous in `to`
  ForEachIndex(axes.subspan(0, axes.size() - 2), [&](int64_t from_offset, int64_t to_offset) {
    for (int64_t row = 0; row < rows.extent; row += kBlock) {
      const int64_t row_end = std::min(row + kBlock, rows.extent);
      for (int64_t column = 0; column < columns.extent; column += kBlock) {
        const int64_t column_end = std::min(column + kBlock, columns.extent);
        for (int64_t r = row; r < row_end; ++r) {
          const U* in = source + from_offset + r;
          U* out = target + to_offset + r * rows.to_stride;
          TRIVET_INDEPENDENT_LOOP
          for (int64_t c = column; c < column_end; ++c) out[c] = in[c * columns.from_stride];
        }
      }
    }
  });
}

template <typename U>
StridedCopy::RunFunction StridedCopy::Choose(const StridedCopy& copy) {
  const StridedAxis& inner = copy.axes_.back();
  if (inner.to_stride != 1) return &RunRows<U, MoveRow<U>>;
  if (inner.from_stride == 1) return &RunRows<U, CopyRow<U>>;
  if (inner.from_stride == 0) return &RunRows<U, FillRow<U>>;
  if (inner.from_stride == -1) return &RunRows<U, ReverseRow<U>>;
  const bool is_transpose = copy.axes_.size() >= 2 && copy.axes_[copy.axes_.size() - 2].from_stride == 1;
  return is_transpose ? &RunTranspose<U> : &RunRows<U, GatherRow<U>>;
}

StridedCopy StridedCopy::Plan(absl::Span<const StridedAxis> axes, int64_t from_base, int64_t to_base,
                              int element_bytes) {
  StridedCopy copy;
  copy.from_base_ = from_base;
  copy.to_base_ = to_base;
  for (const StridedAxis& axis : axes) {
    if (axis.extent == 1) continue;
    if (!copy.axes_.empty()) {
      StridedAxis& outer = copy.axes_.back();
      if (outer.from_stride == axis.from_stride * axis.extent && outer.to_stride == axis.to_stride * axis.extent) {
        outer = {outer.extent * axis.extent, axis.from_stride, axis.to_stride};
        continue;
      }
    }
    copy.axes_.push_back(axis);
  }
  if (copy.axes_.empty()) copy.axes_.push_back({1, 1, 1});

  // Order matters for speed only. A short innermost axis gives way to the longest; else the axis that is contiguous in
  // `from` goes next to the innermost.
  const auto last = copy.axes_.end() - 1;
  if (last->extent < kShortRow) {
    const auto longest = std::max_element(copy.axes_.begin(), copy.axes_.end(),
                                          [](const auto& a, const auto& b) { return a.extent < b.extent; });
    std::rotate(longest, longest + 1, copy.axes_.end());
  }
  const auto contiguous =
      std::find_if(copy.axes_.begin(), last, [](const StridedAxis& a) { return a.from_stride == 1; });
  if (last->to_stride == 1 && contiguous != last) std::rotate(contiguous, contiguous + 1, last);

  switch (element_bytes) {
    case 1:
      copy.run_ = Choose<uint8_t>(copy);
      break;
    case 2:
      copy.run_ = Choose<uint16_t>(copy);
      break;
    case 4:
      copy.run_ = Choose<uint32_t>(copy);
      break;
    default:
      copy.run_ = Choose<uint64_t>(copy);
      break;
  }
  return copy;
}

absl::InlinedVector<int64_t, 4> RowMajorStrides(absl::Span<const int64_t> shape) {
  absl::InlinedVector<int64_t, 4> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

}  // namespace trivet::vm
