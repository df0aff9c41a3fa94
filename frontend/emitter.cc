#include "frontend/emitter.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace trivet::frontend {

using vm::DType;
using vm::Op;
using vm::Type;

namespace {

// Least and largest value of an integer type.
std::pair<Int, Int> LimitsOf(DType t) {
  if (vm::IsBool(t)) return {0, 1};
  const int bits = vm::InfoOf(t).bits;
  if (vm::IsSignedInteger(t)) return {-(Int{1} << (bits - 1)), (Int{1} << (bits - 1)) - 1};
  return {0, (Int{1} << bits) - 1};
}

// The signed integer type of the same width.
DType SignedOf(DType t) {
  switch (vm::InfoOf(t).bits) {
    case 8:
      return DType::kI8;
    case 16:
      return DType::kI16;
    case 32:
      return DType::kI32;
    default:
      return DType::kI64;
  }
}

// `value` as it wraps into the integer type.
Int WrapTo(DType t, Int value) {
  if (vm::IsBool(t)) return value != 0 ? 1 : 0;
  const int bits = vm::InfoOf(t).bits;
  Int low = value & ((Int{1} << bits) - 1);
  if (vm::IsSignedInteger(t) && (low >> (bits - 1)) != 0) low -= Int{1} << bits;
  return low;
}

}  // namespace

Value Emitter::Elementwise(Op op, absl::Span<const Value> operands, absl::InlinedVector<vm::Attribute, 1> attrs) {
  std::vector<ValueId> ids;
  for (const Value& v : operands) {
    if (v.is_error()) return Value();
    ids.push_back(v.id());
  }
  return Create1(op, ids, operands[0].type(), std::move(attrs));
}

Value Emitter::MakeConstant(const Type& type, const Constant& number) {
  const DType dtype = type.dtype();
  int64_t bits = 0;
  if (const Int* i = std::get_if<Int>(&number); i != nullptr && DTypeOfNumber(number) == DType::kNone) {
    return Error(absl::StrCat("the integer ", IntToString(*i), " does not fit into 64 bits"));
  }
  if (type.is_float() || std::holds_alternative<double>(number)) {
    bits = vm::BitsOf(dtype, AsDouble(number).value_or(0));
  } else {
    bits = vm::BitsOf(dtype, static_cast<int64_t>(WrapTo(dtype, AsInt(number).value_or(0))));
  }
  if (!CheckShape(type.shape(), context_)) return Value();
  Value result = Wrap(builder_.Constant(type, bits));
  if (type.is_scalar()) {
    // What is known is the rounded or wrapped value, as the running kernel has it.
    if (type.is_float()) {
      result.set_known(Constant(vm::ValueOf(dtype, bits)));
    } else if (vm::IsBool(dtype)) {
      result.set_known(Constant(bits != 0));
    } else {
      const Int value = vm::IntValueOf(dtype, bits);
      result.set_known(Constant(WrapTo(dtype, value)));
    }
  }
  return result;
}

Value Emitter::ToSsa(const Value& value) {
  if (value.is_error() || value.is_ssa()) return value;
  if (value.is_constant() && IsNumber(value.constant())) {
    const DType dtype = DTypeOfNumber(value.constant());
    if (dtype == DType::kNone) {
      return Error(absl::StrCat("the integer ", ToString(value.constant()), " does not fit into 64 bits"));
    }
    return MakeConstant(Type::Scalar(dtype), value.constant());
  }
  return ErrorAbout(value, absl::StrCat(context_, context_.empty() ? "" : ": ", "expected a number or a tile, found ",
                                        value.Describe()));
}

Value Emitter::ToSsa(const Value& value, DType dtype) {
  if (value.is_constant() && IsNumber(value.constant())) return MakeConstant(Type::Scalar(dtype), value.constant());
  return Cast(ToSsa(value), dtype);
}

// --- conversion ----------------------------------------------------------------------------------------------------

