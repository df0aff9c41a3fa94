// dce: removes ops whose results nobody uses, and carried values and results of loops and branches that nobody reads.
//
// Before: any level. After: the same. Keeps: writes, atomics, barriers, output, calls, volatile loads, `while` loops
// (they may not end) and `for` loops whose step may be 0 (they may trap). Plain loads go, and with them a trap that an
// address outside would be.
#include <vector>

#include "jit/passes/pass.h"
#include "jit/passes/rewrite.h"

namespace trivet::jit {
namespace {

using vm::Function;
using vm::Op;
using vm::OpEffects;
using vm::Operation;

// Erases the elements from `first` on whose slot is not kept.
template <typename Vector>
void EraseSlots(Vector& values, size_t first, const std::vector<bool>& keep) {
  size_t out = first;
  for (size_t i = first; i < values.size(); ++i) {
    if (keep[i - first]) values[out++] = values[i];
  }
  values.resize(out);
}

// Marks from what has effects, backwards. Values that a loop carries are marked by slot: slot i of a `for` is its i-th
// initial value, parameter, yielded value and result together. A `while` has slots of two kinds: what goes round into
// the first region, and what the condition passes on to the second region and the results.
class DeadCode {
 public:
  DeadCode(Function& fn, PassContext& cx)
      : fn_(fn), cx_(cx), op_is_live_(fn.num_ops()), value_is_live_(fn.num_values()), def_(fn.num_values()) {
    parent_.resize(fn.num_ops());
    exits_.resize(fn.num_ops());
    Index(fn.body, OpId(), OpId());
  }

  int64_t Run() {
    const RangeAnalysis& ranges = cx_.ranges();
    fn_.ForEachOp([&](OpId id) {
      if (IsRoot(fn_.op(id), ranges)) MarkOp(id);
    });
    while (!todo_.empty()) {
      const ValueId value = todo_.back();
      todo_.pop_back();
      FollowValue(value);
    }
    return Sweep(fn_.body) + slots_removed_;
  }

 private:
  // Where a value is made: result or parameter number `index` of `op` (of its region `region`, or -1 for a result).
  struct Definition {
    OpId op;  // none: parameters of the function
    int region = -1;
    size_t index = 0;
  };

  void Index(RegionId region, OpId parent, OpId loop) {
    for (OpId id : fn_.region(region).ops) {
      parent_[id.index()] = parent;
      const Operation& op = fn_.op(id);
      for (size_t i = 0; i < op.results.size(); ++i) def_[op.result(static_cast<int>(i)).index()] = {id, -1, i};
      if (op.opcode == Op::kBreak || op.opcode == Op::kContinue) exits_[loop.index()].push_back(id);
      const bool is_loop = op.opcode == Op::kFor || op.opcode == Op::kWhile;
      for (size_t r = 0; r < op.regions.size(); ++r) {
        const auto& params = fn_.region(op.regions[r]).params;
        for (size_t i = 0; i < params.size(); ++i) def_[params[i].index()] = {id, static_cast<int>(r), i};
        Index(op.regions[r], id, is_loop ? id : loop);
      }
    }
  }

  static bool IsVolatile(const Operation& op) {
    if (op.opcode == Op::kLoad) return op.bool_attr(vm::LoadOp::At::is_volatile);
    if (op.opcode == Op::kBlockLoad) return op.bool_attr(vm::BlockLoadOp::At::is_volatile);
    return false;
  }

  static bool IsRoot(const Operation& op, const RangeAnalysis& ranges) {
    switch (op.info().effects) {
      case OpEffects::kPure:
        return false;
      case OpEffects::kReads:
        return IsVolatile(op);
      case OpEffects::kWrites:
      case OpEffects::kReadsWrites:
      case OpEffects::kOutput:
        return true;
      case OpEffects::kControl:
        break;
    }
    if (op.opcode == Op::kFor) return !ranges.IsNonZero(op.operand(vm::ForOp::In::step));
    return op.opcode == Op::kWhile || op.opcode == Op::kCall || op.opcode == Op::kReturn;
  }

  void MarkValue(ValueId value) {
    if (value.is_none() || value_is_live_[value.index()]) return;
    value_is_live_[value.index()] = true;
    todo_.push_back(value);
  }

  OpId TerminatorOf(RegionId region) const { return fn_.region(region).ops.back(); }

  // The op stays. What it passes on by slot is marked when the slot is.
  void MarkOp(OpId id) {
    if (id.is_none() || op_is_live_[id.index()]) return;
    op_is_live_[id.index()] = true;
    MarkOp(parent_[id.index()]);
    const Operation& op = fn_.op(id);
    for (RegionId region : op.regions) MarkOp(TerminatorOf(region));
    for (OpId exit : exits_[id.index()]) MarkOp(exit);
    size_t num_always = op.operands.size();
    switch (op.opcode) {
      case Op::kFor:
        num_always = static_cast<size_t>(op.info().num_fixed_operands());
        break;
      case Op::kCondition:
        num_always = 1;
        break;
      case Op::kWhile:
      case Op::kBreak:
      case Op::kContinue:
        num_always = 0;
        break;
      case Op::kYield:
        if (IsSlotted(parent_[id.index()])) num_always = 0;
        break;
      default:  // all operands
        break;
    }
    for (size_t i = 0; i < num_always; ++i) MarkValue(op.operands[i]);
  }

  bool IsSlotted(OpId id) const {
    const Op opcode = fn_.op(id).opcode;
    return opcode == Op::kFor || opcode == Op::kWhile || opcode == Op::kIf;
  }

