#include "jit/analysis/assumptions.h"

#include <optional>

#include "vm/bytecode/builder.h"

namespace trivet::jit {

using vm::CmpPredicate;
using vm::Op;
using vm::Operation;

namespace {

// a <predicate> b is b <Swapped(predicate)> a.
CmpPredicate Swapped(CmpPredicate predicate) {
  switch (predicate) {
    case CmpPredicate::kLt:
      return CmpPredicate::kGt;
    case CmpPredicate::kLe:
      return CmpPredicate::kGe;
    case CmpPredicate::kGt:
      return CmpPredicate::kLt;
    case CmpPredicate::kGe:
      return CmpPredicate::kLe;
    case CmpPredicate::kEq:
    case CmpPredicate::kNe:
      return predicate;
  }
  return predicate;
}

}  // namespace

std::vector<OpId> DefiningOps(const vm::Function& fn) {
  std::vector<OpId> defining(fn.num_values());
  fn.ForEachOp([&](OpId id) {
    for (ValueId result : fn.op(id).results) defining[result.index()] = id;
  });
  return defining;
}

std::optional<int64_t> ConstantInteger(const vm::Function& fn, const std::vector<OpId>& defining, ValueId value) {
  while (true) {
    const vm::Type& type = fn.type(value);
    const OpId id = defining[value.index()];
    if (id.is_none() || !type.is_integer()) return std::nullopt;
    const Operation& op = fn.op(id);
    switch (op.opcode) {
      case Op::kConstant:
        return vm::IntValueOf(type.dtype(), op.int_attr(vm::ConstantOp::At::value));
      case Op::kSplat:
      case Op::kBroadcast:
      case Op::kExpandDims:
      case Op::kReshape:
      case Op::kTrans:
        value = op.operand(0);
        break;
      default:
        return std::nullopt;
    }
  }
}

Assumptions::Assumptions(const vm::Function& fn)
    : fn_(fn), places_(fn.num_values()), defining_(DefiningOps(fn)), by_value_(fn.num_values()) {
  FindPlaces(fn.body);
}

bool Assumptions::MayNotComplete(OpId id) const {
  const Operation& op = fn_.op(id);
  if (op.opcode == Op::kAssert || op.opcode == Op::kWhile || op.opcode == Op::kCall) return true;
  for (RegionId region : op.regions) {
    bool leaves = false;
    fn_.ForEachOp(region, [&](OpId inner) {
      const Op opcode = fn_.op(inner).opcode;
      leaves |= opcode == Op::kReturn || opcode == Op::kBreak || opcode == Op::kContinue || opcode == Op::kAssert ||
                opcode == Op::kWhile || opcode == Op::kCall;
    });
    if (leaves) return true;
  }
  return false;
}

void Assumptions::FindPlaces(RegionId region) {
  Place place{region};
  for (ValueId param : fn_.region(region).params) places_[param.index()] = place;
  for (OpId id : fn_.region(region).ops) {
    const Operation& op = fn_.op(id);
    if (op.opcode == Op::kAssume) Add(op.operand(0), place);
    for (RegionId inner : op.regions) FindPlaces(inner);
    if (MayNotComplete(id)) ++place.exits_before;
    for (ValueId result : op.results) places_[result.index()] = place;
  }
}

void Assumptions::Add(ValueId condition, const Place& place) {
  const OpId id = defining_[condition.index()];
  if (id.is_none()) return;
  const Operation& op = fn_.op(id);
  if (op.opcode == Op::kAndI) {
    Add(op.operand(0), place);
    Add(op.operand(1), place);
  } else if (op.opcode == Op::kSplat || op.opcode == Op::kReshape) {
    Add(op.operand(0), place);
  }
  if (op.opcode != Op::kCmpI) return;
  const auto at_same_place = [&](ValueId value) {
    const Place& defined = places_[value.index()];
    return defined.region == place.region && defined.exits_before == place.exits_before;
  };
  auto predicate = op.enum_attr<CmpPredicate>(vm::CmpIOp::At::predicate);
  for (int side : {0, 1}) {
    const ValueId value = op.operand(side);
    const std::optional<int64_t> bound = ConstantInteger(fn_, defining_, op.operand(1 - side));
    if (bound && at_same_place(value)) {
      by_value_[value.index()].push_back({.predicate = predicate, .bound = *bound});
      const OpId remainder = defining_[value.index()];
      if (predicate == CmpPredicate::kEq && *bound == 0 && !remainder.is_none() &&
          fn_.op(remainder).opcode == Op::kRemI) {
        const ValueId dividend = fn_.op(remainder).operand(0);
        const std::optional<int64_t> modulus = ConstantInteger(fn_, defining_, fn_.op(remainder).operand(1));
        if (modulus && *modulus != 0 && at_same_place(dividend)) {
          by_value_[dividend.index()].push_back({.modulus = *modulus});
        }
      }
    }
    predicate = Swapped(predicate);
  }
}

}  // namespace trivet::jit
