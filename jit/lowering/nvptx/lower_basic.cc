// Constants, program ids, integers, comparison, selection, bit patterns and addresses: one LLVM instruction a register,
// or few.
#include "jit/lowering/elementwise.h"
#include "vm/bytecode/op_info.h"

namespace trivet::jit {
namespace {

using llvm::Value;
using vm::Op;
using vm::Operation;

bool IsSigned(LoweringContext& cx, const Operation& op) { return vm::IsSignedInteger(cx.type(op.operand(0)).dtype()); }

unsigned WidthOf(Value* v) { return v->getType()->getScalarSizeInBits(); }

Value* SpecialRegister(LoweringContext& cx, llvm::Intrinsic::ID x, int64_t axis) {
  // tid, ctaid, nctaid: x, y, z are neighbours in the enumeration (checked by the tests of program_id).
  return cx.Intrinsic(x + static_cast<unsigned>(axis), {});
}

// Division by zero gives all ones, the least value divided by -1 itself (remainder 0), as the reference says. LLVM
// leaves both undefined, so the operands are replaced first.
Value* Divide(LoweringContext& cx, Value* lhs, Value* rhs, bool is_signed, bool wants_remainder) {
  auto& ir = cx.ir();
  llvm::Type* type = lhs->getType();
  Value* zero = llvm::ConstantInt::get(type, 0);
  Value* one = llvm::ConstantInt::get(type, 1);
  Value* all_ones = llvm::ConstantInt::getAllOnesValue(type);
  Value* is_zero = ir.CreateICmpEQ(rhs, zero);
  Value* safe = ir.CreateSelect(is_zero, one, rhs);
  Value* overflow_result = nullptr;
  Value* overflows = nullptr;
  if (is_signed) {
    Value* least = llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(WidthOf(lhs)));
    overflows = ir.CreateAnd(ir.CreateICmpEQ(lhs, least), ir.CreateICmpEQ(rhs, all_ones));
    safe = ir.CreateSelect(overflows, one, safe);
    overflow_result = wants_remainder ? zero : least;
  }
  Value* result = wants_remainder ? (is_signed ? ir.CreateSRem(lhs, safe) : ir.CreateURem(lhs, safe))
                                  : (is_signed ? ir.CreateSDiv(lhs, safe) : ir.CreateUDiv(lhs, safe));
  if (is_signed) result = ir.CreateSelect(overflows, overflow_result, result);
  return ir.CreateSelect(is_zero, all_ones, result);
}

// Shifts by the width or more: zeros, or copies of the sign.
Value* Shift(LoweringContext& cx, Op op, Value* lhs, Value* rhs, bool is_signed) {
  auto& ir = cx.ir();
  Value* width = llvm::ConstantInt::get(rhs->getType(), WidthOf(rhs));
  Value* is_past = ir.CreateICmpUGE(rhs, width);
  Value* last = llvm::ConstantInt::get(rhs->getType(), WidthOf(rhs) - 1);
  if (op == Op::kShr && is_signed) return ir.CreateAShr(lhs, ir.CreateSelect(is_past, last, rhs));
  Value* safe = ir.CreateSelect(is_past, last, rhs);
  Value* shifted = op == Op::kShl ? ir.CreateShl(lhs, safe) : ir.CreateLShr(lhs, safe);
  return ir.CreateSelect(is_past, llvm::ConstantInt::get(lhs->getType(), 0), shifted);
}

Value* MulHigh(LoweringContext& cx, Value* lhs, Value* rhs, bool is_signed) {
  auto& ir = cx.ir();
  const unsigned width = WidthOf(lhs);
  if (width == 1) return ir.getFalse();
  llvm::Type* wide = ir.getIntNTy(2 * width);
  const auto extend = [&](Value* v) { return is_signed ? ir.CreateSExt(v, wide) : ir.CreateZExt(v, wide); };
  return ir.CreateTrunc(ir.CreateLShr(ir.CreateMul(extend(lhs), extend(rhs)), width), lhs->getType());
}

Value* Ffs(LoweringContext& cx, Value* x) {
  auto& ir = cx.ir();
  llvm::Type* type = x->getType();
  Value* zero = llvm::ConstantInt::get(type, 0);
  Value* index = ir.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, x, ir.getFalse());
  return ir.CreateSelect(ir.CreateICmpEQ(x, zero), zero, ir.CreateAdd(index, llvm::ConstantInt::get(type, 1)));
}

}  // namespace

