// Creation, conversion, shapes, selection.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "frontend/builtins.h"

namespace trivet::frontend {

using vm::DType;
using vm::Op;
using vm::Type;

namespace {

// f(x, 4, 8) and f(x, (4, 8)) mean the same.
Value OneTuple(const std::vector<Value>& variadic) {
  return variadic.size() == 1 && variadic[0].is_tuple() ? variadic[0] : Value::Tuple(variadic);
}

bool RequireSsa(FunctionLowering& fl, Value* value, absl::string_view what) {
  if (!value->is_ssa() && !(value->is_constant() && IsNumber(value->constant()))) {
    if (!value->is_error())
      fl.emitter().ErrorAbout(*value, absl::StrCat(what, ": expected a tile, found ", value->Describe()));
    return false;
  }
  *value = fl.emitter().ToSsa(*value);
  return !value->is_error();
}

bool RequireTile(FunctionLowering& fl, const Value& value, absl::string_view what) {
  if (value.is_ssa() && value.type().is_tile()) return true;
  if (!value.is_error())
    fl.emitter().ErrorAbout(value, absl::StrCat(what, ": expected a tile, found ", value.Describe()));
  return false;
}

std::optional<vm::Rounding> RoundingOf(FunctionLowering& fl, const Value& value) {
  if (value.is_none()) return vm::Rounding::kNearestEven;
  std::optional<std::string> text = fl.emitter().RequireString(value, "fp_downcast_rounding");
  if (!text) return std::nullopt;
  if (*text == "rtne" || text->empty()) return vm::Rounding::kNearestEven;
  if (*text == "rtz") return vm::Rounding::kTowardZero;
  fl.emitter().ErrorAbout(value, absl::StrCat("fp_downcast_rounding must be 'rtne' or 'rtz', found '", *text, "'"));
  return std::nullopt;
}

}  // namespace

Value BuiltinProgramId(FunctionLowering& fl, BuiltinCall& call) {
  std::optional<int64_t> axis = fl.emitter().RequireInt(call[0], "the axis of program_id");
  if (!axis) return Value();
  if (*axis < 0 || *axis > 2)
    return fl.emitter().ErrorAbout(call[0], absl::StrCat("program_id axis must be 0, 1, or 2 but got ", *axis));
  return fl.emitter().Create1(Op::kProgramId, {}, Type::Scalar(DType::kI32), {*axis});
}

Value BuiltinNumPrograms(FunctionLowering& fl, BuiltinCall& call) {
  std::optional<int64_t> axis = fl.emitter().RequireInt(call[0], "the axis of num_programs");
  if (!axis) return Value();
  if (*axis < 0 || *axis > 2)
    return fl.emitter().ErrorAbout(call[0], absl::StrCat("num_programs axis must be 0, 1 or 2, found ", *axis));
  return fl.emitter().Create1(Op::kNumPrograms, {}, Type::Scalar(DType::kI32), {*axis});
}

Value BuiltinArange(FunctionLowering& fl, BuiltinCall& call) {
  std::optional<int64_t> start = fl.emitter().RequireInt(call[0], "arange's arguments: start");
  std::optional<int64_t> end = fl.emitter().RequireInt(call[1], "arange's arguments: end");
  if (!start || !end) return Value();
  if (*start < INT32_MIN || *end > int64_t{INT32_MAX} + 1) return fl.Error("arange must fit into 32 bits");
  if (*end <= *start) {
    return fl.Error(
        absl::StrCat("arange's end must be greater than its start, found arange(", *start, ", ", *end, ")"));
  }
  const int64_t n = *end - *start;
  if (!IsPowerOfTwo(n) && !fl.AllowExtension(absl::StrCat("arange's range must be a power of 2, found arange(", *start,
                                                          ", ", *end, ") of ", n, " elements"),
                                             "take triton.next_power_of_2 of the size and mask the rest")) {
    return Value();
  }
  if (n > vm::kMaxTileElements) {
    return fl.Error(absl::StrCat("arange(", *start, ", ", *end, ") has more elements than a tile may have (",
                                 vm::kMaxTileElements, ")"));
  }
  return fl.emitter().Create1(Op::kArange, {}, Type::Tile({n}, DType::kI32), {*start, *end});
}

Value BuiltinFull(FunctionLowering& fl, BuiltinCall& call) {
  Emitter& e = fl.emitter();
  std::optional<Type::Shape> shape = e.RequireShape(call[0], "tl.full");
  if (!shape) return Value();
  if (call[1].is_ssa()) {
    Value value = call[1];
    if (!value.type().is_scalar())
      return e.ErrorAbout(call[1],
                          absl::StrCat("tl.full: the value must be a scalar, found ", value.type().ToString()));
    if (!call[2].is_none()) {
      std::optional<Type> dtype = e.RequireType(call[2], "tl.full: dtype");
      if (!dtype) return Value();
      value = e.Cast(value, *dtype);
    }
    return e.BroadcastTo(value, *shape, "tl.full");
  }
  std::optional<Type> dtype = e.RequireType(call[2], "tl.full: dtype");
  if (!dtype) return Value();
  if (!call[1].is_constant() || !IsNumber(call[1].constant())) {
    return e.ErrorAbout(call[1], absl::StrCat("tl.full: the value must be a number, found ", call[1].Describe()));
  }
  if (dtype->is_pointer()) {
    Value address = e.MakeConstant(Type::Scalar(DType::kI64).WithShape(*shape), call[1].constant());
    return e.Cast(address, *dtype);
  }
  return e.MakeConstant(dtype->WithShape(*shape), call[1].constant());
}

Value BuiltinCast(FunctionLowering& fl, BuiltinCall& call) {
  Emitter& e = fl.emitter();
  std::optional<Type> dtype = e.RequireType(call[1], "cast: dtype");
  std::optional<vm::Rounding> rounding = RoundingOf(fl, call[2]);
  std::optional<bool> bitcast = e.RequireBool(call[3], "cast: bitcast");
  if (!dtype || !rounding || !bitcast) return Value();
  const Type element = dtype->AsScalar();
  Value value = call[0];
  if (!RequireSsa(fl, &value, "cast")) return Value();
  if (*bitcast) return e.Bitcast(value, element);
  if (!call[2].is_none()) {
    const Type& from = value.type();
    if (from.dtype() == element.dtype()) return value;  // nothing to round: programs write it for outputs of any type
    if (!from.is_float() || !element.is_float() || vm::InfoOf(from.dtype()).bits <= vm::InfoOf(element.dtype()).bits) {
      return fl.Error(absl::StrCat("fp_downcast_rounding should be set only for truncating fp conversions, not for ",
                                   from.ToString(), " to ", element.ToString()));
    }
  }
  return e.Cast(value, element, *rounding);
}

Value BuiltinToTensor(FunctionLowering& fl, BuiltinCall& call) {
  if (call[0].is_tuple()) return fl.Materialize(call[0]);
  return fl.emitter().ToSsa(call[0]);
}

Value BuiltinConstexpr(FunctionLowering& fl, BuiltinCall& call) {
  if (call[0].is_ssa()) {
    std::optional<Constant> known = call[0].AsConstant();
    if (!known)
      return fl.Error(absl::StrCat("tl.constexpr needs a value known at compile time, found ", call[0].Describe()));
    return Value::Of(*known);
  }
  return call[0];
}

// --- shape
// -------------------------------------------------------------------------------------------------------------

Value BuiltinBroadcast(FunctionLowering& fl, BuiltinCall& call) {
  Value a = fl.emitter().ToSsa(call[0]), b = fl.emitter().ToSsa(call[1]);
  Value* const both[] = {&a, &b};
  if (!fl.emitter().BroadcastTogether(both, "tl.broadcast")) return Value();
  return Value::Tuple({a, b});
}

Value BuiltinBroadcastTo(FunctionLowering& fl, BuiltinCall& call) {
  std::optional<Type::Shape> shape = fl.emitter().RequireShape(OneTuple(call.variadic), "tl.broadcast_to");
  if (!shape) return Value();
  return fl.emitter().BroadcastTo(call[0], *shape, "tl.broadcast_to");
}

Value BuiltinExpandDims(FunctionLowering& fl, BuiltinCall& call) {
  Value value = call[0];
  if (!RequireSsa(fl, &value, "tl.expand_dims")) return Value();
  std::vector<Value> axes = call[1].is_tuple() ? call[1].items() : std::vector<Value>{call[1]};
  const int rank = value.type().rank() + static_cast<int>(axes.size());
  std::vector<int> sorted;
  for (const Value& axis : axes) {
    std::optional<int> a = fl.emitter().RequireAxis(axis, rank, "tl.expand_dims");
    if (!a) return Value();
    sorted.push_back(*a);
  }
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (i > 0 && sorted[i] == sorted[i - 1])
      return fl.Error(
          absl::StrCat("tl.expand_dims: duplicate axes, normalized axes = [", absl::StrJoin(sorted, ", "), "]"));
    value = fl.emitter().ExpandDims(value, sorted[i]);
  }
  return value;
}

