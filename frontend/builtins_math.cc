// Arithmetic as functions, math, libdevice, matrix products.
#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "frontend/builtins.h"

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

std::string Shown(const BuiltinCall& call) {
  return absl::StartsWith(call.name, "libdevice.") ? std::string(call.name) : absl::StrCat("tl.", call.name);
}

// Numbers and tiles, made floats: numbers adapt to the tiles' common type.
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

}  // namespace

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

// --- libdevice
// ---------------------------------------------------------------------------------------------------------

namespace {

struct LibdeviceRow {
  const char* name;
  const char* op;  // text of an op with the same operands; or one of the forms in BuiltinLibdevice
  vm::Rounding rounding = vm::Rounding::kNearestEven;
};

// Functions whose op has another name or that take a rounding. Those called as their op need no row.
constexpr LibdeviceRow kLibdevice[] = {
    {"fabs", "absf"},
    {"fmax", "maxf"},
    {"fmin", "minf"},
    {"nearbyint", "rint"},
    {"isinf", "isinf"},
    {"isinff", "isinf"},
    {"isnan", "isnan"},
    {"isnanf", "isnan"},
    {"finitef", "isfinite"},
    {"isfinited", "isfinite"},
    {"finite", "isfinite"},
    {"fmod", "remf"},
    {"ldexp", "ldexp"},
    {"scalbn", "ldexp"},
    {"powi", "powi"},
    {"fma", "fma"},
    {"cyl_bessel_i0", "cyl_bessel_i0"},
    {"cyl_bessel_i1", "cyl_bessel_i1"},
    {"fast_sinf", "sin"},
    {"fast_cosf", "cos"},
    {"fast_tanf", "tan"},
    {"fast_expf", "exp"},
    {"fast_exp10f", "exp10"},
    {"fast_logf", "log"},
    {"fast_log2f", "log2"},
    {"fast_log10f", "log10"},
    {"fast_powf", "pow"},
    {"fast_tanh", "tanh"},
    {"fast_tanhf", "tanh"},
    {"fast_tanf", "tan"},
    {"fast_erf", "erf"},
    {"fast_dividef", "divf"},
    {"fast_fdividef", "divf"},
    {"fast_gelu", ""},
    {"add_rn", "addf"},
    {"add_rz", "addf", vm::Rounding::kTowardZero},
    {"add_rd", "addf", vm::Rounding::kDown},
    {"add_ru", "addf", vm::Rounding::kUp},
    {"sub_rn", "subf"},
    {"sub_rz", "subf", vm::Rounding::kTowardZero},
    {"sub_rd", "subf", vm::Rounding::kDown},
    {"sub_ru", "subf", vm::Rounding::kUp},
    {"mul_rn", "mulf"},
    {"mul_rz", "mulf", vm::Rounding::kTowardZero},
    {"mul_rd", "mulf", vm::Rounding::kDown},
    {"mul_ru", "mulf", vm::Rounding::kUp},
    {"div_rn", "divf"},
    {"div_rz", "divf", vm::Rounding::kTowardZero},
    {"div_rd", "divf", vm::Rounding::kDown},
    {"div_ru", "divf", vm::Rounding::kUp},
    {"fma_rn", "fma"},
    {"fma_rz", "fma", vm::Rounding::kTowardZero},
    {"fma_rd", "fma", vm::Rounding::kDown},
    {"fma_ru", "fma", vm::Rounding::kUp},
    {"sqrt_rn", "sqrt"},
    {"sqrt_rz", "sqrt", vm::Rounding::kTowardZero},
    {"sqrt_rd", "sqrt", vm::Rounding::kDown},
    {"sqrt_ru", "sqrt", vm::Rounding::kUp},
    {"min", "mini"},
    {"max", "maxi"},
    {"abs", "absi"},
    {"mulhi", "mulhi"},
    {"brev", "brev"},
    {"clz", "clz"},
    {"popc", "popc"},
    {"ffs", "ffs"},
};

// Conversions: name = [fast_]SOURCE2TARGET[_ROUNDING], such as float2int_rn.
struct ConversionRow {
  const char* from;
  DType dtype;
};
constexpr ConversionRow kConversionTypes[] = {{"float", DType::kF32}, {"double", DType::kF64}, {"int", DType::kI32},
                                              {"uint", DType::kU32},  {"ll", DType::kI64},     {"ull", DType::kU64},
                                              {"half", DType::kF16}};

std::optional<Value> LibdeviceConversion(FunctionLowering& fl, absl::string_view name, const std::vector<Value>& args) {
  Emitter& e = fl.emitter();
  if (args.size() != 1) return std::nullopt;
  for (const auto& [text, from, to] :
       {std::tuple("float_as_int", DType::kF32, DType::kI32), std::tuple("float_as_uint", DType::kF32, DType::kU32),
        std::tuple("int_as_float", DType::kI32, DType::kF32), std::tuple("uint_as_float", DType::kU32, DType::kF32),
        std::tuple("double_as_longlong", DType::kF64, DType::kI64),
        std::tuple("longlong_as_double", DType::kI64, DType::kF64)}) {
    if (name == text) return e.Bitcast(e.ToSsa(args[0], from), Type::Scalar(to));
  }
  const size_t two = name.find('2');
  if (two == absl::string_view::npos) return std::nullopt;
  const absl::string_view from_text = name.substr(0, two);
  absl::string_view to_text = name.substr(two + 1);
  absl::string_view mode;
  if (const size_t underscore = to_text.find('_'); underscore != absl::string_view::npos) {
    mode = to_text.substr(underscore + 1);
    to_text = to_text.substr(0, underscore);
  }
  DType from = DType::kNone, to = DType::kNone;
  for (const ConversionRow& row : kConversionTypes) {
    if (from_text == row.from) from = row.dtype;
    if (to_text == row.from) to = row.dtype;
  }
  if (from == DType::kNone || to == DType::kNone) return std::nullopt;
  Value x = e.ToSsa(args[0], from);
  if (x.is_error()) return x;
  if (vm::IsFloat(from) && vm::IsInteger(to)) {
    const Op round = mode == "rn" ? Op::kRint : mode == "rd" ? Op::kFloor : mode == "ru" ? Op::kCeil : Op::kTrunc;
    return e.Cast(e.Elementwise(round, {x}), to);
  }
  const vm::Rounding rounding = mode == "rz"   ? vm::Rounding::kTowardZero
                                : mode == "rd" ? vm::Rounding::kDown
                                : mode == "ru" ? vm::Rounding::kUp
                                               : vm::Rounding::kNearestEven;
  return e.Cast(x, Type::Scalar(to), rounding);
}

}  // namespace