absl::Status LowerConstant(LoweringContext& cx, const Operation& op) {
  Value* value = cx.Constant(cx.type(op.result()), op.int_attr(vm::ConstantOp::At::value));
  cx.Set(op.result(), Registers(cx.NumRegisters(op.result()), value));
  return absl::OkStatus();
}

absl::Status LowerArange(LoweringContext& cx, const Operation& op) {
  const TileLayout& layout = cx.layout(op.result());
  const int64_t start = op.int_attr(vm::ArangeOp::At::start);
  Registers out;
  for (int r = 0; r < layout.num_registers(); ++r) {
    out.push_back(cx.ir().CreateAdd(cx.ThreadElement(layout), cx.I32(start + layout.RegisterElement(r))));
  }
  cx.Set(op.result(), std::move(out));
  return absl::OkStatus();
}

absl::Status LowerProgramId(LoweringContext& cx, const Operation& op) {
  const int64_t axis = op.int_attr(vm::ProgramIdOp::At::axis);
  cx.Set(op.result(), {SpecialRegister(cx, llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x, axis)});
  return absl::OkStatus();
}

absl::Status LowerNumPrograms(LoweringContext& cx, const Operation& op) {
  const int64_t axis = op.int_attr(vm::NumProgramsOp::At::axis);
  cx.Set(op.result(), {SpecialRegister(cx, llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x, axis)});
  return absl::OkStatus();
}

absl::Status LowerInteger(LoweringContext& cx, const Operation& op) {
  const bool is_signed = IsSigned(cx, op);
  auto& ir = cx.ir();
  const auto intrinsic = [&](llvm::Intrinsic::ID id, Value* a, Value* b) { return ir.CreateBinaryIntrinsic(id, a, b); };
  return LowerElementwise(cx, op, [&](const Registers& x) -> Value* {
    const bool is_bool = WidthOf(x[0]) == 1;
    switch (op.opcode) {
      case Op::kAddI:
        return ir.CreateAdd(x[0], x[1]);
      case Op::kSubI:
        return ir.CreateSub(x[0], x[1]);
      case Op::kMulI:
        return ir.CreateMul(x[0], x[1]);
      case Op::kDivI:
      case Op::kRemI:
        // One bit: x / 1 is x and x % 1 is 0; by zero all ones.
        if (is_bool) return op.opcode == Op::kDivI ? ir.CreateOr(x[0], ir.CreateNot(x[1])) : ir.CreateNot(x[1]);
        return Divide(cx, x[0], x[1], is_signed, op.opcode == Op::kRemI);
      case Op::kMulHi:
        return MulHigh(cx, x[0], x[1], is_signed);
      case Op::kAndI:
        return ir.CreateAnd(x[0], x[1]);
      case Op::kOrI:
        return ir.CreateOr(x[0], x[1]);
      case Op::kXorI:
        return ir.CreateXor(x[0], x[1]);
      case Op::kShl:
      case Op::kShr:
        if (is_bool) return ir.CreateAnd(x[0], ir.CreateNot(x[1]));
        return Shift(cx, op.opcode, x[0], x[1], is_signed);
      case Op::kMinI:
        return intrinsic(is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, x[0], x[1]);
      case Op::kMaxI:
        return intrinsic(is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, x[0], x[1]);
      case Op::kAbsI:
        return is_signed ? intrinsic(llvm::Intrinsic::abs, x[0], ir.getFalse()) : x[0];
      case Op::kClz:
        return is_bool ? ir.CreateNot(x[0]) : intrinsic(llvm::Intrinsic::ctlz, x[0], ir.getFalse());
      case Op::kPopc:
        return is_bool ? x[0] : ir.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, x[0]);
      case Op::kFfs:
        return is_bool ? x[0] : Ffs(cx, x[0]);
      default:  // brev
        return is_bool ? x[0] : ir.CreateUnaryIntrinsic(llvm::Intrinsic::bitreverse, x[0]);
    }
  });
}