Value BuiltinReshape(FunctionLowering& fl, BuiltinCall& call) {
  Value value = call[0];
  if (!RequireSsa(fl, &value, "tl.reshape")) return Value();
  Value dims = OneTuple(call.variadic);
  // One extent may be -1: what is left over.
  std::vector<Value> items = dims.items();
  Int known = 1;
  int inferred = -1;
  for (size_t i = 0; i < items.size(); ++i) {
    std::optional<int64_t> extent = fl.emitter().RequireInt(items[i], "tl.reshape: an extent");
    if (!extent) return Value();
    if (*extent == -1 && inferred < 0) {
      inferred = static_cast<int>(i);
    } else if (*extent > 0) {
      known = std::min<Int>(known * *extent,
                            vm::kMaxTileElements + 1);  // of larger ones, only that they are too large counts
    }
  }
  const Int elements = value.type().num_elements();
  if (inferred >= 0) {
    if (elements % known != 0) {
      return fl.Error(absl::StrCat("tl.reshape: the ", IntToString(elements), " elements of ", value.type().ToString(),
                                   " can't be divided by the extents beside -1"));
    }
    items[static_cast<size_t>(inferred)] = Value::Of(elements / known);
  }
  std::optional<Type::Shape> shape = fl.emitter().RequireShape(Value::Tuple(items), "tl.reshape");
  std::optional<bool> reorder = fl.emitter().RequireBool(call[1], "tl.reshape: can_reorder");
  if (!shape || !reorder) return Value();
  const Type to = value.type().WithShape(*shape);
  if (to.num_elements() != value.type().num_elements()) {
    return fl.Error(absl::StrCat("tl.reshape: cannot reshape ", value.type().ToString(), " (",
                                 value.type().num_elements(), " elements) to [", vm::ShapeToString(*shape), "] (",
                                 to.num_elements(), " elements)"));
  }
  if (to == value.type()) return value;
  if (value.type().is_scalar()) return fl.emitter().Create1(Op::kSplat, {value.id()}, to);
  if (shape->empty()) {
    Value zero = fl.emitter().MakeConstant(Type::Scalar(DType::kI32), Constant(Int{0}));
    std::vector<ValueId> operands = {value.id()};
    operands.insert(operands.end(), static_cast<size_t>(value.type().rank()), zero.id());
    return fl.emitter().Create1(Op::kExtract, operands, to);
  }
  return fl.emitter().Create1(Op::kReshape, {value.id()}, to, {int64_t{*reorder}});
}

