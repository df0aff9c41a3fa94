// Calls: of helpers (compiled once for each set of argument types), of the language's operations, of methods, and of
// Python functions that run at compile time.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "frontend/builtins.h"
#include "frontend/function_lowering.h"

namespace trivet::frontend {

using vm::Op;
using vm::Type;

Value FunctionLowering::LowerCall(const Expr& expr) {
  const Value callee = LowerExpr(*expr.a);
  CallArguments arguments;
  arguments.span = expr.span;
  bool has_error = callee.is_error();
  for (const ExprPtr& item : expr.items) {
    const bool starred = item->kind == ExprKind::kStarred;
    Value value = LowerExpr(starred ? *item->a : *item);
    has_error = has_error || value.is_error();
    value.set_span(item->span);
    if (!starred) {
      arguments.positional.push_back(std::move(value));
    } else if (value.is_tuple()) {
      for (const Value& inner : value.items()) arguments.positional.push_back(inner);
    } else if (!value.is_error()) {
      has_error = true;
      Error(absl::StrCat("argument after * must be a tuple, found ", value.Describe()));
    }
  }
  for (const Keyword& keyword : expr.keywords) {
    Value value = LowerExpr(*keyword.value);
    has_error = has_error || value.is_error();
    value.set_span(keyword.value->span);
    // What Triton's own functions hand down; it means nothing here.
    if (value.is_none() && (keyword.name == "_semantic" || keyword.name == "_generator" || keyword.name == "_builder"))
      continue;
    if (keyword.name.empty()) {
      has_error = true;
      Error("** in a call is not supported");
    }
    arguments.keywords.emplace_back(keyword.name, std::move(value));
  }
  if (has_error) return Value();
  Value result = Call(callee, std::move(arguments));
  result.set_span({});  // an operation may give its argument back
  return result;
}

namespace {

std::string NameOf(const HostPtr& target) {
  absl::StatusOr<HostPtr> name = target->GetAttribute("__name__");
  return name.ok() && *name != nullptr ? (*name)->text() : "";
}

// math.sqrt(x) of a tile or a run-time number; of constants, Python computes it.
bool IsMathOfRunTimeValues(const HostPtr& target, const CallArguments& arguments) {
  absl::StatusOr<HostPtr> module = target->GetAttribute("__module__");
  if (!module.ok() || *module == nullptr || (*module)->text() != "math") return false;
  return std::any_of(arguments.positional.begin(), arguments.positional.end(),
                     [](const Value& v) { return !v.is_constant() && !v.is_host() && !v.is_tuple(); });
}

}  // namespace

Value FunctionLowering::NotCallable(const HostPtr& target) {
  const std::string own = NameOf(target);
  std::string hint;
  if (!own.empty() && host().LanguageMember(own) != nullptr) {
    hint = absl::StrCat("the language has tl.", own);
  } else if (target->kind() == HostKind::kCallable) {
    hint = "decorate it with @triton.jit, or with @triton.constexpr_function if it computes compile-time values";
  }
  return Error(absl::StrCat("cannot call ", target->text(), " in a kernel: it is not a @jit function"),
               std::move(hint));
}

Value FunctionLowering::Call(const Value& callee, CallArguments arguments) {
  if (callee.is_error()) return callee;
  if (callee.kind() == ValueKind::kMethod) return CallMethod(callee, std::move(arguments));
  if (callee.is_aggregate()) {
    if (std::optional<Value> method = AggregateMember(callee.host(), &callee, "__call__"))
      return Call(*method, std::move(arguments));
  }
  if (callee.is_constant() && std::holds_alternative<Type>(callee.constant())) {
    // tl.float32(x) converts.
    if (arguments.positional.size() == 1 && arguments.keywords.empty()) {
      return emitter_.Cast(arguments.positional[0], std::get<Type>(callee.constant()));
    }
  }
  if (callee.kind() == ValueKind::kLambda) return CallLambda(callee, arguments);
  if (!callee.is_host()) return Error(absl::StrCat(callee.Describe(), " can't be called"));
  const HostPtr& target = callee.host();
  switch (target->kind()) {
    case HostKind::kFunction:
      return CallFunction(target, std::move(arguments));
    case HostKind::kBuiltin:
      return CallBuiltin(target->text(), std::move(arguments));
    case HostKind::kHostCall: {
      if (IsMathOfRunTimeValues(target, arguments)) return NotCallable(target);
      std::vector<HostPtr> positional;
      std::vector<std::pair<std::string, HostPtr>> keywords;
      const std::string what = absl::StrCat("an argument of ", target->text());
      for (const Value& v : arguments.positional) {
        positional.push_back(v.is_aggregate() ? AggregateToHost(v, what) : ToHost(v, what));
        if (positional.back() == nullptr) return Value();
      }
      for (const auto& [name, v] : arguments.keywords) {
        keywords.emplace_back(name, v.is_aggregate() ? AggregateToHost(v, what) : ToHost(v, what));
        if (keywords.back().second == nullptr) return Value();
      }
      absl::StatusOr<HostPtr> result = target->Call(positional, keywords);
      if (!result.ok()) return Error(std::string(result.status().message()));
      return FromHost(*result);
    }
    default: {
      if (std::optional<Value> made = MakeNamedTuple(target, arguments)) return *made;
      if (std::optional<Value> made = MakeAggregate(target, arguments)) return *made;
      return NotCallable(target);
    }
  }
}

bool FunctionLowering::BindParameters(const FunctionDef& def, const HostPtr& function, CallArguments* arguments,
                                      std::vector<std::pair<std::string, Value>>* bound) {
  std::vector<std::pair<std::string, Value>>& keywords = arguments->keywords;
  std::vector<std::string> names;
  for (const Parameter& parameter : def.parameters) {
    if (!parameter.is_variadic) names.push_back(parameter.name);
  }
  for (const auto& [name, value] : keywords) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const std::string near = DidYouMean(name, names);
    emitter_.ErrorAbout(value, absl::StrCat(def.name, "() got an unexpected keyword argument '", name, "'"),
                        near.empty() ? absl::StrCat("its parameters are ", absl::StrJoin(names, ", ")) : near);
    return false;
  }
  size_t next = 0;
  for (const Parameter& parameter : def.parameters) {
    if (parameter.is_variadic) {
      std::vector<Value> rest;
      while (next < arguments->positional.size()) rest.push_back(arguments->positional[next++]);
      bound->emplace_back(parameter.name, Value::Tuple(std::move(rest)));
      continue;
    }
    auto keyword =
        std::find_if(keywords.begin(), keywords.end(), [&](const auto& k) { return k.first == parameter.name; });
    Value value;
    if (next < arguments->positional.size() && !parameter.is_keyword_only) {
      if (keyword != keywords.end()) {
        Error(absl::StrCat(def.name, "() got multiple values for argument '", parameter.name, "'"));
        return false;
      }
      value = arguments->positional[next++];
    } else if (keyword != keywords.end()) {
      value = keyword->second;
      keywords.erase(keyword);
    } else if (HostPtr given = function->DefaultOf(parameter.name); given != nullptr) {
      value = FromHost(given);
    } else {
      Error(absl::StrCat(def.name, "() is missing the argument '", parameter.name, "'"),
            absl::StrCat("its parameters are ", absl::StrJoin(names, ", ")));
      return false;
    }
    // In a call between kernel functions the annotation tl.constexpr asks for nothing: programs pass run-time values to
    // such parameters, and what needs a constant says so in the helper.
    if (parameter.is_constexpr && value.is_ssa()) {
      if (std::optional<Constant> known = value.AsConstant()) value = Value::Of(*known);
    }
    bound->emplace_back(parameter.name, std::move(value));
  }
  if (next < arguments->positional.size()) {
    Error(absl::StrCat(def.name, "() takes ", Count(def.parameters.size(), "argument"), ", found ",
                       arguments->positional.size()));
    return false;
  }
  return true;
}

