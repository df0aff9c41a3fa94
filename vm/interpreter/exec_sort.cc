// sort and topk.
//
// The order is that of numbers, with NaN above everything; -0 equals +0 and all NaNs are equal. Both directions are
// stable: equal elements (which can differ in bits only if they are zeros or NaNs) keep their order.
#include <algorithm>
#include <concepts>
#include <memory>

#include "vm/interpreter/combine_ops.h"
#include "vm/interpreter/element_dispatch.h"
#include "vm/interpreter/prepare.h"
#include "vm/interpreter/scratch_layout.h"

namespace trivet::vm {
namespace {

struct SortPlan {
  AxisExtents extents;
  int64_t kept = 0;  // the first so many of each sorted line are the result
};

template <std::integral T>
inline bool IsLess(T a, T b) {
  return a < b;
}
template <std::floating_point F>
inline bool IsLess(F a, F b) {
  return a < b || (b != b && a == a);
}
template <NarrowFloatElement T>
inline bool IsLess(T a, T b) {
  return IsLess(Widen(a), Widen(b));
}

template <typename T, bool kDescending>
inline bool ComesBefore(T a, T b) {
  return kDescending ? IsLess(b, a) : IsLess(a, b);
}

constexpr int64_t kInsertionRun = 16;

template <typename T, bool kDescending>
void InsertionSort(T* line, int64_t count) {
  for (int64_t i = 1; i < count; ++i) {
    const T moving = line[i];
    int64_t hole = i;
    for (; hole > 0 && ComesBefore<T, kDescending>(moving, line[hole - 1]); --hole) line[hole] = line[hole - 1];
    line[hole] = moving;
  }
}

// Merges the sorted runs [from, middle) and [middle, end) into `to`; of equals, the first run's come first.
template <typename T, bool kDescending>
void MergeRuns(const T* from, const T* middle, const T* end, T* to) {
  const T* left = from;
  const T* right = middle;
  while (left != middle && right != end) {
    const bool takes_right = ComesBefore<T, kDescending>(*right, *left);
    *to++ = takes_right ? *right : *left;
    right += takes_right;
    left += !takes_right;
  }
  to = std::copy(left, middle, to);
  std::copy(right, end, to);
}

// Bottom-up merge sort: std::stable_sort allocates. Gives whichever of `line` and `spare` holds the result.
template <typename T, bool kDescending>
const T* SortLine(T* line, T* spare, int64_t count) {
  for (int64_t begin = 0; begin < count; begin += kInsertionRun) {
    InsertionSort<T, kDescending>(line + begin, std::min(kInsertionRun, count - begin));
  }
  for (int64_t run = kInsertionRun; run < count; run *= 2) {
    for (int64_t begin = 0; begin < count; begin += 2 * run) {
      const int64_t middle = std::min(begin + run, count);
      const int64_t end = std::min(begin + 2 * run, count);
      MergeRuns<T, kDescending>(line + begin, line + middle, line + end, spare + begin);
    }
    std::swap(line, spare);
  }
  return line;
}

template <typename T, bool kDescending>
void ExecSort(ExecContext& cx, const Instr& at) {
  const SortPlan& plan = at.payload<SortPlan>();
  const auto& [outer, extent, inner] = plan.extents;
  ScratchLayout layout(cx.Scratch<std::byte>());
  T* line = layout.Take<T>(extent);
  T* spare = layout.Take<T>(extent);
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t column = 0; column < inner; ++column) {
      const T* x = cx.Operand<T>(at, 0) + o * extent * inner + column;
      T* out = cx.Result<T>(at) + o * plan.kept * inner + column;
      for (int64_t i = 0; i < extent; ++i) line[i] = x[i * inner];
      const T* sorted = SortLine<T, kDescending>(line, spare, extent);
      for (int64_t i = 0; i < plan.kept; ++i) out[i * inner] = sorted[i];
    }
  }
}

PreparedOp PrepareSorted(PrepareContext& cx, int64_t axis, bool is_descending) {
  const Type& type = cx.operand_type(0);
  const auto plan = std::make_shared<SortPlan>(
      SortPlan{.extents = AxisExtents::Of(type, axis), .kept = cx.result_type().dim(static_cast<int>(axis))});
  const Handler handler = VisitElement(type.dtype(), [&]<typename T>() -> Handler {
    ScratchLayout layout(nullptr);
    layout.Take<T>(plan->extents.extent);
    layout.Take<T>(plan->extents.extent);
    cx.RequireScratch(layout.size_bytes());
    return is_descending ? &ExecSort<T, true> : &ExecSort<T, false>;
  });
  return PreparedOp{handler, plan};
}

}  // namespace

absl::StatusOr<PreparedOp> PrepareSort(PrepareContext& cx) {
  return PrepareSorted(cx, cx.op().int_attr(SortOp::At::axis), cx.op().bool_attr(SortOp::At::descending));
}

absl::StatusOr<PreparedOp> PrepareTopK(PrepareContext& cx) {
  return PrepareSorted(cx, cx.op().int_attr(TopKOp::At::axis), /*is_descending=*/true);
}

}  // namespace trivet::vm
