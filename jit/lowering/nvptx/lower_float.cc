// Floating-point arithmetic, minimum and maximum, signs, comparison. f16 and bf16 compute in their own type where the
// hardware rounds once; f8 compute in f64, exactly, and round once.
#include <cmath>

#include "jit/lowering/elementwise.h"
#include "jit/lowering/nvptx/convert.h"

namespace trivet::jit {
namespace {

using llvm::Value;
using vm::DType;
using vm::Op;
using vm::Operation;

// The instruction `op` with a directed rounding on f32 (`f`) or f64 (`d`); PTX ISA, "add", "mul", "fma", "div", "sqrt".
#define TRIVET_DIRECTED(name)                                                            \
  (is_f64 ? (rounding == vm::Rounding::kTowardZero ? llvm::Intrinsic::nvvm_##name##_rz_d \
             : rounding == vm::Rounding::kUp       ? llvm::Intrinsic::nvvm_##name##_rp_d \
                                                   : llvm::Intrinsic::nvvm_##name##_rm_d)      \
          : (rounding == vm::Rounding::kTowardZero ? llvm::Intrinsic::nvvm_##name##_rz_f \
             : rounding == vm::Rounding::kUp       ? llvm::Intrinsic::nvvm_##name##_rp_f \
                                                   : llvm::Intrinsic::nvvm_##name##_rm_f))

llvm::Intrinsic::ID DirectedIntrinsic(Op op, bool is_f64, vm::Rounding rounding) {
  switch (op) {
    case Op::kAddF:
    case Op::kSubF:
      return TRIVET_DIRECTED(add);
    case Op::kMulF:
      return TRIVET_DIRECTED(mul);
    case Op::kDivF:
      return TRIVET_DIRECTED(div);
    case Op::kSqrt:
      return TRIVET_DIRECTED(sqrt);
    default:
      return TRIVET_DIRECTED(fma);
  }
}
#undef TRIVET_DIRECTED

Value* Arithmetic(LoweringContext& cx, Op op, const Registers& x, bool is_precise) {
  auto& ir = cx.ir();
  switch (op) {
    case Op::kAddF:
      return ir.CreateFAdd(x[0], x[1]);
    case Op::kSubF:
      return ir.CreateFSub(x[0], x[1]);
    case Op::kMulF:
      return ir.CreateFMul(x[0], x[1]);
    case Op::kDivF:
      if (x[0]->getType()->isFloatTy() && !is_precise)
        return cx.Intrinsic(llvm::Intrinsic::nvvm_div_full, {x[0], x[1]});
      return ir.CreateFDiv(x[0], x[1]);
    case Op::kSqrt:
      if (x[0]->getType()->isFloatTy() && !is_precise) return cx.Intrinsic(llvm::Intrinsic::nvvm_sqrt_approx_f, {x[0]});
      return ir.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x[0]);
    default:
      return ir.CreateIntrinsic(llvm::Intrinsic::fma, {x[0]->getType()}, {x[0], x[1], x[2]});
  }
}

bool IsNarrow(DType dtype) { return dtype == DType::kF16 || dtype == DType::kBF16; }

// -0 < +0. `propagate`: one NaN is enough.
Value* MinMax(LoweringContext& cx, bool is_max, bool propagate, Value* a, Value* b) {
  auto& ir = cx.ir();
  const auto id = is_max ? (propagate ? llvm::Intrinsic::maximum : llvm::Intrinsic::maximumnum)
                         : (propagate ? llvm::Intrinsic::minimum : llvm::Intrinsic::minimumnum);
  if (!a->getType()->isDoubleTy() || !propagate) return ir.CreateBinaryIntrinsic(id, a, b);
  // PTX has no min.NaN.f64, and LLVM takes min.f64 for it.
  Value* plain = ir.CreateBinaryIntrinsic(is_max ? llvm::Intrinsic::maximumnum : llvm::Intrinsic::minimumnum, a, b);
  return ir.CreateSelect(ir.CreateFCmpUNO(a, b), llvm::ConstantFP::getNaN(a->getType()), plain);
}

}  // namespace

absl::Status LowerFloatArithmetic(LoweringContext& cx, const Operation& op) {
  auto& ir = cx.ir();
  const DType dtype = cx.type(op.result()).dtype();
  const auto rounding = op.enum_attr<vm::Rounding>(0);
  const bool has_precise = op.opcode == Op::kDivF || op.opcode == Op::kSqrt;
  const bool is_precise = has_precise && op.bool_attr(1);
  if (rounding != vm::Rounding::kNearestEven) {
    if (dtype != DType::kF32 && dtype != DType::kF64) {
      return cx.Refuse(op, "directed rounding of ", vm::InfoOf(dtype).text);
    }
    const auto id = DirectedIntrinsic(op.opcode, dtype == DType::kF64, rounding);
    return LowerElementwise(cx, op, [&](const Registers& x) -> Value* {
      Registers arguments = x;
      if (op.opcode == Op::kSubF) arguments[1] = ir.CreateFNeg(arguments[1]);
      return cx.Intrinsic(id, arguments);
    });
  }
  // Products of f16 or bf16 with a third summand, quotients and roots need more bits than the format's own instructions
  // keep.
  const bool is_own_type =
      op.opcode == Op::kAddF || op.opcode == Op::kSubF || op.opcode == Op::kMulF || op.opcode == Op::kFma;
  if (!IsF8(dtype) && (!IsNarrow(dtype) || is_own_type)) {
    return LowerElementwise(cx, op, [&](const Registers& x) { return Arithmetic(cx, op.opcode, x, is_precise); });
  }
  llvm::Type* wide = IsF8(dtype) ? ir.getDoubleTy() : ir.getFloatTy();
  return LowerElementwise(cx, op, [&](const Registers& x) {
    Registers widened;
    for (Value* v : x) widened.push_back(WidenFloat(cx, v, dtype, wide));
    Value* result = Arithmetic(cx, op.opcode, widened, /*is_precise=*/true);
    return NarrowFloat(cx, result, IsF8(dtype) ? DType::kF64 : DType::kF32, dtype, /*saturate=*/IsF8(dtype));
  });
}

absl::Status LowerFloatSign(LoweringContext& cx, const Operation& op) {
  auto& ir = cx.ir();
  const DType dtype = cx.type(op.result()).dtype();
  const auto width = static_cast<unsigned>(vm::InfoOf(dtype).bits);
  llvm::Type* bits_type = ir.getIntNTy(width);
  Value* sign_bit = llvm::ConstantInt::get(bits_type, llvm::APInt::getOneBitSet(width, width - 1));
  Value* rest = llvm::ConstantInt::get(bits_type, ~llvm::APInt::getOneBitSet(width, width - 1));
  // Zero and the NaN of these have no sign.
  const bool is_unsigned_zero = dtype == DType::kF8E4B8 || dtype == DType::kF8E5B16;
  return LowerElementwise(cx, op, [&](const Registers& x) -> Value* {
    Value* bits = ir.CreateBitCast(x[0], bits_type);
    Value* result;
    if (op.opcode == Op::kNegF) {
      result = ir.CreateXor(bits, sign_bit);
    } else {
      result = ir.CreateAnd(bits, rest);
      if (op.opcode == Op::kCopySign)
        result = ir.CreateOr(result, ir.CreateAnd(ir.CreateBitCast(x[1], bits_type), sign_bit));
    }
    if (is_unsigned_zero)
      result = ir.CreateSelect(ir.CreateICmpEQ(ir.CreateAnd(bits, rest), ir.getInt8(0)), bits, result);
    return ir.CreateBitCast(result, x[0]->getType());
  });
}

absl::Status LowerFloatMinMax(LoweringContext& cx, const Operation& op) {
  const DType dtype = cx.type(op.result()).dtype();
  const bool propagate = op.enum_attr<vm::NanRule>(0) == vm::NanRule::kPropagate;
  return LowerElementwise(cx, op, [&](const Registers& x) {
    Registers in = x;
    if (IsF8(dtype)) {
      for (Value*& v : in) v = WidenFloat(cx, v, dtype, cx.ir().getFloatTy());
    }
    Value* result = op.opcode == Op::kClampF
                        ? MinMax(cx, false, propagate, MinMax(cx, true, propagate, in[0], in[1]), in[2])
                        : MinMax(cx, op.opcode == Op::kMaxF, propagate, in[0], in[1]);
    if (!IsF8(dtype)) return result;
    // The result is one of the operands, infinities included: take its code.
    Value* code = x.back();
    for (size_t i = x.size() - 1; i-- > 0;) {
      Value* is_this = cx.ir().CreateICmpEQ(cx.ir().CreateBitCast(result, cx.ir().getInt32Ty()),
                                            cx.ir().CreateBitCast(in[i], cx.ir().getInt32Ty()));
      code = cx.ir().CreateSelect(is_this, x[i], code);
    }
    Value* is_nan = cx.ir().CreateFCmpUNO(result, result);
    Value* nan = NarrowFloat(cx, result, DType::kF32, dtype, true);
    return cx.ir().CreateSelect(is_nan, nan, code);
  });
}

absl::Status LowerCmpF(LoweringContext& cx, const Operation& op) {
  using P = llvm::CmpInst::Predicate;
  const DType dtype = cx.type(op.operand(0)).dtype();
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
  return LowerElementwise(cx, op, [&](const Registers& x) {
    Value* a = IsF8(dtype) ? WidenFloat(cx, x[0], dtype, cx.ir().getFloatTy()) : x[0];
    Value* b = IsF8(dtype) ? WidenFloat(cx, x[1], dtype, cx.ir().getFloatTy()) : x[1];
    return cx.ir().CreateFCmp(predicate, a, b);
  });
}

}  // namespace trivet::jit
