// Arithmetic as functions, minimum and maximum, math.
#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "frontend/builtins_math.h"

namespace trivet::frontend {

using vm::DType;
using vm::Op;
using vm::Type;

namespace {

std::optional<vm::NanRule> NanRuleOf(FunctionLowering& fl, const Value& value) {
  std::optional<int64_t> number = fl.emitter().RequireInt(value, "propagate_nan");
  if (!number) return std::nullopt;
  return *number == 0 ? vm::NanRule::kIgnore : vm::NanRule::kPropagate;
}

}  // namespace

std::string Shown(const BuiltinCall& call) {
  return absl::StartsWith(call.name, "libdevice.") ? std::string(call.name) : absl::StrCat("tl.", call.name);
}

bool FloatOperands(FunctionLowering& fl, const BuiltinCall& call, std::vector<Value>* values) {
  Emitter& e = fl.emitter();
  // A lone number is a float of its own.
  Value first = (*values)[0];
  if (values->size() == 1) {
    if (first.is_constant() && IsNumber(first.constant())) first = Value::Of(AsDouble(first.constant()).value());
    if (!e.RequireNumber(&first, Shown(call))) return false;
    (*values)[0] = first;
  } else {
    // Pairwise: all meet in one type and shape.
    for (size_t round = 0; round < 2; ++round) {
      for (size_t i = 1; i < values->size(); ++i) {
        if ((*values)[0].is_constant() && (*values)[i].is_constant()) {
          (*values)[0] = Value::Of(AsDouble((*values)[0].constant()).value_or(0));
          (*values)[0] = e.ToSsa((*values)[0]);
        }
        if (!e.MatchPair(&(*values)[0], &(*values)[i], Shown(call), {})) return false;
      }
    }
  }
  for (const Value& v : *values) {
    if (!v.type().is_float()) {
      fl.Error(absl::StrCat(Shown(call), ": expected a float, found ", v.type().ToString()),
               "convert with .to(tl.float32)");
      return false;
    }
  }
  return true;
}

namespace {

// minf or maxf of two numbers: -0 is smaller than +0; a NaN is passed over or, if the rule says so, wins.
double ExtremeOf(double x, double y, bool is_max, vm::NanRule rule) {
  if (std::isnan(x) || std::isnan(y)) return (rule == vm::NanRule::kPropagate) == std::isnan(x) ? x : y;
  const bool x_first = x == y ? std::signbit(x) : x < y;
  return x_first != is_max ? x : y;
}

// An operand of maximum, minimum and clamp: numbers with a type of their own, bf16 as f32.
Value ExtremeOperand(FunctionLowering& fl, const Value& value) {
  const Value own = fl.emitter().WithOwnType(value);
  const bool is_bf16 = own.is_ssa() && own.type().is_number() && own.type().dtype() == DType::kBF16;
  return is_bf16 ? fl.emitter().Cast(own, DType::kF32) : own;
}

}  // namespace

Value BuiltinMinMax(FunctionLowering& fl, BuiltinCall& call) {
  Emitter& e = fl.emitter();
  const bool is_max = call.name == "maximum";
  Value x = ExtremeOperand(fl, call[0]), y = ExtremeOperand(fl, call[1]);
  std::optional<vm::NanRule> nan = NanRuleOf(fl, call[2]);
  if (!nan || !e.MatchPair(&x, &y, Shown(call), {})) return Value();
  const bool is_float = x.type().is_float();
  if (x.known() && y.known()) {
    if (is_float)
      return e.MakeConstant(x.type(), ExtremeOf(*AsDouble(*x.known()), *AsDouble(*y.known()), is_max, *nan));
    return (*AsInt(*x.known()) < *AsInt(*y.known())) != is_max ? x : y;
  }
  if (is_float) return e.Elementwise(is_max ? Op::kMaxF : Op::kMinF, {x, y}, {static_cast<int64_t>(*nan)});
  return e.Elementwise(is_max ? Op::kMaxI : Op::kMinI, {x, y});
}

Value BuiltinClamp(FunctionLowering& fl, BuiltinCall& call) {
  Emitter& e = fl.emitter();
  Value x = ExtremeOperand(fl, call[0]), low = ExtremeOperand(fl, call[1]), high = ExtremeOperand(fl, call[2]);
  std::optional<vm::NanRule> nan = NanRuleOf(fl, call[3]);
  if (!nan) return Value();
  if (!e.MatchPair(&low, &high, Shown(call), {}) || !e.MatchPair(&x, &low, Shown(call), {}) ||
      !e.MatchPair(&x, &high, Shown(call), {})) {
    return Value();
  }
  Value* const all[] = {&x, &low, &high};
  if (!e.BroadcastTogether(all, Shown(call))) return Value();
  if (x.type().is_float()) return e.Elementwise(Op::kClampF, {x, low, high}, {static_cast<int64_t>(*nan)});
  if (!fl.AllowExtension(absl::StrCat("tl.clamp of ", x.type().ToString(), ": only floats"),
                         "write tl.minimum(tl.maximum(x, low), high)")) {
    return Value();
  }
  return e.Elementwise(Op::kMinI, {e.Elementwise(Op::kMaxI, {x, low}), high});
}

Value BuiltinLogicalMethod(FunctionLowering& fl, BuiltinCall& call) {
  return fl.emitter().Logical(call.name == "logical_and" ? "and" : "or", call[0], call[1]);
}

Value BuiltinArithmeticFunction(FunctionLowering& fl, BuiltinCall& call) {
  return fl.emitter().Binary(call.name == "add" ? "+" : call.name == "sub" ? "-" : "*", call[0], call[1]);
}

Value BuiltinAbs(FunctionLowering& fl, BuiltinCall& call) {
  Value x = call[0];
  if (!fl.emitter().RequireNumber(&x, Shown(call))) return Value();
  if (x.type().is_float()) return fl.emitter().Elementwise(Op::kAbsF, {x});
  if (vm::IsSignedInteger(x.type().dtype())) return fl.emitter().Elementwise(Op::kAbsI, {x});
  return x;
}

Value BuiltinFdiv(FunctionLowering& fl, BuiltinCall& call) {
  std::vector<Value> values = {call[0], call[1]};
  if (!FloatOperands(fl, call, &values)) return Value();
  bool precise = call.name == "div_rn";
  if (!precise) {
    std::optional<bool> ieee = fl.emitter().RequireBool(call[2], "tl.fdiv: ieee_rounding");
    if (!ieee) return Value();
    precise = *ieee;
  }
  return fl.emitter().Elementwise(Op::kDivF, values, {int64_t{0}, int64_t{precise}});
}

Value BuiltinFma(FunctionLowering& fl, BuiltinCall& call) {
  std::vector<Value> values;
  for (const Value& v : call.arguments) values.push_back(fl.emitter().WithOwnType(v));
  if (!FloatOperands(fl, call, &values)) return Value();
  return fl.emitter().Elementwise(Op::kFma, values);
}

Value BuiltinMulHi(FunctionLowering& fl, BuiltinCall& call) {
  Value x = call[0], y = call[1];
  if (!fl.emitter().MatchPair(&x, &y, Shown(call), {})) return Value();
  if (!x.type().is_integer() || vm::InfoOf(x.type().dtype()).bits < 32) {
    return fl.Error(absl::StrCat("tl.umulhi: expected 32- or 64-bit integers, found ", x.type().ToString()));
  }
  // Unsigned whatever the operands' signedness, as its name says.
  const Type original = x.type();
  const DType u = vm::InfoOf(original.dtype()).bits == 64 ? DType::kU64 : DType::kU32;
  Value a = fl.emitter().Bitcast(x, Type::Scalar(u)), b = fl.emitter().Bitcast(y, Type::Scalar(u));
  return fl.emitter().Bitcast(fl.emitter().Elementwise(Op::kMulHi, {a, b}), original.AsScalar());
}

Value BuiltinSqrtRn(FunctionLowering& fl, BuiltinCall& call) {
  std::vector<Value> values = {call[0]};
  if (!FloatOperands(fl, call, &values)) return Value();
  return fl.emitter().Elementwise(Op::kSqrt, values, {int64_t{0}, int64_t{1}});
}

Value BuiltinMathUnary(FunctionLowering& fl, BuiltinCall& call) {
  std::vector<Value> values = {call[0]};
  if (!FloatOperands(fl, call, &values)) return Value();
  // The op has the name of the function.
  return fl.emitter().Elementwise(vm::FindOpByText(call.name)->op, values);
}

}  // namespace trivet::frontend