absl::Status LowerCmpI(LoweringContext& cx, const Operation& op) {
  const vm::Type& type = cx.type(op.operand(0));
  const bool is_signed = type.is_number() && vm::IsSignedInteger(type.dtype());
  using P = llvm::CmpInst::Predicate;
  const auto predicate = [&]() -> P {
    switch (op.enum_attr<vm::CmpPredicate>(vm::CmpIOp::At::predicate)) {
      case vm::CmpPredicate::kEq:
        return P::ICMP_EQ;
      case vm::CmpPredicate::kNe:
        return P::ICMP_NE;
      case vm::CmpPredicate::kLt:
        return is_signed ? P::ICMP_SLT : P::ICMP_ULT;
      case vm::CmpPredicate::kLe:
        return is_signed ? P::ICMP_SLE : P::ICMP_ULE;
      case vm::CmpPredicate::kGt:
        return is_signed ? P::ICMP_SGT : P::ICMP_UGT;
      case vm::CmpPredicate::kGe:
        return is_signed ? P::ICMP_SGE : P::ICMP_UGE;
    }
    return P::ICMP_EQ;
  }();
  return LowerElementwise(cx, op, [&](const Registers& x) { return cx.ir().CreateICmp(predicate, x[0], x[1]); });
}

absl::Status LowerSelect(LoweringContext& cx, const Operation& op) {
  const Registers condition = cx.Get(op.operand(0));
  const Registers& if_true = cx.Get(op.operand(1));
  const Registers& if_false = cx.Get(op.operand(2));
  Registers out;
  for (size_t i = 0; i < if_true.size(); ++i) {
    out.push_back(cx.ir().CreateSelect(condition[condition.size() == 1 ? 0 : i], if_true[i], if_false[i]));
  }
  cx.Set(op.result(), std::move(out));
  return absl::OkStatus();
}

absl::Status LowerBitcast(LoweringContext& cx, const Operation& op) {
  llvm::Type* type = cx.ElementType(cx.type(op.result()));
  return LowerElementwise(cx, op, [&](const Registers& x) -> Value* {
    if (type->isPointerTy()) return x[0];
    // i8 to i1 takes the lowest bit.
    if (WidthOf(x[0]) > type->getScalarSizeInBits()) return cx.ir().CreateTrunc(x[0], type);
    if (WidthOf(x[0]) < type->getScalarSizeInBits()) return cx.ir().CreateZExt(x[0], type);
    return cx.ir().CreateBitCast(x[0], type);
  });
}

absl::Status LowerPtrToInt(LoweringContext& cx, const Operation& op) {
  return LowerElementwise(cx, op,
                          [&](const Registers& x) { return cx.ir().CreatePtrToInt(x[0], cx.ir().getInt64Ty()); });
}

absl::Status LowerIntToPtr(LoweringContext& cx, const Operation& op) {
  return LowerElementwise(
      cx, op, [&](const Registers& x) { return cx.ir().CreateIntToPtr(x[0], cx.ir().getPtrTy(kGlobalSpace)); });
}

absl::Status LowerAddPtr(LoweringContext& cx, const Operation& op) {
  auto& ir = cx.ir();
  const vm::Type pointee = cx.type(op.operand(0)).Pointee();
  const bool is_signed = vm::IsSignedInteger(cx.type(op.operand(1)).dtype());
  llvm::Type* element = pointee.is_bool() ? static_cast<llvm::Type*>(ir.getInt8Ty()) : cx.MemoryType(pointee);
  return LowerElementwise(cx, op, [&](const Registers& x) {
    Value* offset = x[1];
    if (WidthOf(offset) < 64) {
      offset = is_signed ? ir.CreateSExt(offset, ir.getInt64Ty()) : ir.CreateZExt(offset, ir.getInt64Ty());
    }
    return ir.CreateGEP(element, x[0], offset);
  });
}

absl::Status LowerCopy(LoweringContext& cx, const Operation& op) {
  cx.Set(op.result(), cx.Get(op.operand(0)));
  return absl::OkStatus();
}

absl::Status LowerNothing(LoweringContext&, const Operation&) { return absl::OkStatus(); }

absl::Status LowerBarrier(LoweringContext& cx, const Operation&) {
  cx.Barrier();
  return absl::OkStatus();
}

}  // namespace trivet::jit
