// combine-addressing: moves arithmetic from tiles to the scalars or smaller tiles that they repeat.
//
// Before: any level. After: the same. Keeps: every bit. An elementwise op on repeated elements is the repetition of the
// op:
//
//   addi splat(a), splat(b)                       splat(addi a, b)
//   muli broadcast(x), splat(s)                   broadcast(muli x, splat'(s))     splat' of the smaller shape
//   addptr (addptr splat(p), x), splat(b)         addptr splat(addptr p, b), x     the tile is added to once
//   addi (addi x, splat(a)), splat(b)             addi x, splat(addi a, b)         integers wrap, so any order is the
//   same
//
// What is moved is what address arithmetic is made of: integers and pointers; floats only where all operands repeat.
// The ops on tiles that are no longer used are left to dce.
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
using vm::TypeRule;

// True if the result's elements depend on the operands' elements at the same place only.
bool IsElementwise(const Operation& op) {
  switch (op.info().rule) {
    case TypeRule::kSameInteger:
    case TypeRule::kSameFloat:
    case TypeRule::kIntFloat:
    case TypeRule::kFloatInt:
    case TypeRule::kFloatToI32:
    case TypeRule::kFloatToBool:
    case TypeRule::kCompareInteger:
    case TypeRule::kCompareFloat:
    case TypeRule::kSelect:
    case TypeRule::kCast:
    case TypeRule::kAddPtr:
    case TypeRule::kPtrToInt:
    case TypeRule::kIntToPtr:
      return true;
    default:
      return false;
  }
}

class Combiner {
 public:
  explicit Combiner(Function& fn) : fn_(fn), replacements_(fn), defining_(DefiningOps(fn)) {}

  int64_t Run() {
    Walk(fn_.body);
    return combined_;
  }

 private:
  void Walk(RegionId region) {
    const std::vector<OpId> old_ops = std::move(fn_.region(region).ops);
    std::vector<OpId> ops;
    for (OpId id : old_ops) {
      replacements_.Apply(fn_.op(id));
      const auto regions = fn_.op(id).regions;
      for (RegionId inner : regions) Walk(inner);
      ops_ = &ops;
      location_ = fn_.op(id).location;
      if (Combine(id)) {
        ++combined_;
        continue;
      }
      ops.push_back(id);
    }
    fn_.region(region).ops = std::move(ops);
  }

  // True if the op has been replaced.
  bool Combine(OpId id) {
    const Operation& op = fn_.op(id);
    if (op.results.size() != 1 || !fn_.type(op.result()).is_tile() || !IsElementwise(op)) return false;
    return SinkSplats(id) || SinkBroadcasts(id) || Reassociate(id);
  }

  const Operation* DefiningOp(ValueId value) const {
    const OpId id = defining_[value.index()];
    return id.is_none() ? nullptr : &fn_.op(id);
  }
  // A value that repeats one element: a splat, a constant tile, or a scalar itself.
  bool IsRepeated(ValueId value) const {
    const Operation* op = DefiningOp(value);
    return fn_.type(value).is_scalar() || (op != nullptr && (op->opcode == Op::kSplat || op->opcode == Op::kConstant));
  }
  // The element that it repeats, as a scalar. Requires IsRepeated.
  ValueId Element(ValueId value) {
    if (fn_.type(value).is_scalar()) return value;
    const Operation op = *DefiningOp(value);
    if (op.opcode == Op::kSplat) return op.operand(0);
    return Make(Op::kConstant, {}, fn_.type(value).AsScalar(), op.attrs);
  }
  // The same element in another shape.
  ValueId Repeat(ValueId value, const Type::Shape& shape) {
    if (fn_.type(value).is_scalar()) return value;  // the condition of a select
    const Type type = fn_.type(value).WithShape(shape);
    const Operation op = *DefiningOp(value);
    if (op.opcode == Op::kConstant) return Make(Op::kConstant, {}, type, op.attrs);
    return Make(Op::kSplat, {op.operand(0)}, type, {});
  }

