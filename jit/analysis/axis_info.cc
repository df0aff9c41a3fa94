#include "jit/analysis/axis_info.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "jit/analysis/assumptions.h"
#include "jit/analysis/axis_transfer.h"
#include "jit/analysis/dataflow.h"
#include "vm/bytecode/printer.h"

namespace trivet::jit {

using vm::Op;
using vm::Operation;
using vm::Type;

namespace {

class AxisDataflow : public ForwardDataflow<AxisInfo> {
 public:
  AxisDataflow(const vm::Function& fn, const ArgumentFacts& facts, const RangeAnalysis& ranges, Trust trust)
      : ForwardDataflow(fn), argument_facts_(facts), ranges_(ranges), trust_(trust), assumptions_(fn) {}

 protected:
  AxisInfo Unknown(const Type& type) const override { return AxisInfo::Unknown(type); }

  AxisInfo Parameter(size_t index) const override {
    const ArgumentFact fact = argument_facts_.Of(index);
    const Type& type = fn().type(fn().params()[index]);
    AxisInfo info = AxisInfo::Unknown(type);
    // A descriptor's facts would be about its strides, which are run-time values.
    if (type.is_value()) info.divisibility[0] = PowerOfTwoIn(fact.divisibility);
    if (fact.constant && type.is_integer()) {
      info.constant = fact.constant;
      info.divisibility[0] = PowerOfTwoIn(*fact.constant);
    }
    return info;
  }

  AxisInfo Join(const AxisInfo& a, const AxisInfo& b) const override { return JoinAxisInfo(a, b); }

  AxisInfo Widen(const Type& type, const AxisInfo& before, const AxisInfo& now) const override {
    AxisInfo info = now;
    const AxisInfo unknown = AxisInfo::Unknown(type);
    // Contiguity and constancy have few values to go through. Divisibility has many: it may halve with each round.
    if (now.divisibility != before.divisibility) info.divisibility = unknown.divisibility;
    return info;
  }

  // lower, lower + step, ...
  AxisInfo Counter(const Operation& loop) const override {
    const AxisInfo lower = Get(loop.operand(vm::ForOp::In::lower));
    const AxisInfo step = Get(loop.operand(vm::ForOp::In::step));
    AxisInfo info = AxisInfo::Unknown(fn().type(loop.operand(vm::ForOp::In::lower)));
    info.divisibility[0] = std::min(lower.divisibility[0], step.divisibility[0]);
    return info;
  }

  AxisInfo Transfer(const Operation& op, size_t index) const override {
    absl::InlinedVector<AxisInfo, 4> operands;
    for (ValueId operand : op.operands) operands.push_back(operand ? Get(operand) : AxisInfo());
    return TransferAxisInfo({fn(), op, ranges_, trust_, operands}, index);
  }

  AxisInfo Refine(ValueId value, AxisInfo info) const override {
    const Type& type = fn().type(value);
    for (const Assumption& assumed : assumptions_.Of(value)) {
      if (assumed.modulus == 0) continue;
      const int64_t divisor = PowerOfTwoIn(assumed.modulus);
      for (int64_t& divisibility : info.divisibility) divisibility = std::max(divisibility, divisor);
    }
    if (info.constant || !type.is_integer()) return info;
    const Range range = ranges_.Get(value);
    if (!range.is_constant()) return info;
    info.constant = range.lo;
    for (size_t axis = 0; axis < info.divisibility.size(); ++axis) {
      info.contiguity[axis] = 1;
      info.divisibility[axis] = PowerOfTwoIn(range.lo);
      info.constancy[axis] = type.rank() == 0 ? 1 : PowerOfTwoIn(type.dim(static_cast<int>(axis)));
    }
    return info;
  }

