// carry-scalars: a loop that moves a whole tile of pointers or indices by one distance carries the distance instead.
//
// Before: any level. After: the same. Keeps: every bit: addresses and integers wrap, so the order of sums is free.
//
//   for .., %p0 {                            for .., 0 {
//   ^(%i, %p: tile<..xptr<T>>):              ^(%i, %o: i64):
//     ..                                       %p = addptr %p0, splat(%o)
//     %q = addptr %p, splat(%d)       ->       ..
//     yield %q                                 %o.1 = addi %o, cast(%d)
//   }                                          yield %o.1
//                                            }
//
// A tile of pointers takes registers in every thread all through the loop; the sum of an unchanging tile and a scalar
// is an address that combine-addressing and the memory ops make for free. Loops with break or continue stay as they
// are.
#include <optional>
#include <utility>
#include <vector>

#include "jit/analysis/assumptions.h"
#include "jit/passes/pass.h"
#include "jit/passes/rewrite.h"
#include "vm/bytecode/builder.h"

namespace trivet::jit {
namespace {

using vm::Function;
using vm::Op;
using vm::Operation;
using vm::Type;

class Carrier {
 public:
  Carrier(Function& fn, PassContext& cx) : fn_(fn), cx_(cx), defining_(DefiningOps(fn)) {}

  int64_t Run() {
    Walk(fn_.body);
    return carried_;
  }

 private:
  // Outer loops first. Ops are appended to the region anew, so that a Builder can add its own in between.
  void Walk(RegionId region) {
    const std::vector<OpId> old_ops = std::exchange(fn_.region(region).ops, {});
    for (OpId id : old_ops) {
      if (fn_.op(id).opcode == Op::kFor && IsSimple(id)) {
        RewriteLoop(id, region);
      } else {
        fn_.region(region).ops.push_back(id);
      }
      const auto regions = fn_.op(id).regions;
      for (RegionId inner : regions) Walk(inner);
    }
  }

  // One way through the body, to its yield.
  bool IsSimple(OpId loop) const {
    const RegionId body = fn_.op(loop).regions[0];
    return !LeavesToLoop(fn_, body) && fn_.op(fn_.region(body).ops.back()).opcode == Op::kYield;
  }

  // Of values of the function as it was.
  const Operation* DefiningOp(ValueId value) const {
    const OpId id = value.index() < defining_.size() ? defining_[value.index()] : OpId();
    return id.is_none() ? nullptr : &fn_.op(id);
  }

  // The repeated distance by which slot `slot` moves in each iteration: an operand of addptr or addi that is a splat or
  // a constant.
  std::optional<ValueId> DistanceOf(OpId loop, size_t slot) const {
    const vm::Region& body = fn_.region(fn_.op(loop).regions[0]);
    const ValueId param = body.params[slot + 1];
    const Type& type = fn_.type(param);
    if (!type.is_tile() || type.is_bool() || !(type.is_pointer() || type.is_integer())) return std::nullopt;
    const Operation* step = DefiningOp(fn_.op(body.ops.back()).operands[slot]);
    if (step == nullptr || step->opcode != (type.is_pointer() ? Op::kAddPtr : Op::kAddI)) return std::nullopt;
    for (int side : {0, 1}) {
      if (step->operand(side) != param) continue;
      const Operation* distance = DefiningOp(step->operand(1 - side));
      if (distance == nullptr) continue;
      if (distance->opcode == Op::kSplat || distance->opcode == Op::kConstant) return step->operand(1 - side);
    }
    return std::nullopt;
  }

  // Appends the loop to `region`, with what it needs before and after.
  void RewriteLoop(OpId loop, RegionId region) {
    std::vector<Moving> moving;
    for (size_t slot = 0; slot < fn_.op(loop).results.size(); ++slot) {
      if (const std::optional<ValueId> distance = DistanceOf(loop, slot)) {
        moving.push_back(CarryOffset(loop, slot, *distance, region));
      }
    }
    fn_.region(region).ops.push_back(loop);
    for (const Moving& value : moving) DefineSum(loop, value, region);
  }

