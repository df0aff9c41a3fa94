// Matrix products: dot and dot_scaled.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "frontend/builtins.h"
namespace trivet::frontend {

using vm::DType;
using vm::Op;
using vm::Type;

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
      return e.ErrorAbout(*v, absl::StrCat("tl.dot: expected a tile of numbers, found ", v->Describe()));
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
    return e.ErrorAbout(call[6], "tl.dot: out_dtype=bfloat16 is not supported",
                        "use out_dtype=tl.float32 and convert the result");
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
      return e.ErrorAbout(
          call[3],
          absl::StrCat("tl.dot: input_precision must be one of 'ieee', 'tf32', 'tf32x3', 'bf16x3', 'bf16x6', found '",
                       *text, "'"));
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
    return e.ErrorAbout(call[5], absl::StrCat("tl.dot: max_num_imprecise_acc (", *imprecise, ") must be at most K (",
                                              a.type().dim(-1), ")"));
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
      return e.ErrorAbout(call[2], absl::StrCat("tl.dot: acc has the wrong shape: expected [", vm::ShapeToString(shape),
                                                "], found ", acc.type().ToString()));
    }
    // f16 and f8 inputs sum in f32 or f16, whichever acc has; others in one type.
    const bool has_choice = ta == DType::kF16 || is_fp8(ta);
    const DType given = acc.type().is_number() ? acc.type().dtype() : DType::kNone;
    if (given != acc_type && !(has_choice && (given == DType::kF32 || given == DType::kF16))) {
      return e.ErrorAbout(call[2],
                          absl::StrCat("tl.dot: acc must be ", has_choice ? "f32 or f16" : vm::InfoOf(acc_type).text,
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
