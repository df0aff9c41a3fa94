// Statements without control flow, and what a function as a whole does.
#include "absl/strings/str_cat.h"
#include "frontend/function_lowering.h"

namespace trivet::frontend {

using vm::Op;
using vm::Type;

namespace {

// Counts return statements; nested functions don't count.
int CountReturns(const std::vector<StmtPtr>& body) {
  int n = 0;
  for (const StmtPtr& stmt : body) {
    if (stmt->kind == StmtKind::kReturn) ++n;
    if (stmt->kind != StmtKind::kFunctionDef) n += CountReturns(stmt->body) + CountReturns(stmt->orelse);
  }
  return n;
}

bool IsDocstring(const Stmt& stmt) { return stmt.kind == StmtKind::kExpr && stmt.value->kind == ExprKind::kString; }

}  // namespace

uint32_t Compilation::InternFile(const std::string& file) {
  for (size_t i = 0; i < files.size(); ++i) {
    if (files[i] == file) return static_cast<uint32_t>(i);
  }
  files.push_back(file);
  return static_cast<uint32_t>(files.size() - 1);
}

std::string Compilation::UniqueName(const std::string& name) {
  const int n = name_counts[name]++;
  return n == 0 ? name : absl::StrCat(name, ".", n);
}

FunctionLowering::FunctionLowering(Compilation& compilation, HostPtr host_function, const FunctionDef& def,
                                   vm::Function* function, RegionId region, const FunctionLowering* caller,
                                   SourceSpan call_span)
    : compilation_(compilation),
      host_function_(std::move(host_function)),
      def_(def),
      caller_(caller),
      call_span_(call_span),
      emitter_(vm::Builder(function, region), this),
      span_(def.span),
      file_index_(compilation.InternFile(def.file)) {
  returns_in_source_ = CountReturns(def.body);
}

FunctionLowering::SpanScope::SpanScope(FunctionLowering* lowering, const SourceSpan& span)
    : lowering_(lowering), saved_(lowering->span_) {
  lowering_->span_ = span;
  lowering_->emitter_.builder().set_location({lowering->file_index_, span.line, span.column});
}

FunctionLowering::SpanScope::~SpanScope() {
  lowering_->span_ = saved_;
  lowering_->emitter_.builder().set_location({lowering_->file_index_, saved_.line, saved_.column});
}

bool FunctionLowering::IsTooDeep() const {
  constexpr int kMaxDepth = 100;
  int depth = 0;
  for (const FunctionLowering* f = this; f != nullptr; f = f->caller_) ++depth;
  return depth > kMaxDepth;
}

SourceSpan FunctionLowering::AssignedAt(const std::string& name) const {
  auto it = assigned_at_.find(name);
  return it == assigned_at_.end() ? span_ : it->second;
}

std::vector<std::string> FunctionLowering::CallChain() const {
  std::vector<std::string> chain;
  const FunctionLowering* inner = this;
  for (const FunctionLowering* f = caller_; f != nullptr && chain.size() < 8; inner = f, f = f->caller_) {
    std::string call = absl::StrCat("called from ", f->def_.file, ":", inner->call_span_.line, ":",
                                    inner->call_span_.column, " in ", f->def_.name, "()");
    if (chain.empty() || chain.back() != call) chain.push_back(std::move(call));  // a recursion shows once
  }
  return chain;
}

Value FunctionLowering::Error(std::string message, std::string hint) {
  Diagnostic d;
  d.span = span_;
  d.message = std::move(message);
  d.hint = std::move(hint);
  // The author wrote the call, not the library behind it.
  const FunctionLowering* shown = this;
  while (shown->caller_ != nullptr && shown->host_function_->FunctionFlag("library")) {
    d.notes.push_back(
        absl::StrCat("in ", shown->def_.name, "() of the language's library, ", shown->def_.file, ":", d.span.line));
    d.span = shown->call_span_;
    shown = shown->caller_;
  }
  const FunctionDef& def = shown->def_;
  d.file = def.file;
  for (std::string& note : shown->CallChain()) d.notes.push_back(std::move(note));
  if (d.span.line >= def.first_line && d.span.line - def.first_line < def.source_lines.size()) {
    d.source_line = def.source_lines[d.span.line - def.first_line];
  }
  compilation_.diagnostics.Add(std::move(d));
  return Value();
}

bool FunctionLowering::AllowExtension(absl::string_view what, absl::string_view portable_way) {
  switch (compilation_.request.portability) {
    case Portability::kOff:
      return true;
    case Portability::kWarn:
      host().Warn(absl::StrCat(def_.file, ":", span_.line, ":", span_.column, ": not portable to Triton: ", what, "; ",
                               portable_way));
      return true;
    case Portability::kError:
      Error(std::string(what), std::string(portable_way));
      return false;
  }
  return true;
}

Value FunctionLowering::LowerFunction(bool is_kernel, bool* keeps_known) {
  is_kernel_ = is_kernel;
  LowerBody(def_.body);
  if (!terminated_ && !constructed_.empty()) {
    LowerReturnOf(Constructed());
  } else if (!terminated_) {
    returned_.push_back(Value::None());
    if (returned_.size() > 1 && !returned_[0].is_none() && !returned_[0].is_error()) {
      SpanScope scope(this, def_.span);
      Error(absl::StrCat(def_.name, "() returns ", returned_[0].Describe(), " on one path and nothing on another"),
            "return a value on every path");
    }
    emitter_.builder().Create(Op::kReturn, {}, {});
  }
  *keeps_known = returned_.size() == 1;
  return returned_.empty() ? Value::None() : returned_[0];
}

bool FunctionLowering::CanInline(const FunctionDef& def) {
  return CountReturns(def.body) == 1 && def.body.back()->kind == StmtKind::kReturn;
}

Value FunctionLowering::LowerInline() {
  is_inline_ = true;
  LowerBody(def_.body);
  return returned_.empty() ? Value() : returned_[0];
}

void FunctionLowering::LowerBody(const std::vector<StmtPtr>& body) {
  constexpr size_t kMostErrors = 1000;  // further ones are not even looked for
  for (const StmtPtr& stmt : body) {
    if (terminated_) return;  // dead code is not compiled
    if (!loops_.empty() && loops_.back().is_static && (loops_.back().broken || loops_.back().continued)) return;
    if (compilation_.diagnostics.size() >= kMostErrors) return;
    SpanScope scope(this, stmt->span);
    LowerStmt(*stmt);
  }
}

void FunctionLowering::LowerStmt(const Stmt& stmt) {
  switch (stmt.kind) {
    case StmtKind::kExpr:
      if (IsDocstring(stmt)) return;
      if (!LowerExpr(*stmt.value).is_error()) CheckResultMayBeUnused(*stmt.value);
      return;
    case StmtKind::kAssign: {
      Value value = LowerExpr(*stmt.value);
      if (stmt.targets.size() == 1) {
        AssignDecaying(*stmt.targets[0], std::move(value));
        return;
      }
      value = Materialize(value);
      for (const ExprPtr& target : stmt.targets) Assign(*target, value);
      return;
    }
    case StmtKind::kAugAssign:
      return LowerAugAssign(stmt);
    case StmtKind::kAnnAssign:
      return LowerAnnAssign(stmt);
    case StmtKind::kReturn:
      return LowerReturn(stmt);
    case StmtKind::kIf:
      return LowerIf(stmt);
    case StmtKind::kFor:
      return LowerFor(stmt);
    case StmtKind::kWhile:
      return LowerWhile(stmt);
    case StmtKind::kAssert:
      return LowerAssert(stmt);
    case StmtKind::kPass:
      return;
    case StmtKind::kBreak:
      return LowerBreakOrContinue(true);
    case StmtKind::kContinue:
      return LowerBreakOrContinue(false);
    case StmtKind::kRaise:
      return LowerRaise(stmt);
    case StmtKind::kDelete:
      for (const ExprPtr& target : stmt.targets) {
        if (target->kind != ExprKind::kName) continue;
        if (LowerExpr(*target).is_error()) continue;  // reports a name that isn't there
        variables_.erase(target->name);
        unavailable_[target->name] = absl::StrCat("it is deleted at line ", stmt.span.line);
      }
      return;
    case StmtKind::kWith:
      return RefuseStatement(stmt, "'with'");
    case StmtKind::kGlobal:
      return RefuseStatement(stmt, absl::StrCat("'", stmt.text, "'"), "a kernel can't change variables outside itself");
    case StmtKind::kFunctionDef:
      return RefuseStatement(stmt, "a nested function", "define it outside and decorate it with @triton.jit");
    case StmtKind::kImport:
      return RefuseStatement(stmt, "'import'", "import at the top of the file");
    case StmtKind::kUnsupported:
      return RefuseStatement(stmt, absl::StrCat("'", stmt.text, "'"));
  }
}

void FunctionLowering::RefuseStatement(const Stmt& stmt, const std::string& what, std::string hint) {
  Error(absl::StrCat(what, " is not supported in a kernel"), std::move(hint));
  for (const ExprPtr& target : stmt.targets) variables_[target->name] = Value();
}

Value FunctionLowering::Materialize(const Value& value) {
  if (value.is_constant() && IsNumber(value.constant())) return emitter_.ToSsa(value);
  if (value.is_tuple()) {
    std::vector<Value> items;
    for (const Value& item : value.items()) items.push_back(Materialize(item));
    return Value::Tuple(std::move(items), value.fields());
  }
  return value;
}

void FunctionLowering::AssignName(const std::string& name, const Value& value) {
  if (value.is_ssa()) {
    vm::Value& defined = function().value(value.id());
    if (defined.name.empty()) defined.name = name;
  }
  unavailable_.erase(name);
  assigned_at_[name] = span_;
  variables_[name] = value;
}

void FunctionLowering::AssignDecaying(const Expr& target, Value value) {
  if (target.kind == ExprKind::kName || target.kind == ExprKind::kNamedExpr) {
    value = declared_constexpr_.erase(target.name) != 0 ? ToConstexpr(value) : Materialize(value);
    return AssignName(target.name, value);
  }
  if (target.kind == ExprKind::kTuple && value.is_tuple() && target.items.size() == value.items().size() &&
      !declared_constexpr_.empty()) {
    for (size_t i = 0; i < target.items.size(); ++i) AssignDecaying(*target.items[i], value.items()[i]);
    return;
  }
  // A field of an aggregate says itself whether it is a compile-time value.
  Assign(target, target.kind == ExprKind::kAttribute ? value : Materialize(value));
}

Value FunctionLowering::ToConstexpr(const Value& value) {
  if (!value.is_ssa()) return value;
  if (std::optional<Constant> known = value.AsConstant()) return Value::Of(*known);
  return Error(absl::StrCat("a tl.constexpr variable needs a value known at compile time, found ", value.Describe()));
}

void FunctionLowering::CheckResultMayBeUnused(const Expr& expr) {
  if (expr.kind != ExprKind::kCall) return;
  const Expr& callee = *expr.a;
  const bool is_plain =
      callee.kind == ExprKind::kName || (callee.kind == ExprKind::kAttribute && callee.a->kind == ExprKind::kName);
  if (!is_plain) return;  // looking it up again could compute something
  const Value function = LowerExpr(callee);
  if (!function.is_host() && (function.kind() != ValueKind::kMethod || function.host() == nullptr)) return;
  const absl::StatusOr<HostPtr> words = function.host()->GetAttribute("_must_use_result");
  if (!words.ok() || *words == nullptr || (*words)->kind() != HostKind::kString) return;
  const std::string name =
      callee.kind == ExprKind::kName ? callee.name : absl::StrCat(callee.a->name, ".", callee.name);
  const std::string extra = (*words)->text();
  Error(absl::StrCat("The result of ", name, " is not being used.", extra.empty() ? "" : " ", extra));
}

void FunctionLowering::Assign(const Expr& target, const Value& value) {
  switch (target.kind) {
    case ExprKind::kName:
      return AssignName(target.name, value);
    case ExprKind::kTuple:
    case ExprKind::kList: {
      if (value.is_error()) {
        for (const ExprPtr& item : target.items) Assign(*item, value);
        return;
      }
      if (!value.is_tuple()) {
        Error(absl::StrCat("cannot unpack ", value.Describe(), " into ", Count(target.items.size(), "name")));
        for (const ExprPtr& item : target.items) Assign(*item, Value());
        return;
      }
      size_t starred = target.items.size();
      for (size_t i = 0; i < target.items.size(); ++i) {
        if (target.items[i]->kind == ExprKind::kStarred) starred = i;
      }
      const size_t have = value.items().size(), want = target.items.size();
      if (starred == want ? have != want : have + 1 < want) {
        Error(absl::StrCat("cannot unpack ", value.Describe(), ", which is ", Count(have, "value"), ", into ",
                           Count(want, "name")));
        for (const ExprPtr& item : target.items) Assign(*item, Value());
        return;
      }
      size_t at = 0;
      for (size_t i = 0; i < want; ++i) {
        if (i == starred) {
          const size_t n = have - (want - 1);
          const auto first = value.items().begin() + static_cast<std::ptrdiff_t>(at);
          Assign(*target.items[i]->a, Value::Tuple({first, first + static_cast<std::ptrdiff_t>(n)}));
          at += n;
        } else {
          Assign(*target.items[i], value.items()[at++]);
        }
      }
      return;
    }
    case ExprKind::kSubscript:
      return AssignItem(target, value);
    case ExprKind::kAttribute: {
      const Value base = LowerExpr(*target.a);
      if (base.is_error()) return;
      SpanScope scope(this, target.span);
      if (base.is_aggregate() && target.a->kind == ExprKind::kName && target.a->name == constructed_) {
        Value changed = base;
        AssignName(constructed_, SetField(&changed, target.name, value, /*is_assignment=*/true) ? changed : Value());
        return;
      }
      Error(absl::StrCat("an attribute of ", base.Describe(), " can't be assigned"),
            base.is_aggregate() ? absl::StrCat("outside the constructor an aggregate doesn't change; make a new one: "
                                               "tl.core.aggregate_replace(x, ",
                                               target.name, "=...)")
                                : "");
      return;
    }
    default: {
      SpanScope scope(this, target.span);
      Error("cannot assign to this expression");
      return;
    }
  }
}

void FunctionLowering::AssignItem(const Expr& target, const Value& value) {
  const Value base = LowerExpr(*target.a);
  const Value index = LowerExpr(*target.b);
  if (base.is_error() || index.is_error() || value.is_error()) return;
  SpanScope scope(this, target.span);
  if (base.is_tuple()) {
    Error("a tuple can't be changed", "make a new one: (a, *rest)");
  } else if (base.is_ssa() && base.type().is_pointer()) {
    Error(absl::StrCat("a pointer can't be indexed, found ", base.Describe()),
          "write tl.store(pointer + offset, value)");
  } else if (!base.is_ssa() || !base.type().is_tile() || target.a->kind != ExprKind::kName) {
    Error(absl::StrCat("cannot assign to an element of ", base.Describe()));
  } else {
    Assign(*target.a, SetTileItem(base, index.is_tuple() ? index.items() : std::vector<Value>{index}, value));
  }
}

void FunctionLowering::LowerAugAssign(const Stmt& stmt) {
  const Value old = LowerExpr(*stmt.target);
  const Value change = LowerExpr(*stmt.value);
  // Operators of compile-time variables stay compile time, as in `n: tl.constexpr = 1; n += 1` while unrolling.
  const Value result = BinaryValues(stmt.op, old, change);
  Assign(*stmt.target, old.is_constant() ? result : Materialize(result));
}

void FunctionLowering::LowerAnnAssign(const Stmt& stmt) {
  bool is_constexpr = false;
  vm::Type cast_to;
  {
    const Value annotation = LowerExpr(*stmt.annotation);
    is_constexpr = annotation.is_host() && annotation.host()->kind() == HostKind::kBuiltin &&
                   annotation.host()->text() == "constexpr";
  }
  if (stmt.value == nullptr) {
    if (is_constexpr && stmt.target->kind == ExprKind::kName) declared_constexpr_.insert(stmt.target->name);
    return;
  }
  Value value = LowerExpr(*stmt.value);
  if (is_constexpr) return Assign(*stmt.target, ToConstexpr(value));
  Assign(*stmt.target, Materialize(value));
}

void FunctionLowering::LowerReturn(const Stmt& stmt) {
  Value value = stmt.value == nullptr ? Value::None() : LowerExpr(*stmt.value);
  if (!constructed_.empty()) {
    if (!value.is_none() && !value.is_error()) {
      Error(absl::StrCat("__init__() returns nothing, found ", value.Describe()));
      value = Value();
    } else if (!value.is_error()) {
      value = Constructed();
    }
  }
  LowerReturnOf(std::move(value));
}

void FunctionLowering::LowerReturnOf(Value value) {
  if (is_inline_) {
    returned_.push_back(value);
    terminated_ = true;
    return;
  }
  // A return that can't be the only one gives run-time values, so that all of them can meet.
  const bool is_only = returned_.empty() && emitter_.builder().region() == function().body;
  if (returns_in_source_ > 1 && !is_only) value = Materialize(value);
  if (is_kernel_ && !value.is_none() && !value.is_error()) {
    Error(absl::StrCat("a kernel returns nothing, found ", value.Describe()), "store results through a pointer");
    value = Value::None();
  }
  if (!returned_.empty() && !returned_[0].is_error() && !value.is_error() && !returned_[0].SameStructure(value)) {
    Error(absl::StrCat("inconsistent return types: ", value.Describe(), " here, ", returned_[0].Describe(),
                       " at an earlier return of ", def_.name, "()"));
  }
  std::vector<ValueId> ids;
  value.Flatten(&ids);
  emitter_.builder().Create(Op::kReturn, ids, {});
  returned_.push_back(value);
  terminated_ = true;
}

void FunctionLowering::LowerAssert(const Stmt& stmt) {
  Value condition = LowerExpr(*stmt.value);
  Value message = stmt.message == nullptr ? Value::Of(std::string()) : LowerExpr(*stmt.message);
  if (condition.is_tuple() && !condition.items().empty()) {
    Error(absl::StrCat("this assertion always holds: it is of the tuple ", condition.Describe()),
          "without parentheses: assert condition, message");
    return;
  }
  if (std::optional<Constant> known = condition.AsConstant()) {
    if (!IsTrue(*known)) {
      std::optional<std::string> text = emitter_.RequireString(message, "the message of an assert");
      Error(
          absl::StrCat("assertion is false at compile time", text && !text->empty() ? absl::StrCat(": ", *text) : ""));
      if (is_helper()) Abandon();
    }
    return;
  }
  std::optional<std::string> text = emitter_.RequireString(message, "the message of an assert");
  Value as_bool = emitter_.ToBool(condition);
  if (!text || as_bool.is_error()) return;
  emitter_.builder().Create(Op::kAssert, {as_bool.id()}, {}, {*text});
}

void FunctionLowering::LowerRaise(const Stmt& stmt) {
  std::string what = "raise";
  if (stmt.value != nullptr) {
    const Expr& value = *stmt.value;
    if (value.kind == ExprKind::kCall) {
      what = value.a->name;
      if (!value.items.empty() &&
          (value.items[0]->kind == ExprKind::kString || value.items[0]->kind == ExprKind::kFString)) {
        const Value text = LowerExpr(*value.items[0]);
        if (text.is_constant() && std::holds_alternative<std::string>(text.constant())) {
          absl::StrAppend(&what, ": ", std::get<std::string>(text.constant()));
        }
      }
    } else {
      what = value.name;
    }
  }
  Error(absl::StrCat("the kernel raises ", what));
  Abandon();
}

}  // namespace trivet::frontend
