#include "vm/bytecode/verifier.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "vm/bytecode/type_rules.h"

namespace trivet::vm {
namespace {

// A call that stands in the function at `caller`.
struct CallSite {
  uint32_t callee;
  OpId op;
  bool in_scalar_region;
};

// What one function tells the checks that need the whole module.
struct FunctionFacts {
  std::vector<CallSite> calls;
  bool is_pure = true;  // of its own ops
};

bool IsPureOrControl(const OpInfo& info) {
  return info.effects == OpEffects::kPure || info.effects == OpEffects::kControl;
}

class Verifier {
 public:
  Verifier(const Module& module, const Limits& limits) : module_(module), limits_(limits) {}

  std::vector<Problem> Run() {
    CheckModule();
    if (!problems_.empty()) return std::move(problems_);
    // Types first: the rules look at types of other ops and functions, and print them.
    for (uint32_t f = 0; f < module_.functions.size() && !full(); ++f) CheckAllTypes(f);
    if (!problems_.empty()) return std::move(problems_);
    facts_.resize(module_.functions.size());
    for (uint32_t f = 0; f < module_.functions.size() && !full(); ++f) CheckFunction(f);
    if (CheckNoRecursion()) CheckScalarRegionCalls();
    return std::move(problems_);
  }

 private:
  bool full() const { return problems_.size() >= static_cast<size_t>(limits_.max_problems); }

  // --- Reports. Each gives false.
  template <typename... Pieces>
  bool FailModule(const Pieces&... pieces) {
    return Add({FunctionId::None(), OpId::None(), {}, absl::StrCat(pieces...)});
  }
  template <typename... Pieces>
  bool FailFunction(const Pieces&... pieces) {
    return Add({function_id_, OpId::None(), function_->location, absl::StrCat(pieces...)});
  }
  template <typename... Pieces>
  bool FailOp(OpId id, const Pieces&... pieces) {
    const Operation& op = function_->op(id);
    return Add({function_id_, id, op.location, absl::StrCat(op.info().text, ": ", pieces...)});
  }
  bool Add(Problem problem) {
    if (!full()) problems_.push_back(std::move(problem));
    return false;
  }

  void CheckModule();
  void CheckAllTypes(uint32_t index);
  void CheckFunction(uint32_t index);
  void Enter(uint32_t index) {
    function_ = &module_.functions[index];
    function_id_ = FunctionId(index);
  }
  bool CheckRegion(RegionId id, const OpContext& context, int64_t depth);
  bool CheckOp(OpId id, const OpContext& context, int64_t depth);
  bool CheckCounts(OpId id);
  bool CheckOperands(OpId id);
  bool CheckAttributes(OpId id);
  bool CheckAttribute(OpId id, const AttrInfo& info, const Attribute& attribute);
  bool CheckResults(OpId id);
  void CheckRegions(OpId id, const OpContext& context, int64_t depth);
  bool CheckLocation(const Location& location) const {
    return location.line == 0 || location.file < module_.files.size();
  }
  bool Define(ValueId id, OpId op, absl::string_view what);
  std::string TypeProblem(const Type& type) const;
  OpId FindDefinition(ValueId value) const;
  bool CheckNoRecursion();
  void CheckScalarRegionCalls();

  const Module& module_;
  const Limits& limits_;
  std::vector<Problem> problems_;
  std::vector<FunctionFacts> facts_;

