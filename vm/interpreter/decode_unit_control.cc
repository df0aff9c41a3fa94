// Control flow becomes jumps. What a yield, condition, break, continue, return or call hands over is copied by the
// instruction that jumps, unless the frame gave both sides one slot.
#include <utility>

#include "absl/container/inlined_vector.h"
#include "vm/base/check.h"
#include "vm/base/status.h"
#include "vm/interpreter/decode_unit.h"

namespace trivet::vm {

const UnitDecoder::Scope& UnitDecoder::InnermostLoop() const {
  size_t i = scopes_.size();
  do {
    --i;
  } while (scopes_[i].kind == ScopeKind::kIf);
  return scopes_[i];
}

absl::Status UnitDecoder::EmitMoves(OpId id, std::vector<Move> moves, bool starts, bool ends) {
  if (moves.empty() && !kernel_.keep_values()) return absl::OkStatus();
  auto* payload = kernel_.Keep(MovesPayload{std::move(moves)});
  kernel_.PatchLater(&payload->moves);
  return Emit(id, &ExecMoves, payload, {}, 0, starts, ends);
}

absl::Status UnitDecoder::EmitJump(OpId id, std::vector<Move> moves, Label label, Handler handler) {
  auto* payload = kernel_.Keep(JumpPayload{std::move(moves), 0});
  kernel_.PatchLater(&payload->moves);
  JumpTo(&payload->target, label);
  return Emit(id, handler, payload, {}, 0, true, true);
}

absl::Status UnitDecoder::EmitEnd(OpId id) {
  if (!kernel_.keep_values() || !is_function()) return absl::OkStatus();
  return Emit(id, &ExecNothing, nullptr, {}, 0, false, true);
}

//   ForBegin      counter, remaining; inits to carried; to exit if none
//   body: ...     ends in the yield's copies
//   next: ForEnd  to body
//   exit:
absl::Status UnitDecoder::EmitFor(OpId id) {
  const Operation& op = fn_.op(id);
  const ValueId counter = fn_.region(op.regions[0]).params[0];
  const DType dtype = fn_.type(counter).dtype();
  absl::InlinedVector<uint32_t, 5> slots;
  for (ValueId bound : {op.operand(ForOp::In::lower), op.operand(ForOp::In::upper), op.operand(ForOp::In::step)}) {
    TRIVET_ASSIGN_OR_RETURN(slots.emplace_back(), SlotOf(bound));
  }
  slots.push_back(layout_.SlotOf(counter));
  slots.push_back(layout_.counters.at(id));

  const Label next = NewLabel();
  const Label exit = NewLabel();
  TRIVET_ASSIGN_OR_RETURN(std::vector<Move> inits, MovesTo(op.variadic(), Carried(op)));
  auto* begin = kernel_.Keep(ForPayload{std::move(inits), 0});
  kernel_.PatchLater(&begin->moves);
  JumpTo(&begin->target, exit);
  TRIVET_RETURN_IF_ERROR(Emit(id, ForBeginHandler(dtype), begin, slots, 3, true, false));
  auto* end = kernel_.Keep(ForPayload{{}, Here()});
  scopes_.push_back({ScopeKind::kFor, id, next, exit});
  TRIVET_RETURN_IF_ERROR(EmitRegion(op.regions[0]));
  scopes_.pop_back();
  Bind(next);
  TRIVET_RETURN_IF_ERROR(Emit(id, ForEndHandler(dtype, request_.in_region), end, slots, 3, false, false));
  Bind(exit);
  return EmitEnd(id);
}

//   inits to the first region's parameters
//   next: first region; its condition copies to the second's parameters, or to the results and goes to exit
//   second region; its yield goes to next
//   exit:
absl::Status UnitDecoder::EmitWhile(OpId id) {
  const Operation& op = fn_.op(id);
  TRIVET_ASSIGN_OR_RETURN(std::vector<Move> inits, MovesTo(op.operands, Carried(op)));
  TRIVET_RETURN_IF_ERROR(EmitMoves(id, std::move(inits), true, false));
  const Label next = NewLabel();
  const Label exit = NewLabel();
  Bind(next);
  scopes_.push_back({ScopeKind::kWhileBefore, id, next, exit});
  TRIVET_RETURN_IF_ERROR(EmitRegion(op.regions[0]));
  scopes_.back().kind = ScopeKind::kWhileAfter;
  TRIVET_RETURN_IF_ERROR(EmitRegion(op.regions[1]));
  scopes_.pop_back();
  Bind(exit);
  return EmitEnd(id);
}

absl::Status UnitDecoder::EmitIf(OpId id) {
  const Operation& op = fn_.op(id);
  TRIVET_ASSIGN_OR_RETURN(const uint32_t condition, SlotOf(op.operand(0)));
  auto* branch = kernel_.Keep(BranchPayload{});
  const Label otherwise = NewLabel();
  const Label after = NewLabel();
  JumpTo(&branch->target, otherwise);
  TRIVET_RETURN_IF_ERROR(Emit(id, &ExecBranch, branch, {condition}, 1, true, false));
  const Operation& second = fn_.op(fn_.region(op.regions[1]).ops.front());
  const bool has_second = kernel_.keep_values() || second.opcode != Op::kYield || !second.operands.empty();
  scopes_.push_back({ScopeKind::kIf, id, after, after, !has_second});
  TRIVET_RETURN_IF_ERROR(EmitRegion(op.regions[0]));
  Bind(otherwise);
  scopes_.back().falls_through = true;
  if (has_second) TRIVET_RETURN_IF_ERROR(EmitRegion(op.regions[1]));
  scopes_.pop_back();
  Bind(after);
  return EmitEnd(id);
}

absl::Status UnitDecoder::EmitYield(OpId id) {
  const Operation& op = fn_.op(id);
  const Scope scope = scopes_.back();
  switch (scope.kind) {
    case ScopeKind::kRoot: {
      TRIVET_ASSIGN_OR_RETURN(std::vector<Move> moves, Moves(op.operands, layout_.result_slots));
      return EmitMoves(id, std::move(moves), true, true);
    }
    case ScopeKind::kIf: {
      TRIVET_ASSIGN_OR_RETURN(std::vector<Move> moves, MovesTo(op.operands, fn_.op(scope.op).results));
      if (scope.falls_through) return EmitMoves(id, std::move(moves), true, true);
      return EmitJump(id, std::move(moves), scope.next, &ExecJump);
    }
    case ScopeKind::kFor: {
      TRIVET_ASSIGN_OR_RETURN(std::vector<Move> moves, MovesTo(op.operands, Carried(fn_.op(scope.op))));
      return EmitMoves(id, std::move(moves), true, true);
    }
    case ScopeKind::kWhileBefore:
    case ScopeKind::kWhileAfter: {
      TRIVET_ASSIGN_OR_RETURN(std::vector<Move> moves, MovesTo(op.operands, Carried(fn_.op(scope.op))));
      return EmitJump(id, std::move(moves), scope.next, LoopBackHandler(request_.in_region));
    }
  }
  return absl::OkStatus();
}

// condition, break, continue, return.
absl::Status UnitDecoder::EmitLeave(OpId id) {
  const Operation& op = fn_.op(id);
  if (op.opcode == Op::kReturn) {
    TRIVET_ASSIGN_OR_RETURN(std::vector<Move> moves, Moves(op.operands, layout_.result_slots));
    if (request_.in_region) {
      if (scopes_.size() == 1) return EmitMoves(id, std::move(moves), true, true);
      return EmitJump(id, std::move(moves), end_label_, &ExecJump);
    }
    auto* payload = kernel_.Keep(ReturnPayload{std::move(moves)});
    kernel_.PatchLater(&payload->moves);
    if (is_kernel()) return Emit(id, &ExecFinish, payload, {}, 0, true, true);
    return Emit(id, &ExecReturn, payload, {link_slot_}, 1, true, true);
  }
  if (op.opcode == Op::kCondition) {
    const Operation& loop = fn_.op(scopes_.back().op);
    TRIVET_ASSIGN_OR_RETURN(const uint32_t condition, SlotOf(op.operand(0)));
    TRIVET_ASSIGN_OR_RETURN(std::vector<Move> moves, MovesTo(op.variadic(), fn_.region(loop.regions[1]).params));
    TRIVET_ASSIGN_OR_RETURN(std::vector<Move> else_moves, MovesTo(op.variadic(), loop.results));
    auto* payload = kernel_.Keep(BranchPayload{std::move(moves), std::move(else_moves), 0});
    kernel_.PatchLater(&payload->moves);
    kernel_.PatchLater(&payload->else_moves);
    JumpTo(&payload->target, scopes_.back().exit);
    return Emit(id, &ExecBranch, payload, {condition}, 1, true, true);
  }
  const Scope loop = InnermostLoop();
  const Operation& loop_op = fn_.op(loop.op);
  if (op.opcode == Op::kBreak) {
    TRIVET_ASSIGN_OR_RETURN(std::vector<Move> moves, MovesTo(op.operands, loop_op.results));
    return EmitJump(id, std::move(moves), loop.exit, &ExecJump);
  }
  TRIVET_CHECK(op.opcode == Op::kContinue, op.info().text);
  TRIVET_ASSIGN_OR_RETURN(std::vector<Move> moves, MovesTo(op.operands, Carried(loop_op)));
  // A for steps at `next`; a while begins again there.
  const bool is_back_edge = loop_op.opcode == Op::kWhile;
  return EmitJump(id, std::move(moves), loop.next, is_back_edge ? LoopBackHandler(request_.in_region) : &ExecJump);
}

absl::Status UnitDecoder::EmitCall(OpId id) {
  const Operation& op = fn_.op(id);
  std::vector<Move> arguments;
  for (ValueId operand : op.operands) {
    TRIVET_ASSIGN_OR_RETURN(const uint32_t slot, SlotOf(operand));
    arguments.push_back({0, slot, static_cast<uint32_t>(SlotBytes(fn_.type(operand), 1))});
  }
  std::vector<Move> results;
  for (ValueId result : op.results) {
    results.push_back({layout_.SlotOf(result), 0, static_cast<uint32_t>(SlotBytes(fn_.type(result), 1))});
  }
  auto* call = kernel_.Keep(CallPayload{});
  auto* end = kernel_.Keep(MovesPayload{});
  kernel_.PatchLater(&call->arguments);
  TRIVET_RETURN_IF_ERROR(Emit(id, &ExecCall, call, {}, 0, true, false));
  TRIVET_RETURN_IF_ERROR(Emit(id, &ExecMoves, end, {}, 0, false, true));
  const FunctionId callee(static_cast<uint32_t>(op.int_attr(CallOp::At::callee)));
  kernel_.LinkLater(callee, call, std::move(arguments), end, std::move(results));
  return absl::OkStatus();
}

}  // namespace trivet::vm
