// Control flow: basic blocks with phis. Conditions and bounds are scalars, equal in all threads of a program, so all
// threads go the same way and may meet at barriers wherever they are.
#include "jit/lowering/lowering_context.h"

namespace trivet::jit {
namespace {

using llvm::Value;
using vm::Operation;

// Lowers `region`, whose yield goes to `yield`, from `block` on.
absl::Status LowerRegionAt(LoweringContext& cx, RegionId region, llvm::BasicBlock* block, const JumpTarget& yield) {
  cx.ir().SetInsertPoint(block);
  cx.frame().yields.push_back(yield);
  const absl::Status status = cx.LowerRegion(region);
  cx.frame().yields.pop_back();
  return status;
}

// How often the loop runs, as an unsigned integer of the counter's type (vm/interpreter counts the same way, so the
// counter never wraps). A step of 0 traps in the reference; here it runs no iteration.
Value* TripCount(LoweringContext& cx, Value* lower, Value* upper, Value* step, bool is_signed) {
  auto& ir = cx.ir();
  llvm::Type* type = lower->getType();
  Value* zero = llvm::ConstantInt::get(type, 0);
  Value* one = llvm::ConstantInt::get(type, 1);
  const auto count = [&](Value* from, Value* to, Value* by) {
    return ir.CreateAdd(ir.CreateUDiv(ir.CreateSub(ir.CreateSub(to, from), one), by), one);
  };
  const auto less = [&](Value* a, Value* b) { return is_signed ? ir.CreateICmpSLT(a, b) : ir.CreateICmpULT(a, b); };
  if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(step)) {
    if (constant->isZero()) return zero;
    if (!is_signed || !constant->isNegative())
      return ir.CreateSelect(less(lower, upper), count(lower, upper, step), zero);
    return ir.CreateSelect(less(upper, lower), count(upper, lower, ir.CreateNeg(step)), zero);
  }
  Value* is_zero = ir.CreateICmpEQ(step, zero);
  Value* safe = ir.CreateSelect(is_zero, one, step);
  Value* up = ir.CreateSelect(less(lower, upper), count(lower, upper, safe), zero);
  Value* result = up;
  if (is_signed) {
    Value* is_down = ir.CreateICmpSLT(safe, zero);
    Value* magnitude = ir.CreateSelect(is_down, ir.CreateNeg(safe), one);
    result = ir.CreateSelect(is_down, ir.CreateSelect(less(upper, lower), count(upper, lower, magnitude), zero), up);
  }
  return ir.CreateSelect(is_zero, zero, result);
}

}  // namespace

//   head:  phis counter, left, carried...; left == 0 ? after : body
//   body:  ...; yield -> next
//   next:  phis carried...; counter += step; left -= 1; -> head
absl::Status LowerFor(LoweringContext& cx, const Operation& op) {
  auto& ir = cx.ir();
  const vm::Region& region = cx.function().region(op.regions[0]);
  Value* lower = cx.Scalar(op.operand(0));
  Value* upper = cx.Scalar(op.operand(1));
  Value* step = cx.Scalar(op.operand(2));
  const bool is_signed = vm::IsSignedInteger(cx.type(op.operand(0)).dtype());
  Value* trip_count = TripCount(cx, lower, upper, step, is_signed);
  const absl::Span<const ValueId> carried = absl::MakeConstSpan(region.params).subspan(1);

  llvm::BasicBlock* before = ir.GetInsertBlock();
  llvm::BasicBlock* head_block = cx.NewBlock("for");
  llvm::BasicBlock* body = cx.NewBlock("for.body");
  llvm::BasicBlock* next_block = cx.NewBlock("for.next");
  llvm::BasicBlock* after_block = cx.NewBlock("for.after");

  ir.SetInsertPoint(head_block);
  llvm::PHINode* counter = ir.CreatePHI(lower->getType(), 2);
  llvm::PHINode* left = ir.CreatePHI(lower->getType(), 2);
  JumpTarget head = cx.MakeTarget(head_block, carried);
  cx.Set(region.params[0], {counter});
  ir.SetInsertPoint(before);
  counter->addIncoming(lower, before);
  left->addIncoming(trip_count, before);
  cx.Jump(head, op.variadic());

  // The phis of `next` have the shape of those of `head`.
  const auto like_head = [&](llvm::BasicBlock* block) {
    JumpTarget target{block, {}};
    ir.SetInsertPoint(block);
    for (llvm::PHINode* phi : head.phis) target.phis.push_back(ir.CreatePHI(phi->getType(), 2));
    return target;
  };
  JumpTarget next = like_head(next_block);
  JumpTarget after = like_head(after_block);

  ir.SetInsertPoint(head_block);
  for (size_t i = 0; i < head.phis.size(); ++i) after.phis[i]->addIncoming(head.phis[i], head_block);
  ir.CreateCondBr(ir.CreateICmpEQ(left, llvm::ConstantInt::get(left->getType(), 0)), after_block, body);

  cx.frame().loops.push_back({next, after});
  const absl::Status status = LowerRegionAt(cx, op.regions[0], body, next);
  cx.frame().loops.pop_back();
  TRIVET_RETURN_IF_ERROR(status);

  ir.SetInsertPoint(next_block);
  counter->addIncoming(ir.CreateAdd(counter, step), next_block);
  left->addIncoming(ir.CreateSub(left, llvm::ConstantInt::get(left->getType(), 1)), next_block);
  for (size_t i = 0; i < head.phis.size(); ++i) head.phis[i]->addIncoming(next.phis[i], next_block);
  ir.CreateBr(head_block);

  ir.SetInsertPoint(after_block);
  size_t phi = 0;
  for (ValueId result : op.results) {
    Registers registers;
    for (size_t i = 0; i < cx.NumRegisters(result); ++i) registers.push_back(after.phis[phi++]);
    cx.Set(result, std::move(registers));
  }
  return absl::OkStatus();
}

