// libdevice by name: functions that are ops, roundings, conversions, and integer functions made of several ops.
#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "frontend/builtins_math.h"
namespace trivet::frontend {

using vm::DType;
using vm::Op;
using vm::Type;

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
    {"saturatef", "saturate"},
    {"rsqrt_rn", "rsqrt"},
};

// Conversions: name = [fast_]SOURCE2TARGET[_ROUNDING], such as float2int_rn.
struct ConversionRow {
  const char* from;
  DType dtype;
};
constexpr ConversionRow kConversionTypes[] = {{"float", DType::kF32}, {"double", DType::kF64}, {"int", DType::kI32},
                                              {"uint", DType::kU32},  {"ll", DType::kI64},     {"ull", DType::kU64},
                                              {"half", DType::kF16}};

// False, and an error, if there are not `expected` operands.
bool CheckCount(FunctionLowering& fl, const BuiltinCall& call, size_t expected) {
  if (call.variadic.size() == expected) return true;
  fl.Error(absl::StrCat(call.name, "() takes ", Count(expected, "argument"), ", found ", call.variadic.size()));
  return false;
}

// Nothing if `name` is no conversion.
std::optional<Value> LibdeviceConversion(FunctionLowering& fl, const BuiltinCall& call, absl::string_view name) {
  Emitter& e = fl.emitter();
  const std::vector<Value>& args = call.variadic;
  for (const auto& [text, from, to] :
       {std::tuple("float_as_int", DType::kF32, DType::kI32), std::tuple("float_as_uint", DType::kF32, DType::kU32),
        std::tuple("int_as_float", DType::kI32, DType::kF32), std::tuple("uint_as_float", DType::kU32, DType::kF32),
        std::tuple("double_as_longlong", DType::kF64, DType::kI64),
        std::tuple("longlong_as_double", DType::kI64, DType::kF64)}) {
    if (name == text) return CheckCount(fl, call, 1) ? e.Bitcast(e.ToSsa(args[0], from), Type::Scalar(to)) : Value();
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
  if (!CheckCount(fl, call, 1)) return Value();
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

// --- functions made of several ops

Value Shift(Emitter& e, Op op, const Value& x, int64_t bits) {
  return e.Elementwise(
      op, {x, e.BroadcastTo(e.MakeConstant(x.type().AsScalar(), Constant(Int{bits})), x.type().shape(), "")});
}

Value And(Emitter& e, const Value& x, Int mask) {
  return e.Elementwise(Op::kAndI,
                       {x, e.BroadcastTo(e.MakeConstant(x.type().AsScalar(), Constant(mask)), x.type().shape(), "")});
}

// floor((x + y) / 2) as if the sum had a bit more; the bits that both have, and half of the others.
Value HalvingAdd(Emitter& e, absl::Span<const Value> args) {
  return e.Elementwise(Op::kAddI,
                       {e.Elementwise(Op::kAndI, args), Shift(e, Op::kShr, e.Elementwise(Op::kXorI, args), 1)});
}

// ceil((x + y) / 2): the bits that either has, less half of those that only one has.
Value RoundingHalvingAdd(Emitter& e, absl::Span<const Value> args) {
  return e.Elementwise(Op::kSubI,
                       {e.Elementwise(Op::kOrI, args), Shift(e, Op::kShr, e.Elementwise(Op::kXorI, args), 1)});
}

// The product of the lower 24 bits of each, modulo 2^32.
Value Multiply24(Emitter& e, absl::Span<const Value> args) {
  const auto low = [&](const Value& v) { return Shift(e, Op::kShr, Shift(e, Op::kShl, v, 8), 8); };
  return e.Elementwise(Op::kMulI, {low(args[0]), low(args[1])});
}

// |x - y| + z.
Value AbsoluteDifference(Emitter& e, absl::Span<const Value> args) {
  const Value difference = e.Elementwise(
      Op::kSubI, {e.Elementwise(Op::kMaxI, {args[0], args[1]}), e.Elementwise(Op::kMinI, {args[0], args[1]})});
  return e.Elementwise(Op::kAddI, {difference, args[2]});
}

// Byte i is one of the eight of {y, x}: the one that the lower three bits of nibble i of the selector number.
Value PermuteBytes(Emitter& e, absl::Span<const Value> args) {
  const auto as_u64 = [&](const Value& v) { return e.Cast(e.Bitcast(v, Type::Scalar(DType::kU32)), DType::kU64); };
  const Value bytes = e.Elementwise(Op::kOrI, {as_u64(args[0]), Shift(e, Op::kShl, as_u64(args[1]), 32)});
  const Value selector = as_u64(args[2]);
  Value result;
  for (int i = 0; i < 4; ++i) {
    const Value bit = Shift(e, Op::kShl, And(e, Shift(e, Op::kShr, selector, 4 * i), 7), 3);
    const Value byte = Shift(e, Op::kShl, And(e, e.Elementwise(Op::kShr, {bytes, bit}), 0xff), 8 * i);
    result = i == 0 ? byte : e.Elementwise(Op::kOrI, {result, byte});
  }
  return e.Cast(result, args[0].type().AsScalar());
}

// Functions of 32-bit integers, signed or not, that give the type of the first operand.
struct CompositeRow {
  const char* name;
  size_t operands;
  Value (*make)(Emitter& e, absl::Span<const Value> args);
};
constexpr CompositeRow kComposites[] = {
    {"hadd", 2, &HalvingAdd},        {"rhadd", 2, &RoundingHalvingAdd}, {"mul24", 2, &Multiply24},
    {"sad", 3, &AbsoluteDifference}, {"byte_perm", 3, &PermuteBytes},
};

Value LibdeviceComposite(FunctionLowering& fl, const BuiltinCall& call, const CompositeRow& row) {
  Emitter& e = fl.emitter();
  if (!CheckCount(fl, call, row.operands)) return Value();
  std::vector<Value> args = call.variadic;
  std::vector<Value*> together;
  for (Value& arg : args) {
    if (!e.RequireNumber(&arg, Shown(call))) return Value();
    const DType dtype = arg.type().dtype();
    if (dtype != DType::kI32 && dtype != DType::kU32) {
      return fl.Error(absl::StrCat(Shown(call), ": expected 32-bit integers, found ", arg.type().ToString()));
    }
    arg = e.Bitcast(arg, args[0].type().AsScalar());
    together.push_back(&arg);
  }
  if (!e.BroadcastTogether(together, Shown(call))) return Value();
  return row.make(e, args);
}

// Halves of a double, and a double of halves. Nothing if `name` is none of them.
std::optional<Value> LibdeviceHalves(FunctionLowering& fl, const BuiltinCall& call, absl::string_view name) {
  Emitter& e = fl.emitter();
  const Type u64 = Type::Scalar(DType::kU64), f64 = Type::Scalar(DType::kF64);
  if (name == "hiloint2double") {
    if (!CheckCount(fl, call, 2)) return Value();
    Value high = e.ToSsa(call.variadic[0], DType::kU32), low = e.ToSsa(call.variadic[1], DType::kU32);
    Value* const both[] = {&high, &low};
    if (!e.BroadcastTogether(both, Shown(call))) return Value();
    high = Shift(e, Op::kShl, e.Cast(high, u64), 32);
    return e.Bitcast(e.Elementwise(Op::kOrI, {high, e.Cast(low, u64)}), f64);
  }
  if (name != "double2hiint" && name != "double2loint" && name != "rcp64h") return std::nullopt;
  if (!CheckCount(fl, call, 1)) return Value();
  Value x = e.ToSsa(call.variadic[0], DType::kF64);
  if (x.is_error()) return x;
  if (name == "rcp64h") {
    // The reciprocal of the upper half, of which the upper half counts.
    const auto upper = [&](const Value& v) { return e.Bitcast(And(e, e.Bitcast(v, u64), Int{0xffffffff} << 32), f64); };
    const Value one = e.BroadcastTo(e.MakeConstant(f64, Constant(1.0)), x.type().shape(), "");
    return upper(
        e.Elementwise(Op::kDivF, {one, upper(x)}, {static_cast<int64_t>(vm::Rounding::kNearestEven), int64_t{1}}));
  }
  const Value bits = e.Bitcast(x, u64);
  return e.Cast(name == "double2hiint" ? Shift(e, Op::kShr, bits, 32) : bits, DType::kI32);
}

}  // namespace

Value BuiltinLibdevice(FunctionLowering& fl, BuiltinCall& call) {
  Emitter& e = fl.emitter();
  const absl::string_view name = call.name.substr(absl::string_view("libdevice.").size());
  std::vector<Value> args = call.variadic;
  if (std::optional<Value> converted = LibdeviceConversion(fl, call, name)) return *converted;
  if (std::optional<Value> half = LibdeviceHalves(fl, call, name)) return *half;
  for (const CompositeRow& row : kComposites) {
    if (name == row.name) return LibdeviceComposite(fl, call, row);
  }
  if (name == "llrint" || name == "llround") {
    if (!CheckCount(fl, call, 1) || !FloatOperands(fl, call, &args)) return Value();
    return e.Cast(e.Elementwise(name == "llrint" ? Op::kRint : Op::kRound, args), DType::kI64);
  }
  if (name == "rcp_rn" || name == "rcp_rz" || name == "rcp_rd" || name == "rcp_ru") {
    if (!CheckCount(fl, call, 1) || !FloatOperands(fl, call, &args)) return Value();
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
  if (!CheckCount(fl, call, info->operands.size())) return Value();
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

}  // namespace trivet::frontend