std::optional<Value> FunctionLowering::MakeNamedTuple(const HostPtr& target, const CallArguments& arguments) {
  if (target->kind() != HostKind::kClass) return std::nullopt;
  absl::StatusOr<HostPtr> fields = target->GetAttribute("_fields");
  absl::StatusOr<HostPtr> defaults = target->GetAttribute("_field_defaults");
  if (!fields.ok() || *fields == nullptr || (*fields)->kind() != HostKind::kTuple || !defaults.ok())
    return std::nullopt;
  std::vector<std::string> names;
  for (const HostPtr& name : (*fields)->items()) names.push_back(name->text());
  std::vector<std::optional<Value>> given(names.size());
  if (arguments.positional.size() > names.size()) {
    return Error(
        absl::StrCat(target->text(), " has ", Count(names.size(), "field"), ", found ", arguments.positional.size()));
  }
  for (size_t i = 0; i < arguments.positional.size(); ++i) given[i] = arguments.positional[i];
  for (const auto& [name, value] : arguments.keywords) {
    const auto at = static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    if (at == names.size())
      return Error(absl::StrCat(target->text(), " has no field '", name, "'"), DidYouMean(name, names));
    if (given[at]) return Error(absl::StrCat(target->text(), " got multiple values for field '", name, "'"));
    given[at] = value;
  }
  std::vector<Value> items;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!given[i] && *defaults != nullptr) {
      absl::StatusOr<HostPtr> value = (*defaults)->Binary("[]", host().MakeString(names[i]));
      if (value.ok()) given[i] = FromHost(*value);
    }
    if (!given[i]) return Error(absl::StrCat(target->text(), " is missing the field '", names[i], "'"));
    items.push_back(*given[i]);
  }
  return Value::Tuple(std::move(items), std::move(names));
}

