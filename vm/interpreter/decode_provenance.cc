#include "vm/interpreter/decode_provenance.h"

#include <algorithm>
#include <utility>

namespace trivet::vm {
namespace {

bool IsAddress(const Type& type) { return type.is_pointer() || type.is_block_ptr() || type.is_desc(); }

class ProvenanceFinder {
 public:
  ProvenanceFinder(const Module& module, FunctionId entry) : module_(module), entry_(entry) {}

  ProvenanceMap Run() {
    Reach(entry_);
    const Function& kernel = module_.function(entry_);
    for (size_t i = 0; i < kernel.params().size(); ++i) {
      if (IsAddress(kernel.type(kernel.params()[i])))
        facts_[entry_][kernel.params()[i].index()] = {static_cast<int>(i), false};
    }
    // Facts only grow, by at most three steps a value, so this ends.
    do {
      is_changed_ = false;
      for (size_t i = 0; i < reached_.size(); ++i) {
        Enter(reached_[i]);
        Walk(fn_->body, nullptr, nullptr);
      }
    } while (is_changed_);
    return std::move(facts_);
  }

 private:
  void Reach(FunctionId id) {
    const Function& function = module_.function(id);
    if (!facts_.try_emplace(id, function.num_values()).second) return;
    results_[id].resize(function.result_types.size());
    reached_.push_back(id);
    is_changed_ = true;
  }
  void Enter(FunctionId id) {
    id_ = id;
    fn_ = &module_.function(id);
  }
  Provenance Get(ValueId value) { return value.is_none() ? Provenance() : facts_[id_][value.index()]; }
  void Add(Provenance& to, const Provenance& from) {
    const Provenance sum = to.Or(from);
    if (sum == to) return;
    to = sum;
    is_changed_ = true;
  }
  void AddTo(ValueId value, const Provenance& from) {
    if (IsAddress(fn_->type(value))) Add(facts_[id_][value.index()], from);
  }
  void AddAll(absl::Span<const ValueId> to, absl::Span<const ValueId> from) {
    for (size_t i = 0; i < to.size() && i < from.size(); ++i) AddTo(to[i], Get(from[i]));
  }

  // `loop` is the innermost loop around, `parent` the op that owns the region.
  void Walk(RegionId region, const Operation* parent, const Operation* loop) {
    for (OpId id : fn_->region(region).ops) Visit(fn_->op(id), parent, loop);
  }
  absl::Span<const ValueId> Carried(const Operation& loop) const {
    absl::Span<const ValueId> params = fn_->region(loop.regions[0]).params;
    return loop.opcode == Op::kFor ? params.subspan(1) : params;
  }
  void Visit(const Operation& op, const Operation* parent, const Operation* loop);
  void VisitCall(const Operation& op);

  const Module& module_;
  FunctionId entry_;
  ProvenanceMap facts_;
  absl::flat_hash_map<FunctionId, std::vector<Provenance>> results_;
  std::vector<FunctionId> reached_;
  FunctionId id_;
  const Function* fn_ = nullptr;
  bool is_changed_ = false;
};

void ProvenanceFinder::VisitCall(const Operation& op) {
  const FunctionId callee(static_cast<uint32_t>(op.int_attr(CallOp::At::callee)));
  Reach(callee);
  const Function& function = module_.function(callee);
  for (size_t i = 0; i < op.operands.size(); ++i) {
    const ValueId param = function.params()[i];
    const Provenance argument = Get(op.operands[i]);
    if (IsAddress(function.type(param))) Add(facts_[callee][param.index()], argument);
  }
  for (size_t i = 0; i < op.results.size(); ++i) AddTo(op.results[i], results_[callee][i]);
}

void ProvenanceFinder::Visit(const Operation& op, const Operation* parent, const Operation* loop) {
  if (op.opcode == Op::kCall) return VisitCall(op);
  if (op.opcode == Op::kReturn) {
    for (size_t i = 0; i < op.operands.size(); ++i) Add(results_[id_][i], Get(op.operands[i]));
    return;
  }
  if (op.opcode == Op::kFor || op.opcode == Op::kWhile) {
    const absl::Span<const ValueId> inits = op.variadic();
    AddAll(Carried(op), inits);
    Walk(op.regions[0], &op, &op);
    if (op.opcode == Op::kFor) {
      AddAll(op.results, Carried(op));
    } else {
      Walk(op.regions[1], &op, &op);
    }
    return;
  }
  if (op.opcode == Op::kIf) {
    for (RegionId region : op.regions) Walk(region, &op, loop);
    return;
  }
  if (op.opcode == Op::kYield && parent != nullptr) {
    const bool to_loop = parent->opcode == Op::kFor || parent->opcode == Op::kWhile;
    return AddAll(to_loop ? Carried(*parent) : absl::Span<const ValueId>(parent->results), op.operands);
  }
  if (op.opcode == Op::kCondition) {
    AddAll(parent->results, op.variadic());
    return AddAll(fn_->region(parent->regions[1]).params, op.variadic());
  }
  if (op.opcode == Op::kContinue) return AddAll(Carried(*loop), op.operands);
  if (op.opcode == Op::kBreak) return AddAll(loop->results, op.operands);

  // Anything else hands on what its operands are; addresses out of nowhere are foreign.
  for (RegionId region : op.regions) Walk(region, &op, nullptr);
  Provenance from;
  bool has_address = false;
  for (ValueId operand : op.operands) {
    if (operand.is_none() || !IsAddress(fn_->type(operand))) continue;
    has_address = true;
    from = from.Or(Get(operand));
  }
  const bool reads_memory = op.info().effects == OpEffects::kReads || op.info().effects == OpEffects::kReadsWrites;
  if (!has_address || reads_memory) from = {Provenance::kUnknown, true};
  for (ValueId result : op.results) AddTo(result, from);
}

}  // namespace

Provenance Provenance::Or(const Provenance& other) const {
  Provenance sum{source, is_foreign || other.is_foreign};
  if (source == kNothing) {
    sum.source = other.source;
  } else if (other.source != kNothing && other.source != source) {
    sum.source = kUnknown;
  }
  return sum;
}

ProvenanceMap FindProvenance(const Module& module, FunctionId entry) { return ProvenanceFinder(module, entry).Run(); }

}  // namespace trivet::vm
