// if, for and while.
//
// A condition known at compile time picks its branch; the other is never looked at. Otherwise both branches become
// regions, and each variable that they leave different is a result of the `if`. A loop carries the variables that its
// body assigns and that exist before it; their types may not change from one iteration to the next.
#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "frontend/function_lowering.h"
#include "vm/bytecode/limits.h"

namespace trivet::frontend {

using vm::DType;
using vm::Op;
using vm::Type;

namespace {

void CollectTargets(const Expr& target, std::set<std::string>* names) {
  if (target.kind == ExprKind::kName) names->insert(target.name);
  const bool is_part =
      target.kind == ExprKind::kStarred || target.kind == ExprKind::kSubscript || target.kind == ExprKind::kAttribute;
  if (is_part) CollectTargets(*target.a, names);
  for (const ExprPtr& item : target.items) CollectTargets(*item, names);
}

// Names that := gives inside an expression.
void CollectNamed(const Expr* expr, std::set<std::string>* names) {
  if (expr == nullptr) return;
  if (expr->kind == ExprKind::kNamedExpr) names->insert(expr->name);
  for (const ExprPtr* part : {&expr->a, &expr->b, &expr->c}) CollectNamed(part->get(), names);
  for (const ExprPtr& item : expr->items) CollectNamed(item.get(), names);
  for (const Keyword& keyword : expr->keywords) CollectNamed(keyword.value.get(), names);
}

void CollectAssigned(const std::vector<StmtPtr>& body, std::set<std::string>* names) {
  for (const StmtPtr& stmt : body) {
    CollectNamed(stmt->value.get(), names);
    for (const ExprPtr& target : stmt->targets) CollectTargets(*target, names);
    if (stmt->target != nullptr && (stmt->kind != StmtKind::kAnnAssign || stmt->value != nullptr)) {
      CollectTargets(*stmt->target, names);
    }
    CollectAssigned(stmt->body, names);
    CollectAssigned(stmt->orelse, names);
  }
}

// True if the value holds something that only exists while compiling (None, a string, a function, ...).
bool HasCompileTimePart(const Value& value) {
  // The compile-time fields of an aggregate are part of its type.
  if (value.is_ssa() || value.is_aggregate()) return false;
  if (value.is_tuple()) return std::any_of(value.items().begin(), value.items().end(), HasCompileTimePart);
  return true;
}

}  // namespace

Value FunctionLowering::ToCondition(const Value& value, absl::string_view what) {
  if (value.is_error()) return value;
  if (!value.is_ssa()) return Error(absl::StrCat(what, ": ", value.Describe(), " has no truth value at run time"));
  Value scalar = value;
  if (value.type().is_tile()) {
    if (value.type().num_elements() != 1) {
      return Error(absl::StrCat("the truth value of a tile with more than one element is ambiguous: ", what, " has ",
                                value.type().ToString()),
                   "reduce it to a scalar first (tl.max, tl.sum), or select element by element with tl.where");
    }
    Value zero = emitter_.MakeConstant(Type::Scalar(DType::kI32), Constant(Int{0}));
    std::vector<ValueId> operands = {value.id()};
    operands.insert(operands.end(), static_cast<size_t>(value.type().rank()), zero.id());
    scalar = emitter_.Create1(Op::kExtract, operands, value.type().AsScalar());
  }
  return emitter_.ToBool(scalar);
}

// --- if
// ----------------------------------------------------------------------------------------------------------------

void FunctionLowering::LowerIf(const Stmt& stmt) {
  Value condition = LowerExpr(*stmt.value);
  if (condition.is_ssa() && !condition.known()) {
    {
      SpanScope scope(this, stmt.value->span);
      condition = ToCondition(condition, "the condition of 'if'");
    }
    if (!condition.is_error() && Enter("'if'")) {
      LowerDynamicIf(stmt, condition);
      return Leave();
    }
    condition = Value();
  }
  if (condition.is_error()) return LookForMistakes({&stmt.body, &stmt.orelse}, nullptr);
  bool is_true = true;
  if (std::optional<Constant> known = condition.AsConstant()) {
    is_true = IsTrue(*known);
  } else if (condition.is_tuple()) {
    is_true = !condition.items().empty();
  }
  LowerBody(is_true ? stmt.body : stmt.orelse);
  ForgetUntaken(is_true ? stmt.orelse : stmt.body,
                absl::StrCat("it is assigned only in the branch of the 'if' at line ", stmt.span.line,
                             " that is left out, since the condition is known to be ", is_true ? "true" : "false"));
}

void FunctionLowering::ForgetUntaken(const std::vector<StmtPtr>& body, std::string reason) {
  std::set<std::string> assigned;
  CollectAssigned(body, &assigned);
  for (const std::string& name : assigned) {
    if (variables_.count(name) == 0) unavailable_.emplace(name, reason);
  }
}

void FunctionLowering::LookForMistakes(const std::vector<const std::vector<StmtPtr>*>& bodies, const Expr* target) {
  const RegionId outer = emitter_.builder().region();
  std::set<std::string> assigned;
  if (target != nullptr) CollectTargets(*target, &assigned);
  for (const std::vector<StmtPtr>* body : bodies) CollectAssigned(*body, &assigned);
  const Variables before = variables_;
  loops_.push_back({});  // break and continue are legal as far as anyone can tell
  const bool is_too_deep = nesting_ >= vm::Limits().max_nesting;
  ++nesting_;
  for (const std::vector<StmtPtr>* body : bodies) {
    if (is_too_deep) break;
    variables_ = before;
    if (target != nullptr) Assign(*target, Value());
    emitter_.builder().set_region(function().AddRegion());
    LowerBody(*body);
    terminated_ = false;
  }
  loops_.pop_back();
  Leave();
  emitter_.builder().set_region(outer);
  variables_ = before;
  for (const std::string& name : assigned) variables_[name] = Value();
}

bool FunctionLowering::Enter(absl::string_view what) {
  if (nesting_ >= vm::Limits().max_nesting) {
    Error(absl::StrCat(what, " is nested more than ", vm::Limits().max_nesting, " deep"),
          what == "'if'" ? "each 'elif' is one level: use separate ifs, or arithmetic on the cases"
                         : "move a part into a helper");
    return false;
  }
  ++nesting_;
  return true;
}

FunctionLowering::Branch FunctionLowering::LowerBranch(const std::vector<StmtPtr>& body, const Variables& start) {
  Branch branch;
  branch.region = function().AddRegion();
  emitter_.builder().set_region(branch.region);
  variables_ = start;
  terminated_ = false;
  LowerBody(body);
  branch.variables = std::move(variables_);
  branch.assigned_at = assigned_at_;
  branch.is_terminated = terminated_;
  return branch;
}

void FunctionLowering::LowerDynamicIf(const Stmt& stmt, const Value& condition) {
  const RegionId outer = emitter_.builder().region();
  const Variables before = variables_;
  Branch then_branch = LowerBranch(stmt.body, before);
  if (then_branch.is_terminated) {
    // The then-branch leaves, so the else-branch and what follows are one: no values have to meet.
    const RegionId empty = function().AddRegion();
    emitter_.builder().set_region(empty);
    emitter_.builder().Create(Op::kYield, {}, {});
    emitter_.builder().set_region(outer);
    emitter_.builder().Create(Op::kIf, {condition.id()}, {}, {}, {then_branch.region, empty});
    variables_ = before;
    terminated_ = false;
    return LowerBody(stmt.orelse);
  }
  Branch else_branch = LowerBranch(stmt.orelse, before);
  variables_ = before;
  terminated_ = false;

  std::vector<std::string> merged;
  std::vector<Value> shapes;
  std::vector<ValueId> then_ids, else_ids;
  if (else_branch.is_terminated) {
    // The else-branch leaves: the variables of the then-branch are those of what follows.
    for (const auto& [name, value] : then_branch.variables) {
      auto old = before.find(name);
      if (old != before.end() && old->second.Identical(value)) continue;
      variables_[name] = value;
      std::vector<ValueId> inside;
      value.Flatten(&inside);
      if (inside.empty()) continue;
      merged.push_back(name);
      shapes.push_back(value);
      then_ids.insert(then_ids.end(), inside.begin(), inside.end());
    }
  } else {
    std::set<std::string> names;
    for (const auto& [name, value] : then_branch.variables) names.insert(name);
    for (const auto& [name, value] : else_branch.variables) names.insert(name);
    for (const std::string& name : names) {
      auto a = then_branch.variables.find(name), b = else_branch.variables.find(name);
      if (a == then_branch.variables.end() || b == else_branch.variables.end()) {
        variables_.erase(name);
        unavailable_[name] = absl::StrCat("it is assigned in one branch of the 'if' at line ", stmt.span.line, " only");
        continue;
      }
      Value in_then = a->second, in_else = b->second;
      if (in_then.is_error() || in_else.is_error()) {
        variables_[name] = Value();
        continue;
      }
      if (in_then.Identical(in_else)) {
        variables_[name] = in_then;
        continue;
      }
      // A compile-time number that one branch leaves becomes a run-time value there.
      const auto materialize_in = [&](const Branch& branch, const Value& value) {
        emitter_.builder().set_region(branch.region);
        return Materialize(value);
      };
      in_then = materialize_in(then_branch, in_then);
      in_else = materialize_in(else_branch, in_else);
      if (!in_then.SameStructure(in_else) || HasCompileTimePart(in_then)) {
        variables_.erase(name);
        unavailable_[name] = absl::StrCat("it is ", in_then.Describe(), " after one branch of the 'if' at line ",
                                          stmt.span.line, " and ", in_else.Describe(), " after the other");
        if (auto old = before.find(name); old != before.end()) {
          // Where it changed: in the branch whose value is not that of before.
          SpanScope scope(
              this, in_then.SameStructure(old->second) ? else_branch.assigned_at[name] : then_branch.assigned_at[name]);
          Error(absl::StrCat("mismatched types for '", name, "': ", in_then.Describe(), " after the then-branch, ",
                             in_else.Describe(), " after the else-branch of the 'if' at line ", stmt.span.line),
                "convert both to one type, or use another name");
          variables_[name] = Value();
        }
        continue;
      }
      merged.push_back(name);
      shapes.push_back(in_then);
      in_then.Flatten(&then_ids);
      in_else.Flatten(&else_ids);
    }
  }

  const auto finish = [&](const Branch& branch, const std::vector<ValueId>& ids) {
    if (branch.is_terminated) return;
    emitter_.builder().set_region(branch.region);
    emitter_.builder().Create(Op::kYield, ids, {});
  };
  finish(then_branch, then_ids);
  finish(else_branch, else_ids);
  std::vector<Type> types;
  for (ValueId id : then_ids) types.push_back(function().type(id));
  emitter_.builder().set_region(outer);
  const OpId op =
      emitter_.builder().Create(Op::kIf, {condition.id()}, types, {}, {then_branch.region, else_branch.region});
  std::vector<ValueId> results(function().op(op).results.begin(), function().op(op).results.end());
  read_only().Follow(function(), then_ids, results);
  read_only().Follow(function(), else_ids, results);
  absl::Span<const ValueId> rest = results;
  for (size_t i = 0; i < merged.size(); ++i) {
    variables_[merged[i]] = shapes[i].Unflatten(&rest);
    if (variables_[merged[i]].is_ssa()) function().value(variables_[merged[i]].id()).name = merged[i];
  }
}

// --- loops
// ---------------------------------------------------------------------------------------------------------------

std::vector<ValueId> FunctionLowering::PrepareCarried(const std::vector<StmtPtr>& body, const Expr* condition,
                                                      Loop* loop) {
  std::set<std::string> assigned;
  CollectAssigned(body, &assigned);
  CollectNamed(condition, &assigned);
  std::vector<ValueId> ids;
  for (const std::string& name : assigned) {
    auto it = variables_.find(name);
    if (it == variables_.end() || it->second.is_error()) continue;
    it->second = Materialize(it->second);
    if (HasCompileTimePart(it->second)) {
      loop->fixed[name] = it->second;
      continue;
    }
    loop->carried.push_back(name);
    loop->initial.push_back(it->second);
    it->second.Flatten(&ids);
  }
  return ids;
}

void FunctionLowering::BindCarried(const Loop& loop, absl::Span<const ValueId> ids) {
  for (size_t i = 0; i < loop.carried.size(); ++i) {
    Value value = loop.initial[i].Unflatten(&ids);
    if (value.is_ssa() && function().value(value.id()).name.empty())
      function().value(value.id()).name = loop.carried[i];
    variables_[loop.carried[i]] = std::move(value);
  }
}

std::optional<std::vector<ValueId>> FunctionLowering::CarriedNow(const Loop& loop, absl::string_view where) {
  std::vector<ValueId> ids;
  bool ok = true;
  for (size_t i = 0; i < loop.carried.size(); ++i) {
    auto it = variables_.find(loop.carried[i]);
    if (it == variables_.end()) {
      Error(absl::StrCat("'", loop.carried[i],
                         "' may be undefined at the end of the loop body: ", unavailable_[loop.carried[i]]));
      ok = false;
      continue;
    }
    Value now = it->second;
    if (now.is_error()) {
      failed_.insert(loop.carried[i]);
      ok = false;
      continue;
    }
    const Value& initial = loop.initial[i];
    if (now.is_constant() && IsNumber(now.constant()) && initial.is_ssa() && initial.type().is_number() &&
        initial.type().is_scalar()) {
      now = emitter_.ToSsa(now, initial.type().dtype());
    }
    if (!now.SameStructure(initial)) {
      SpanScope scope(this, AssignedAt(loop.carried[i]));
      Error(absl::StrCat("'", loop.carried[i], "' is ", initial.Describe(), " before the loop but becomes ",
                         now.Describe(), " ", where),
            "keep one type through the loop: convert with .to(...), or start from a value of the final type and shape");
      failed_.insert(loop.carried[i]);
      ok = false;
      continue;
    }
    now.Flatten(&ids);
  }
  for (const auto& [name, initial] : loop.fixed) {
    auto it = variables_.find(name);
    if (it == variables_.end() || it->second.is_error() || it->second.SameStructure(initial)) continue;
    SpanScope scope(this, AssignedAt(name));
    Error(absl::StrCat("'", name, "' is ", initial.Describe(), " before the loop but becomes ", it->second.Describe(),
                       " ", where),
          initial.is_none() ? "start from a value of the final type and shape"
                            : "a compile-time value can't change in a loop at run time");
    failed_.insert(name);
    ok = false;
  }
  if (!ok) return std::nullopt;
  return ids;
}

void FunctionLowering::ForgetNew(const Variables& before, absl::string_view reason) {
  for (auto it = variables_.begin(); it != variables_.end();) {
    if (before.count(it->first) == 0) {
      unavailable_[it->first] = std::string(reason);
      it = variables_.erase(it);
    } else {
      ++it;
    }
  }
}

std::optional<std::vector<Value>> FunctionLowering::ConstantRange(const Value& range, absl::string_view what) {
  constexpr size_t kMaxValues = 100'000;
  int64_t part[3];
  const char* const names[] = {"start", "end", "step"};
  for (size_t i = 0; i < 3; ++i) {
    std::optional<int64_t> given = emitter_.RequireInt(range.items()[i], absl::StrCat("the ", names[i], " of ", what));
    if (!given) return std::nullopt;
    part[i] = *given;
  }
  if (part[2] == 0) {
    Error(absl::StrCat("the step of ", what, " must not be zero"));
    return std::nullopt;
  }
  std::vector<Value> values;
  // Int: the last step may leave 64 bits.
  for (Int i = part[0]; part[2] > 0 ? i < part[1] : i > part[1]; i += part[2]) {
    if (values.size() == kMaxValues) {
      Error(absl::StrCat(what, " has more than ", kMaxValues, " values: ", part[0], " to ", part[1], " by ", part[2]),
            "use tl.range, which is a loop at run time");
      return std::nullopt;
    }
    values.push_back(Value::Of(i));
  }
  return values;
}

void FunctionLowering::LowerFor(const Stmt& stmt) {
  if (!stmt.orelse.empty()) Error("'else' of a for loop is not supported");
  const Value iterable = LowerExpr(*stmt.value);
  const bool is_range = iterable.kind() == ValueKind::kRange;
  if (is_range && !iterable.range()->is_static) {
    std::optional<std::vector<Value>> bounds;
    {
      SpanScope scope(this, stmt.value->span);
      bounds = RangeBounds(iterable);
    }
    if (bounds && Enter("a loop")) {
      LowerDynamicFor(stmt, *iterable.range(), *bounds);
      return Leave();
    }
  } else {
    std::optional<std::vector<Value>> values;
    {
      SpanScope scope(this, stmt.value->span);
      if (is_range) {
        values = ConstantRange(iterable, "tl.static_range");
      } else if (iterable.is_tuple()) {
        values = iterable.items();
      } else if (!iterable.is_error()) {
        Error(absl::StrCat("a for loop runs over range, tl.range, tl.static_range or a tuple, not over ",
                           iterable.Describe()),
              iterable.is_ssa() && iterable.type().is_tile()
                  ? "write what happens to one element; the operators do it to all at once"
                  : "");
      }
    }
    if (values) return LowerStaticFor(stmt, *values);
  }
  LookForMistakes({&stmt.body}, stmt.target.get());
}

bool FunctionLowering::CountRound() {
  if (++compilation_.rounds <= compilation_.request.max_unrolled_ops) return true;
  Error("unrolled loops have too many rounds", "use tl.range instead of tl.static_range");
  return false;
}

void FunctionLowering::LowerStaticFor(const Stmt& stmt, const std::vector<Value>& values) {
  Loop unrolled;
  unrolled.is_static = true;
  unrolled.region = emitter_.builder().region();
  loops_.push_back(std::move(unrolled));
  for (const Value& value : values) {
    if (!CountRound()) break;
    Assign(*stmt.target, value);
    LowerBody(stmt.body);
    if (terminated_ || loops_.back().broken) break;
    loops_.back().continued = false;
    compilation_.ops_made = static_cast<int64_t>(function().num_ops());
    if (compilation_.ops_made > compilation_.request.max_unrolled_ops) {
      Error("unrolling makes too many ops", "use tl.range instead of tl.static_range");
      break;
    }
    if (!compilation_.diagnostics.empty()) break;  // the same mistakes again in each round
  }
  loops_.pop_back();
}

std::optional<std::vector<Value>> FunctionLowering::RangeBounds(const Value& range) {
  std::vector<Value> bounds = range.items();
  const char* const names[] = {"start", "end", "step"};
  DType dtype = DType::kNone;
  for (size_t i = 0; i < 3; ++i) {
    const Value& bound = bounds[i];
    if (bound.is_error()) return std::nullopt;
    const bool is_number = bound.is_constant() && AsInt(bound.constant());
    if (!is_number && !(bound.is_ssa() && bound.type().is_scalar() && bound.type().is_integer())) {
      Error(absl::StrCat("the ", names[i], " of a range must be an integer, found ", bound.Describe()));
      return std::nullopt;
    }
    DType t = is_number ? DTypeOfNumber(bound.constant()) : bound.type().dtype();
    if (vm::IsBool(t)) t = DType::kI32;
    if (t == DType::kNone) {
      Error(absl::StrCat("the ", names[i], " of a range does not fit into 64 bits"));
      return std::nullopt;
    }
    dtype = dtype == DType::kNone ? t : Promote(dtype, false, t, false, false).dtype;
  }
  for (Value& bound : bounds) bound = emitter_.ToSsa(bound, dtype);
  if (std::optional<Int> step = bounds[2].AsKnownInt(); step && *step == 0) {
    Error("the step of a range must not be zero");
    return std::nullopt;
  }
  return bounds;
}

void FunctionLowering::DropFailed() {
  for (const std::string& name : failed_) variables_[name] = Value();
  failed_.clear();
}

void FunctionLowering::LowerDynamicFor(const Stmt& stmt, const RangeOptions& options,
                                       const std::vector<Value>& bounds) {
  const DType dtype = bounds[0].type().dtype();
  Loop loop;
  std::vector<ValueId> operands = {bounds[0].id(), bounds[1].id(), bounds[2].id()};
  // The loop variable itself is not carried.
  std::set<std::string> targets;
  CollectTargets(*stmt.target, &targets);
  for (const std::string& name : targets) variables_.erase(name);
  const std::vector<ValueId> initial = PrepareCarried(stmt.body, nullptr, &loop);
  operands.insert(operands.end(), initial.begin(), initial.end());
  const Variables before = variables_;
  std::vector<Type> types;
  for (ValueId id : initial) types.push_back(function().type(id));

  const RegionId outer = emitter_.builder().region();
  const RegionId body = function().AddRegion();
  emitter_.builder().set_region(body);
  const Value counter = emitter_.Wrap(function().AddParam(body, Type::Scalar(dtype)));
  std::vector<ValueId> params;
  for (const Type& type : types) params.push_back(function().AddParam(body, type));
  read_only().Follow(function(), initial, params);
  BindCarried(loop, params);
  Assign(*stmt.target, counter);
  loops_.push_back(loop);
  LowerBody(stmt.body);
  loops_.pop_back();
  if (!terminated_) {
    std::optional<std::vector<ValueId>> next = CarriedNow(loop, "in the loop");
    emitter_.builder().Create(Op::kYield, next ? *next : params, {});
  }
  terminated_ = false;
  ForgetNew(before, absl::StrCat("it is assigned inside the loop at line ", stmt.span.line, " only"));
  emitter_.builder().set_region(outer);
  const OpId op =
      emitter_.builder().Create(Op::kFor, operands, types,
                                {options.num_stages, options.unroll, int64_t{options.flatten},
                                 int64_t{options.warp_specialize}, int64_t{options.disallow_acc_multi_buffer}},
                                {body});
  const std::vector<ValueId> results(function().op(op).results.begin(), function().op(op).results.end());
  read_only().Follow(function(), initial, results);
  variables_ = before;
  BindCarried(loop, results);
  DropFailed();
  for (const std::string& name : targets) {
    unavailable_[name] = absl::StrCat("it is the variable of the loop at line ", stmt.span.line);
  }
}

void FunctionLowering::LowerWhile(const Stmt& stmt) {
  if (!stmt.orelse.empty()) Error("'else' of a while loop is not supported");
  if (!Enter("a loop")) return LookForMistakes({&stmt.body}, nullptr);
  LowerWhileLoop(stmt);
  Leave();
}

void FunctionLowering::LowerWhileLoop(const Stmt& stmt) {
  Loop loop;
  const std::vector<ValueId> initial = PrepareCarried(stmt.body, stmt.value.get(), &loop);
  const Variables before = variables_;
  std::vector<Type> types;
  for (ValueId id : initial) types.push_back(function().type(id));
  const RegionId outer = emitter_.builder().region();

  const RegionId head = function().AddRegion();
  emitter_.builder().set_region(head);
  std::vector<ValueId> head_params;
  for (const Type& type : types) head_params.push_back(function().AddParam(head, type));
  read_only().Follow(function(), initial, head_params);
  BindCarried(loop, head_params);
  Value condition;
  {
    SpanScope scope(this, stmt.value->span);
    in_while_condition_ = true;
    condition = LowerExpr(*stmt.value);
    in_while_condition_ = false;
    if (condition.is_constant())
      condition = emitter_.MakeConstant(Type::Scalar(DType::kI1), Constant(IsTrue(condition.constant())));
    if (condition.is_ssa() && condition.known() && !IsTrue(*condition.known())) {
      // Never entered: the body is dead.
      emitter_.builder().set_region(outer);
      variables_ = before;
      return;
    }
    condition = ToCondition(condition, "the condition of 'while'");
  }
  if (!condition.is_error()) {
    // The condition itself may change variables, with :=.
    std::optional<std::vector<ValueId>> now = CarriedNow(loop, "in the condition of the loop");
    std::vector<ValueId> operands = {condition.id()};
    operands.insert(operands.end(), now ? now->begin() : head_params.begin(), now ? now->end() : head_params.end());
    emitter_.builder().Create(Op::kCondition, operands, {});
  }
  ForgetNew(before, absl::StrCat("it is assigned in the condition of the loop at line ", stmt.span.line,
                                 "; give it a value of the same type before the loop"));

  const RegionId body = function().AddRegion();
  emitter_.builder().set_region(body);
  std::vector<ValueId> params;
  for (const Type& type : types) params.push_back(function().AddParam(body, type));
  read_only().Follow(function(), initial, params);
  BindCarried(loop, params);
  loops_.push_back(loop);
  LowerBody(stmt.body);
  loops_.pop_back();
  if (!terminated_) {
    std::optional<std::vector<ValueId>> next = CarriedNow(loop, "in the loop");
    emitter_.builder().Create(Op::kYield, next ? *next : params, {});
  }
  terminated_ = false;
  ForgetNew(before, absl::StrCat("it is assigned inside the loop at line ", stmt.span.line, " only"));
  emitter_.builder().set_region(outer);
  variables_ = before;
  if (condition.is_error()) return DropFailed();
  const OpId op = emitter_.builder().Create(Op::kWhile, initial, types, {}, {head, body});
  const std::vector<ValueId> results(function().op(op).results.begin(), function().op(op).results.end());
  read_only().Follow(function(), initial, results);
  BindCarried(loop, results);
  DropFailed();
}

void FunctionLowering::LowerBreakOrContinue(bool is_break) {
  const char* const word = is_break ? "break" : "continue";
  if (loops_.empty()) {
    Error(absl::StrCat("'", word, "' outside a loop"));
    return;
  }
  if (!AllowExtension(absl::StrCat("'", word, "' does not exist in Triton"),
                      "guard the rest of the body with an 'if', or use a while loop with a flag"))
    return;
  Loop& loop = loops_.back();
  if (loop.is_static) {
    // Unrolled: what is known while compiling ends the unrolling, or this round of it.
    if (emitter_.builder().region() != loop.region) {
      Error(absl::StrCat("'", word,
                         "' under a run-time condition in a loop that is unrolled (tl.static_range) is not supported"),
            "guard the rest of the body with an 'if', or use tl.range");
      loop.broken = true;
    }
    (is_break ? loop.broken : loop.continued) = true;
    return;
  }
  std::optional<std::vector<ValueId>> ids = CarriedNow(loop, absl::StrCat("before '", word, "'"));
  if (!ids) return Abandon();
  emitter_.builder().Create(is_break ? Op::kBreak : Op::kContinue, *ids, {});
  terminated_ = true;
}

}  // namespace trivet::frontend