  // A value that is now a sum: of a tile that stays and a scalar.
  struct Moving {
    ValueId value;
    ValueId tile;
    ValueId offset;
  };

  // Appends `value = tile + splat(offset)` to `region`.
  void DefineSum(OpId loop, const Moving& moving, RegionId region) {
    vm::Builder builder(&fn_, region);
    builder.set_location(fn_.op(loop).location);
    const Type type = fn_.type(moving.value);
    const ValueId splat = builder.Create1(Op::kSplat, {moving.offset}, fn_.type(moving.offset).WithShape(type.shape()));
    const OpId sum = builder.Create(type.is_pointer() ? Op::kAddPtr : Op::kAddI, {moving.tile, splat}, {type});
    fn_.op(sum).results[0] = moving.value;
  }

  // Gives slot `slot` to an offset. The old parameter becomes a sum at the top of the body; the old result is to become
  // the sum that is given back. Initial values go to `region`.
  Moving CarryOffset(OpId loop, size_t slot, ValueId distance, RegionId region) {
    vm::Builder builder(&fn_, region);
    builder.set_location(fn_.op(loop).location);
    const RegionId body = fn_.op(loop).regions[0];
    const size_t operand = static_cast<size_t>(fn_.op(loop).info().num_fixed_operands()) + slot;
    const ValueId tile = fn_.op(loop).operands[operand];
    const ValueId param = fn_.region(body).params[slot + 1];
    const ValueId result = fn_.op(loop).results[slot];
    const Type type = fn_.type(param);
    const Type offset_type = type.is_pointer() ? Type::Scalar(vm::DType::kI64) : type.AsScalar();
    const ValueId zero = builder.ConstantI(offset_type, 0);
    const ValueId offset = fn_.AddValue(offset_type);
    const ValueId last_offset = fn_.AddValue(offset_type);
    fn_.op(loop).operands[operand] = zero;
    fn_.region(body).params[slot + 1] = offset;
    fn_.op(loop).results[slot] = last_offset;

    std::vector<OpId> old_ops = std::exchange(fn_.region(body).ops, {});
    const OpId yield = old_ops.back();
    old_ops.pop_back();
    DefineSum(loop, {param, tile, offset}, body);
    std::vector<OpId>& ops = fn_.region(body).ops;
    ops.insert(ops.end(), old_ops.begin(), old_ops.end());
    builder.set_region(body);
    builder.set_location(fn_.op(yield).location);
    const ValueId by = ElementAs(offset_type, distance, builder);
    fn_.op(yield).operands[slot] = builder.Elementwise(Op::kAddI, {offset, by});
    fn_.region(body).ops.push_back(yield);
    ++carried_;
    cx_.Note(loop, "carries a scalar instead of ", type.ToString());
    return {result, tile, last_offset};
  }

  // The element that a splat or constant repeats, extended as addptr does.
  ValueId ElementAs(const Type& type, ValueId repeated, vm::Builder& builder) {
    const Operation op = *DefiningOp(repeated);
    const Type scalar = fn_.type(repeated).AsScalar();
    const ValueId element =
        op.opcode == Op::kSplat ? op.operand(0) : builder.Create1(Op::kConstant, {}, scalar, op.attrs);
    return scalar == type ? element : builder.Create1(Op::kCast, {element}, type);
  }

  Function& fn_;
  PassContext& cx_;
  const std::vector<OpId> defining_;
  int64_t carried_ = 0;
};

}  // namespace

absl::StatusOr<PassResult> CarryScalars(Function& fn, PassContext& cx) {
  const int64_t carried = Carrier(fn, cx).Run();
  cx.Count("values", carried);
  return PassResult{.changed = carried > 0};
}

}  // namespace trivet::jit