Value BuiltinLibdevice(FunctionLowering& fl, BuiltinCall& call) {
  Emitter& e = fl.emitter();
  const absl::string_view name = call.name.substr(absl::string_view("libdevice.").size());
  std::vector<Value> args = call.variadic;
  if (std::optional<Value> converted = LibdeviceConversion(fl, name, args)) return *converted;
  for (const auto& [text, to] : {std::pair("llrint", DType::kI64), std::pair("llround", DType::kI64)}) {
    if (name == text && args.size() == 1 && FloatOperands(fl, call, &args)) {
      return e.Cast(e.Elementwise(name == "llrint" ? Op::kRint : Op::kRound, args), to);
    }
  }
  if (name == "rcp_rn" || name == "rcp_rz" || name == "rcp_rd" || name == "rcp_ru") {
    if (args.size() != 1 || !FloatOperands(fl, call, &args)) return Value();
    const vm::Rounding rounding = name == "rcp_rz"   ? vm::Rounding::kTowardZero
                                  : name == "rcp_rd" ? vm::Rounding::kDown
                                  : name == "rcp_ru" ? vm::Rounding::kUp
                                                     : vm::Rounding::kNearestEven;
    Value one = e.MakeConstant(args[0].type(), Constant(1.0));
    return e.Elementwise(Op::kDivF, {one, args[0]}, {static_cast<int64_t>(rounding), int64_t{1}});
  }
  std::string op_text(name);
  vm::Rounding rounding = vm::Rounding::kNearestEven;
  for (const LibdeviceRow& row : kLibdevice) {
    if (name == row.name) {
      op_text = row.op;
      rounding = row.rounding;
    }
  }
  const vm::OpInfo* info = vm::FindOpByText(op_text);
  const bool is_float =
      info != nullptr && (info->rule == vm::TypeRule::kSameFloat || info->rule == vm::TypeRule::kFloatToBool ||
                          info->rule == vm::TypeRule::kFloatToI32);
  const bool is_integer = info != nullptr && info->rule == vm::TypeRule::kSameInteger;
  const bool int_first = info != nullptr && info->rule == vm::TypeRule::kIntFloat;
  const bool int_second = info != nullptr && info->rule == vm::TypeRule::kFloatInt;
  if (info == nullptr || !(is_float || is_integer || int_first || int_second)) {
    return fl.Error(absl::StrCat("libdevice.", name, " is not supported"));
  }
  if (args.size() != info->operands.size()) {
    return fl.Error(absl::StrCat("libdevice.", name, "() takes ", Count(info->operands.size(), "argument"), ", found ",
                                 args.size()));
  }
  if (int_first || int_second) {
    Value x = args[int_first ? 1 : 0], n = args[int_first ? 0 : 1];
    n = e.ToSsa(n, DType::kI32);
    if (x.is_constant() && IsNumber(x.constant())) x = e.ToSsa(Value::Of(AsDouble(x.constant()).value()));
    Value* const both[] = {&x, &n};
    if (!e.BroadcastTogether(both, Shown(call))) return Value();
    if (!x.type().is_float())
      return fl.Error(absl::StrCat(Shown(call), ": expected a float, found ", x.type().ToString()));
    const Type result = x.type();
    return e.Create1(info->op, int_first ? std::vector<ValueId>{n.id(), x.id()} : std::vector<ValueId>{x.id(), n.id()},
                     result);
  }
  if (is_integer) {
    for (size_t i = 1; i < args.size(); ++i) {
      if (!e.MatchPair(&args[0], &args[i], Shown(call), {})) return Value();
    }
    if (!e.RequireNumber(&args[0], Shown(call))) return Value();
    if (args[0].type().is_float() && (name == "min" || name == "max" || name == "abs")) {
      const Op op = name == "abs" ? Op::kAbsF : name == "min" ? Op::kMinF : Op::kMaxF;
      return e.Elementwise(op, args);
    }
    if (!args[0].type().is_integer())
      return fl.Error(absl::StrCat(Shown(call), ": expected an integer, found ", args[0].type().ToString()));
    Value result = e.Elementwise(info->op, args);
    const bool counts = name == "clz" || name == "popc" || name == "ffs";
    return counts ? e.Cast(result, DType::kI32) : result;
  }
  if (!FloatOperands(fl, call, &args)) return Value();
  std::vector<ValueId> ids;
  for (const Value& v : args) ids.push_back(v.id());
  Type result = args[0].type();
  // As libdevice does, tests and exponents come as i32.
  if (info->rule == vm::TypeRule::kFloatToI32) result = result.WithDType(DType::kI32);
  if (info->rule == vm::TypeRule::kFloatToBool) result = result.WithDType(DType::kI1);
  const bool takes_rounding = !info->attrs.empty() && info->attrs[0].enum_type == vm::AttrEnum::kRounding;
  absl::InlinedVector<vm::Attribute, 1> attrs;
  if (takes_rounding) attrs.push_back(static_cast<int64_t>(rounding));
  if (takes_rounding && info->attrs.size() > 1) attrs.push_back(int64_t{!absl::StartsWith(name, "fast_")});
  Value made = e.Create1(info->op, ids, result, std::move(attrs));
  return info->rule == vm::TypeRule::kFloatToBool ? e.Cast(made, DType::kI32) : made;
}