Value FunctionLowering::RecursionError(const FunctionDef& def) {
  return Error(absl::StrCat("recursion: ", def.name, "() calls itself, directly or through others"),
               "a kernel can't recurse; write a loop");
}

Value FunctionLowering::CallFunction(const HostPtr& target, CallArguments arguments, bool is_constructor) {
  absl::StatusOr<const FunctionDef*> def = target->function_def();
  if (!def.ok()) return Error(std::string(def.status().message()));
  if (IsTooDeep()) {
    for (const FunctionLowering* f = this; f != nullptr; f = f->caller_) {
      if (f->host_function_->key() == target->key()) return RecursionError(**def);
    }
    return Error(absl::StrCat("calls nest too deeply at ", (*def)->name, "()"), "call fewer helpers from one another");
  }
  std::vector<std::pair<std::string, Value>> bound;
  if (!BindParameters(**def, target, &arguments, &bound)) return Value();

  std::string key = absl::StrCat(target->key(), is_constructor ? " constructor" : "");
  for (const auto& [name, value] : bound) {
    absl::StrAppend(&key, "|", value.Key());
    std::vector<ValueId> ids;
    value.Flatten(&ids);
    for (ValueId id : ids) {
      if (const std::string* parameter = read_only().Find(function(), id)) absl::StrAppend(&key, " const ", *parameter);
    }
  }
  auto [it, is_new] = compilation_.helper_by_key.emplace(key, compilation_.helpers.size());
  const size_t index = it->second;
  if (is_new) {
    constexpr size_t kMaxFunctions = 20'000;
    if (compilation_.helpers.size() >= kMaxFunctions) {
      compilation_.helper_by_key.erase(key);
      return Error(absl::StrCat("the kernel needs more than ", kMaxFunctions,
                                " functions: a recursion over compile-time values?"));
    }
    compilation_.helpers.push_back(std::make_unique<Helper>());
    Helper& helper = *compilation_.helpers.back();
    helper.function = std::make_unique<vm::Function>();
    vm::Function* made = helper.function.get();
    made->name = compilation_.UniqueName((*def)->name);
    made->location = {compilation_.InternFile((*def)->file), (*def)->span.line, (*def)->span.column};
    made->body = made->AddRegion();
    const size_t errors_before = compilation_.diagnostics.size();
    FunctionLowering inner(compilation_, target, **def, made, made->body, this, arguments.span);
    for (const auto& [name, value] : bound) {
      std::vector<ValueId> outer_ids, ids;
      value.Flatten(&outer_ids);
      for (ValueId id : outer_ids) {
        ids.push_back(made->AddParam(made->body, function().type(id), name));
        if (const std::string* parameter = read_only().Find(function(), id))
          inner.read_only().Mark(ids.back(), *parameter);
      }
      absl::Span<const ValueId> rest = ids;
      inner.Bind(name, value.Unflatten(&rest));
    }
    if (is_constructor) inner.constructed_ = (*def)->parameters.empty() ? "" : (*def)->parameters[0].name;
    bool keeps_known = false;
    Value returns = inner.LowerFunction(/*is_kernel=*/false, &keeps_known);
    helper.keeps_known = keeps_known;
    std::vector<ValueId> ids;
    returns.Flatten(&ids);
    for (ValueId id : ids) made->result_types.push_back(made->type(id));
    helper.returned = ids;
    helper.returns = std::move(returns);
    helper.has_failed = compilation_.diagnostics.size() != errors_before;
    helper.is_done = true;
  }
  const Helper& helper = *compilation_.helpers[index];
  if (!helper.is_done) return RecursionError(**def);
  if (helper.has_failed || helper.returns.is_error()) return Value();
  std::vector<ValueId> operands;
  for (const auto& [name, value] : bound) value.Flatten(&operands);
  const OpId op =
      emitter_.builder().Create(Op::kCall, operands, helper.function->result_types, {static_cast<int64_t>(index)});
  const std::vector<ValueId> results(function().op(op).results.begin(), function().op(op).results.end());
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string* const parameter =
        compilation_.read_only[helper.function.get()].Find(*helper.function, helper.returned[i]);
    if (parameter != nullptr) read_only().Mark(results[i], std::string(*parameter));
  }
  absl::Span<const ValueId> rest = results;
  Value result = helper.returns.Unflatten(&rest);
  if (helper.keeps_known && result.is_ssa()) result.set_known(helper.returns.known());
  return result;
}