Value BuiltinPermute(FunctionLowering& fl, BuiltinCall& call) {
  const Value& value = call[0];
  if (!RequireTile(fl, value, absl::StrCat("tl.", call.name))) return Value();
  const int rank = value.type().rank();
  std::vector<Value> dims = OneTuple(call.variadic).items();
  if (dims.empty()) {
    if (call.name != "trans") return fl.Error("tl.permute: the order of dimensions is missing");
    if (rank < 2)
      return fl.Error(absl::StrCat("tl.trans: expected a tile of rank 2 or more, found ", value.type().ToString()));
    for (int i = 0; i < rank; ++i) dims.push_back(Value::Of(Int{i}));
    std::swap(dims[static_cast<size_t>(rank) - 1], dims[static_cast<size_t>(rank) - 2]);
  }
  if (static_cast<int>(dims.size()) != rank) {
    return fl.Error(absl::StrCat("tl.", call.name, ": ", dims.size(), " dimensions for ", value.type().ToString(),
                                 " of rank ", rank));
  }
  std::vector<int64_t> order;
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  Type::Shape shape;
  for (const Value& dim : dims) {
    std::optional<int> axis = fl.emitter().RequireAxis(dim, rank, absl::StrCat("tl.", call.name));
    if (!axis) return Value();
    if (seen[static_cast<size_t>(*axis)]) {
      return fl.Error(absl::StrCat("tl.", call.name, ": dims must be a permutation of 0 to ", rank - 1, "; ", *axis,
                                   " is given twice"));
    }
    seen[static_cast<size_t>(*axis)] = true;
    order.push_back(*axis);
    shape.push_back(value.type().dim(*axis));
  }
  return fl.emitter().Create1(Op::kTrans, {value.id()}, value.type().WithShape(shape), {order});
}

