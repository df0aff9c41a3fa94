// licm: moves what a loop computes alike in each iteration before the loop.
//
// Before: any level. After: the same. Keeps: what runs, runs no more often. Pure ops directly in a loop move if their
// operands come from outside, but those that may trap (gather, extract) stay. A load moves only if it would have run
// anyway (the loop runs at least once, and nothing before the load may leave the iteration), if it is not volatile, and
// if nothing in the loop writes to what it may read.
#include <vector>

#include "jit/passes/pass.h"
#include "jit/passes/rewrite.h"

namespace trivet::jit {
namespace {

using vm::Function;
using vm::Op;
using vm::OpEffects;
using vm::Operation;

class Hoister {
 public:
  Hoister(Function& fn, PassContext& cx) : fn_(fn), cx_(cx), depth_(fn.num_values()) {}

  int64_t Run() {
    for (ValueId param : fn_.params()) depth_[param.index()] = 0;
    Walk(fn_.body, 0);
    return hoisted_;
  }

 private:
  // Notes how many loops are around each value, and hoists out of the inner loops first: what they give up may then
  // leave the loops around.
  void Walk(RegionId region, int depth) {
    std::vector<OpId> ops;
    const std::vector<OpId> old_ops = fn_.region(region).ops;
    for (OpId id : old_ops) {
      const bool is_loop = fn_.op(id).opcode == Op::kFor || fn_.op(id).opcode == Op::kWhile;
      const int inside = depth + (is_loop ? 1 : 0);
      const auto regions = fn_.op(id).regions;
      for (RegionId inner : regions) {
        for (ValueId param : fn_.region(inner).params) depth_[param.index()] = inside;
        Walk(inner, inside);
      }
      if (is_loop) {
        for (RegionId inner : regions) Hoist(id, inner, depth, ops);
      }
      ops.push_back(id);
      for (ValueId result : fn_.op(id).results) depth_[result.index()] = depth;
    }
    fn_.region(region).ops = std::move(ops);
  }

  // Moves what it can from `body` of `loop` to the end of `before`.
  void Hoist(OpId loop, RegionId body, int outside, std::vector<OpId>& before) {
    std::vector<OpId> stay;
    // A `for` that may run no iteration must not load. A while's first region runs once at least.
    bool runs_anyway = fn_.op(loop).opcode == Op::kFor ? RunsOnce(loop) : body == fn_.op(loop).regions[0];
    for (OpId id : fn_.region(body).ops) {
      const Operation& op = fn_.op(id);
      if (IsInvariant(id, outside) && (IsMovable(id) || (runs_anyway && IsMovableLoad(loop, id)))) {
        for (ValueId result : op.results) depth_[result.index()] = outside;
        before.push_back(id);
        ++hoisted_;
        cx_.Note(id, op.info().text, " is the same in every iteration");
        continue;
      }
      stay.push_back(id);
      runs_anyway = runs_anyway && !MayLeave(id);
    }
    fn_.region(body).ops = std::move(stay);
  }

  bool IsInvariant(OpId id, int outside) const {
    const Operation& op = fn_.op(id);
    for (ValueId operand : op.operands) {
      if (operand && depth_[operand.index()] > outside) return false;
    }
    bool invariant = true;
    for (RegionId region : op.regions) {
      fn_.ForEachOp(region, [&](OpId inner) {
        for (ValueId operand : fn_.op(inner).operands) {
          if (operand && depth_[operand.index()] > outside && !IsInside(id, operand)) invariant = false;
        }
      });
    }
    return invariant;
  }

  // Defined in a region of the op. Only asked of reductions and the like, which have small regions.
  bool IsInside(OpId id, ValueId value) const {
    bool inside = false;
    for (RegionId region : fn_.op(id).regions) {
      for (ValueId param : fn_.region(region).params) inside |= param == value;
      fn_.ForEachOp(region, [&](OpId inner) {
        for (ValueId result : fn_.op(inner).results) inside |= result == value;
        for (RegionId deeper : fn_.op(inner).regions) {
          for (ValueId param : fn_.region(deeper).params) inside |= param == value;
        }
      });
    }
    return inside;
  }

  bool IsMovable(OpId id) const {
    const Operation& op = fn_.op(id);
    return op.info().effects == OpEffects::kPure && !MayTrap(op) && !HasEffects(fn_, id);
  }

  bool RunsOnce(OpId loop) {
    const Operation& op = fn_.op(loop);
    const RangeAnalysis& ranges = cx_.ranges();
    const Range lower = ranges.Get(op.operand(vm::ForOp::In::lower));
    const Range upper = ranges.Get(op.operand(vm::ForOp::In::upper));
    const Range step = ranges.Get(op.operand(vm::ForOp::In::step));
    if (fn_.type(op.operand(vm::ForOp::In::lower)).dtype() == vm::DType::kU64) return false;
    return (step.lo > 0 && lower.hi < upper.lo) || (step.hi < 0 && lower.lo > upper.hi);
  }

  bool MayLeave(OpId id) const {
    const Operation& op = fn_.op(id);
    if (op.opcode == Op::kCall || op.opcode == Op::kWhile || op.info().effects == OpEffects::kOutput) return true;
    for (RegionId region : op.regions) {
      if (LeavesToLoop(fn_, region) || Returns(fn_, region)) return true;
      bool leaves = false;
      fn_.ForEachOp(region, [&](OpId inner) {
        const Operation& at = fn_.op(inner);
        leaves |= at.opcode == Op::kCall || at.opcode == Op::kWhile || at.info().effects == OpEffects::kOutput;
      });
      if (leaves) return true;
    }
    return false;
  }

  bool IsMovableLoad(OpId loop, OpId id) {
    const Operation& op = fn_.op(id);
    if (op.info().effects != OpEffects::kReads) return false;
    if (op.opcode == Op::kLoad && op.bool_attr(vm::LoadOp::At::is_volatile)) return false;
    if (op.opcode == Op::kBlockLoad && op.bool_attr(vm::BlockLoadOp::At::is_volatile)) return false;
    const AliasAnalysis& aliases = cx_.aliases();
    bool may_change = false;
    for (RegionId region : fn_.op(loop).regions) {
      fn_.ForEachOp(region, [&](OpId inner) {
        const Operation& other = fn_.op(inner);
        const OpEffects effects = other.info().effects;
        if (other.opcode == Op::kCall || other.opcode == Op::kBarrier) may_change = true;
        if (effects == OpEffects::kReadsWrites) may_change = true;  // orders what others write
        if (effects == OpEffects::kWrites) {
          may_change |= aliases.MayAlias(AccessedThrough(other), AccessedThrough(op));
        }
      });
    }
    return !may_change;
  }

  Function& fn_;
  PassContext& cx_;
  std::vector<int> depth_;  // loops around the value's definition
  int64_t hoisted_ = 0;
};

}  // namespace

absl::StatusOr<PassResult> HoistInvariants(Function& fn, PassContext& cx) {
  const int64_t hoisted = Hoister(fn, cx).Run();
  cx.Count("hoisted", hoisted);
  return PassResult{.changed = hoisted > 0};
}

}  // namespace trivet::jit
