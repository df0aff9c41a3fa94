#include "vm/bytecode/type_rules.h"

#include <cstdint>

namespace trivet::vm {
namespace {

// Ops with an obvious meaning on truth values. Addition and product wrap modulo 2, as in Triton.
bool AllowsBool(Op op) {
  return op == Op::kAddI || op == Op::kSubI || op == Op::kMulI || op == Op::kAndI || op == Op::kOrI ||
         op == Op::kXorI || op == Op::kMinI || op == Op::kMaxI;
}

// x -> result of the same shape with other elements.
bool ElementsTo(TypeChecker& check, DType dtype) {
  return check.Elements(check.Out(), dtype) && check.SameShape(check.In(0), check.Out());
}

}  // namespace

void CheckTypes(TypeChecker& check) {
  switch (check.op().info().rule) {
    case TypeRule::kConstant:
      return CheckConstant(check);
    case TypeRule::kArange:
      return CheckArange(check);
    case TypeRule::kScalarI32:
      return CheckScalarI32(check);
    case TypeRule::kSameInteger:
      return CheckSameInteger(check);
    case TypeRule::kSameFloat:
      return CheckSameFloat(check);
    case TypeRule::kIntFloat:
      return CheckIntFloat(check);
    case TypeRule::kFloatInt:
      return CheckFloatInt(check);
    case TypeRule::kFloatToI32:
      return CheckFloatToI32(check);
    case TypeRule::kFloatToBool:
      return CheckFloatToBool(check);
    case TypeRule::kCompareInteger:
      return CheckCompareInteger(check);
    case TypeRule::kCompareFloat:
      return CheckCompareFloat(check);
    case TypeRule::kSelect:
      return CheckSelect(check);
    case TypeRule::kCast:
      return CheckCast(check);
    case TypeRule::kBitcast:
      return CheckBitcast(check);
    case TypeRule::kPtrToInt:
      return CheckPtrToInt(check);
    case TypeRule::kIntToPtr:
      return CheckIntToPtr(check);
    case TypeRule::kSplat:
      return CheckSplat(check);
    case TypeRule::kBroadcast:
      return CheckBroadcast(check);
    case TypeRule::kExpandDims:
      return CheckExpandDims(check);
    case TypeRule::kReshape:
      return CheckReshape(check);
    case TypeRule::kTrans:
      return CheckTrans(check);
    case TypeRule::kJoin:
      return CheckJoin(check);
    case TypeRule::kSplit:
      return CheckSplit(check);
    case TypeRule::kCat:
      return CheckCat(check);
    case TypeRule::kSameTypeAxis:
      return CheckSameTypeAxis(check);
    case TypeRule::kGather:
      return CheckGather(check);
    case TypeRule::kSlice:
      return CheckSlice(check);
    case TypeRule::kInsertSlice:
      return CheckInsertSlice(check);
    case TypeRule::kExtract:
      return CheckExtract(check);
    case TypeRule::kReduce:
      return CheckReduce(check);
    case TypeRule::kScan:
      return CheckScan(check);
    case TypeRule::kMapElementwise:
      return CheckMapElementwise(check);
    case TypeRule::kHistogram:
      return CheckHistogram(check);
    case TypeRule::kTopK:
      return CheckTopK(check);
    case TypeRule::kDot:
      return CheckDot(check);
    case TypeRule::kDotScaled:
      return CheckDotScaled(check);
    case TypeRule::kAddPtr:
      return CheckAddPtr(check);
    case TypeRule::kLoad:
      return CheckLoad(check);
    case TypeRule::kStore:
      return CheckStore(check);
    case TypeRule::kAtomicRmw:
      return CheckAtomicRmw(check);
    case TypeRule::kAtomicCas:
      return CheckAtomicCas(check);
    case TypeRule::kMakeBlockPtr:
      return CheckMakeBlockPtr(check);
    case TypeRule::kAdvance:
      return CheckAdvance(check);
    case TypeRule::kBlockLoad:
      return CheckBlockLoad(check);
    case TypeRule::kBlockStore:
      return CheckBlockStore(check);
    case TypeRule::kMakeDesc:
      return CheckMakeDesc(check);
    case TypeRule::kDescLoad:
      return CheckDescLoad(check);
    case TypeRule::kDescStore:
      return CheckDescStore(check);
    case TypeRule::kDescGather:
      return CheckDescGather(check);
    case TypeRule::kDescScatter:
      return CheckDescScatter(check);
    case TypeRule::kDescReduce:
      return CheckDescReduce(check);
    case TypeRule::kNoTypes:
      return CheckNoTypes(check);
    case TypeRule::kFor:
      return CheckFor(check);
    case TypeRule::kWhile:
      return CheckWhile(check);
    case TypeRule::kIf:
      return CheckIf(check);
    case TypeRule::kTerminator:
      return CheckTerminator(check);
    case TypeRule::kCall:
      return CheckCall(check);
    case TypeRule::kAnyValues:
      return CheckAnyValues(check);
    case TypeRule::kAssert:
      return CheckAssert(check);
    case TypeRule::kHint:
      return CheckHint(check);
    case TypeRule::kSameType:
      return CheckSameType(check);
  }
}

// result: numbers of any shape. value: its bits, zero above the element's width.
void CheckConstant(TypeChecker& check) {
  if (!check.Number(check.Out())) return;
  const int bits = InfoOf(check.Out()->dtype()).bits;
  const auto value = static_cast<uint64_t>(check.op().int_attr(ConstantOp::At::value));
  check.Require(bits == 64 || (value >> bits) == 0, "value 0x", absl::Hex(value), " does not fit the ", bits,
                " bits of ", InfoOf(check.Out()->dtype()).text);
}

// result: [end - start] of i32.
void CheckArange(TypeChecker& check) {
  const int64_t start = check.op().int_attr(ArangeOp::At::start);
  const int64_t end = check.op().int_attr(ArangeOp::At::end);
  if (!check.Range(ArangeOp::At::start, INT32_MIN, INT32_MAX)) return;
  if (!check.Range(ArangeOp::At::end, INT32_MIN, int64_t{INT32_MAX} + 1)) return;
  if (!check.Require(start < end, "end must be above start: they are ", end, " and ", start)) return;
  check.Is(check.Out(), Type::Tile({end - start}, DType::kI32));
}

// Of a grid axis.
void CheckScalarI32(TypeChecker& check) {
  static_assert(int{ProgramIdOp::At::axis} == int{NumProgramsOp::At::axis});
  check.Range(ProgramIdOp::At::axis, 0, 2);
  check.Is(check.Out(), Type::Scalar(DType::kI32));
}

// All operands and the result: one type, of integers.
void CheckSameInteger(TypeChecker& check) {
  const Slot first = check.In(0);
  if (!(AllowsBool(check.op().opcode) ? check.Integer(first) : check.WideInteger(first))) return;
  for (int i = 1; i < check.op().info().num_fixed_operands(); ++i) check.SameType(first, check.In(i));
  check.SameType(first, check.Out());
}

// All operands and the result: one type, of floats.
void CheckSameFloat(TypeChecker& check) {
  const Slot first = check.In(0);
  if (!check.Float(first)) return;
  for (int i = 1; i < check.op().info().num_fixed_operands(); ++i) check.SameType(first, check.In(i));
  check.SameType(first, check.Out());
}

// order: i32, x: floats, result as x.
void CheckIntFloat(TypeChecker& check) {
  check.Elements(check.In(0), DType::kI32);
  check.Float(check.In(1));
  check.SameShape(check.In(0), check.In(1));
  check.SameType(check.In(1), check.Out());
}

// x: floats, exponent: i32, result as x.
void CheckFloatInt(TypeChecker& check) {
  check.Float(check.In(0));
  check.Elements(check.In(1), DType::kI32);
  check.SameShape(check.In(0), check.In(1));
  check.SameType(check.In(0), check.Out());
}

void CheckFloatToI32(TypeChecker& check) {
  if (check.Float(check.In(0))) ElementsTo(check, DType::kI32);
}

void CheckFloatToBool(TypeChecker& check) {
  if (check.Float(check.In(0))) ElementsTo(check, DType::kI1);
}

// lhs, rhs: one type of integers or pointers; result: i1 of that shape.
void CheckCompareInteger(TypeChecker& check) {
  const Slot lhs = check.In(0);
  check.Must(lhs->is_integer() || lhs->is_pointer(), lhs, "integers or pointers");
  check.SameType(lhs, check.In(1));
  ElementsTo(check, DType::kI1);
}

void CheckCompareFloat(TypeChecker& check) {
  check.Float(check.In(0));
  check.SameType(check.In(0), check.In(1));
  ElementsTo(check, DType::kI1);
}

// condition: i1 scalar, or of the shape of the others. if_true, if_false, result: one type.
void CheckSelect(TypeChecker& check) {
  const Slot condition = check.In(SelectOp::In::condition);
  const Slot if_true = check.In(SelectOp::In::if_true);
  check.SameType(if_true, check.In(SelectOp::In::if_false));
  check.SameType(if_true, check.Out());
  if (!check.Bool(condition) || condition->is_scalar()) return;
  check.Value(if_true) && check.SameShape(condition, if_true);
}

// Numbers to numbers, same shape; every pair of element types.
void CheckCast(TypeChecker& check) {
  if (!check.Number(check.In(0)) || !check.Number(check.Out())) return;
  check.SameShape(check.In(0), check.Out());
}

// Numbers to numbers of one width, or pointers to pointers; same shape.
void CheckBitcast(TypeChecker& check) {
  const Slot x = check.In(0);
  const Slot out = check.Out();
  if (!check.Value(x) || !check.Value(out)) return;
  check.SameShape(x, out);
  if (x->is_pointer() || out->is_pointer()) {
    check.Require(x->is_pointer() && out->is_pointer(),
                  "between numbers and pointers: use ptr_to_int or int_to_ptr: ", x.Describe(), ", ", out.Describe());
    return;
  }
  check.Require(InfoOf(x->dtype()).bits == InfoOf(out->dtype()).bits, "widths differ: ", x.Describe(), ", ",
                out.Describe());
}

void CheckPtrToInt(TypeChecker& check) {
  check.Pointer(check.In(0));
  check.OneOf(check.Out(), {DType::kI64, DType::kU64}, "to hold an address");
  check.SameShape(check.In(0), check.Out());
}

void CheckIntToPtr(TypeChecker& check) {
  check.OneOf(check.In(0), {DType::kI64, DType::kU64}, "to hold an address");
  check.Pointer(check.Out());
  check.SameShape(check.In(0), check.Out());
}

}  // namespace trivet::vm
