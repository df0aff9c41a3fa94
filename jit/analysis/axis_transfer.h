// How each op turns the axis info of its operands into that of its results. axis_info.h has the definitions; each
// function here says above its body why the claim holds.
#pragma once

#include "absl/types/span.h"
#include "jit/analysis/axis_info.h"

namespace trivet::jit {

// What a transfer may look at.
struct AxisTransferInput {
  const vm::Function& fn;
  const vm::Operation& op;
  const RangeAnalysis& ranges;
  Trust trust;
  // Of the operands; Unknown of an empty type where an optional one is absent.
  absl::Span<const AxisInfo> operands;
};

// Facts of result `index` of an op that is neither control flow nor a call.
AxisInfo TransferAxisInfo(const AxisTransferInput& in, size_t index);

// What holds of a value that is one of the two, of one type.
AxisInfo JoinAxisInfo(const AxisInfo& a, const AxisInfo& b);

// The block at `offsets` relative to where `block` is: each offset is in elements, along its axis.
AxisInfo MoveBlock(AxisInfo block, absl::Span<const AxisInfo> offsets);

// The largest power of two that divides `value`; kMaxDivisibility for 0.
int64_t PowerOfTwoIn(int64_t value);

}  // namespace trivet::jit
