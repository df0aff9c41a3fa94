#include "jit/analysis/alias_info.h"

#include <bit>

#include "jit/analysis/dataflow.h"

namespace trivet::jit {

using vm::Op;
using vm::Operation;
using vm::Type;

namespace {

class AliasDataflow : public ForwardDataflow<AliasInfo> {
 public:
  explicit AliasDataflow(const vm::Function& fn) : ForwardDataflow(fn) {}

 protected:
  // Numbers have no base; addresses made of them are of unknown origin (see Transfer).
  AliasInfo Unknown(const Type& type) const override { return type.is_number() ? AliasInfo() : AliasInfo::Unknown(); }
  AliasInfo Parameter(size_t index) const override {
    if (fn().type(fn().params()[index]).is_number()) return {};
    if (index >= AliasInfo::kMaxParameters) return AliasInfo::Unknown();
    return {.parameters = uint64_t{1} << index};
  }
  AliasInfo Join(const AliasInfo& a, const AliasInfo& b) const override {
    return {a.parameters | b.parameters, a.is_unknown || b.is_unknown};
  }
  AliasInfo Widen(const Type&, const AliasInfo&, const AliasInfo& now) const override { return now; }
  AliasInfo Counter(const Operation&) const override { return {}; }

  AliasInfo Transfer(const Operation& op, size_t index) const override {
    const Type& type = fn().type(op.results[index]);
    if (op.opcode == Op::kCall || op.info().effects != vm::OpEffects::kPure) return Unknown(type);
    // Whatever a pure op makes of addresses, it makes of these. Integers may carry an address from ptr_to_int on.
    AliasInfo info;
    for (ValueId operand : op.operands) {
      if (operand) info = Join(info, Get(operand));
    }
    const bool is_made_of_nothing = info == AliasInfo();
    if (!type.is_number() && is_made_of_nothing) return AliasInfo::Unknown();
    if (!op.regions.empty()) return Unknown(type).is_unknown || !is_made_of_nothing ? AliasInfo::Unknown() : info;
    return info;
  }
};

}  // namespace

int AliasInfo::parameter() const {
  return !is_unknown && std::has_single_bit(parameters) ? std::countr_zero(parameters) : -1;
}

AliasAnalysis AliasAnalysis::Run(const vm::Function& fn) {
  AliasDataflow dataflow(fn);
  dataflow.Solve();
  AliasAnalysis analysis;
  for (const std::optional<AliasInfo>& info : std::move(dataflow).TakeFacts()) {
    analysis.infos_.push_back(info.value_or(AliasInfo::Unknown()));
  }
  return analysis;
}

bool AliasAnalysis::MayAlias(ValueId a, ValueId b, bool distinct_arguments) const {
  const AliasInfo& x = Get(a);
  const AliasInfo& y = Get(b);
  if (x.is_unknown || y.is_unknown) return true;
  return !distinct_arguments || (x.parameters & y.parameters) != 0;
}

ValueId AccessedThrough(const Operation& op) {
  switch (op.info().effects) {
    case vm::OpEffects::kReads:
    case vm::OpEffects::kWrites:
    case vm::OpEffects::kReadsWrites:
      return op.operands.empty() ? ValueId::None() : op.operand(0);
    case vm::OpEffects::kPure:
    case vm::OpEffects::kControl:
    case vm::OpEffects::kOutput:
      return ValueId::None();
  }
  return ValueId::None();
}

}  // namespace trivet::jit