// --- matrices
// ------------------------------------------------------------------------------------------------------------

namespace {

// A dot of rank 4 and more: the axes in front of the last two become one batch axis.
Value BatchedDot(FunctionLowering& fl, const BuiltinCall& call) {
  Emitter& e = fl.emitter();
  const Type& a = call[0].type();
  const Type& b = call[1].type();
  Type::Shape batch(a.shape().begin(), a.shape().end() - 2);
  if (!std::equal(batch.begin(), batch.end(), b.shape().begin())) {
    return fl.Error(absl::StrCat("tl.dot: the batch axes differ: a is ", a.ToString(), ", b is ", b.ToString()));
  }
  int64_t count = 1;
  for (int64_t extent : batch) count *= extent;
  const auto reshape = [&](const Value& v, const Type::Shape& shape) {
    return e.Create1(Op::kReshape, {v.id()}, v.type().WithShape(shape), {int64_t{0}});
  };
  const auto flatten = [&](const Value& v) { return reshape(v, {count, v.type().dim(-2), v.type().dim(-1)}); };
  std::vector<Value> arguments(call.arguments);
  arguments[0] = flatten(call[0]);
  arguments[1] = flatten(call[1]);
  if (call[2].is_ssa() && call[2].type().rank() == a.rank()) arguments[2] = flatten(call[2]);
  Value result = fl.CallBuiltin("dot", {std::move(arguments), {}, {}});
  if (result.is_error()) return result;
  batch.push_back(result.type().dim(-2));
  batch.push_back(result.type().dim(-1));
  return reshape(result, batch);
}

}  // namespace