absl::Status LowerWhile(LoweringContext& cx, const Operation& op) {
  auto& ir = cx.ir();
  llvm::BasicBlock* test_block = cx.NewBlock("while");
  llvm::BasicBlock* body_block = cx.NewBlock("while.body");
  llvm::BasicBlock* after_block = cx.NewBlock("while.after");
  llvm::BasicBlock* before = ir.GetInsertBlock();
  const JumpTarget test = cx.MakeTarget(test_block, cx.function().region(op.regions[0]).params);
  const JumpTarget body = cx.MakeTarget(body_block, cx.function().region(op.regions[1]).params);
  const JumpTarget after = cx.MakeTarget(after_block, op.results);
  ir.SetInsertPoint(before);
  cx.Jump(test, op.variadic());

  // The condition's region ends in `condition`, which finds both ways here.
  cx.frame().loops.push_back({test, after, /*is_while=*/true});
  TRIVET_RETURN_IF_ERROR(LowerRegionAt(cx, op.regions[0], test_block, body));
  TRIVET_RETURN_IF_ERROR(LowerRegionAt(cx, op.regions[1], body_block, test));
  cx.frame().loops.pop_back();
  ir.SetInsertPoint(after_block);
  return absl::OkStatus();
}

absl::Status LowerIf(LoweringContext& cx, const Operation& op) {
  auto& ir = cx.ir();
  llvm::BasicBlock* then_block = cx.NewBlock("then");
  llvm::BasicBlock* else_block = cx.NewBlock("else");
  llvm::BasicBlock* after_block = cx.NewBlock("endif");
  ir.CreateCondBr(cx.Scalar(op.operand(0)), then_block, else_block);
  const JumpTarget after = cx.MakeTarget(after_block, op.results);
  TRIVET_RETURN_IF_ERROR(LowerRegionAt(cx, op.regions[0], then_block, after));
  TRIVET_RETURN_IF_ERROR(LowerRegionAt(cx, op.regions[1], else_block, after));
  ir.SetInsertPoint(after_block);
  return absl::OkStatus();
}

absl::Status LowerYield(LoweringContext& cx, const Operation& op) {
  cx.Jump(cx.frame().yields.back(), op.operands);
  return absl::OkStatus();
}

absl::Status LowerCondition(LoweringContext& cx, const Operation& op) {
  auto& ir = cx.ir();
  const JumpTarget& body = cx.frame().yields.back();
  const JumpTarget& after = cx.frame().loops.back().after;
  size_t next = 0;
  for (ValueId v : op.variadic()) {
    for (Value* reg : cx.Get(v)) {
      body.phis[next]->addIncoming(reg, ir.GetInsertBlock());
      after.phis[next]->addIncoming(reg, ir.GetInsertBlock());
      ++next;
    }
  }
  ir.CreateCondBr(cx.Scalar(op.operand(0)), body.block, after.block);
  return absl::OkStatus();
}

absl::Status LowerBreak(LoweringContext& cx, const Operation& op) {
  cx.Jump(cx.frame().loops.back().after, op.operands);
  return absl::OkStatus();
}

absl::Status LowerContinue(LoweringContext& cx, const Operation& op) {
  cx.Jump(cx.frame().loops.back().next, op.operands);
  return absl::OkStatus();
}

absl::Status LowerReturn(LoweringContext& cx, const Operation& op) {
  cx.Jump(cx.frame().after_return, op.operands);
  return absl::OkStatus();
}

absl::Status LowerCall(LoweringContext& cx, const Operation& op) { return cx.LowerCall(op); }

}  // namespace trivet::jit