  // Of the function that is being looked at.
  const Function* function_ = nullptr;
  FunctionId function_id_;
  std::vector<uint8_t> defined_;      // by value: some op or region defines it
  std::vector<uint8_t> visible_;      // by value: its definition is in scope here
  std::vector<uint8_t> op_linked_;    // by op
  std::vector<uint8_t> region_used_;  // by region
};

void Verifier::CheckModule() {
  if (static_cast<int64_t>(module_.functions.size()) > limits_.max_functions) {
    FailModule("too many functions: ", module_.functions.size(), ", the limit is ", limits_.max_functions);
  }
  int64_t ops = 0;
  int64_t values = 0;
  absl::flat_hash_set<absl::string_view> names;
  for (const Function& function : module_.functions) {
    ops += static_cast<int64_t>(function.num_ops());
    values += static_cast<int64_t>(function.num_values());
    if (function.name.empty()) FailModule("a function has no name");
    if (static_cast<int64_t>(function.name.size()) > limits_.max_string_bytes) {
      FailModule("the name of a function has ", function.name.size(), " bytes, the limit is ",
                 limits_.max_string_bytes);
    }
    if (!names.insert(function.name).second) FailModule("two functions are called @", function.name);
  }
  if (ops > limits_.max_ops) FailModule("too many ops: ", ops, ", the limit is ", limits_.max_ops);
  if (values > limits_.max_values) FailModule("too many values: ", values, ", the limit is ", limits_.max_values);
  const auto max_string = static_cast<size_t>(limits_.max_string_bytes);
  for (const std::string& file : module_.files) {
    if (file.size() > max_string) FailModule("a file name has ", file.size(), " bytes, the limit is ", max_string);
  }
  for (size_t i = 0; i < module_.metadata.size(); ++i) {
    const auto& [key, value] = module_.metadata[i];
    if (key.size() > max_string || value.size() > max_string) {
      FailModule("metadata of ", std::max(key.size(), value.size()), " bytes, the limit is ", max_string);
    }
    if (i > 0 && module_.metadata[i - 1].first >= key) FailModule("metadata keys are not sorted: \"", key, "\"");
  }
}

void Verifier::CheckAllTypes(uint32_t index) {
  Enter(index);
  for (const Type& type : function_->result_types) {
    const std::string problem = TypeProblem(type);
    if (!problem.empty()) FailFunction("result type: ", problem);
  }
  int64_t value_bytes = 0;
  for (uint32_t v = 0; v < function_->num_values() && !full(); ++v) {
    const std::string problem = TypeProblem(function_->type(ValueId(v)));
    if (problem.empty()) {
      value_bytes += function_->type(ValueId(v)).value_bytes();
      continue;
    }
    const OpId op = FindDefinition(ValueId(v));
    if (op) {
      FailOp(op, "type of a result: ", problem);
    } else {
      FailFunction("type of value ", v, ": ", problem);
    }
  }
  if (value_bytes > limits_.max_value_bytes) {
    FailFunction("the values take ", value_bytes, " bytes, the limit is ", limits_.max_value_bytes);
  }
}

// The op that has `value` as a result; none if there is none, or its opcode is not in the table. Linear.
OpId Verifier::FindDefinition(ValueId value) const {
  for (uint32_t i = 0; i < function_->num_ops(); ++i) {
    const Operation& op = function_->op(OpId(i));
    if (static_cast<int>(op.opcode) >= kNumOps) continue;
    if (std::find(op.results.begin(), op.results.end(), value) != op.results.end()) return OpId(i);
  }
  return OpId::None();
}

void Verifier::CheckFunction(uint32_t index) {
  Enter(index);
  defined_.assign(function_->num_values(), 0);
  visible_.assign(function_->num_values(), 0);
  op_linked_.assign(function_->num_ops(), 0);
  region_used_.assign(function_->num_regions(), 0);

  if (!CheckLocation(function_->location)) {
    FailFunction("location names file ", function_->location.file, " of ", module_.files.size());
  }
  if (function_->is_kernel && !function_->result_types.empty()) FailFunction("a kernel returns nothing");
  if (function_->body.is_none() || function_->body.index() >= function_->num_regions()) {
    FailFunction("has no body");
    return;
  }
  const bool sound = CheckRegion(function_->body, OpContext{}, 1);
  if (!sound || !function_->is_kernel) return;
  for (ValueId param : function_->params()) {
    const Type& type = function_->type(param);
    if (!type.is_scalar() && !type.is_desc()) {
      FailFunction("a kernel takes scalars, pointers and descriptors: parameter \"", function_->value(param).name,
                   "\" is ", type.ToString());
    }
  }
}

// Defines `id`, a result of `op` or, if that is none, a parameter of a region.
bool Verifier::Define(ValueId id, OpId op, absl::string_view what) {
  const auto fail = [&](const auto&... pieces) {
    return op.is_none() ? FailFunction(what, " ", pieces...) : FailOp(op, what, " ", pieces...);
  };
  if (id.is_none() || id.index() >= function_->num_values()) return fail("is no value of the function");
  if (defined_[id.index()] != 0) return fail("is defined twice");
  defined_[id.index()] = 1;
  visible_[id.index()] = 1;
  const size_t name_bytes = function_->value(id).name.size();
  return static_cast<int64_t>(name_bytes) <= limits_.max_string_bytes ||
         fail("has a name of ", name_bytes, " bytes, the limit is ", limits_.max_string_bytes);
}

// Empty if the type is legal.
std::string Verifier::TypeProblem(const Type& type) const {
  if (type.is_none()) return "it is none";
  if (!IsDTypeCode(static_cast<uint64_t>(type.dtype()))) return "unknown element type";
  if (type.pointer_depth() > kMaxPointerDepth) {
    return absl::StrCat("pointers to pointers ", type.pointer_depth(), " deep, the limit is ", kMaxPointerDepth);
  }
  if (type.rank() > kMaxRank) return absl::StrCat("rank ", type.rank(), ", the limit is ", kMaxRank);
  if (type.rank() == 0 && !type.is_value()) return "a block of rank 0";
  int64_t elements = 1;
  for (int64_t extent : type.shape()) {
    if (extent < 1) return absl::StrCat("an extent of ", extent);
    if (extent > limits_.max_tile_elements / elements) {
      return absl::StrCat(type.ToString(), " has more than ", limits_.max_tile_elements, " elements");
    }
    elements *= extent;
  }
  return "";
}

// Checks a region and what it holds. False if its parameters make no sense, so that its owner's types can't be checked.
bool Verifier::CheckRegion(RegionId id, const OpContext& context, int64_t depth) {
  region_used_[id.index()] = 1;
  const Region& region = function_->region(id);
  bool sound = true;
  for (size_t i = 0; i < region.params.size(); ++i) {
    sound &= Define(region.params[i], OpId::None(), absl::StrCat("parameter ", i, " of a region"));
  }
  if (region.ops.empty()) {
    FailFunction("a region is empty: it ends in a terminator");
  }
  for (size_t i = 0; i < region.ops.size() && !full(); ++i) {
    const OpId op_id = region.ops[i];
    if (op_id.is_none() || op_id.index() >= function_->num_ops()) {
      FailFunction("a region names an op that the function does not have");
      continue;
    }
    if (op_linked_[op_id.index()] != 0) {
      FailOp(op_id, "stands in two places");
      continue;
    }
    op_linked_[op_id.index()] = 1;
    if (static_cast<int>(function_->op(op_id).opcode) >= kNumOps) {
      Add({function_id_, op_id, function_->op(op_id).location, "not an op of the table"});
      continue;
    }
    const bool is_last = i + 1 == region.ops.size();
    const bool is_terminator = function_->op(op_id).info().is_terminator();
    if (is_last && !is_terminator) FailOp(op_id, "a region ends in a terminator, not in this op");
    if (!is_last && is_terminator) FailOp(op_id, "stands before the end of its region");
    CheckOp(op_id, context, depth);
  }
  for (ValueId param : region.params) {
    if (param.index() < visible_.size()) visible_[param.index()] = 0;
  }
  for (OpId op_id : region.ops) {
    if (op_id.index() >= function_->num_ops()) continue;
    for (ValueId result : function_->op(op_id).results) {
      if (result.index() < visible_.size()) visible_[result.index()] = 0;
    }
  }
  return sound;
}

bool Verifier::CheckOp(OpId id, const OpContext& context, int64_t depth) {
  const Operation& op = function_->op(id);
  const OpInfo& info = op.info();
  if (info.level > limits_.max_level) FailOp(id, "may not stand in a file");
  if (!CheckLocation(op.location)) FailOp(id, "location names file ", op.location.file, " of ", module_.files.size());
  if (!CheckCounts(id)) return false;
  bool sound = CheckOperands(id);
  sound &= CheckAttributes(id);

  // Parameters of the regions come into being inside CheckRegion; the rule needs only their types.
  if (sound) CheckRegions(id, context, depth);
  sound &= CheckResults(id);
  for (RegionId region : op.regions) {
    for (ValueId param : function_->region(region).params) sound &= param.index() < function_->num_values();
  }
  if (!sound) return false;

  std::vector<std::string> messages;
  TypeChecker check(module_, *function_, op, context, &messages);
  CheckTypes(check);
  for (std::string& message : messages) Add({function_id_, id, op.location, std::move(message)});

  FunctionFacts& facts = facts_[function_id_.index()];
  if (!IsPureOrControl(info)) {
    facts.is_pure = false;
    if (context.in_scalar_region) {
      FailOp(id, "may not stand in the region of a reduce, scan or map_elementwise, whose ops are pure");
    }
  }
  if (op.opcode == Op::kCall) {
    facts.calls.push_back({static_cast<uint32_t>(op.int_attr(CallOp::At::callee)), id, context.in_scalar_region});
  }
  return messages.empty();
}

bool Verifier::CheckCounts(OpId id) {
  const Operation& op = function_->op(id);
  const OpInfo& info = op.info();
  const auto fixed = static_cast<size_t>(info.num_fixed_operands());
  if (info.has_variadic() ? op.operands.size() < fixed : op.operands.size() != fixed) {
    return FailOp(id, "needs ", info.has_variadic() ? "at least " : "", fixed, " operands, has ", op.operands.size());
  }
  if (info.num_results != kVariadicResults && op.results.size() != static_cast<size_t>(info.num_results)) {
    return FailOp(id, "needs ", info.num_results, " results, has ", op.results.size());
  }
  if (op.attrs.size() != info.attrs.size()) {
    return FailOp(id, "needs ", info.attrs.size(), " attributes, has ", op.attrs.size());
  }
  if (op.regions.size() != static_cast<size_t>(info.num_regions)) {
    return FailOp(id, "needs ", info.num_regions, " regions, has ", op.regions.size());
  }
  bool sound = true;
  for (size_t i = 0; i < op.results.size(); ++i) {
    const ValueId result = op.results[i];
    if (result.is_none() || result.index() >= function_->num_values()) {
      sound = FailOp(id, "result ", i, " is no value of the function");
    }
  }
  for (size_t i = 0; i < op.regions.size(); ++i) {
    const RegionId region = op.regions[i];
    if (region.is_none() || region.index() >= function_->num_regions()) {
      sound = FailOp(id, "region ", i, " is no region of the function");
    } else if (region_used_[region.index()] != 0) {
      sound = FailOp(id, "region ", i, " belongs to another op");
    } else {
      region_used_[region.index()] = 1;
    }
  }
  return sound;
}

bool Verifier::CheckOperands(OpId id) {
  const Operation& op = function_->op(id);
  const OpInfo& info = op.info();
  const auto fixed = static_cast<size_t>(info.num_fixed_operands());
  bool sound = true;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    const ValueId value = op.operands[i];
    const OperandInfo& operand = info.operands[std::min(i, info.operands.size() - 1)];
    const std::string name = i < fixed ? operand.name : absl::StrCat(operand.name, " ", i - fixed);
    if (value.is_none()) {
      if (operand.kind != OperandKind::kOptional) sound = FailOp(id, name, " is missing");
    } else if (value.index() >= function_->num_values()) {
      sound = FailOp(id, name, " is no value of the function");
    } else if (visible_[value.index()] == 0) {
      sound = FailOp(id, name, " is used where it is not defined");
    }
  }
  return sound;
}

bool Verifier::CheckAttributes(OpId id) {
  const Operation& op = function_->op(id);
  bool sound = true;
  for (size_t i = 0; i < op.attrs.size(); ++i) sound &= CheckAttribute(id, op.info().attrs[i], op.attrs[i]);
  return sound;
}

bool Verifier::CheckAttribute(OpId id, const AttrInfo& info, const Attribute& attribute) {
  if (info.kind == AttrKind::kString) {
    const auto* text = std::get_if<std::string>(&attribute);
    if (text == nullptr) return FailOp(id, info.name, " must be a string");
    return static_cast<int64_t>(text->size()) <= limits_.max_string_bytes ||
           FailOp(id, info.name, " has ", text->size(), " bytes, the limit is ", limits_.max_string_bytes);
  }
  if (info.kind == AttrKind::kInts) {
    return std::holds_alternative<std::vector<int64_t>>(attribute) || FailOp(id, info.name, " must be a list");
  }
  const auto* number = std::get_if<int64_t>(&attribute);
  if (number == nullptr) return FailOp(id, info.name, " must be a number");
  switch (info.kind) {
    case AttrKind::kBool:
      return *number == 0 || *number == 1 || FailOp(id, info.name, " must be 0 or 1: it is ", *number);
    case AttrKind::kEnum:
      return EnumText(info.enum_type, *number) != nullptr || FailOp(id, info.name, " has no value ", *number);
    case AttrKind::kFunction:
      return (*number >= 0 && *number < static_cast<int64_t>(module_.functions.size())) ||
             FailOp(id, info.name, " names function ", *number, " of ", module_.functions.size());
    case AttrKind::kI64:
    case AttrKind::kBits:
    case AttrKind::kString:
    case AttrKind::kInts:
      return true;
  }
  return true;
}

bool Verifier::CheckResults(OpId id) {
  const Operation& op = function_->op(id);
  bool sound = true;
  for (size_t i = 0; i < op.results.size(); ++i) sound &= Define(op.results[i], id, absl::StrCat("result ", i));
  return sound;
}

void Verifier::CheckRegions(OpId id, const OpContext& context, int64_t depth) {
  const Operation& op = function_->op(id);
  if (op.regions.empty()) return;
  if (depth >= limits_.max_nesting) {
    FailOp(id, "nested more than ", limits_.max_nesting, " deep");
    return;
  }
  const TypeRule rule = op.info().rule;
  const bool is_loop = rule == TypeRule::kFor || rule == TypeRule::kWhile;
  const bool is_branch = rule == TypeRule::kIf;
  for (size_t i = 0; i < op.regions.size(); ++i) {
    OpContext inner;
    inner.parent = &op;
    inner.region_index = static_cast<int>(i);
    inner.in_scalar_region = context.in_scalar_region || (!is_loop && !is_branch);
    if (is_branch) inner.loop = context.loop;
    if (is_loop && i + 1 == op.regions.size()) inner.loop = &op;  // not in the condition of a while
    CheckRegion(op.regions[i], inner, depth + 1);
  }
}

// Removes functions that call nothing (any more) until none is left to remove; what stays is in or above a cycle.
bool Verifier::CheckNoRecursion() {
  const size_t n = module_.functions.size();
  std::vector<std::vector<uint32_t>> callers(n);
  std::vector<size_t> pending(n, 0);
  for (uint32_t f = 0; f < n; ++f) {
    for (const CallSite& call : facts_[f].calls) {
      callers[call.callee].push_back(f);
      ++pending[f];
    }
  }
  std::vector<uint32_t> order;  // callees before callers
  for (uint32_t f = 0; f < n; ++f) {
    if (pending[f] == 0) order.push_back(f);
  }
  for (size_t i = 0; i < order.size(); ++i) {
    for (uint32_t caller : callers[order[i]]) {
      facts_[caller].is_pure &= facts_[order[i]].is_pure;
      if (--pending[caller] == 0) order.push_back(caller);
    }
  }
  if (order.size() == n) return true;

  // Every function that stays calls one that stays: follow these calls until one comes again.
  const auto next = [&](uint32_t f) {
    return *std::find_if(facts_[f].calls.begin(), facts_[f].calls.end(),
                         [&](const CallSite& call) { return pending[call.callee] != 0; });
  };
  auto f = static_cast<uint32_t>(std::find_if(pending.begin(), pending.end(), [](size_t p) { return p != 0; }) -
                                 pending.begin());
  std::vector<uint32_t> path;
  while (std::find(path.begin(), path.end(), f) == path.end()) {
    path.push_back(f);
    f = next(f).callee;
  }
  path.erase(path.begin(), std::find(path.begin(), path.end(), f));
  path.push_back(f);
  Enter(f);
  return FailOp(next(f).op, "recursion: ", absl::StrJoin(path, " calls ", [&](std::string* out, uint32_t g) {
                  absl::StrAppend(out, "@", module_.functions[g].name);
                }));
}

void Verifier::CheckScalarRegionCalls() {
  for (uint32_t f = 0; f < module_.functions.size(); ++f) {
    Enter(f);
    for (const CallSite& call : facts_[f].calls) {
      if (!call.in_scalar_region || facts_[call.callee].is_pure) continue;
      FailOp(call.op, "may not stand in the region of a reduce, scan or map_elementwise: @",
             module_.functions[call.callee].name, " is not pure");
    }
  }
}

}  // namespace

std::string Problem::ToString(const Module& module) const {
  if (function.is_none()) return message;
  const std::string where = module.LocationToString(location);
  const std::string& name = module.function(function).name;
  if (!where.empty()) return absl::StrCat(where, ": in @", name, ": ", message);
  if (op.is_none()) return absl::StrCat("in @", name, ": ", message);
  return absl::StrCat("in @", name, ", op ", op.index(), ": ", message);
}

std::vector<Problem> FindProblems(const Module& module, const Limits& limits) { return Verifier(module, limits).Run(); }

absl::Status VerifyModule(const Module& module, const Limits& limits) {
  const std::vector<Problem> problems = FindProblems(module, limits);
  if (problems.empty()) return absl::OkStatus();
  std::string message = problems.front().ToString(module);
  if (problems.size() > 1) absl::StrAppend(&message, " (and ", problems.size() - 1, " more)");
  return absl::InvalidArgumentError(message);
}

}  // namespace trivet::vm