Value BuiltinJoin(FunctionLowering& fl, BuiltinCall& call) {
  Value a = call[0], b = call[1];
  if (!fl.emitter().MatchPair(&a, &b, "tl.join", {.allow_pointers = true})) return Value();
  Type::Shape shape = a.type().shape();
  shape.push_back(2);
  return fl.emitter().Create1(Op::kJoin, {a.id(), b.id()}, a.type().WithShape(shape));
}

Value BuiltinSplit(FunctionLowering& fl, BuiltinCall& call) {
  const Value& value = call[0];
  if (!RequireTile(fl, value, "tl.split")) return Value();
  if (value.type().dim(-1) != 2) {
    return fl.Error(absl::StrCat("tl.split: the last dimension must be 2, found ", value.type().ToString()));
  }
  Type::Shape shape = value.type().shape();
  shape.pop_back();
  const Type half = value.type().WithShape(shape);
  const OpId op = fl.emitter().builder().Create(Op::kSplit, {value.id()}, {half, half});
  const vm::Operation& made = fl.function().op(op);
  return Value::Tuple({fl.emitter().Wrap(made.result(0)), fl.emitter().Wrap(made.result(1))});
}

Value BuiltinCat(FunctionLowering& fl, BuiltinCall& call) {
  Value a = call[0], b = call[1];
  if (!RequireTile(fl, a, "tl.cat") || !RequireTile(fl, b, "tl.cat")) return Value();
  std::optional<bool> reorder = fl.emitter().RequireBool(call[2], "tl.cat: can_reorder");
  std::optional<int> axis = fl.emitter().RequireAxis(call[3], a.type().rank(), "tl.cat");
  if (!reorder || !axis) return Value();
  if (!fl.emitter().MatchPair(&a, &b, "tl.cat", {.allow_pointers = true, .broadcast = false})) return Value();
  if (a.type().rank() != b.type().rank()) {
    return fl.Error(absl::StrCat("tl.cat: ranks differ: ", a.type().ToString(), " and ", b.type().ToString()));
  }
  Type::Shape shape = a.type().shape();
  for (int i = 0; i < a.type().rank(); ++i) {
    if (i == *axis) {
      shape[static_cast<size_t>(i)] += b.type().dim(i);
    } else if (a.type().dim(i) != b.type().dim(i)) {
      return fl.Error(absl::StrCat("tl.cat: shapes differ along axis ", i, ": ", a.type().ToString(), " and ",
                                   b.type().ToString()));
    }
  }
  return fl.emitter().Create1(Op::kCat, {a.id(), b.id()}, a.type().WithShape(shape),
                              {int64_t{*axis}, int64_t{*reorder}});
}

Value BuiltinGather(FunctionLowering& fl, BuiltinCall& call) {
  const Value &source = call[0], &index = call[1];
  if (!RequireTile(fl, source, "tl.gather") || !RequireTile(fl, index, "tl.gather")) return Value();
  std::optional<int> axis = fl.emitter().RequireAxis(call[2], source.type().rank(), "tl.gather");
  if (!axis) return Value();
  if (!index.type().is_integer())
    return fl.emitter().ErrorAbout(
        index, absl::StrCat("tl.gather: the index must be an integer tile, found ", index.type().ToString()));
  if (index.type().rank() != source.type().rank()) {
    return fl.Error(absl::StrCat("tl.gather: source and index must have the same rank, found ",
                                 source.type().ToString(), " and ", index.type().ToString()));
  }
  for (int i = 0; i < source.type().rank(); ++i) {
    if (i != *axis && source.type().dim(i) != index.type().dim(i)) {
      return fl.Error(absl::StrCat("tl.gather: index and source differ along axis ", i, ": ", source.type().ToString(),
                                   " and ", index.type().ToString()));
    }
  }
  return fl.emitter().Create1(Op::kGather, {source.id(), index.id()}, source.type().WithShape(index.type().shape()),
                              {int64_t{*axis}});
}

