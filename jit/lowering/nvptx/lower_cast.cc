// cast.
#include <cmath>

#include "jit/lowering/elementwise.h"
#include "jit/lowering/nvptx/convert.h"

namespace trivet::jit {
namespace {

using llvm::Value;
using vm::DType;
using vm::Operation;

// What a narrow format's bits mean; see vm/numerics/float_formats.h, whose table this repeats in the shape that code
// needs.
struct F8Format {
  int mantissa_bits;
  int bias;
  uint8_t largest;    // code of the largest finite magnitude that a conversion gives
  int nan_code;       // what a NaN becomes
  bool has_infinity;  // e5m2: code 0x7c
  bool has_minus_zero;
  bool ties_away;
};

F8Format FormatOf(DType dtype) {
  switch (dtype) {
    case DType::kF8E4M3:
      return {3, 7, 0x7e, 0x7f, false, true, false};
    case DType::kF8E5M2:
      return {2, 15, 0x7b, 0x7f, true, true, false};
    case DType::kF8E4B8:
      return {3, 8, 0x7f, 0x80, false, false, false};
    case DType::kF8E5B16:
      return {2, 16, 0x7f, 0x80, false, false, false};
    default:  // f8e4b15
      return {3, 15, 0x7e, 0x7e, false, true, true};
  }
}

Value* Float(LoweringContext& cx, double value) { return llvm::ConstantFP::get(cx.ir().getFloatTy(), value); }

// The code without its sign, moved to where f32 has exponent and mantissa, is the value times 2^(bias - 127), also for
// subnormals.
Value* WidenF8(LoweringContext& cx, Value* code, DType dtype) {
  auto& ir = cx.ir();
  const F8Format f = FormatOf(dtype);
  Value* wide = ir.CreateZExt(code, ir.getInt32Ty());
  Value* magnitude = ir.CreateAnd(wide, cx.I32(0x7f));
  Value* bits = ir.CreateShl(magnitude, cx.I32(23 - f.mantissa_bits));
  Value* scaled = ir.CreateFMul(ir.CreateBitCast(bits, ir.getFloatTy()), Float(cx, std::ldexp(1.0, 127 - f.bias)));
  Value* sign = ir.CreateShl(ir.CreateAnd(wide, cx.I32(0x80)), cx.I32(24));
  Value* value = ir.CreateBitCast(ir.CreateOr(ir.CreateBitCast(scaled, ir.getInt32Ty()), sign), ir.getFloatTy());
  Value* nan = llvm::ConstantFP::getNaN(ir.getFloatTy());
  if (f.nan_code == 0x80) return ir.CreateSelect(ir.CreateICmpEQ(wide, cx.I32(0x80)), nan, value);
  if (f.has_infinity) {
    Value* infinity = ir.CreateBitCast(ir.CreateOr(cx.I32(0x7f800000), sign), ir.getFloatTy());
    value = ir.CreateSelect(ir.CreateICmpEQ(magnitude, cx.I32(0x7c)), infinity, value);
    return ir.CreateSelect(ir.CreateICmpUGT(magnitude, cx.I32(0x7c)), nan, value);
  }
  if (dtype == DType::kF8E4M3) return ir.CreateSelect(ir.CreateICmpEQ(magnitude, cx.I32(0x7f)), nan, value);
  return value;
}

// In f64, |x| times 2^(bias - 1023) has the code where f64 has exponent and mantissa; rounding there is integer
// arithmetic. The product is exact but for bits far below half a step of the format, which decide nothing.
Value* NarrowToF8InSoftware(LoweringContext& cx, Value* value, DType dtype) {
  auto& ir = cx.ir();
  const F8Format f = FormatOf(dtype);
  llvm::Type* f64 = ir.getDoubleTy();
  llvm::Type* i64 = ir.getInt64Ty();
  Value* magnitude = ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value);
  Value* scaled = ir.CreateFMul(magnitude, llvm::ConstantFP::get(f64, std::ldexp(1.0, f.bias - 1023)));
  Value* bits = ir.CreateBitCast(scaled, i64);
  const int shift = 52 - f.mantissa_bits;
  Value* half = ir.getInt64((uint64_t{1} << (shift - 1)) - (f.ties_away ? 0 : 1));
  Value* rounded = ir.CreateAdd(bits, half);
  if (!f.ties_away) rounded = ir.CreateAdd(rounded, ir.CreateAnd(ir.CreateLShr(bits, shift), 1));
  Value* code = ir.CreateLShr(rounded, shift);
  // Magnitudes too large, and infinities.
  Value* largest = ir.getInt64(f.largest);
  code = ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, code, largest);
  Value* narrow = ir.CreateTrunc(code, ir.getInt8Ty());
  Value* sign = ir.CreateTrunc(ir.CreateLShr(ir.CreateBitCast(value, i64), 56), ir.getInt8Ty());
  sign = ir.CreateAnd(sign, ir.getInt8(0x80));
  if (!f.has_minus_zero) sign = ir.CreateSelect(ir.CreateICmpEQ(narrow, ir.getInt8(0)), ir.getInt8(0), sign);
  Value* is_nan = ir.CreateFCmpUNO(value, value);
  // The NaN of f8e4b15 is its largest value with the NaN's sign; the others have one NaN.
  Value* nan = ir.getInt8(static_cast<uint8_t>(f.nan_code));
  if (f.ties_away) nan = ir.CreateOr(nan, sign);
  return ir.CreateSelect(is_nan, nan, ir.CreateOr(narrow, sign));
}

