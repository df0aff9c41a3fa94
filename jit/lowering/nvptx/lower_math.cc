// Mathematical functions: rounding to integers and classification inline, exp and exp2 by the special-function unit,
// the rest by libdevice (libdevice.def; linked after lowering, jit/target/libdevice.h). f16, bf16 and f8 compute in f32
// and round once more.
#include <cmath>
#include <numbers>

#include "jit/lowering/elementwise.h"
#include "jit/lowering/nvptx/convert.h"

namespace trivet::jit {
namespace {

using llvm::Value;
using vm::DType;
using vm::Op;
using vm::Operation;

const char* LibdeviceName(Op op) {
  switch (op) {
#define TRIVET_LIBDEVICE(Name, name) \
  case Op::k##Name:                  \
    return name;
#include "jit/lowering/nvptx/libdevice.def"
#undef TRIVET_LIBDEVICE
    default:
      return nullptr;
  }
}

Value* CallLibdevice(LoweringContext& cx, Op op, const Registers& x, llvm::Type* float_type, llvm::Type* result) {
  const std::string name = absl::StrCat("__nv_", LibdeviceName(op), float_type->isDoubleTy() ? "" : "f");
  std::vector<llvm::Type*> types;
  for (Value* v : x) types.push_back(v->getType());
  llvm::FunctionCallee callee =
      cx.llvm_module().getOrInsertFunction(name, llvm::FunctionType::get(result, types, false));
  return cx.ir().CreateCall(callee, x);
}

// Operands that are floats, widened to the type in which the function is computed.
Registers Widened(LoweringContext& cx, const Operation& op, const Registers& x, llvm::Type* to) {
  Registers out;
  for (size_t i = 0; i < x.size(); ++i) {
    const vm::Type& type = cx.type(op.operands[i]);
    out.push_back(type.is_float() ? WidenFloat(cx, x[i], type.dtype(), to) : x[i]);
  }
  return out;
}

llvm::Type* ComputeType(LoweringContext& cx, DType dtype) {
  return dtype == DType::kF64 ? cx.ir().getDoubleTy() : cx.ir().getFloatTy();
}

Value* Narrowed(LoweringContext& cx, Value* value, DType dtype) {
  return NarrowFloat(cx, value, dtype == DType::kF64 ? DType::kF64 : DType::kF32, dtype, /*saturate=*/IsF8(dtype));
}

}  // namespace

absl::Status LowerLibdevice(LoweringContext& cx, const Operation& op) {
  // The last operand is a float in every function: (order, x), (x, exponent) has it first.
  const vm::Type& first = cx.type(op.operands[0]);
  const DType dtype = first.is_float() ? first.dtype() : cx.type(op.operands.back()).dtype();
  if (IsF8(dtype) && op.opcode == Op::kRemF) return cx.Refuse(op, "remainder of f8");
  llvm::Type* compute = ComputeType(cx, dtype);
  const bool gives_float = cx.type(op.result()).is_float();
  return LowerElementwise(cx, op, [&](const Registers& x) {
    Value* result = CallLibdevice(cx, op.opcode, Widened(cx, op, x, compute), compute,
                                  gives_float ? compute : cx.ElementType(cx.type(op.result())));
    return gives_float ? Narrowed(cx, result, dtype) : result;
  });
}

// exp(x) = 2^(x log2 e); the tolerance of exp allows for the rounding of the product.
absl::Status LowerExp(LoweringContext& cx, const Operation& op) {
  const DType dtype = cx.type(op.result()).dtype();
  if (dtype == DType::kF64) return LowerLibdevice(cx, op);
  return LowerElementwise(cx, op, [&](const Registers& x) {
    Value* wide = WidenFloat(cx, x[0], dtype, cx.ir().getFloatTy());
    if (op.opcode == Op::kExp) {
      wide = cx.ir().CreateFMul(wide, llvm::ConstantFP::get(wide->getType(), static_cast<float>(std::numbers::log2e)));
    }
    return Narrowed(cx, cx.ir().CreateUnaryIntrinsic(llvm::Intrinsic::exp2, wide), dtype);
  });
}

absl::Status LowerRounding(LoweringContext& cx, const Operation& op) {
  auto& ir = cx.ir();
  const DType dtype = cx.type(op.result()).dtype();
  const auto intrinsic = [&](llvm::Intrinsic::ID id, Value* v) { return ir.CreateUnaryIntrinsic(id, v); };
  return LowerElementwise(cx, op, [&](const Registers& x) -> Value* {
    Value* wide = WidenFloat(cx, x[0], dtype, ComputeType(cx, dtype));
    switch (op.opcode) {
      case Op::kFloor:
        wide = intrinsic(llvm::Intrinsic::floor, wide);
        break;
      case Op::kCeil:
        wide = intrinsic(llvm::Intrinsic::ceil, wide);
        break;
      case Op::kTrunc:
        wide = intrinsic(llvm::Intrinsic::trunc, wide);
        break;
      case Op::kRound:
        wide = intrinsic(llvm::Intrinsic::round, wide);
        break;
      case Op::kRint:
        wide = intrinsic(llvm::Intrinsic::rint, wide);
        break;
      default: {  // saturate: NaN and -0 give +0
        Value* zero = llvm::ConstantFP::get(wide->getType(), 0);
        Value* one = llvm::ConstantFP::get(wide->getType(), 1);
        wide = ir.CreateSelect(ir.CreateFCmpOGT(wide, zero), wide, zero);
        wide = ir.CreateSelect(ir.CreateFCmpOGT(wide, one), one, wide);
      }
    }
    if (!IsF8(dtype)) return Narrowed(cx, wide, dtype);
    // Infinities stay: their code is that of the operand.
    Value* is_infinite =
        ir.CreateFCmpOEQ(intrinsic(llvm::Intrinsic::fabs, wide), llvm::ConstantFP::getInfinity(wide->getType()));
    return ir.CreateSelect(is_infinite, x[0], Narrowed(cx, wide, dtype));
  });
}

absl::Status LowerClassify(LoweringContext& cx, const Operation& op) {
  auto& ir = cx.ir();
  const DType dtype = cx.type(op.operand(0)).dtype();
  return LowerElementwise(cx, op, [&](const Registers& x) -> Value* {
    if (op.opcode == Op::kSignBit) {
      Value* bits = ir.CreateBitCast(x[0], ir.getIntNTy(static_cast<unsigned>(vm::InfoOf(dtype).bits)));
      return ir.CreateICmpSLT(bits, llvm::ConstantInt::get(bits->getType(), 0));
    }
    Value* wide = WidenFloat(cx, x[0], dtype, ComputeType(cx, dtype));
    if (op.opcode == Op::kIsNan) return ir.CreateFCmpUNO(wide, wide);
    Value* magnitude = ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, wide);
    Value* infinity = llvm::ConstantFP::getInfinity(wide->getType());
    return op.opcode == Op::kIsInf ? ir.CreateFCmpOEQ(magnitude, infinity) : ir.CreateFCmpOLT(magnitude, infinity);
  });
}