 private:
  const ArgumentFacts& argument_facts_;
  const RangeAnalysis& ranges_;
  const Trust trust_;
  const Assumptions assumptions_;
};

}  // namespace

int64_t AxisInfo::DivisibilityAt(int axis, int64_t run) const {
  const auto at = static_cast<size_t>(axis);
  if (run >= contiguity[at]) return divisibility[at];
  // Shorter runs begin `run`, 2 * run, ... after the longer one.
  return std::min(divisibility[at], run > kMaxDivisibility / unit ? kMaxDivisibility : run * unit);
}

int64_t AxisInfo::DivisibilityOfAll() const {
  int64_t most = 1;
  for (int axis = 0; axis < rank(); ++axis) most = std::max(most, DivisibilityAt(axis, 1));
  return most;
}

int64_t AxisInfo::ElementsPerAccess(int axis) const {
  const auto at = static_cast<size_t>(axis);
  return std::max<int64_t>(1, std::min(contiguity[at], divisibility[at] / unit));
}

int AxisInfo::FastestAxis() const {
  int fastest = 0;
  for (int axis = 0; axis < rank(); ++axis) {
    if (contiguity[static_cast<size_t>(axis)] >= contiguity[static_cast<size_t>(fastest)]) fastest = axis;
  }
  return fastest;
}

std::string AxisInfo::ToString() const {
  std::string text = absl::StrCat("contiguity ", absl::StrJoin(contiguity, "x"), ", divisibility ",
                                  absl::StrJoin(divisibility, "x"), ", constancy ", absl::StrJoin(constancy, "x"));
  if (constant) absl::StrAppend(&text, ", constant ", *constant);
  return text;
}

AxisInfo AxisInfo::Unknown(const Type& type) {
  AxisInfo info;
  const auto rank = static_cast<size_t>(std::max(type.rank(), 1));
  info.contiguity.assign(rank, 1);
  info.divisibility.assign(rank, 1);
  info.constancy.assign(rank, 1);
  if (type.is_pointer()) info.unit = type.Pointee().element_bytes();
  if (type.is_block_ptr() || type.is_desc()) {
    info.unit = type.element_bytes();
    info.stride_divisibility.assign(rank, 1);
  }
  return info;
}

AxisInfoAnalysis AxisInfoAnalysis::Run(const vm::Function& fn, const ArgumentFacts& facts, const RangeAnalysis& ranges,
                                       Trust trust) {
  AxisDataflow dataflow(fn, facts, ranges, trust);
  dataflow.Solve();
  const std::vector<std::optional<AxisInfo>> found = std::move(dataflow).TakeFacts();
  AxisInfoAnalysis analysis;
  analysis.infos_.reserve(found.size());
  for (size_t i = 0; i < found.size(); ++i) {
    analysis.infos_.push_back(found[i] ? *found[i] : AxisInfo::Unknown(fn.type(ValueId(static_cast<uint32_t>(i)))));
  }
  return analysis;
}

AxisInfoAnalysis AxisInfoAnalysis::Run(const vm::Function& fn, const ArgumentFacts& facts, Trust trust) {
  return Run(fn, facts, RangeAnalysis::Run(fn, facts), trust);
}

AxisInfo AxisInfoAnalysis::OfDescriptorAccess(const vm::Function& fn, const Operation& op) const {
  absl::InlinedVector<AxisInfo, 4> offsets;
  const int rank = fn.type(op.operand(0)).rank();
  for (ValueId offset : op.variadic()) offsets.push_back(Get(offset));
  if (offsets.size() != static_cast<size_t>(rank)) return AxisInfo::Unknown(fn.type(op.operand(0)));
  return MoveBlock(Get(op.operand(0)), offsets);
}

std::string AxisInfoAnalysis::Why(const vm::Function& fn, ValueId value) const {
  const vm::ValueNames names(fn);
  std::string text = absl::StrCat(names.Of(value), ": ", Get(value).ToString());
  const OpId id = DefiningOps(fn)[value.index()];
  if (id.is_none()) return text;
  const Operation& op = fn.op(id);
  absl::StrAppend(&text, "; ", op.info().text);
  const char* separator = " of ";
  for (ValueId operand : op.operands) {
    if (operand.is_none()) continue;
    absl::StrAppend(&text, separator, names.Of(operand), ": ", Get(operand).ToString());
    separator = "; and ";
  }
  return text;
}

}  // namespace trivet::jit