// f64 to f32 such that a further rounding to nearest, to at most 22 bits, gives what one rounding gives: towards zero,
// and the last bit set if anything was cut off ("round to odd"; Boldo and Melquiond, "Emulation of FMA and correctly
// rounded sums").
Value* RoundToOdd(LoweringContext& cx, Value* value) {
  auto& ir = cx.ir();
  Value* cut = cx.Intrinsic(llvm::Intrinsic::nvvm_d2f_rz, {value});
  Value* is_inexact = ir.CreateFCmpONE(ir.CreateFPExt(cut, ir.getDoubleTy()), value);
  Value* bits = ir.CreateBitCast(cut, ir.getInt32Ty());
  return ir.CreateBitCast(ir.CreateOr(bits, ir.CreateZExt(is_inexact, ir.getInt32Ty())), ir.getFloatTy());
}

Value* IntegerToFloat(LoweringContext& cx, Value* value, bool is_signed, DType to, bool saturate) {
  auto& ir = cx.ir();
  const unsigned width = value->getType()->getScalarSizeInBits();
  llvm::Type* type = cx.ElementType(to);
  const auto convert = [&](llvm::Type* t) { return is_signed ? ir.CreateSIToFP(value, t) : ir.CreateUIToFP(value, t); };
  if (to == DType::kF32 || to == DType::kF64) return convert(type);
  // Up to 32 bits are exact in f64.
  if (width <= 32) return NarrowFloat(cx, convert(ir.getDoubleTy()), DType::kF64, to, saturate);
  const auto id = is_signed ? llvm::Intrinsic::nvvm_ll2f_rz : llvm::Intrinsic::nvvm_ull2f_rz;
  Value* cut = cx.Intrinsic(id, {value});
  // What was cut off: the float, back as an integer, differs. (It can't be too large, being cut.)
  Value* back = is_signed ? ir.CreateFPToSI(cut, value->getType()) : ir.CreateFPToUI(cut, value->getType());
  Value* odd = ir.CreateZExt(ir.CreateICmpNE(back, value), ir.getInt32Ty());
  Value* rounded = ir.CreateBitCast(ir.CreateOr(ir.CreateBitCast(cut, ir.getInt32Ty()), odd), ir.getFloatTy());
  return NarrowFloat(cx, rounded, DType::kF32, to, saturate);
}

Value* FloatToInteger(LoweringContext& cx, Value* value, DType from, DType to) {
  auto& ir = cx.ir();
  llvm::Type* type = cx.ElementType(to);
  Value* wide = from == DType::kF64 ? value : WidenFloat(cx, value, from, ir.getFloatTy());
  const bool is_signed = vm::IsSignedInteger(to);
  Value* result = ir.CreateIntrinsic(is_signed ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
                                     {type, wide->getType()}, {wide});
  // NaN gives 0; from f64, or to 64 bits, the value of the top bit alone.
  const unsigned width = type->getScalarSizeInBits();
  if (from != DType::kF64 && width != 64) return result;
  Value* top = llvm::ConstantInt::get(type, llvm::APInt::getOneBitSet(width, width - 1));
  return ir.CreateSelect(ir.CreateFCmpUNO(wide, wide), top, result);
}

}  // namespace

bool IsF8(DType dtype) { return vm::IsFloat(dtype) && vm::InfoOf(dtype).bits == 8; }

Value* WidenFloat(LoweringContext& cx, Value* value, DType from, llvm::Type* to) {
  auto& ir = cx.ir();
  if (IsF8(from)) value = WidenF8(cx, value, from);
  if (value->getType() == to) return value;
  if (from == DType::kF64) return ir.CreateFPTrunc(value, to);
  return ir.CreateFPExt(value, to);
}