// The neighbour in the order of codes, which is the order of magnitudes.
absl::Status LowerNextAfter(LoweringContext& cx, const Operation& op) {
  auto& ir = cx.ir();
  const DType dtype = cx.type(op.result()).dtype();
  if (IsF8(dtype)) return cx.Refuse(op, "neighbours of f8");
  llvm::Type* bits_type = ir.getIntNTy(static_cast<unsigned>(vm::InfoOf(dtype).bits));
  return LowerElementwise(cx, op, [&](const Registers& x) -> Value* {
    llvm::Type* type = x[0]->getType();
    Value* zero = llvm::ConstantFP::get(type, 0);
    Value* one = llvm::ConstantInt::get(bits_type, 1);
    Value* bits = ir.CreateBitCast(x[0], bits_type);
    Value* is_away = ir.CreateXor(ir.CreateFCmpOLT(x[0], x[1]), ir.CreateFCmpOLT(x[0], zero));
    Value* moved = ir.CreateSelect(is_away, ir.CreateAdd(bits, one), ir.CreateSub(bits, one));
    Value* smallest = ir.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, ir.CreateBitCast(one, type), x[1]);
    Value* result = ir.CreateSelect(ir.CreateFCmpOEQ(x[0], zero), smallest, ir.CreateBitCast(moved, type));
    result = ir.CreateSelect(ir.CreateFCmpOEQ(x[0], x[1]), x[1], result);
    return ir.CreateSelect(ir.CreateFCmpUNO(x[0], x[1]), llvm::ConstantFP::getNaN(type), result);
  });
}

}  // namespace trivet::jit