Value BuiltinDot(FunctionLowering& fl, BuiltinCall& call) {
  Emitter& e = fl.emitter();
  // trans_a and trans_b, of releases before 2.1: the operand is used transposed.
  for (size_t i = 0; i < 2; ++i) {
    std::optional<bool> transposed = e.RequireBool(call[7 + i], i == 0 ? "tl.dot: trans_a" : "tl.dot: trans_b");
    if (!transposed) return Value();
    if (!*transposed) continue;
    call.arguments[i] = fl.CallBuiltin("trans", {{call[i]}, {}, {}});
    if (call[i].is_error()) return Value();
    call.arguments[7 + i] = Value::Of(false);
  }
  const Value &a = call[0], &b = call[1];
  for (const Value* v : {&a, &b}) {
    if (!v->is_ssa() || !v->type().is_tile() || !v->type().is_number()) {
      return fl.Error(absl::StrCat("tl.dot: expected a tile of numbers, found ", v->Describe()));
    }
  }
  const int rank = a.type().rank();
  if (rank > 3 && rank == b.type().rank()) return BatchedDot(fl, call);
  if ((rank != 2 && rank != 3) || b.type().rank() != rank) {
    return fl.Error(absl::StrCat("tl.dot: both inputs must have rank 2, or 3 with a batch, found a ",
                                 a.type().ToString(), " and b ", b.type().ToString()));
  }
  if (a.type().dim(-1) != b.type().dim(-2)) {
    return fl.Error(absl::StrCat("tl.dot: K differs: a is ", a.type().ToString(), " with ", a.type().dim(-1),
                                 " columns, b is ", b.type().ToString(), " with ", b.type().dim(-2), " rows"));
  }
  if (rank == 3 && a.type().dim(0) != b.type().dim(0)) {
    return fl.Error(
        absl::StrCat("tl.dot: the batch differs: a is ", a.type().ToString(), ", b is ", b.type().ToString()));
  }
  const DType ta = a.type().dtype(), tb = b.type().dtype();
  const auto is_fp8 = [](DType t) { return vm::IsFloat(t) && vm::InfoOf(t).bits == 8; };
  const auto is_int8 = [](DType t) { return t == DType::kI8 || t == DType::kU8; };
  if (ta != tb && !(is_fp8(ta) && is_fp8(tb))) {
    return fl.Error(absl::StrCat("tl.dot: both inputs must have the same dtype, found ", vm::InfoOf(ta).text, " and ",
                                 vm::InfoOf(tb).text),
                    "convert one with .to(...)");
  }
  if (!vm::IsFloat(ta) && !is_int8(ta)) {
    return fl.Error(
        absl::StrCat("tl.dot: unsupported dtype ", vm::InfoOf(ta).text, "; inputs are floats or 8-bit integers"));
  }
  std::optional<Type> out_type = e.RequireType(call[6], "tl.dot: out_dtype");
  if (!out_type) return Value();
  DType acc_type = out_type->dtype();
  if (is_int8(ta)) {
    acc_type = DType::kI32;
  } else if (ta == DType::kF64) {
    acc_type = DType::kF64;
  } else if (acc_type == DType::kBF16) {
    return fl.Error("tl.dot: out_dtype=bfloat16 is not supported", "use out_dtype=tl.float32 and convert the result");
  } else if (ta == DType::kF32 || ta == DType::kBF16) {
    acc_type = DType::kF32;
  } else if (acc_type != DType::kF16) {
    acc_type = DType::kF32;
  }

  // Where the program says nothing, the option default_dot_input_precision of the launch counts.
  if (call[3].is_none() && call[4].is_none()) {
    for (const auto& [name, value] : fl.compilation().request.options) {
      if (name == "default_dot_input_precision") call.arguments[3] = Value::Of(std::string(value));
    }
  }
  vm::DotPrecision precision = vm::DotPrecision::kTf32;
  if (!call[3].is_none()) {
    std::optional<std::string> text = e.RequireString(call[3], "tl.dot: input_precision");
    if (!text) return Value();
    bool found = false;
    for (const vm::EnumValue& v : vm::ValuesOf(vm::AttrEnum::kDotPrecision)) {
      if (*text == v.text) {
        precision = static_cast<vm::DotPrecision>(v.number);
        found = true;
      }
    }
    if (!found) {
      return fl.Error(absl::StrCat(
          "tl.dot: input_precision must be one of 'ieee', 'tf32', 'tf32x3', 'bf16x3', 'bf16x6', found '", *text, "'"));
    }
    if (!call[4].is_none()) return fl.Error("tl.dot: only one of input_precision and allow_tf32 can be given");
  } else if (!call[4].is_none()) {
    std::optional<bool> allow = e.RequireBool(call[4], "tl.dot: allow_tf32");
    if (!allow) return Value();
    precision = *allow ? vm::DotPrecision::kTf32 : vm::DotPrecision::kIeee;
  }
  if (ta != DType::kF32) precision = vm::DotPrecision::kIeee;
  std::optional<int64_t> imprecise = call[5].is_none() ? 0 : e.RequireInt(call[5], "tl.dot: max_num_imprecise_acc");
  if (!imprecise) return Value();
  if (is_fp8(ta) && *imprecise > a.type().dim(-1)) {
    return fl.Error(
        absl::StrCat("tl.dot: max_num_imprecise_acc (", *imprecise, ") must be at most K (", a.type().dim(-1), ")"));
  }

  Type::Shape shape = a.type().shape();
  shape.back() = b.type().dim(-1);
  if (!e.CheckShape(shape, "tl.dot")) return Value();
  Type result = Type::Tile(shape, acc_type);
  Value acc = call[2];
  if (acc.is_none()) {
    acc = e.MakeConstant(result, vm::IsFloat(acc_type) ? Constant(0.0) : Constant(Int{0}));
  } else {
    acc = e.ToSsa(acc);
    if (acc.is_error()) return acc;
    if (acc.type().is_scalar()) acc = e.BroadcastTo(acc, shape, "tl.dot: acc");
    if (acc.type().shape() != shape) {
      return fl.Error(absl::StrCat("tl.dot: acc has the wrong shape: expected [", vm::ShapeToString(shape), "], found ",
                                   acc.type().ToString()));
    }
    // f16 and f8 inputs sum in f32 or f16, whichever acc has; others in one type.
    const bool has_choice = ta == DType::kF16 || is_fp8(ta);
    const DType given = acc.type().is_number() ? acc.type().dtype() : DType::kNone;
    if (given != acc_type && !(has_choice && (given == DType::kF32 || given == DType::kF16))) {
      return fl.Error(absl::StrCat("tl.dot: acc must be ", has_choice ? "f32 or f16" : vm::InfoOf(acc_type).text,
                                   " for inputs of ", vm::InfoOf(ta).text, ", found ", acc.type().ToString()),
                      "convert acc before, or the result after");
    }
    result = acc.type();
  }
  return e.Create1(Op::kDot, {a.id(), b.id(), acc.id()}, result, {static_cast<int64_t>(precision), *imprecise});
}

