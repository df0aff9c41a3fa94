// histogram: counts of the values 0 .. bins - 1. Negative values, values past the last bin and masked-off elements
// count nowhere.
#include <algorithm>
#include <concepts>
#include <memory>

#include "vm/interpreter/element_dispatch.h"
#include "vm/interpreter/prepare.h"

namespace trivet::vm {
namespace {

struct HistogramPlan {
  int64_t count = 0;
  uint64_t bins = 0;
};

template <std::integral T>
void ExecHistogram(ExecContext& cx, const Instr& at) {
  const HistogramPlan& plan = at.payload<HistogramPlan>();
  const T* x = cx.Operand<T>(at, HistogramOp::In::x);
  const bool has_mask = cx.HasOperand(at, HistogramOp::In::mask);
  const uint8_t* mask = has_mask ? cx.Operand<uint8_t>(at, HistogramOp::In::mask) : nullptr;
  int32_t* counts = cx.Result<int32_t>(at);
  std::fill_n(counts, plan.bins, 0);
  for (int64_t i = 0; i < plan.count; ++i) {
    const uint64_t bin = static_cast<uint64_t>(x[i]);  // negative values become very large
    if (bin < plan.bins && (!has_mask || mask[i] != 0)) ++counts[bin];
  }
}

}  // namespace

absl::StatusOr<PreparedOp> PrepareHistogram(PrepareContext& cx) {
  const Type& x = cx.operand_type(HistogramOp::In::x);
  const auto plan = std::make_shared<HistogramPlan>(
      HistogramPlan{.count = x.num_elements(), .bins = static_cast<uint64_t>(cx.result_type().num_elements())});
  const Handler handler = VisitElement(x.dtype(), []<typename T>() -> Handler {
    if constexpr (std::integral<T>) return &ExecHistogram<T>;
    return nullptr;
  });
  if (handler == nullptr) return absl::UnimplementedError("histogram: the elements are not integers");
  return PreparedOp{handler, plan};
}

}  // namespace trivet::vm
