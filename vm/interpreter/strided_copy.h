// StridedCopy: moves the elements of an index space from one strided place to another.
//
//   for each index (i0, i1, ...):  to[to_base + i0 * to_stride[0] + ...] = from[from_base + i0 * from_stride[0] + ...]
//
// Every op that only moves elements is one of these: broadcast has from-strides of 0, trans permuted ones, flip a
// negative one, slice multiplied ones; insert_slice has strides on the other side. Planning merges axes that run on
// from each other and picks the loop for the innermost ones, so that running is memcpy, fill or a blocked transpose
// wherever that is what it amounts to. All strides and bases are in elements.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

namespace trivet::vm {

struct StridedAxis {
  int64_t extent;
  int64_t from_stride;
  int64_t to_stride;
};

class StridedCopy {
 public:
  // Plans a copy of elements of `element_bytes` (1, 2, 4 or 8) over `axes`, outermost first.
  static StridedCopy Plan(absl::Span<const StridedAxis> axes, int64_t from_base, int64_t to_base, int element_bytes);

  // Copies. `from` and `to` don't overlap.
  void Run(const std::byte* from, std::byte* to) const { run_(*this, from, to); }

  // Axes left after merging, outermost first; for tests.
  absl::Span<const StridedAxis> axes() const { return axes_; }

 private:
  using RunFunction = void (*)(const StridedCopy& copy, const std::byte* from, std::byte* to);

  template <typename U>
  static RunFunction Choose(const StridedCopy& copy);
  // The innermost axis by InnerLoop, the others by counting.
  template <typename U, void (*InnerLoop)(const StridedAxis& axis, const U* from, U* to)>
  static void RunRows(const StridedCopy& copy, const std::byte* from, std::byte* to);
  // The two innermost axes as a transpose: contiguous on one side in one, on the other side in the other.
  template <typename U>
  static void RunTranspose(const StridedCopy& copy, const std::byte* from, std::byte* to);

  absl::InlinedVector<StridedAxis, 4> axes_;
  int64_t from_base_ = 0;
  int64_t to_base_ = 0;
  RunFunction run_ = nullptr;
};

// Strides, in elements, of a row-major tile of this shape.
absl::InlinedVector<int64_t, 4> RowMajorStrides(absl::Span<const int64_t> shape);

}  // namespace trivet::vm