Value Emitter::Cast(const Value& input, const Type& element, vm::Rounding rounding) {
  Value value = ToSsa(input);
  if (value.is_error()) return value;
  const Type& from = value.type();
  if (!from.is_value()) {
    return Error(absl::StrCat("cannot convert ", from.ToString(), " to ", element.ToString()));
  }
  const Type to = element.WithShape(from.shape());
  if (from == to) return value;
  if (from.is_pointer() && to.is_pointer()) return Create1(Op::kBitcast, {value.id()}, to);
  if (from.is_pointer()) {
    if (to.is_integer() && vm::InfoOf(to.dtype()).bits == 64) return Create1(Op::kPtrToInt, {value.id()}, to);
    if (to.is_bool()) {
      Value address = Create1(Op::kPtrToInt, {value.id()}, from.WithDType(DType::kI64));
      return ToBool(address);
    }
    return Error(absl::StrCat("a pointer converts to a 64-bit integer only, not to ", to.ToString()));
  }
  if (to.is_pointer()) {
    if (!from.is_integer()) return Error(absl::StrCat("only an integer converts to a pointer, not ", from.ToString()));
    Value address = Cast(value, vm::IsUnsignedInteger(from.dtype()) ? DType::kU64 : DType::kI64);
    return Create1(Op::kIntToPtr, {address.id()}, to);
  }
  // A constant converts while compiling.
  if (value.known() && to.is_scalar() && !(to.is_float() && rounding != vm::Rounding::kNearestEven)) {
    return MakeConstant(to, *value.known());
  }
  const bool to_fp8 = to.is_float() && vm::InfoOf(to.dtype()).bits == 8;
  const bool saturate = to_fp8 && from.is_float();
  return Create1(Op::kCast, {value.id()}, to, {static_cast<int64_t>(rounding), int64_t{saturate}});
}

Value Emitter::Bitcast(const Value& input, const Type& element) {
  Value value = ToSsa(input);
  if (value.is_error()) return value;
  const Type to = element.WithShape(value.type().shape());
  if (value.type() == to) return value;
  if (value.type().is_pointer() != to.is_pointer()) return Cast(value, element);
  if (value.type().is_number()) {
    const int from_bits = vm::InfoOf(value.type().dtype()).bits;
    const int to_bits = vm::InfoOf(to.dtype()).bits;
    if (from_bits != to_bits) {
      return Error(absl::StrCat("cannot bitcast ", value.type().ToString(), " (", from_bits, " bits) to ",
                                element.ToString(), " (", to_bits, " bits): the widths differ"));
    }
  }
  return Create1(Op::kBitcast, {value.id()}, to);
}

Value Emitter::ToBool(const Value& input) {
  Value value = ToSsa(input);
  if (value.is_error() || value.type().is_bool()) return value;
  return Cast(value, DType::kI1);
}

// --- shapes ----------------------------------------------------------------------------------------------------------

bool Emitter::CheckShape(const Type::Shape& shape, absl::string_view what) {
  const std::string prefix = what.empty() ? "" : absl::StrCat(what, ": ");
  if (shape.size() > static_cast<size_t>(vm::kMaxRank)) {
    Error(absl::StrCat(prefix, "rank ", shape.size(), " is larger than ", vm::kMaxRank));
    return false;
  }
  int64_t elements = 1;
  for (int64_t extent : shape) {
    // No product overflows: what is too large ends this at once.
    if (extent > vm::kMaxTileElements || (elements *= extent) > vm::kMaxTileElements) {
      Error(absl::StrCat(prefix, "shape [", vm::ShapeToString(shape), "] has more elements than a tile may have (",
                         vm::kMaxTileElements, ")"));
      return false;
    }
  }
  return true;
}

Value Emitter::ExpandDims(const Value& value, int axis) {
  Type::Shape shape = value.type().shape();
  shape.insert(shape.begin() + axis, 1);
  if (value.type().is_scalar()) return Create1(Op::kSplat, {value.id()}, value.type().WithShape(shape));
  return Create1(Op::kExpandDims, {value.id()}, value.type().WithShape(shape), {int64_t{axis}});
}

Value Emitter::BroadcastTo(const Value& input, const Type::Shape& shape, absl::string_view what) {
  Value value = ToSsa(input);
  if (value.is_error() || value.type().shape() == shape) return value;
  if (!CheckShape(shape, what)) return Value();
  const Type to = value.type().WithShape(shape);
  if (value.type().is_scalar()) return Create1(Op::kSplat, {value.id()}, to);
  const Type original = value.type();
  const auto mismatch = [&] {
    return Error(
        absl::StrCat(what, ": cannot broadcast ", original.ToString(), " to shape [", vm::ShapeToString(shape), "]"));
  };
  if (value.type().rank() > static_cast<int>(shape.size())) return mismatch();
  while (value.type().rank() < static_cast<int>(shape.size())) value = ExpandDims(value, 0);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (value.type().shape()[i] != shape[i] && value.type().shape()[i] != 1) return mismatch();
  }
  if (value.type().shape() == shape) return value;
  return Create1(Op::kBroadcast, {value.id()}, to);
}

