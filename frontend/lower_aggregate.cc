// Aggregates: classes that @aggregate decorates, whose instances are values of a kernel with named fields.
//
// An instance is a Value with the class and the values of its fields, in the order of the class; it passes through ifs,
// loops, helpers and returns as a tuple does. What the class consists of, its `_trivet_aggregate` says
// (python/trivet/language/aggregate.py): fields, the classes that each may hold, defaults, constructor, methods. The
// methods are kernel functions. A constructor of the author's is one too: it starts from an instance without fields,
// and what it returns is the instance.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "frontend/builtins.h"
#include "frontend/function_lowering.h"

namespace trivet::frontend {

namespace {

HostPtr AttributeOf(const HostValue& object, absl::string_view name) {
  absl::StatusOr<HostPtr> found = object.GetAttribute(name);
  return found.ok() ? *found : nullptr;
}

// `info` of an instance or class; nullptr for others.
HostPtr InfoOf(const HostValue& object) { return AttributeOf(object, "_trivet_aggregate"); }

std::vector<std::string> FieldsOf(const HostValue& info) {
  std::vector<std::string> names;
  for (const HostPtr& name : AttributeOf(info, "fields")->items()) names.push_back(name->text());
  return names;
}

// True if nothing in it is known at run time only.
bool IsCompileTime(const Value& value) {
  if (value.is_ssa()) return value.known().has_value();
  if (value.is_error()) return false;
  return std::all_of(value.items().begin(), value.items().end(), IsCompileTime);
}

// "a tl.tensor or a tl.constexpr"
std::string Shown(const std::vector<HostPtr>& classes) {
  return absl::StrJoin(classes, " or ", [](std::string* out, const HostPtr& cls) {
    const std::string name = ClassName(*cls);
    const bool of_language =
        name == "tensor" || name == "constexpr" || name == "tuple" || name == "dtype" || name == "tensor_descriptor";
    absl::StrAppend(out, "a ", of_language ? "tl." : "", name);
  });
}

struct OperatorMethod {
  const char* op;
  const char* method;
  const char* reflected;
};

constexpr OperatorMethod kBinaryMethods[] = {{"+", "__add__", "__radd__"},
                                             {"-", "__sub__", "__rsub__"},
                                             {"*", "__mul__", "__rmul__"},
                                             {"/", "__truediv__", "__rtruediv__"},
                                             {"%", "__mod__", "__rmod__"},
                                             {"**", "__pow__", "__rpow__"},
                                             {"//", "__floordiv__", "__rfloordiv__"},
                                             {"@", "__matmul__", "__rmatmul__"},
                                             {"<<", "__lshift__", "__rlshift__"},
                                             {">>", "__rshift__", "__rrshift__"},
                                             {"&", "__and__", "__rand__"},
                                             {"|", "__or__", "__ror__"},
                                             {"^", "__xor__", "__rxor__"},
                                             {"==", "__eq__", "__eq__"},
                                             {"!=", "__ne__", "__ne__"},
                                             {"<", "__lt__", "__gt__"},
                                             {"<=", "__le__", "__ge__"},
                                             {">", "__gt__", "__lt__"},
                                             {">=", "__ge__", "__le__"}};

}  // namespace

HostPtr AggregateInfo(const HostPtr& cls) {
  if (cls->kind() != HostKind::kClass) return nullptr;
  HostPtr info = InfoOf(*cls);
  if (info == nullptr) return nullptr;
  // A class that only inherits from an aggregate is none.
  const HostPtr owner = AttributeOf(*info, "owner");
  return owner != nullptr && owner->key() == cls->key() ? info : nullptr;
}

std::optional<Value> FunctionLowering::AggregateFromHost(const HostPtr& instance) {
  const HostPtr info = InfoOf(*instance);
  if (info == nullptr) return std::nullopt;
  absl::StatusOr<HostPtr> values = AttributeOf(*info, "values")->Call({instance}, {});
  if (!values.ok()) return Error(std::string(values.status().message()));
  std::vector<Value> items;
  for (const HostPtr& value : (*values)->items()) items.push_back(FromHost(value));
  return Value::Aggregate(AttributeOf(*info, "owner"), std::move(items), FieldsOf(*info));
}

HostPtr FunctionLowering::AggregateToHost(const Value& value, absl::string_view what) {
  if (value.is_ssa() && !value.known()) {
    // Python may look at the type of a run-time value inside an aggregate, and at nothing else.
    absl::StatusOr<HostPtr> made = MakeLanguageObject("_run_time_value", {host().MakeType(value.type())});
    if (made.ok()) return *made;
    Error(std::string(made.status().message()));
    return nullptr;
  }
  if (!value.is_aggregate() && !value.is_tuple()) return ToHost(value, what);
  std::vector<HostPtr> items, names;
  for (const std::string& field : value.fields()) names.push_back(host().MakeString(field));
  for (const Value& item : value.items()) {
    items.push_back(AggregateToHost(item, what));
    if (items.back() == nullptr) return nullptr;
  }
  if (value.is_tuple()) return host().MakeTuple(items, value.fields());
  absl::StatusOr<HostPtr> made = AttributeOf(*InfoOf(*value.host()), "rebuild")
                                     ->Call({host().MakeTuple(names, {}), host().MakeTuple(items, {})}, {});
  if (made.ok()) return *made;
  Error(std::string(made.status().message()));
  return nullptr;
}

bool FunctionLowering::SetField(Value* aggregate, const std::string& name, const Value& given, bool is_assignment) {
  if (given.is_error()) return false;
  const HostPtr info = InfoOf(*aggregate->host());
  const std::vector<std::string> names = FieldsOf(*info);
  const auto found = std::find(names.begin(), names.end(), name);
  const std::string cls = ClassName(*aggregate->host());
  if (found == names.end()) {
    const std::string near = DidYouMean(name, names);
    Error(absl::StrCat(cls, " has no field '", name, "'"),
          near.empty() ? absl::StrCat("its fields are ", absl::StrJoin(names, ", ")) : near);
    return false;
  }
  const std::vector<HostPtr> kinds =
      AttributeOf(*info, "kinds")->items()[static_cast<size_t>(found - names.begin())]->items();
  Value value = given;
  bool fits = kinds.empty();
  for (const HostPtr& kind : kinds) {
    if (kind->text() == "constexpr" && IsCompileTime(value)) {
      if (std::optional<Constant> known = value.AsConstant()) value = Value::Of(*known);
      fits = true;
      break;
    }
    if ((fits = IsInstanceOf(value, kind))) break;
  }
  const bool wants_tensor =
      std::any_of(kinds.begin(), kinds.end(), [](const HostPtr& kind) { return kind->text() == "class 'tensor'"; });
  if (!fits && is_assignment && wants_tensor && value.is_constant() && IsNumber(value.constant())) {
    value = Materialize(value);
    fits = true;
  }
  if (!fits) {
    Error(absl::StrCat("field '", name, "' of ", cls, " is ", Shown(kinds), ", found ", value.Describe()),
          value.is_constant() && wants_tensor ? "tl.to_tensor makes a run-time value of a number"
          : value.is_ssa()                    ? "annotate the field as tl.tensor"
                                              : "");
    return false;
  }
  std::vector<Value> items;
  std::vector<std::string> fields;
  for (const std::string& field : names) {
    const auto old = std::find(aggregate->fields().begin(), aggregate->fields().end(), field);
    if (field != name && old == aggregate->fields().end()) continue;
    fields.push_back(field);
    items.push_back(field == name ? value : aggregate->items()[static_cast<size_t>(old - aggregate->fields().begin())]);
  }
  *aggregate = Value::Aggregate(aggregate->host(), std::move(items), std::move(fields));
  return true;
}

std::optional<Value> FunctionLowering::MakeAggregate(const HostPtr& cls, CallArguments arguments) {
  const HostPtr info = AggregateInfo(cls);
  if (info == nullptr) return std::nullopt;
  Value made = Value::Aggregate(cls, {}, {});
  if (const HostPtr init = AttributeOf(*info, "init"); init != nullptr && init->kind() == HostKind::kFunction) {
    arguments.positional.insert(arguments.positional.begin(), made);
    return CallFunction(init, std::move(arguments), /*is_constructor=*/true);
  }
  const std::vector<std::string> names = FieldsOf(*info);
  const HostPtr defaults = AttributeOf(*info, "defaults");
  const std::string shown = ClassName(*cls);
  if (arguments.positional.size() > names.size()) {
    return Error(absl::StrCat(shown, " has ", Count(names.size(), "field"), ", found ",
                              Count(arguments.positional.size(), "value")));
  }
  for (size_t i = 0; i < arguments.positional.size(); ++i) {
    if (!SetField(&made, names[i], arguments.positional[i])) return Value();
  }
  const auto is_set = [&](const std::string& name) {
    return std::find(made.fields().begin(), made.fields().end(), name) != made.fields().end();
  };
  for (const auto& [name, value] : arguments.keywords) {
    if (is_set(name)) return Error(absl::StrCat(shown, " got multiple values for field '", name, "'"));
    if (!SetField(&made, name, value)) return Value();
  }
  for (const std::string& name : names) {
    if (is_set(name)) continue;
    absl::StatusOr<HostPtr> value = defaults->Binary("[]", host().MakeString(name));
    if (!value.ok()) {
      return Error(absl::StrCat(shown, " is missing the field '", name, "'"),
                   absl::StrCat("its fields are ", absl::StrJoin(names, ", ")));
    }
    if (!SetField(&made, name, FromHost(*value))) return Value();
  }
  return made;
}

Value FunctionLowering::Constructed() {
  auto it = variables_.find(constructed_);
  if (it == variables_.end() || !it->second.is_aggregate()) {
    return it != variables_.end() && it->second.is_error()
               ? Value()
               : Error(absl::StrCat("'", constructed_, "' is not the instance at the end of ", def_.name, "()"));
  }
  for (const std::string& name : FieldsOf(*InfoOf(*it->second.host()))) {
    const std::vector<std::string>& set = it->second.fields();
    if (std::find(set.begin(), set.end(), name) != set.end()) continue;
    return Error(absl::StrCat("the constructor of ", ClassName(*it->second.host()), " does not set the field '", name,
                              "' on every path"));
  }
  return it->second;
}

std::optional<Value> FunctionLowering::AggregateMember(const HostPtr& cls, const Value* self, const std::string& name) {
  const HostPtr info = InfoOf(*cls);
  if (info == nullptr) return std::nullopt;
  absl::StatusOr<HostPtr> found = AttributeOf(*info, "member")->Call({host().MakeString(name)}, {});
  if (!found.ok() || (*found)->kind() != HostKind::kTuple) return std::nullopt;
  const std::vector<HostPtr> parts = (*found)->items();  // how it is bound, what it is
  const std::string how = parts[0]->text();
  if (how == "class") return Value::Method(Value::Host(cls), name, parts[1]);
  if (how == "method" && self != nullptr) return Value::Method(*self, name, parts[1]);
  return FromHost(parts[1]);
}

Value FunctionLowering::AggregateAttribute(const Value& value, const std::string& name) {
  for (size_t i = 0; i < value.fields().size(); ++i) {
    if (value.fields()[i] == name) return value.items()[i];
  }
  if (std::optional<Value> member = AggregateMember(value.host(), &value, name)) return *member;
  const std::vector<std::string> names = FieldsOf(*InfoOf(*value.host()));
  const std::string cls = ClassName(*value.host());
  if (std::find(names.begin(), names.end(), name) != names.end())
    return Error(absl::StrCat("the constructor of ", cls, " has not set '", name, "' yet"));
  const std::string near = DidYouMean(name, names);
  return Error(absl::StrCat(cls, " has no attribute '", name, "'"),
               near.empty() && !names.empty() ? absl::StrCat("its fields are ", absl::StrJoin(names, ", ")) : near);
}

Value FunctionLowering::CallAggregate(const Value& self, const std::string& method, std::vector<Value> arguments,
                                      absl::string_view what) {
  std::optional<Value> member = AggregateMember(self.host(), &self, method);
  if (!member) return Error(absl::StrCat(ClassName(*self.host()), " ", what, ": it has no ", method, "()"));
  return Call(*member, {std::move(arguments), {}, span_});
}

Value FunctionLowering::AggregateOperator(const std::string& op, const Value& a, const Value& b) {
  for (const OperatorMethod& m : kBinaryMethods) {
    if (op != m.op) continue;
    if (a.is_aggregate() && AggregateMember(a.host(), &a, m.method)) return CallAggregate(a, m.method, {b}, "");
    if (b.is_aggregate() && AggregateMember(b.host(), &b, m.reflected)) return CallAggregate(b, m.reflected, {a}, "");
  }
  if ((op == "==" || op == "!=") && (a.is_none() || b.is_none())) return Value::Of(op == "!=");
  return Error(absl::StrCat("operator ", op, " is not defined for ", a.Describe(), " and ", b.Describe()),
               "define it in the class, as a @triton.jit method");
}

bool IsInstanceOf(const Value& value, const HostPtr& cls) {
  const std::string name = cls->text();
  if (name == "class 'base_value'") return true;
  if (name == "constexpr") return value.is_constant();
  if (name == "tensor" || name == "class 'tensor'")
    return value.is_ssa() && (value.type().is_value() || value.type().is_block_ptr());
  if (name == "class 'tensor_descriptor'" || name == "class 'tensor_descriptor_base'")
    return value.is_ssa() && value.type().is_desc();
  if (name == "tuple" || name == "py.tuple" || name == "py.list") return value.is_tuple();
  if (value.is_aggregate() || value.is_host()) {
    absl::StatusOr<HostPtr> is = value.host()->Binary(value.is_aggregate() ? "issubclass" : "isinstance", cls);
    return is.ok() && (*is)->text() == "True";
  }
  if (!value.is_constant()) return false;
  const Constant& c = value.constant();
  const vm::Type* type = std::get_if<vm::Type>(&c);
  if (name == "class 'dtype'") return type != nullptr;
  if (name == "class 'pointer_type'") return type != nullptr && type->is_pointer();
  if (name == "class 'block_type'") return type != nullptr && type->is_tile();
  if (name == "py.int") return std::holds_alternative<Int>(c) || std::holds_alternative<bool>(c);
  if (name == "py.bool") return std::holds_alternative<bool>(c);
  if (name == "py.float") return std::holds_alternative<double>(c);
  if (name == "py.str") return std::holds_alternative<std::string>(c);
  return false;
}

Value BuiltinAggregateReplace(FunctionLowering& fl, BuiltinCall& call) {
  if (!call[0].is_aggregate())
    return fl.Error(absl::StrCat("tl.aggregate_replace: expected an aggregate, found ", call[0].Describe()));
  Value changed = call[0];
  for (const auto& [name, value] : call.keywords) {
    if (!fl.SetField(&changed, name, value)) return Value();
  }
  return changed;
}

}  // namespace trivet::frontend
