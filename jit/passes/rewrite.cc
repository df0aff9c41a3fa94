#include "jit/passes/rewrite.h"

#include <algorithm>
#include <utility>

namespace trivet::jit {

using vm::Function;
using vm::Op;
using vm::OpEffects;
using vm::Operation;

void Replacements::Set(ValueId from, ValueId to) {
  to = Of(to);
  if (from == to) return;
  to_[from] = to;
  if (fn_.value(to).name.empty()) fn_.value(to).name = fn_.value(from).name;
}

ValueId Replacements::Of(ValueId value) const {
  // Chains are short: Set follows them when it begins one.
  for (auto found = to_.find(value); found != to_.end(); found = to_.find(value)) value = found->second;
  return value;
}

void Replacements::Apply(Operation& op) const {
  if (to_.empty()) return;
  for (ValueId& operand : op.operands) operand = Of(operand);
}

void Replacements::ApplyEverywhere() const {
  if (to_.empty()) return;
  fn_.ForEachOp([&](OpId id) { Apply(fn_.op(id)); });
}

OpId CloneOp(const Function& from, OpId id, Function& into, ValueMap& values) {
  // Copies first: adding to `into` may move what `from` holds.
  Operation copy = from.op(id);
  for (ValueId& operand : copy.operands) {
    if (const auto found = values.find(operand); found != values.end()) operand = found->second;
  }
  const auto clone_value = [&](ValueId old) {
    const vm::Value value = from.value(old);
    const ValueId made = into.AddValue(value.type, value.name);
    values[old] = made;
    return made;
  };
  for (RegionId& region : copy.regions) {
    const vm::Region old = from.region(region);
    region = into.AddRegion();
    for (ValueId param : old.params) {
      const ValueId made = clone_value(param);
      into.region(region).params.push_back(made);
    }
    for (OpId inner : old.ops) {
      const OpId made = CloneOp(from, inner, into, values);
      into.region(region).ops.push_back(made);
    }
  }
  for (ValueId& result : copy.results) result = clone_value(result);
  return into.AddOp(std::move(copy));
}

bool LeavesToLoop(const Function& fn, RegionId region) {
  for (OpId id : fn.region(region).ops) {
    const Operation& op = fn.op(id);
    if (op.opcode == Op::kBreak || op.opcode == Op::kContinue) return true;
    if (op.opcode == Op::kFor || op.opcode == Op::kWhile) continue;  // theirs are for them
    for (RegionId inner : op.regions) {
      if (LeavesToLoop(fn, inner)) return true;
    }
  }
  return false;
}

bool Returns(const Function& fn, RegionId region) {
  bool returns = false;
  fn.ForEachOp(region, [&](OpId id) { returns |= fn.op(id).opcode == Op::kReturn; });
  return returns;
}

bool MayTrap(const Operation& op) { return op.opcode == Op::kGather || op.opcode == Op::kExtract; }

bool HasEffects(const Function& fn, OpId id) {
  const Operation& op = fn.op(id);
  switch (op.info().effects) {
    case OpEffects::kPure:
      break;
    case OpEffects::kControl:
      if (op.regions.empty()) return true;
      break;
    case OpEffects::kReads:
    case OpEffects::kWrites:
    case OpEffects::kReadsWrites:
    case OpEffects::kOutput:
      return true;
  }
  for (RegionId region : op.regions) {
    for (OpId inner : fn.region(region).ops) {
      const Op opcode = fn.op(inner).opcode;
      if (opcode == Op::kYield || opcode == Op::kBreak || opcode == Op::kContinue || opcode == Op::kCondition) continue;
      if (HasEffects(fn, inner)) return true;
    }
  }
  return false;
}

void Unlink(Function& fn, RegionId region, const std::vector<bool>& is_dead) {
  std::vector<OpId>& ops = fn.region(region).ops;
  ops.erase(std::remove_if(ops.begin(), ops.end(), [&](OpId id) { return is_dead[id.index()]; }), ops.end());
}

}  // namespace trivet::jit