Value BuiltinDotScaled(FunctionLowering& fl, BuiltinCall& call) {
  Emitter& e = fl.emitter();
  const auto format_of = [&](const Value& value, absl::string_view what) -> std::optional<vm::ScaledFormat> {
    std::optional<std::string> text = e.RequireString(value, what);
    if (!text) return std::nullopt;
    for (const vm::EnumValue& v : vm::ValuesOf(vm::AttrEnum::kScaledFormat)) {
      if (*text == v.text) return static_cast<vm::ScaledFormat>(v.number);
    }
    fl.Error(absl::StrCat(what, " must be one of 'e2m1', 'e4m3', 'e5m2', 'bf16', 'fp16', found '", *text, "'"));
    return std::nullopt;
  };
  std::optional<vm::ScaledFormat> a_format = format_of(call[2], "tl.dot_scaled: lhs_format");
  std::optional<vm::ScaledFormat> b_format = format_of(call[5], "tl.dot_scaled: rhs_format");
  std::optional<bool> fast = e.RequireBool(call[7], "tl.dot_scaled: fast_math");
  std::optional<bool> a_pack = e.RequireBool(call[8], "tl.dot_scaled: lhs_k_pack");
  std::optional<bool> b_pack = e.RequireBool(call[9], "tl.dot_scaled: rhs_k_pack");
  std::optional<Type> out = e.RequireType(call[10], "tl.dot_scaled: out_dtype");
  if (!a_format || !b_format || !fast || !a_pack || !b_pack || !out) return Value();
  Value sides[] = {call[0], call[3]};
  Value scales[] = {call[1], call[4]};
  const vm::ScaledFormat formats[] = {*a_format, *b_format};
  const bool packs[] = {*a_pack, *b_pack};
  int64_t k[2], outer[2];
  for (int i = 0; i < 2; ++i) {
    const char* const name = i == 0 ? "lhs" : "rhs";
    if (!sides[i].is_ssa() || sides[i].type().rank() < 2) {
      return fl.Error(
          absl::StrCat("tl.dot_scaled: ", name, " must be a tile of rank 2 or 3, found ", sides[i].Describe()));
    }
    const Type& t = sides[i].type();
    k[i] = i == 0 ? t.dim(-1) : t.dim(-2);
    outer[i] = i == 0 ? t.dim(-2) : t.dim(-1);
    if (formats[i] == vm::ScaledFormat::kE2M1) (packs[i] ? k[i] : outer[i]) *= 2;
    const bool sixteen = formats[i] == vm::ScaledFormat::kBF16 || formats[i] == vm::ScaledFormat::kFP16;
    if (!sixteen && t.element_bytes() == 1) sides[i] = e.Bitcast(sides[i], Type::Scalar(DType::kU8));
    const DType wanted = formats[i] == vm::ScaledFormat::kBF16   ? DType::kBF16
                         : formats[i] == vm::ScaledFormat::kFP16 ? DType::kF16
                                                                 : DType::kU8;
    if (sides[i].type().dtype() != wanted) {
      return fl.Error(absl::StrCat("tl.dot_scaled: ", name, " of this format must be ", vm::InfoOf(wanted).text,
                                   ", found ", t.ToString()));
    }
    if (scales[i].is_none()) continue;
    if (!scales[i].is_ssa() || scales[i].type().element_bytes() != 1) {
      return fl.Error(
          absl::StrCat("tl.dot_scaled: ", name, "_scale must be a tile of uint8 (e8m0), found ", scales[i].Describe()));
    }
    scales[i] = e.Bitcast(scales[i], Type::Scalar(DType::kU8));
  }
  if (k[0] != k[1]) {
    return fl.Error(absl::StrCat("tl.dot_scaled: K differs: ", k[0], " in lhs ", sides[0].type().ToString(), ", ", k[1],
                                 " in rhs ", sides[1].type().ToString()));
  }
  for (int i = 0; i < 2; ++i) {
    if (scales[i].is_none()) continue;
    Type::Shape wanted = sides[i].type().shape();
    wanted[wanted.size() - 2] = outer[i];
    wanted.back() = k[i] / 32;  // a scale for 32 elements along K
    if (scales[i].type().shape() != wanted) {
      return fl.Error(absl::StrCat("tl.dot_scaled: ", i == 0 ? "lhs" : "rhs", "_scale has the wrong shape: expected [",
                                   vm::ShapeToString(wanted), "], one scale for 32 elements along K, found ",
                                   scales[i].type().ToString()));
    }
  }
  Type::Shape shape = sides[0].type().shape();
  shape[shape.size() - 2] = outer[0];
  shape.back() = outer[1];
  if (!e.CheckShape(shape, "tl.dot_scaled")) return Value();
  const Type result = Type::Tile(shape, DType::kF32);
  Value acc = call[6];
  if (acc.is_none()) {
    acc = e.MakeConstant(result, Constant(0.0));
  } else {
    acc = e.ToSsa(acc);
    if (acc.is_error()) return acc;
    if (acc.type() != result) {
      return fl.Error(
          absl::StrCat("tl.dot_scaled: acc must be ", result.ToString(), ", found ", acc.type().ToString()));
    }
  }
  const ValueId none = ValueId::None();
  Value made = e.Create1(Op::kDotScaled,
                         {sides[0].id(), scales[0].is_none() ? none : scales[0].id(), sides[1].id(),
                          scales[1].is_none() ? none : scales[1].id(), acc.id()},
                         result,
                         {static_cast<int64_t>(*a_format), static_cast<int64_t>(*b_format), int64_t{*fast},
                          int64_t{*a_pack}, int64_t{*b_pack}});
  return e.Cast(made, out->dtype());
}

}  // namespace trivet::frontend