Value FunctionLowering::CallInRegion(const Value& callee, std::vector<Value> values) {
  if (callee.kind() == ValueKind::kLambda) return CallLambda(callee, {std::move(values), {}, span_});
  const HostPtr& target = callee.host();
  absl::StatusOr<const FunctionDef*> def = target->function_def();
  if (!def.ok()) return Error(std::string(def.status().message()));
  CallArguments arguments{std::move(values), {}, span_};
  if (!CanInline(**def)) return CallFunction(target, std::move(arguments));
  if (IsTooDeep()) return RecursionError(**def);
  std::vector<std::pair<std::string, Value>> bound;
  if (!BindParameters(**def, target, &arguments, &bound)) return Value();
  FunctionLowering inner(compilation_, target, **def, &function(), emitter_.builder().region(), this, span_);
  for (auto& [name, value] : bound) inner.Bind(name, value);
  inner.nesting_ = nesting_ + 1;  // the region that the call stands in
  Value result = inner.LowerInline();
  return result;
}

Value FunctionLowering::CallMethod(const Value& method, CallArguments arguments) {
  const Value& self = method.items()[0];
  if (method.host() != nullptr) {  // of an aggregate
    arguments.positional.insert(arguments.positional.begin(), self);
    return Call(FromHost(method.host()), std::move(arguments));
  }
  const std::string& name = method.name();
  if (self.is_constant() && std::holds_alternative<Type>(self.constant())) {
    return CallTypeMethod(*this, std::get<Type>(self.constant()), name, arguments);
  }
  arguments.positional.insert(arguments.positional.begin(), self);
  if (self.is_ssa() && self.type().is_desc()) return CallBuiltin(absl::StrCat("desc.", name), std::move(arguments));
  if (IsTensorMethod(name)) return CallBuiltin(name, std::move(arguments));
  // The rest are functions of the language's library: x.sum(0) is tl.sum(x, 0).
  HostPtr member = host().LanguageMember(name);
  if (member != nullptr && member->kind() == HostKind::kFunction) return CallFunction(member, std::move(arguments));
  return Error(absl::StrCat(self.Describe(), " has no attribute '", name, "'"));
}

}  // namespace trivet::frontend