bool Emitter::BroadcastTogether(absl::Span<Value* const> values, absl::string_view what) {
  Type::Shape shape;
  const Value* shaped_by = nullptr;
  for (Value* v : values) {
    if (v->is_error()) return false;
    const Type::Shape& s = v->type().shape();
    if (s.size() > shape.size()) shape.insert(shape.begin(), s.size() - shape.size(), 1);
    const size_t offset = shape.size() - s.size();
    for (size_t i = 0; i < s.size(); ++i) {
      int64_t& extent = shape[offset + i];
      if (extent == s[i] || s[i] == 1) continue;
      if (extent != 1) {
        Error(absl::StrCat(what, ": incompatible shapes: ", shaped_by ? shaped_by->type().ToString() : "?", " and ",
                           v->type().ToString(), ": extent ", extent, " against ", s[i], " along axis ", offset + i));
        return false;
      }
      extent = s[i];
    }
    if (!s.empty()) shaped_by = v;
  }
  if (!CheckShape(shape, what)) return false;
  for (Value* v : values) {
    *v = BroadcastTo(*v, shape, what);
    if (v->is_error()) return false;
  }
  return true;
}

// --- operators
// ---------------------------------------------------------------------------------------------------------

bool Emitter::MatchPair(Value* a, Value* b, absl::string_view what, PairOptions options) {
  if (a->is_error() || b->is_error()) return false;
  const bool a_is_number = a->is_constant(), b_is_number = b->is_constant();
  const std::optional<Constant> number_a = a_is_number ? std::optional(a->constant()) : std::nullopt;
  const std::optional<Constant> number_b = b_is_number ? std::optional(b->constant()) : std::nullopt;
  const auto bad_operand = [&](const Value& v) {
    const bool block = v.is_ssa() && v.type().is_block_ptr();
    ErrorAbout(v, absl::StrCat(what, ": expected a number or a tile, found ", v.Describe()),
               block ? "a block pointer moves by tl.advance(pointer, offsets)" : "");
    return false;
  };
  if (a_is_number ? !IsNumber(*number_a) : !a->is_ssa()) return bad_operand(*a);
  if (b_is_number ? !IsNumber(*number_b) : !b->is_ssa()) return bad_operand(*b);
  // A number on its own has the type of its size; it becomes an op once it is known what it meets.
  const auto type_of = [](const Value& v) { return v.is_ssa() ? v.type() : Type::Scalar(DTypeOfNumber(v.constant())); };
  for (const Value* v : {a, b}) {
    if (v->is_constant() && DTypeOfNumber(v->constant()) == DType::kNone) return !ToSsa(*v).is_error();  // reports it
    if (v->is_ssa() && !v->type().is_value()) return bad_operand(*v);
  }
  const Type type_a = type_of(*a), type_b = type_of(*b);
  const bool pointers = type_a.is_pointer() || type_b.is_pointer();
  if (pointers && !options.allow_pointers) {
    Error(absl::StrCat(what, ": not defined for pointers: ", type_a.ToString(), " and ", type_b.ToString()),
          "load the elements first, with tl.load");
    return false;
  }
  if (pointers && type_a.is_pointer() != type_b.is_pointer()) {
    Error(absl::StrCat(what, ": one is a pointer, the other is not: ", type_a.ToString(), " and ", type_b.ToString()),
          "pointer.to(tl.int64) gives the address as a number");
    return false;
  }
  if (pointers || !options.promote) {
    if (pointers && type_a.is_pointer() && type_b.is_pointer() && type_a.AsScalar() != type_b.AsScalar()) {
      Error(absl::StrCat(what, ": pointers to different types: ", type_a.ToString(), " and ", type_b.ToString()));
      return false;
    }
    *a = ToSsa(*a);
    *b = ToSsa(*b);
  } else {
    const Promotion p = Promote(type_a.dtype(), a_is_number, type_b.dtype(), b_is_number, options.for_division);
    if (p.dtype == DType::kNone) {
      Error(absl::StrCat(what, ": ", p.error));
      return false;
    }
    const auto convert = [&](Value* v, const std::optional<Constant>& number) {
      if (!number) {
        *v = Cast(*v, p.dtype);
        return true;
      }
      if (vm::IsInteger(p.dtype)) {
        const std::optional<Int> i = AsInt(*number);
        const auto [low, high] = LimitsOf(p.dtype);
        if (i && (*i < low || *i > high)) {
          if (*i < 0 && vm::IsUnsignedInteger(p.dtype)) {
            Error(absl::StrCat(what, ": the negative number ", IntToString(*i), " meets an unsigned tile of ",
                               vm::InfoOf(p.dtype).text),
                  "cast the tile to a signed type, or the number with tl.full or tl.cast");
          } else {
            Error(absl::StrCat(what, ": scalar ", IntToString(*i), " is out of range for type ",
                               vm::InfoOf(p.dtype).text));
          }
          return false;
        }
      }
      *v = MakeConstant(Type::Scalar(p.dtype), *number);
      return true;
    };
    if (!convert(a, number_a) || !convert(b, number_b)) return false;
  }
  if (!options.broadcast) return true;
  Value* const both[] = {a, b};
  return BroadcastTogether(both, what);
}

