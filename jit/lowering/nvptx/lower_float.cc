// Floating-point arithmetic that rounds once. f16 and bf16 compute in their own type or in f32 and round once more, which is the
// same for one sum, difference or product; f8 are refused here and go through casts.
#include "jit/lowering/elementwise.h"

namespace trivet::jit {
namespace {

using llvm::Value;
using vm::Op;
using vm::Operation;

}  // namespace

absl::Status LowerFloatArithmetic(LoweringContext& cx, const Operation& op) {
  auto& ir = cx.ir();
  if (!cx.ElementType(cx.type(op.result()))->isFloatingPointTy()) return cx.Refuse(op, "arithmetic on f8");
  if (op.enum_attr<vm::Rounding>(0) != vm::Rounding::kNearestEven) return cx.Refuse(op, "directed rounding");
  return LowerElementwise(cx, op, [&](const Registers& x) -> Value* {
    switch (op.opcode) {
      case Op::kAddF:
        return ir.CreateFAdd(x[0], x[1]);
      case Op::kSubF:
        return ir.CreateFSub(x[0], x[1]);
      case Op::kMulF:
        return ir.CreateFMul(x[0], x[1]);
      case Op::kDivF:
        return ir.CreateFDiv(x[0], x[1]);
      default:
        return ir.CreateIntrinsic(llvm::Intrinsic::fma, {x[0]->getType()}, {x[0], x[1], x[2]});
    }
  });
}

absl::Status LowerCmpF(LoweringContext& cx, const Operation& op) {
  using P = llvm::CmpInst::Predicate;
  if (!cx.ElementType(cx.type(op.operand(0)))->isFloatingPointTy()) return cx.Refuse(op, "comparison of f8");
  const auto predicate = [&]() -> P {
    switch (op.enum_attr<vm::CmpPredicate>(vm::CmpFOp::At::predicate)) {
      case vm::CmpPredicate::kEq:
        return P::FCMP_OEQ;
      case vm::CmpPredicate::kNe:
        return P::FCMP_UNE;
      case vm::CmpPredicate::kLt:
        return P::FCMP_OLT;
      case vm::CmpPredicate::kLe:
        return P::FCMP_OLE;
      case vm::CmpPredicate::kGt:
        return P::FCMP_OGT;
      case vm::CmpPredicate::kGe:
        return P::FCMP_OGE;
    }
    return P::FCMP_OEQ;
  }();
  return LowerElementwise(cx, op, [&](const Registers& x) { return cx.ir().CreateFCmp(predicate, x[0], x[1]); });
}

}  // namespace trivet::jit
