// Ranges, output, checks, hints, and the functions of Python itself that a kernel may call.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "frontend/builtins.h"

namespace trivet::frontend {

using vm::DType;
using vm::Op;
using vm::Type;

Value BuiltinRange(FunctionLowering& fl, BuiltinCall& call) {
  Emitter& e = fl.emitter();
  auto options = std::make_shared<RangeOptions>();
  options->is_static = call.name == "static_range";
  if (!options->is_static) {  // Python's range takes the hints of tl.range too
    const auto int_option = [&](const Value& v, absl::string_view what) {
      return v.is_none() ? std::optional<int64_t>(0) : e.RequireInt(v, absl::StrCat("tl.range: ", what));
    };
    std::optional<int64_t> stages = int_option(call[3], "num_stages"),
                           unroll = int_option(call[4], "loop_unroll_factor");
    std::optional<bool> buffer = e.RequireBool(call[5], "tl.range: disallow_acc_multi_buffer");
    std::optional<bool> flatten = e.RequireBool(call[6], "tl.range: flatten");
    std::optional<bool> specialize = e.RequireBool(call[7], "tl.range: warp_specialize");
    if (!stages || !unroll || !buffer || !flatten || !specialize) return Value();
    options->num_stages = *stages;
    options->unroll = *unroll;
    options->disallow_acc_multi_buffer = *buffer;
    options->flatten = *flatten;
    options->warp_specialize = *specialize;
  }
  const Value zero = Value::Of(Int{0}), one = Value::Of(Int{1});
  const bool lone = call[1].is_none();
  return Value::Range(lone ? zero : call[0], lone ? call[0] : call[1], call[2].is_none() ? one : call[2], options);
}

// --- output and checks
// -----------------------------------------------------------------------------------------------------

namespace {

// A value as static_print shows it: constants by value, run-time values by type.
std::string Show(FunctionLowering& fl, const Value& value) {
  if (std::optional<Constant> c = value.AsConstant()) {
    if (const std::string* s = std::get_if<std::string>(&*c)) return *s;
    return ToString(*c);
  }
  if (value.is_ssa()) return TritonName(value.type());
  if (value.is_tuple()) {
    return absl::StrCat(
        "(", absl::StrJoin(value.items(), ", ", [&](std::string* out, const Value& v) { *out += Show(fl, v); }), ")");
  }
  if (value.is_host()) {
    absl::StatusOr<std::string> text = fl.host().Format(value.host(), "", "");
    if (text.ok()) return *text;
  }
  return value.Describe();
}

Value Print(FunctionLowering& fl, const std::string& prefix, const std::vector<Value>& values, bool hex) {
  std::vector<ValueId> operands;
  std::vector<int64_t> is_signed;
  for (const Value& v : values) {
    Value ssa = fl.emitter().ToSsa(v);
    if (ssa.is_error()) return ssa;
    operands.push_back(ssa.id());
    is_signed.push_back(ssa.type().is_number() && vm::IsSignedInteger(ssa.type().dtype()) ? 1 : 0);
  }
  fl.emitter().builder().Create(Op::kPrint, operands, {}, {prefix, int64_t{hex}, is_signed});
  return Value::None();
}

}  // namespace

Value BuiltinStaticPrint(FunctionLowering& fl, BuiltinCall& call) {
  std::optional<std::string> sep = fl.emitter().RequireString(call[0], "static_print: sep");
  std::optional<std::string> end = fl.emitter().RequireString(call[1], "static_print: end");
  if (!sep || !end) return Value();
  std::vector<std::string> parts;
  for (const Value& v : call.variadic) parts.push_back(Show(fl, v));
  fl.host().Print(absl::StrCat(absl::StrJoin(parts, *sep), *end));
  return Value::None();
}

Value BuiltinStaticAssert(FunctionLowering& fl, BuiltinCall& call) {
  std::optional<Constant> known = call[0].AsConstant();
  bool holds = false;
  if (known) {
    holds = IsTrue(*known);
  } else if (call[0].is_ssa()) {
    return fl.Error(
        absl::StrCat("static_assert: the condition is not known at compile time, found ", call[0].Describe()),
        "use tl.device_assert");
  } else {
    holds = !call[0].is_tuple() || !call[0].items().empty();
  }
  if (holds) return Value::None();
  std::string message = Show(fl, call[1]);
  if (fl.is_helper()) fl.Abandon();
  return fl.Error(absl::StrCat("static_assert failed", message.empty() ? "" : absl::StrCat(": ", message)));
}

Value BuiltinDevicePrint(FunctionLowering& fl, BuiltinCall& call) {
  std::optional<std::string> prefix = fl.emitter().RequireString(call[0], "device_print: the prefix");
  std::optional<bool> hex = fl.emitter().RequireBool(call[1], "device_print: hex");
  if (!prefix || !hex) return Value();
  return Print(fl, *prefix, call.variadic, *hex);
}

Value BuiltinPythonPrint(FunctionLowering& fl, BuiltinCall& call) {
  // print("text", x, ...): constants become part of the prefix as long as no run-time value came before.
  std::string prefix;
  std::vector<Value> values;
  for (const Value& v : call.variadic) {
    if (!v.is_ssa() && values.empty()) {
      absl::StrAppend(&prefix, prefix.empty() ? "" : " ", Show(fl, v));
    } else if (!v.is_ssa() && !(v.is_constant() && IsNumber(v.constant()))) {
      return fl.Error(absl::StrCat("print: text must come before the values, found ", v.Describe(), " after one"),
                      "use one print for each value");
    } else {
      values.push_back(v);
    }
  }
  return Print(fl, prefix, values, false);
}

Value BuiltinDeviceAssert(FunctionLowering& fl, BuiltinCall& call) {
  Emitter& e = fl.emitter();
  const std::string message = Show(fl, call[1]);
  Value condition = e.ToBool(call[0]);
  if (condition.is_error()) return condition;
  std::vector<ValueId> operands = {condition.id(), ValueId::None()};
  if (!call[2].is_none()) {
    Value mask = e.ToBool(call[2]);
    Value* const both[] = {&condition, &mask};
    if (!e.BroadcastTogether(both, "device_assert: mask")) return Value();
    operands = {condition.id(), mask.id()};
  }
  e.builder().Create(Op::kAssert, operands, {}, {message});
  return Value::None();
}

Value BuiltinExpectZero(FunctionLowering& fl, BuiltinCall& call) {
  // The value stays; that it is 0 where the mask holds is checked, as device_assert is.
  Emitter& e = fl.emitter();
  Value x = e.ToSsa(call[0]), mask = e.ToBool(call[1]);
  if (x.is_error() || mask.is_error()) return Value();
  Value is_zero = e.Compare("==", x, Value::Of(Int{0}));
  Value* const both[] = {&is_zero, &mask};
  if (is_zero.is_error() || !e.BroadcastTogether(both, "tl.expect_zero: mask")) return Value();
  e.builder().Create(Op::kAssert, {is_zero.id(), mask.id()}, {}, {"expect_zero: x is not 0 where the mask is true"});
  return x;
}

Value BuiltinCondition(FunctionLowering& fl, BuiltinCall& call) {
  if (!fl.emitter().RequireBool(call[1], "tl.condition: disable_licm")) return Value();
  if (!fl.in_while_condition()) return fl.Error("tl.condition stands in the head of a while loop only");
  return call[0];
}

Value BuiltinAssume(FunctionLowering& fl, BuiltinCall& call) {
  Value condition = fl.emitter().ToBool(call[0]);
  if (condition.is_error()) return condition;
  fl.emitter().builder().Create(Op::kAssume, {condition.id()}, {});
  return Value::None();
}

Value BuiltinHint(FunctionLowering& fl, BuiltinCall& call) {
  Emitter& e = fl.emitter();
  std::optional<std::vector<int64_t>> values = e.RequireInts(call[1], absl::StrCat("tl.", call.name, ": values"));
  if (!values) return Value();
  Value x = e.ToSsa(call[0]);
  if (x.is_error()) return x;
  const size_t wanted = static_cast<size_t>(std::max(1, x.type().rank()));
  if (values->size() != wanted) {
    return fl.Error(absl::StrCat("tl.", call.name, ": shape of input to ", call.name,
                                 " does not match the length of values: ", values->size(), " for ",
                                 x.type().ToString()));
  }
  for (int64_t v : *values) {
    if (v < 1) return fl.Error(absl::StrCat("tl.", call.name, ": values must be positive, found ", v));
  }
  vm::HintKind kind = vm::HintKind::kMultipleOf;
  if (call.name == "max_contiguous") kind = vm::HintKind::kMaxContiguous;
  if (call.name == "max_constancy") kind = vm::HintKind::kMaxConstancy;
  Value hinted = e.Create1(Op::kHint, {x.id()}, x.type(), {static_cast<int64_t>(kind), *values});
  hinted.set_known(x.known());
  return hinted;
}

Value BuiltinBreakpoint(FunctionLowering& fl, BuiltinCall&) {
  fl.emitter().builder().Create(Op::kBreakpoint, {}, {});
  return Value::None();
}

// --- Python's own
// ------------------------------------------------------------------------------------------------------------

Value BuiltinPyLen(FunctionLowering& fl, BuiltinCall& call) {
  if (call[0].is_tuple()) return Value::Of(Int{static_cast<int64_t>(call[0].items().size())});
  if (call[0].is_constant()) {
    if (const auto* s = std::get_if<std::string>(&call[0].constant()))
      return Value::Of(Int{static_cast<int64_t>(s->size())});
  }
  if (call[0].is_ssa() && call[0].type().is_tile()) return Value::Of(Int{call[0].type().dim(0)});
  return fl.Error(absl::StrCat("len() is not defined for ", call[0].Describe()));
}

Value BuiltinPyMinMax(FunctionLowering& fl, BuiltinCall& call) {
  std::vector<Value> values = call.variadic;
  if (values.size() == 1 && values[0].is_tuple()) values = values[0].items();
  if (values.empty()) return fl.Error(absl::StrCat(call.name.substr(3), "() needs at least one value"));
  Value result = values[0];
  const bool is_max = call.name == "py.max";
  for (size_t i = 1; i < values.size(); ++i) {
    if (result.is_tuple() || values[i].is_tuple())
      return fl.Error(absl::StrCat(call.name.substr(3), "(): expected numbers"));
    if (result.is_constant() && values[i].is_constant()) {
      // Constants stay constants, as Python's own min and max give them.
      const std::optional<double> x = AsDouble(result.constant()), y = AsDouble(values[i].constant());
      if (x && y && (std::isnan(*x) || std::isnan(*y) || (*x == *y && std::signbit(*x) != std::signbit(*y)))) {
        return fl.Error(absl::StrCat(call.name.substr(3), "() of ", result.Describe(), " and ", values[i].Describe(),
                                     " depends on their order"),
                        "use tl.minimum and tl.maximum, which say what they do with NaN");
      }
      ConstantResult replaces = EvaluateBinary(is_max ? ">" : "<", values[i].constant(), result.constant());
      if (!replaces.value) return fl.Error(replaces.error);
      if (IsTrue(*replaces.value)) result = values[i];
      continue;
    }
    result = fl.CallBuiltin(is_max ? "maximum" : "minimum", {{result, values[i]}, {}, {}});
    if (result.is_error()) return result;
  }
  return result;
}

Value BuiltinPyAbs(FunctionLowering& fl, BuiltinCall& call) {
  if (!call[0].is_constant()) return fl.CallBuiltin("abs", {{call[0]}, {}, {}});
  if (std::optional<Int> i = AsInt(call[0].constant())) return Value::Of(*i < 0 ? -*i : *i);
  if (std::optional<double> d = AsDouble(call[0].constant())) return Value::Of(*d < 0 ? -*d : *d);
  return fl.Error(absl::StrCat("abs() is not defined for ", call[0].Describe()));
}

Value BuiltinPyConvert(FunctionLowering& fl, BuiltinCall& call) {
  const absl::string_view to = call.name.substr(3);
  if (std::optional<Constant> c = call[0].AsConstant()) {
    if (to == "bool") return Value::Of(IsTrue(*c));
    if (const std::string* text = std::get_if<std::string>(&*c)) {
      if (to == "float") {
        // float('-inf') and the like.
        HostPtr self = fl.host().MakeString(*text);
        absl::StatusOr<HostPtr> made = self->Binary("float()", nullptr);
        if (made.ok()) return fl.FromHost(*made);
        return fl.Error(std::string(made.status().message()));
      }
      if (std::optional<Int> i = IntFromString(*text)) return Value::Of(*i);
      return fl.Error(absl::StrCat("int() of '", *text, "'"));
    }
    if (to == "float" && AsDouble(*c)) return Value::Of(*AsDouble(*c));
    if (to == "int" && AsInt(*c)) return Value::Of(*AsInt(*c));
    if (to == "int" && AsDouble(*c)) {
      const double d = *AsDouble(*c);
      if (d > -9.2e18 && d < 9.2e18) return Value::Of(Int{static_cast<int64_t>(d)});
    }
    return fl.Error(absl::StrCat(to, "() of ", call[0].Describe()));
  }
  if (call[0].is_ssa() && call[0].type().is_scalar()) {
    return fl.emitter().Cast(call[0], to == "float" ? DType::kF32 : to == "int" ? DType::kI32 : DType::kI1);
  }
  return fl.Error(absl::StrCat(to, "() is not defined for ", call[0].Describe()), "use .to(...) for a tile");
}

Value BuiltinPyStr(FunctionLowering& fl, BuiltinCall& call) { return Value::Of(Show(fl, call[0])); }

Value BuiltinPyTuple(FunctionLowering& fl, BuiltinCall& call) {
  if (call[0].is_tuple()) return Value::Tuple(call[0].items());
  if (call[0].kind() == ValueKind::kRange) {
    std::optional<std::vector<Value>> values = fl.ConstantRange(call[0], "a range that becomes a tuple");
    return values ? Value::Tuple(*std::move(values)) : Value();
  }
  return fl.Error(absl::StrCat(call[0].Describe(), " can't be made a tuple"));
}

Value BuiltinPyZip(FunctionLowering& fl, BuiltinCall& call) {
  std::vector<Value> rows;
  size_t n = call.variadic.empty() ? 0 : SIZE_MAX;
  for (const Value& v : call.variadic) {
    if (!v.is_tuple()) return fl.Error(absl::StrCat("zip() runs over tuples, found ", v.Describe()));
    n = std::min(n, v.items().size());
  }
  for (size_t i = 0; i < n; ++i) {
    std::vector<Value> row;
    for (const Value& v : call.variadic) row.push_back(v.items()[i]);
    rows.push_back(Value::Tuple(std::move(row)));
  }
  return Value::Tuple(std::move(rows));
}

Value BuiltinPyEnumerate(FunctionLowering& fl, BuiltinCall& call) {
  std::optional<int64_t> start = fl.emitter().RequireInt(call[1], "the start of enumerate()");
  if (!start) return Value();
  if (!call[0].is_tuple()) return fl.Error(absl::StrCat("enumerate() runs over a tuple, found ", call[0].Describe()));
  std::vector<Value> rows;
  for (const Value& v : call[0].items()) rows.push_back(Value::Tuple({Value::Of(Int{(*start)++}), v}));
  return Value::Tuple(std::move(rows));
}

Value BuiltinPySum(FunctionLowering& fl, BuiltinCall& call) {
  if (!call[0].is_tuple()) {
    return fl.Error(absl::StrCat("Python's sum() adds up a tuple, found ", call[0].Describe()),
                    "use tl.sum for a tile");
  }
  Value total = call[1];
  for (const Value& v : call[0].items()) total = fl.emitter().Binary("+", total, v);
  return total;
}

Value BuiltinPyIsInstance(FunctionLowering& fl, BuiltinCall& call) {
  const std::vector<Value> classes = call[1].is_tuple() ? call[1].items() : std::vector<Value>{call[1]};
  for (const Value& cls : classes) {
    if (!cls.is_host()) return fl.Error(absl::StrCat("isinstance(): expected a class, found ", cls.Describe()));
    if (IsInstanceOf(call[0], cls.host())) return Value::Of(true);
  }
  return Value::Of(false);
}

Value BuiltinPyGetAttr(FunctionLowering& fl, BuiltinCall& call) {
  std::optional<std::string> name = fl.emitter().RequireString(call[1], "the name in getattr()");
  return name ? fl.GetAttribute(call[0], *name) : Value();
}

Value BuiltinPyHasAttr(FunctionLowering& fl, BuiltinCall& call) {
  std::optional<std::string> name = fl.emitter().RequireString(call[1], "the name in hasattr()");
  if (!name) return Value();
  if (call[0].is_host()) {
    absl::StatusOr<HostPtr> member = call[0].host()->GetAttribute(*name);
    return Value::Of(member.ok() && *member != nullptr);
  }
  if (call[0].is_tuple()) {
    for (const std::string& field : call[0].fields()) {
      if (field == *name) return Value::Of(true);
    }
  }
  if (call[0].is_ssa()) {
    for (const char* attribute : {"dtype", "type", "shape", "T", "numel"}) {
      if (*name == attribute) return Value::Of(true);
    }
    HostPtr member = fl.host().LanguageMember(*name);
    return Value::Of(IsTensorMethod(*name) || (member != nullptr && member->kind() == HostKind::kFunction));
  }
  return Value::Of(false);
}

}  // namespace trivet::frontend