Value Emitter::AddPointer(const Value& pointer, const Value& offset_in, bool negate) {
  Value offset = ToSsa(offset_in);
  if (offset.is_error()) return offset;
  if (!offset.type().is_integer()) {
    return Error(absl::StrCat("the offset of a pointer must be an integer, found ", offset.type().ToString()));
  }
  if (negate) offset = Unary("-", offset);
  if (offset.type().is_bool()) offset = Cast(offset, DType::kI32);
  Value base = pointer;
  Value* const both[] = {&base, &offset};
  if (!BroadcastTogether(both, "pointer arithmetic")) return Value();
  return Create1(Op::kAddPtr, {base.id(), offset.id()}, base.type());
}

std::optional<Value> Emitter::Fold(absl::string_view op, const Value& a, const Value& b, DType result) {
  if (!a.known() || !b.known() || !a.type().is_scalar() || !b.type().is_scalar()) return std::nullopt;
  std::optional<Int> x = AsInt(*a.known()), y = AsInt(*b.known());
  if (!x || !y) return std::nullopt;  // floats are rounded by the interpreter alone
  if ((op == "//" || op == "%") && *y == 0) return std::nullopt;
  if ((op == "<<" || op == ">>") && (*y < 0 || *y >= vm::InfoOf(result).bits)) return std::nullopt;
  ConstantResult r;
  if (op == "//") {
    r.value = Constant(*x / *y);  // run-time division truncates
  } else if (op == "%") {
    r.value = Constant(*x % *y);
  } else {
    r = EvaluateBinary(op, Constant(*x), Constant(*y));
  }
  if (!r.value) return std::nullopt;
  return MakeConstant(Type::Scalar(result), *r.value);
}

Value Emitter::Arithmetic(absl::string_view op, Value a, Value b) {
  const bool division = op == "/" || op == "//" || op == "%";
  if (!MatchPair(&a, &b, absl::StrCat("operator ", op), {.for_division = division})) return Value();
  if (op == "/" && a.type().is_integer()) {
    // Two integers divide in f32, whatever their width.
    a = Cast(a, DType::kF32);
    b = Cast(b, DType::kF32);
  }
  const Type& type = a.type();
  if (division && vm::IsBool(type.dtype())) {
    return Error(absl::StrCat("operator ", op, ": expected integers other than bool, found ", type.ToString()),
                 "convert with .to(tl.int32)");
  }
  if (op == "//" && !type.is_integer()) {
    return Error(absl::StrCat("operator //: expected integers, found ", type.ToString()),
                 "for floats write tl.floor(a / b)");
  }
  if (std::optional<Value> folded = type.is_integer() ? Fold(op, a, b, type.dtype()) : std::nullopt) return *folded;
  const bool is_float = type.is_float();
  if (op == "+") return is_float ? Elementwise(Op::kAddF, {a, b}) : Elementwise(Op::kAddI, {a, b});
  if (op == "-") return is_float ? Elementwise(Op::kSubF, {a, b}) : Elementwise(Op::kSubI, {a, b});
  if (op == "*") return is_float ? Elementwise(Op::kMulF, {a, b}) : Elementwise(Op::kMulI, {a, b});
  if (op == "%") return is_float ? Elementwise(Op::kRemF, {a, b}) : Elementwise(Op::kRemI, {a, b});
  if (op == "//") return Elementwise(Op::kDivI, {a, b});
  return Elementwise(Op::kDivF, {a, b});
}

