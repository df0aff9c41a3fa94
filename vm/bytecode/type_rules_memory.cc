// Type rules of the ops that make addresses or touch memory.
#include "vm/bytecode/type_rules.h"

namespace trivet::vm {
namespace {

// An i1 mask of ptr's shape, if there is one.
void CheckMask(TypeChecker& check, const Slot& ptr, int mask_operand) {
  if (!check.Has(mask_operand)) return;
  const Slot mask = check.In(mask_operand);
  check.Bool(mask) && check.SameShape(ptr, mask);
}

// `value` is what ptr points to, of ptr's shape.
bool IsPointee(TypeChecker& check, const Slot& ptr, const Slot& value) {
  return check.Require(value.type() == ptr->Pointee(), value.name(), " must be ", ptr->Pointee().ToString(), " for ",
                       ptr.Describe(), ": it is ", value->ToString());
}

// Integers of 8 to 64 bits and floats of at least 16: what has a compare-and-swap to build on.
bool IsAtomicElement(const Type& type) {
  if (!type.is_number()) return false;
  const DTypeInfo& info = InfoOf(type.dtype());
  return info.dtype_class == DTypeClass::kFloat ? info.bits >= 16 : info.bits >= 8;
}

// The element type goes with the kind of atomic: bitwise ones take integers only.
void CheckAtomicKind(TypeChecker& check, const Slot& value, AtomicOp kind) {
  if (!check.Must(IsAtomicElement(value.type()), value, "integers of 8 or more bits, or floats of 16 or more")) return;
  switch (kind) {
    case AtomicOp::kAnd:
    case AtomicOp::kOr:
    case AtomicOp::kXor:
      check.Integer(value);
      break;
    case AtomicOp::kAdd:
    case AtomicOp::kMax:
    case AtomicOp::kMin:
    case AtomicOp::kXchg:
      break;
  }
}

// base: ptr<T>; result: block pointer or descriptor of T. Rank 1 or more. Returns the rank, 0 if it makes no sense.
int CheckTensor(TypeChecker& check) {
  const Slot base = check.In(0);
  const Slot out = check.Out();
  check.Must(base->is_pointer() && base->is_scalar() && base->pointer_depth() == 1, base, "a pointer to numbers");
  check.Require(base->dtype() == out->dtype(), "element types differ: ", base.Describe(), ", ", out.Describe());
  return out->rank();
}

// The tile that a block pointer or descriptor names.
Type BlockOf(const Slot& slot) { return Type::Tile(slot->shape(), slot->dtype()); }

bool IsBlockOf(TypeChecker& check, const Slot& block, const Slot& value) {
  return check.Require(value.type() == BlockOf(block), value.name(), " must be ", BlockOf(block).ToString(), " for ",
                       block.Describe(), ": it is ", value->ToString());
}

// One i32 an axis of the descriptor.
void CheckOffsets(TypeChecker& check, const Slot& of) {
  if (check.Count(of->rank())) check.Scalars(0, of->rank(), {DType::kI32}, check.op().info().operands.back().name);
}

// desc<1xN>   rows: i32 [M]   column: i32   value: [M, N]
void CheckRows(TypeChecker& check, const Slot& desc, const Slot& rows, const Slot& column, const Slot& value) {
  check.Is(column, Type::Scalar(DType::kI32));
  if (!check.Desc(desc)) return;
  if (!check.Must(desc->rank() == 2 && desc->dim(0) == 1, desc, "a descriptor of one row, desc<1xN..>")) return;
  if (!check.Must(rows->is_tile() && rows->rank() == 1 && rows->is_number() && rows->dtype() == DType::kI32, rows,
                  "a tile of i32 of rank 1")) {
    return;
  }
  check.Is(value, Type::Tile({rows->dim(0), desc->dim(1)}, desc->dtype()));
}

}  // namespace

// offset: integers of ptr's shape.
void CheckAddPtr(TypeChecker& check) {
  const Slot ptr = check.In(AddPtrOp::In::ptr);
  const Slot offset = check.In(AddPtrOp::In::offset);
  check.Pointer(ptr);
  check.WideInteger(offset);
  check.SameShape(ptr, offset);
  check.SameType(ptr, check.Out());
}

void CheckLoad(TypeChecker& check) {
  const Slot ptr = check.In(LoadOp::In::ptr);
  if (!check.Pointer(ptr)) return;
  CheckMask(check, ptr, LoadOp::In::mask);
  if (check.Has(LoadOp::In::other)) {
    check.Require(check.Has(LoadOp::In::mask), "other needs a mask");
    IsPointee(check, ptr, check.In(LoadOp::In::other));
  }
  IsPointee(check, ptr, check.Out());
}

void CheckStore(TypeChecker& check) {
  const Slot ptr = check.In(StoreOp::In::ptr);
  if (!check.Pointer(ptr)) return;
  IsPointee(check, ptr, check.In(StoreOp::In::value));
  CheckMask(check, ptr, StoreOp::In::mask);
}

void CheckAtomicRmw(TypeChecker& check) {
  const Slot ptr = check.In(AtomicRmwOp::In::ptr);
  const Slot value = check.In(AtomicRmwOp::In::value);
  if (!check.Pointer(ptr)) return;
  if (IsPointee(check, ptr, value))
    CheckAtomicKind(check, value, check.op().enum_attr<AtomicOp>(AtomicRmwOp::At::kind));
  CheckMask(check, ptr, AtomicRmwOp::In::mask);
  IsPointee(check, ptr, check.Out());
}

void CheckAtomicCas(TypeChecker& check) {
  const Slot ptr = check.In(AtomicCasOp::In::ptr);
  const Slot value = check.In(AtomicCasOp::In::value);
  if (!check.Pointer(ptr)) return;
  IsPointee(check, ptr, check.In(AtomicCasOp::In::compare));
  if (IsPointee(check, ptr, value)) CheckAtomicKind(check, value, AtomicOp::kXchg);
  IsPointee(check, ptr, check.Out());
}

// shape_strides_offsets: rank i64, rank i64, rank i32. order: a permutation of the axes.
void CheckMakeBlockPtr(TypeChecker& check) {
  if (!check.BlockPtr(check.Out())) return;
  const int rank = CheckTensor(check);
  check.Permutation(MakeBlockPtrOp::At::order, rank);
  if (!check.Count(3 * rank)) return;
  check.Scalars(0, rank, {DType::kI64}, "shape");
  check.Scalars(rank, rank, {DType::kI64}, "stride");
  check.Scalars(2 * rank, rank, {DType::kI32}, "offset");
}

void CheckAdvance(TypeChecker& check) {
  const Slot block = check.In(AdvanceOp::In::block);
  if (!check.BlockPtr(block)) return;
  CheckOffsets(check, block);
  check.SameType(block, check.Out());
}

void CheckBlockLoad(TypeChecker& check) {
  const Slot block = check.In(BlockLoadOp::In::block);
  if (!check.BlockPtr(block)) return;
  check.Axes(BlockLoadOp::At::boundary_check, block->rank());
  IsBlockOf(check, block, check.Out());
}

void CheckBlockStore(TypeChecker& check) {
  const Slot block = check.In(BlockStoreOp::In::block);
  if (!check.BlockPtr(block)) return;
  check.Axes(BlockStoreOp::At::boundary_check, block->rank());
  IsBlockOf(check, block, check.In(BlockStoreOp::In::value));
}

// shape_strides: rank i32, rank i64.
void CheckMakeDesc(TypeChecker& check) {
  if (!check.Desc(check.Out())) return;
  const int rank = CheckTensor(check);
  if (!check.Count(2 * rank)) return;
  check.Scalars(0, rank, {DType::kI32}, "shape");
  check.Scalars(rank, rank, {DType::kI64}, "stride");
}

void CheckDescLoad(TypeChecker& check) {
  const Slot desc = check.In(DescLoadOp::In::desc);
  if (!check.Desc(desc)) return;
  CheckOffsets(check, desc);
  IsBlockOf(check, desc, check.Out());
}

void CheckDescStore(TypeChecker& check) {
  const Slot desc = check.In(DescStoreOp::In::desc);
  if (!check.Desc(desc)) return;
  CheckOffsets(check, desc);
  IsBlockOf(check, desc, check.In(DescStoreOp::In::value));
}

void CheckDescGather(TypeChecker& check) {
  using In = DescGatherOp::In;
  CheckRows(check, check.In(In::desc), check.In(In::rows), check.In(In::column), check.Out());
}

void CheckDescScatter(TypeChecker& check) {
  using In = DescScatterOp::In;
  CheckRows(check, check.In(In::desc), check.In(In::rows), check.In(In::column), check.In(In::value));
}

void CheckDescReduce(TypeChecker& check) {
  const Slot desc = check.In(DescReduceOp::In::desc);
  const Slot value = check.In(DescReduceOp::In::value);
  if (!check.Desc(desc)) return;
  CheckOffsets(check, desc);
  const auto kind = check.op().enum_attr<AtomicOp>(DescReduceOp::At::kind);
  check.Require(kind != AtomicOp::kXchg, "kind can't be xchg");
  if (IsBlockOf(check, desc, value)) CheckAtomicKind(check, value, kind);
}

}  // namespace trivet::vm