Value* NarrowFloat(LoweringContext& cx, Value* value, DType from, DType to, bool saturate) {
  auto& ir = cx.ir();
  llvm::Type* type = cx.ElementType(to);
  if (IsF8(to)) {
    if (!saturate && to != DType::kF8E4B15) return nullptr;
    const bool is_hardware = to == DType::kF8E4M3 || to == DType::kF8E5M2;
    if (is_hardware && cx.options().compute_capability >= 89) {
      Value* wide = from == DType::kF64 ? RoundToOdd(cx, value) : WidenFloat(cx, value, from, ir.getFloatTy());
      const auto id =
          to == DType::kF8E4M3 ? llvm::Intrinsic::nvvm_ff_to_e4m3x2_rn : llvm::Intrinsic::nvvm_ff_to_e5m2x2_rn;
      return ir.CreateTrunc(cx.Intrinsic(id, {Float(cx, 0), wide}), ir.getInt8Ty());
    }
    return NarrowToF8InSoftware(cx, WidenFloat(cx, value, from, ir.getDoubleTy()), to);
  }
  if (to == DType::kF64) return WidenFloat(cx, value, from, type);
  if (to == DType::kF32) return WidenFloat(cx, value, from, type);
  if (from == to) return value;
  if (from == DType::kF64)
    value = RoundToOdd(cx, value);
  else
    value = WidenFloat(cx, value, from, ir.getFloatTy());
  Value* narrow = ir.CreateFPTrunc(value, type);
  if (!saturate) return narrow;
  // Infinities become the largest finite value.
  llvm::APFloat largest = llvm::APFloat::getLargest(type->getFltSemantics());
  Value* limit = ir.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, llvm::ConstantFP::get(type, largest), narrow);
  Value* is_infinite =
      ir.CreateFCmpOEQ(ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, narrow), llvm::ConstantFP::getInfinity(type));
  return ir.CreateSelect(is_infinite, limit, narrow);
}

absl::Status LowerCast(LoweringContext& cx, const Operation& op) {
  auto& ir = cx.ir();
  const DType from = cx.type(op.operand(0)).dtype();
  const DType to = cx.type(op.result()).dtype();
  const bool saturate = op.bool_attr(vm::CastOp::At::saturate);
  const auto rounding = op.enum_attr<vm::Rounding>(vm::CastOp::At::rounding);
  llvm::Type* type = cx.ElementType(to);
  if (from == to) {
    cx.Set(op.result(), cx.Get(op.operand(0)));
    return absl::OkStatus();
  }
  if (vm::IsFloat(to) && to != DType::kF64 && rounding != vm::Rounding::kNearestEven) {
    const bool is_cut = rounding == vm::Rounding::kTowardZero && (from == DType::kF32 || from == DType::kF64);
    if (!is_cut || saturate || (to != DType::kF16 && to != DType::kBF16 && to != DType::kF32)) {
      return cx.Refuse(op, "directed rounding to ", vm::InfoOf(to).text);
    }
    return LowerElementwise(cx, op, [&](const Registers& x) -> Value* {
      Value* single = from == DType::kF64 ? cx.Intrinsic(llvm::Intrinsic::nvvm_d2f_rz, {x[0]}) : x[0];
      if (to == DType::kF32) return single;
      const auto id = to == DType::kF16 ? llvm::Intrinsic::nvvm_ff2f16x2_rz : llvm::Intrinsic::nvvm_ff2bf16x2_rz;
      return ir.CreateExtractElement(cx.Intrinsic(id, {Float(cx, 0), single}), uint64_t{0});
    });
  }
  if (IsF8(to) && !saturate && to != DType::kF8E4B15) return cx.Refuse(op, "a cast to f8 that does not saturate");
  return LowerElementwise(cx, op, [&](const Registers& x) -> Value* {
    if (to == DType::kI1) {
      if (!vm::IsFloat(from)) return ir.CreateICmpNE(x[0], llvm::ConstantInt::get(x[0]->getType(), 0));
      Value* wide = WidenFloat(cx, x[0], from, from == DType::kF64 ? ir.getDoubleTy() : ir.getFloatTy());
      return ir.CreateFCmpUNE(wide, llvm::ConstantFP::get(wide->getType(), 0));
    }
    if (!vm::IsFloat(from)) {
      const bool is_signed = vm::IsSignedInteger(from);
      if (vm::IsFloat(to)) return IntegerToFloat(cx, x[0], is_signed, to, saturate);
      return is_signed ? ir.CreateSExtOrTrunc(x[0], type) : ir.CreateZExtOrTrunc(x[0], type);
    }
    return vm::IsFloat(to) ? NarrowFloat(cx, x[0], from, to, saturate) : FloatToInteger(cx, x[0], from, to);
  });
}

}  // namespace trivet::jit