Value Emitter::Bitwise(absl::string_view op, Value a, Value b) {
  for (const Value* v : {&a, &b}) {
    if (v->is_ssa() && !v->type().is_integer()) {
      return Error(absl::StrCat("operator ", op, ": invalid operands of type ", a.Describe(), " and ", b.Describe(),
                                ": expected integers"));
    }
    if (v->is_constant() && std::holds_alternative<double>(v->constant())) {
      return Error(absl::StrCat("operator ", op, ": invalid operands of type ", a.Describe(), " and ", b.Describe(),
                                ": expected integers"));
    }
  }
  // The left operand's own signedness chooses between arithmetic and logical shift, whatever type both meet in.
  const bool arithmetic = a.is_ssa() && vm::IsSignedInteger(a.type().dtype());
  if (!MatchPair(&a, &b, absl::StrCat("operator ", op), {})) return Value();
  if (op == ">>" && arithmetic && !vm::IsSignedInteger(a.type().dtype())) {
    const Type met = a.type().AsScalar();
    const Type as_signed = Type::Scalar(SignedOf(met.dtype()));
    return Bitcast(Elementwise(Op::kShr, {Bitcast(a, as_signed), Bitcast(b, as_signed)}), met);
  }
  if (std::optional<Value> folded = Fold(op, a, b, a.type().dtype())) return *folded;
  if (op == "&") return Elementwise(Op::kAndI, {a, b});
  if (op == "|") return Elementwise(Op::kOrI, {a, b});
  if (op == "^") return Elementwise(Op::kXorI, {a, b});
  if (op == "<<") return Elementwise(Op::kShl, {a, b});
  return Elementwise(Op::kShr, {a, b});
}

Value Emitter::Binary(absl::string_view op, const Value& a, const Value& b) {
  if (a.is_error() || b.is_error()) return Value();
  if (a.is_constant() && b.is_constant()) {
    ConstantResult r = EvaluateBinary(op, a.constant(), b.constant());
    return r.value ? Value::Of(*r.value) : Error(r.error);
  }
  const bool a_pointer = a.is_ssa() && a.type().is_pointer(), b_pointer = b.is_ssa() && b.type().is_pointer();
  if (a_pointer != b_pointer && (op == "+" || (op == "-" && a_pointer))) {
    const Value& other = a_pointer ? b : a;
    if (!other.is_ssa() && !(other.is_constant() && IsNumber(other.constant()))) {
      return Error(absl::StrCat("the offset of a pointer must be an integer, found ", other.Describe()));
    }
    return a_pointer ? AddPointer(a, b, op == "-") : AddPointer(b, a, false);
  }
  if (op == "&" || op == "|" || op == "^" || op == "<<" || op == ">>") return Bitwise(op, a, b);
  if (op == "+" || op == "-" || op == "*" || op == "/" || op == "//" || op == "%") return Arithmetic(op, a, b);
  if (op == "@") return Error("operator @ is not defined for tiles", "write tl.dot(a, b)");
  if (op == "**")
    return Error("operator ** is not defined for tiles", "write x * x, tl.exp2(y * tl.log2(x)) or libdevice.pow(x, y)");
  return Error(absl::StrCat("operator ", op, " is not defined for ", a.Describe(), " and ", b.Describe()));
}

