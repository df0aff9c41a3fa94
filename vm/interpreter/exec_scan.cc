// scan: inclusive, element after element along the axis (from the last one if reversed); that order is the reference:
//
//   out[0] = x[0]    out[i] = combine(out[i - 1], x[i])
//
// Narrow floats round after each combine. Recognised combines (region_patterns.h) and all others (exec_region.cc)
// combine in this same order.
#include <algorithm>
#include <concepts>
#include <memory>

#include "vm/interpreter/combine_ops.h"
#include "vm/interpreter/element_dispatch.h"
#include "vm/interpreter/prepare.h"
#include "vm/interpreter/region_ops.h"

namespace trivet::vm {
namespace {

struct ScanPlan {
  AxisExtents extents;
  bool is_reversed = false;
};

template <CombineKind kKind, typename T>
T CombineStored(T a, T b) {
  return Combine<kKind>(a, b);
}
// f8 sums and products saturate; minima and maxima may be infinite.
template <CombineKind kKind, NarrowFloatElement T>
T CombineStored(T a, T b) {
  constexpr Overflow kOverflow = CombineRounds(kKind) ? T::kInfo.default_overflow : Overflow::kInfinity;
  return Round<T>(Combine<kKind>(Widen(a), Widen(b)), T::kInfo.default_rounding, kOverflow);
}

// A row along the innermost axis; `step` is 1 or -1.
template <CombineKind kKind, typename T>
void ScanRow(const T* x, T* out, int64_t extent, int64_t step) {
  T last = *out = *x;
  for (int64_t i = 1; i < extent; ++i) {
    last = CombineStored<kKind>(last, x[i * step]);
    out[i * step] = last;
  }
}

template <CombineKind kKind, typename T>
void CombineRows(const T* __restrict before, const T* __restrict x, T* __restrict out, int64_t inner) {
  for (int64_t i = 0; i < inner; ++i) out[i] = CombineStored<kKind>(before[i], x[i]);
}

template <typename T, CombineKind kKind>
void ExecScan(ExecContext& cx, const Instr& at) {
  const ScanPlan& plan = at.payload<ScanPlan>();
  const auto& [outer, extent, inner] = plan.extents;
  const int64_t begin = plan.is_reversed ? (extent - 1) * inner : 0;
  const int64_t step = plan.is_reversed ? -inner : inner;
  for (int64_t o = 0; o < outer; ++o) {
    const T* x = cx.Operand<T>(at, 0) + o * extent * inner + begin;
    T* out = cx.Result<T>(at) + o * extent * inner + begin;
    if (inner == 1) {
      ScanRow<kKind>(x, out, extent, step);
      continue;
    }
    std::copy_n(x, inner, out);
    for (int64_t i = 1; i < extent; ++i) {
      CombineRows<kKind>(out + (i - 1) * step, x + i * step, out + i * step, inner);
    }
  }
}

template <typename T>
Handler HandlerFor(CombineKind kind) {
  if constexpr (std::integral<T>) {
    return VisitIntegerCombine<Handler>(kind, []<CombineKind kKind>() -> Handler { return &ExecScan<T, kKind>; });
  } else {
    return VisitFloatCombine<Handler>(kind, []<CombineKind kKind>() -> Handler { return &ExecScan<T, kKind>; });
  }
}

}  // namespace

absl::StatusOr<PreparedOp> PrepareScan(PrepareContext& cx) {
  const Operation& op = cx.op();
  const Type& type = cx.operand_type(0);
  if (op.operands.size() != 1) return PrepareScanByRegion(cx);
  const CombineKind kind = RecogniseCombine(cx.module(), cx.function(), op.regions[0]);
  const Handler handler = VisitElement(type.dtype(), [&]<typename T>() { return HandlerFor<T>(kind); });
  if (handler == nullptr) return PrepareScanByRegion(cx);
  const auto plan = std::make_shared<ScanPlan>(ScanPlan{.extents = AxisExtents::Of(type, op.int_attr(ScanOp::At::axis)),
                                                        .is_reversed = op.bool_attr(ScanOp::At::reverse)});
  return PreparedOp{handler, plan};
}

}  // namespace trivet::vm