  template <typename Operands, typename Attrs>
  ValueId Make(Op opcode, const Operands& operands, const Type& type, const Attrs& attrs) {
    Operation op;
    op.opcode = opcode;
    op.location = location_;
    op.operands.assign(operands.begin(), operands.end());
    op.attrs.assign(attrs.begin(), attrs.end());
    const ValueId value = fn_.AddValue(type);
    op.results = {value};
    const OpId id = fn_.AddOp(std::move(op));
    ops_->push_back(id);
    defining_.resize(fn_.num_values());
    defining_[value.index()] = id;
    return value;
  }
  ValueId Make(Op opcode, std::initializer_list<ValueId> operands, const Type& type,
               const absl::InlinedVector<vm::Attribute, 1>& attrs) {
    return Make<std::initializer_list<ValueId>, absl::InlinedVector<vm::Attribute, 1>>(opcode, operands, type, attrs);
  }

  bool Replace(OpId id, ValueId value) {
    replacements_.Set(fn_.op(id).result(), value);
    return true;
  }

  // op(splat a, splat b) -> splat(op(a, b)).
  bool SinkSplats(OpId id) {
    const Operation op = fn_.op(id);
    for (ValueId operand : op.operands) {
      if (!IsRepeated(operand)) return false;
    }
    std::vector<ValueId> elements;
    for (ValueId operand : op.operands) elements.push_back(Element(operand));
    const Type type = fn_.type(op.result());
    const ValueId scalar = Make(op.opcode, elements, type.AsScalar(), op.attrs);
    return Replace(id, Make(Op::kSplat, {scalar}, type, {}));
  }

  // op(broadcast x, splat s) -> broadcast(op(x, splat s)), where all broadcasts come from one shape.
  bool SinkBroadcasts(OpId id) {
    const Operation op = fn_.op(id);
    std::optional<Type::Shape> shape;
    for (ValueId operand : op.operands) {
      if (IsRepeated(operand)) continue;
      const Operation* from = DefiningOp(operand);
      if (from == nullptr || from->opcode != Op::kBroadcast) return false;
      const Type::Shape& source = fn_.type(from->operand(0)).shape();
      if (shape && *shape != source) return false;
      shape = source;
    }
    if (!shape) return false;
    std::vector<ValueId> operands;
    for (ValueId operand : op.operands) {
      operands.push_back(IsRepeated(operand) ? Repeat(operand, *shape) : DefiningOp(operand)->operand(0));
    }
    const Type type = fn_.type(op.result());
    const ValueId small = Make(op.opcode, operands, type.WithShape(*shape), op.attrs);
    return Replace(id, Make(Op::kBroadcast, {small}, type, {}));
  }

  // Sums of a tile and of repeated elements: the latter meet first, as scalars.
  bool Reassociate(OpId id) {
    const Operation op = fn_.op(id);
    if (op.opcode != Op::kAddI && op.opcode != Op::kAddPtr) return false;
    const Type type = fn_.type(op.result());
    for (int side : {0, 1}) {
      const ValueId repeated = op.operand(side);
      if (!IsRepeated(repeated) || (op.opcode == Op::kAddPtr && side == 0)) continue;
      const Operation* found = DefiningOp(op.operand(1 - side));
      if (found == nullptr || found->opcode != op.opcode) continue;
      const Operation inner = *found;
      for (int inner_side : {0, 1}) {
        if (!IsRepeated(inner.operand(inner_side)) || (op.opcode == Op::kAddPtr && inner_side == 1)) continue;
        const ValueId kept = inner.operand(1 - inner_side);
        const ValueId inner_element = Element(inner.operand(inner_side));
        const ValueId element = Element(repeated);
        const ValueId sum = Make(op.opcode, {inner_element, element}, fn_.type(inner_element), {});
        const ValueId sums = Make(Op::kSplat, {sum}, fn_.type(inner.operand(inner_side)), {});
        if (op.opcode == Op::kAddPtr) return Replace(id, Make(Op::kAddPtr, {sums, kept}, type, {}));
        return Replace(id, Make(Op::kAddI, {kept, sums}, type, {}));
      }
    }
    return false;
  }

  Function& fn_;
  Replacements replacements_;
  std::vector<OpId> defining_;
  std::vector<OpId>* ops_ = nullptr;  // where new ops go
  vm::Location location_;
  int64_t combined_ = 0;
};

}  // namespace

absl::StatusOr<PassResult> CombineAddressing(Function& fn, PassContext& cx) {
  const int64_t combined = Combiner(fn).Run();
  cx.Count("moved", combined);
  return PassResult{.changed = combined > 0};
}

}  // namespace trivet::jit