Value Emitter::Compare(absl::string_view op, const Value& a_in, const Value& b_in) {
  Value a = a_in, b = b_in;
  if (a.is_error() || b.is_error()) return Value();
  if (a.is_constant() && b.is_constant()) {
    ConstantResult r = EvaluateBinary(op, a.constant(), b.constant());
    return r.value ? Value::Of(*r.value) : Error(r.error);
  }
  // Unlike in arithmetic, a number does not adapt to the tile: bf16 > 0.1 compares in f32, i8 < 300 in i32.
  a = WithOwnType(a);
  b = WithOwnType(b);
  if (!MatchPair(&a, &b, absl::StrCat("operator ", op), {.allow_pointers = true})) return Value();
  vm::CmpPredicate predicate = vm::CmpPredicate::kEq;
  if (op == "!=") predicate = vm::CmpPredicate::kNe;
  if (op == "<") predicate = vm::CmpPredicate::kLt;
  if (op == "<=") predicate = vm::CmpPredicate::kLe;
  if (op == ">") predicate = vm::CmpPredicate::kGt;
  if (op == ">=") predicate = vm::CmpPredicate::kGe;
  if (std::optional<Value> folded = a.type().is_integer() ? Fold(op, a, b, DType::kI1) : std::nullopt) return *folded;
  const Type result = Type::Tile(a.type().shape(), DType::kI1);
  const Op code = a.type().is_float() ? Op::kCmpF : Op::kCmpI;
  return Create1(code, {a.id(), b.id()}, result, {static_cast<int64_t>(predicate)});
}

Value Emitter::Unary(absl::string_view op, const Value& input) {
  if (input.is_error()) return input;
  if (input.is_constant()) {
    ConstantResult r = EvaluateUnary(op, input.constant());
    return r.value ? Value::Of(*r.value) : Error(r.error);
  }
  if (!input.is_ssa()) return Error(absl::StrCat("operator ", op, " is not defined for ", input.Describe()));
  const Type& type = input.type();
  if (op == "not") {
    Value as_bool = ToBool(input);
    if (as_bool.is_error()) return as_bool;
    if (as_bool.known()) return MakeConstant(as_bool.type(), Constant(!IsTrue(*as_bool.known())));
    return Elementwise(Op::kXorI, {as_bool, MakeConstant(as_bool.type(), Constant(true))});
  }
  if (!type.is_number()) return Error(absl::StrCat("operator ", op, " is not defined for ", type.ToString()));
  if (op == "+") return input;
  if (op == "-") {
    // 0 - x, as Triton has it: so -(+0.0) is +0.0.
    if (type.is_float()) {
      if (input.known()) return MakeConstant(type, Constant(0.0 - AsDouble(*input.known()).value()));
      return Elementwise(Op::kSubF, {MakeConstant(type, Constant(0.0)), input});
    }
    Value zero = MakeConstant(type, Constant(Int{0}));
    if (std::optional<Value> folded = Fold("-", zero, input, type.dtype())) return *folded;
    return Elementwise(Op::kSubI, {zero, input});
  }
  if (!type.is_integer()) return Error(absl::StrCat("operator ~: expected integers, found ", type.ToString()));
  return Elementwise(Op::kXorI, {input, MakeConstant(type, type.is_bool() ? Constant(true) : Constant(Int{-1}))});
}

Value Emitter::Logical(absl::string_view op, const Value& a_in, const Value& b_in) {
  Value a = ToBool(a_in), b = ToBool(b_in);
  Value* const both[] = {&a, &b};
  if (a.is_error() || b.is_error() || !BroadcastTogether(both, absl::StrCat("'", op, "'"))) return Value();
  return Elementwise(op == "and" ? Op::kAndI : Op::kOrI, {a, b});
}

// --- constants that an operation needs
// -----------------------------------------------------------------------------------

std::optional<int64_t> Emitter::RequireInt(const Value& value, absl::string_view what) {
  if (value.is_error()) return std::nullopt;
  if (std::optional<Int> i = value.AsKnownInt()) {
    if (*i >= INT64_MIN && *i <= INT64_MAX) return static_cast<int64_t>(*i);
    ErrorAbout(value, absl::StrCat(what, " is out of range: ", IntToString(*i)));
    return std::nullopt;
  }
  ErrorAbout(value, absl::StrCat(what, " must be an integer constant (tl.constexpr), found ", value.Describe()),
             value.is_ssa() ? "annotate the parameter it comes from as tl.constexpr" : "");
  return std::nullopt;
}

