// drop-proven-masks: removes the mask of an access, assert or histogram that holds for every element.
//
// Before: any level. After: the same. Keeps: number, order and addresses of memory accesses. Ranges decide; what a load
// would have given elsewhere goes with its mask.
#include "jit/passes/pass.h"

namespace trivet::jit {
namespace {

using vm::Op;
using vm::Operation;

// Position of the mask among the operands, or -1.
int MaskOf(const Operation& op) {
  const absl::Span<const vm::OperandInfo> operands = op.info().operands;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].kind == vm::OperandKind::kOptional && absl::string_view(operands[i].name) == "mask") {
      return static_cast<int>(i);
    }
  }
  return -1;
}

}  // namespace

absl::StatusOr<PassResult> DropProvenMasks(vm::Function& fn, PassContext& cx) {
  const RangeAnalysis& ranges = cx.ranges();
  int64_t dropped = 0;
  fn.ForEachOp([&](OpId id) {
    Operation& op = fn.op(id);
    const int at = MaskOf(op);
    if (at < 0 || op.operand(at).is_none() || !ranges.IsAlwaysTrue(op.operand(at))) return;
    if (cx.keeps_notes()) {
      cx.Note(id, "the mask of ", op.info().text, " always holds: ", ranges.Why(fn, op.operand(at)));
    }
    op.operands[static_cast<size_t>(at)] = ValueId::None();
    if (op.opcode == Op::kLoad) op.operands[vm::LoadOp::In::other] = ValueId::None();
    ++dropped;
  });
  cx.Count("masks", dropped);
  return PassResult{.changed = dropped > 0};
}

}  // namespace trivet::jit