  void FollowValue(ValueId value) {
    const Definition def = def_[value.index()];
    if (def.op.is_none()) return;
    MarkOp(def.op);
    const Operation& op = fn_.op(def.op);
    switch (op.opcode) {
      case Op::kIf:
        for (RegionId region : op.regions) MarkSlotOf(TerminatorOf(region), Op::kYield, 0, def.index);
        return;
      case Op::kFor:
        if (def.region == 0 && def.index == 0) return;  // the counter
        return MarkForSlot(def.op, def.region == 0 ? def.index - 1 : def.index);
      case Op::kWhile:
        return def.region == 0 ? MarkRoundSlot(def.op, def.index) : MarkOutSlot(def.op, def.index);
      default:
        return;
    }
  }

  // The operand of slot `index` of a terminator of this kind; `first` operands come before.
  void MarkSlotOf(OpId terminator, Op kind, size_t first, size_t index) {
    if (fn_.op(terminator).opcode == kind) MarkValue(fn_.op(terminator).operands[first + index]);
  }
  void MarkForSlot(OpId loop, size_t index) {
    const Operation& op = fn_.op(loop);
    MarkValue(op.result(static_cast<int>(index)));
    MarkValue(op.variadic()[index]);
    MarkValue(fn_.region(op.regions[0]).params[index + 1]);
    MarkSlotOf(TerminatorOf(op.regions[0]), Op::kYield, 0, index);
    for (OpId exit : exits_[loop.index()]) MarkValue(fn_.op(exit).operands[index]);
  }
  void MarkRoundSlot(OpId loop, size_t index) {
    const Operation& op = fn_.op(loop);
    MarkValue(op.variadic()[index]);
    MarkValue(fn_.region(op.regions[0]).params[index]);
    MarkSlotOf(TerminatorOf(op.regions[1]), Op::kYield, 0, index);
    for (OpId exit : exits_[loop.index()]) MarkSlotOf(exit, Op::kContinue, 0, index);
  }
  void MarkOutSlot(OpId loop, size_t index) {
    const Operation& op = fn_.op(loop);
    MarkValue(op.result(static_cast<int>(index)));
    MarkValue(fn_.region(op.regions[1]).params[index]);
    MarkSlotOf(TerminatorOf(op.regions[0]), Op::kCondition, 1, index);
    for (OpId exit : exits_[loop.index()]) MarkSlotOf(exit, Op::kBreak, 0, index);
  }

  // Which of these values are live; counts the others.
  template <typename Values>
  std::vector<bool> Kept(const Values& values) {
    std::vector<bool> keep;
    for (ValueId value : values) keep.push_back(value_is_live_[value.index()]);
    for (bool kept : keep) slots_removed_ += kept ? 0 : 1;
    return keep;
  }

  void EraseOperands(OpId terminator, Op kind, size_t first, const std::vector<bool>& keep) {
    if (fn_.op(terminator).opcode == kind) EraseSlots(fn_.op(terminator).operands, first, keep);
  }

  void Trim(OpId id) {
    Operation& op = fn_.op(id);
    if (op.opcode == Op::kIf) {
      const std::vector<bool> keep = Kept(op.results);
      for (RegionId region : op.regions) EraseOperands(TerminatorOf(region), Op::kYield, 0, keep);
      EraseSlots(op.results, 0, keep);
    } else if (op.opcode == Op::kFor) {
      const std::vector<bool> keep = Kept(op.results);
      EraseSlots(op.operands, static_cast<size_t>(op.info().num_fixed_operands()), keep);
      EraseSlots(fn_.region(op.regions[0]).params, 1, keep);
      EraseOperands(TerminatorOf(op.regions[0]), Op::kYield, 0, keep);
      for (OpId exit : exits_[id.index()]) EraseSlots(fn_.op(exit).operands, 0, keep);
      EraseSlots(op.results, 0, keep);
    } else if (op.opcode == Op::kWhile) {
      const std::vector<bool> round = Kept(fn_.region(op.regions[0]).params);
      const std::vector<bool> out = Kept(op.results);
      EraseSlots(op.operands, 0, round);
      EraseSlots(fn_.region(op.regions[0]).params, 0, round);
      EraseOperands(TerminatorOf(op.regions[0]), Op::kCondition, 1, out);
      EraseSlots(fn_.region(op.regions[1]).params, 0, out);
      EraseOperands(TerminatorOf(op.regions[1]), Op::kYield, 0, round);
      for (OpId exit : exits_[id.index()]) {
        EraseOperands(exit, Op::kContinue, 0, round);
        EraseOperands(exit, Op::kBreak, 0, out);
      }
      EraseSlots(op.results, 0, out);
    }
  }

  int64_t Sweep(RegionId region) {
    std::vector<OpId> kept;
    int64_t removed = 0;
    for (OpId id : fn_.region(region).ops) {
      if (!op_is_live_[id.index()]) {
        ++removed;
        continue;
      }
      kept.push_back(id);
      Trim(id);
      for (RegionId inner : fn_.op(id).regions) removed += Sweep(inner);
    }
    fn_.region(region).ops = std::move(kept);
    return removed;
  }

  Function& fn_;
  PassContext& cx_;
  std::vector<bool> op_is_live_;
  std::vector<bool> value_is_live_;
  std::vector<Definition> def_;
  std::vector<OpId> parent_;
  std::vector<std::vector<OpId>> exits_;  // of a loop: its breaks and continues
  std::vector<ValueId> todo_;
  int64_t slots_removed_ = 0;
};

}  // namespace

absl::StatusOr<PassResult> EliminateDeadCode(Function& fn, PassContext& cx) {
  const int64_t removed = DeadCode(fn, cx).Run();
  cx.Count("removed", removed);
  return PassResult{.changed = removed > 0};
}

}  // namespace trivet::jit