std::optional<bool> Emitter::RequireBool(const Value& value, absl::string_view what) {
  if (value.is_error()) return std::nullopt;
  std::optional<Constant> c = value.AsConstant();
  if (c && (IsNumber(*c) || IsNone(*c))) return IsTrue(*c);
  ErrorAbout(value, absl::StrCat(what, " must be a constant True or False, found ", value.Describe()));
  return std::nullopt;
}

std::optional<std::string> Emitter::RequireString(const Value& value, absl::string_view what) {
  if (value.is_error()) return std::nullopt;
  if (value.is_constant()) {
    if (const auto* s = std::get_if<std::string>(&value.constant())) return *s;
    if (value.is_none()) return std::string();
  }
  ErrorAbout(value, absl::StrCat(what, " must be a constant string, found ", value.Describe()));
  return std::nullopt;
}

std::optional<Type> Emitter::RequireType(const Value& value, absl::string_view what) {
  if (value.is_error()) return std::nullopt;
  if (value.is_constant()) {
    if (const auto* t = std::get_if<Type>(&value.constant())) return *t;
    if (const auto* s = std::get_if<std::string>(&value.constant())) {
      // Triton accepts the name of an element type.
      for (const vm::DTypeInfo& info : vm::AllDTypes()) {
        if (*s == info.triton_name || *s == info.text) return Type::Scalar(info.dtype);
      }
    }
  }
  ErrorAbout(value, absl::StrCat(what, " must be an element type such as tl.float32, found ", value.Describe()),
             value.is_host() ? "Python's float and int say nothing of the width: tl.float32, tl.int64, ..." : "");
  return std::nullopt;
}

std::optional<std::vector<int64_t>> Emitter::RequireInts(const Value& value, absl::string_view what) {
  if (value.is_error()) return std::nullopt;
  std::vector<int64_t> result;
  if (!value.is_tuple()) {
    std::optional<int64_t> one = RequireInt(value, what);
    if (!one) return std::nullopt;
    return std::vector<int64_t>{*one};
  }
  for (const Value& item : value.items()) {
    std::optional<int64_t> one = RequireInt(item, what);
    if (!one) return std::nullopt;
    result.push_back(*one);
  }
  return result;
}

std::optional<Type::Shape> Emitter::RequireShape(const Value& value, absl::string_view what) {
  std::optional<std::vector<int64_t>> ints = RequireInts(value, absl::StrCat(what, ": the shape"));
  if (!ints) return std::nullopt;
  for (int64_t extent : *ints) {
    if (extent < 1) {
      ErrorAbout(value, absl::StrCat(what, ": shape [", vm::ShapeToString(*ints),
                                     "]: every extent must be positive, found ", extent));
      return std::nullopt;
    }
    if (!IsPowerOfTwo(extent) &&
        !reporter_->AllowExtension(absl::StrCat(what, ": shape [", vm::ShapeToString(*ints),
                                                "]: every extent must be a power of 2, found ", extent),
                                   "take the next power of 2 (triton.next_power_of_2) and mask the rest")) {
      return std::nullopt;
    }
  }
  const Type::Shape shape(ints->begin(), ints->end());
  if (!CheckShape(shape, what)) return std::nullopt;
  return shape;
}

std::optional<int> Emitter::RequireAxis(const Value& value, int rank, absl::string_view what) {
  std::optional<int64_t> axis = RequireInt(value, absl::StrCat(what, ": axis"));
  if (!axis) return std::nullopt;
  if (*axis < -rank || *axis >= rank) {
    ErrorAbout(value, absl::StrCat(what, ": invalid axis ", *axis, " for rank ", rank, ": expected ", -rank, " to ",
                                   rank - 1));
    return std::nullopt;
  }
  return static_cast<int>(*axis < 0 ? *axis + rank : *axis);
}

bool Emitter::RequireNumber(Value* value, absl::string_view what) {
  if (value->is_error()) return false;
  if (!value->is_ssa() && !(value->is_constant() && IsNumber(value->constant()))) {
    ErrorAbout(*value, absl::StrCat(what, ": expected a number or a tile, found ", value->Describe()));
    return false;
  }
  *value = ToSsa(*value);
  if (value->is_error()) return false;
  if (!value->type().is_number()) {
    ErrorAbout(*value,
               absl::StrCat(what, ": expected a number or a tile of numbers, found ", value->type().ToString()));
    return false;
  }
  return true;
}

}  // namespace trivet::frontend