namespace {

// The axis of sort, topk and flip: the last if None.
std::optional<int> LastAxis(FunctionLowering& fl, const Value& value, const Value& dim, absl::string_view what) {
  if (!RequireTile(fl, value, what)) return std::nullopt;
  if (dim.is_none()) return value.type().rank() - 1;
  return fl.emitter().RequireAxis(dim, value.type().rank(), what);
}

}  // namespace

Value BuiltinFlip(FunctionLowering& fl, BuiltinCall& call) {
  std::optional<int> axis = LastAxis(fl, call[0], call[1], "tl.flip");
  if (!axis) return Value();
  return fl.emitter().Create1(Op::kFlip, {call[0].id()}, call[0].type(), {int64_t{*axis}});
}

Value BuiltinSort(FunctionLowering& fl, BuiltinCall& call) {
  std::optional<int> axis = LastAxis(fl, call[0], call[1], "tl.sort");
  std::optional<bool> descending = fl.emitter().RequireBool(call[2], "tl.sort: descending");
  if (!axis || !descending) return Value();
  return fl.emitter().Create1(Op::kSort, {call[0].id()}, call[0].type(), {int64_t{*axis}, int64_t{*descending}});
}

Value BuiltinTopK(FunctionLowering& fl, BuiltinCall& call) {
  std::optional<int> axis = LastAxis(fl, call[0], call[2], "tl.topk");
  std::optional<int64_t> k = fl.emitter().RequireInt(call[1], "tl.topk: k");
  if (!axis || !k) return Value();
  Type::Shape shape = call[0].type().shape();
  int64_t& extent = shape[static_cast<size_t>(*axis)];
  if (*k < 1 || *k > extent) return fl.Error(absl::StrCat("tl.topk: k must be 1 to ", extent, ", found ", *k));
  if (!IsPowerOfTwo(*k) &&
      !fl.AllowExtension(absl::StrCat("tl.topk: k must be a power of 2, found ", *k), "take the next power of 2")) {
    return Value();
  }
  extent = *k;
  return fl.emitter().Create1(Op::kTopK, {call[0].id()}, call[0].type().WithShape(shape), {int64_t{*axis}});
}

Value BuiltinItem(FunctionLowering& fl, BuiltinCall& call) {
  Value value = call[0];
  if (!RequireSsa(fl, &value, "item")) return Value();
  if (value.type().num_elements() != 1)
    return fl.Error(absl::StrCat("item() needs one element, found ", value.type().ToString()));
  if (value.type().is_scalar()) return value;
  Value zero = fl.emitter().MakeConstant(Type::Scalar(DType::kI32), Constant(Int{0}));
  std::vector<ValueId> operands = {value.id()};
  operands.insert(operands.end(), static_cast<size_t>(value.type().rank()), zero.id());
  return fl.emitter().Create1(Op::kExtract, operands, value.type().AsScalar());
}

// --- selection
// ---------------------------------------------------------------------------------------------------------

Value BuiltinWhere(FunctionLowering& fl, BuiltinCall& call) {
  Emitter& e = fl.emitter();
  Value condition = e.ToBool(call[0]), x = call[1], y = call[2];
  if (condition.is_error()) return condition;
  if (x.is_constant() && y.is_constant()) {
    // Two numbers: each has its own type, and they meet as in arithmetic.
    x = e.ToSsa(x);
    y = e.ToSsa(y);
  }
  if (!e.MatchPair(&x, &y, "tl.where", {.allow_pointers = true})) return Value();
  Value* const all[] = {&condition, &x, &y};
  if (!e.BroadcastTogether(all, "tl.where")) return Value();
  return e.Create1(Op::kSelect, {condition.id(), x.id(), y.id()}, x.type());
}

}  // namespace trivet::frontend
