// Loads, stores, atomics, block pointers, tensor descriptors.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "frontend/builtins.h"

namespace trivet::frontend {

using vm::DType;
using vm::Op;
using vm::Type;

namespace {

// The number of an enumeration's text in Triton's spelling; nothing after an error.
std::optional<int64_t> EnumOf(FunctionLowering& fl, const Value& value, absl::string_view what, vm::AttrEnum type,
                              absl::Span<const std::pair<const char*, const char*>> spellings) {
  std::optional<std::string> text = fl.emitter().RequireString(value, what);
  if (!text) return std::nullopt;
  if (text->empty()) return 0;
  std::string known;
  for (const auto& [triton, ours] : spellings) {
    if (*text != triton) {
      absl::StrAppend(&known, known.empty() ? "" : ", ", "'", triton, "'");
      continue;
    }
    for (const vm::EnumValue& v : vm::ValuesOf(type)) {
      if (absl::string_view(ours) == v.text) return v.number;
    }
  }
  fl.Error(absl::StrCat(what, " must be one of ", known, ", found '", *text, "'"));
  return std::nullopt;
}

std::optional<int64_t> LoadCache(FunctionLowering& fl, const Value& value) {
  return EnumOf(fl, value, "cache_modifier of a load", vm::AttrEnum::kCacheModifier,
                {{".ca", "ca"}, {".cg", "cg"}, {".cv", "cv"}, {".cs", "cs"}});
}
std::optional<int64_t> StoreCache(FunctionLowering& fl, const Value& value) {
  return EnumOf(fl, value, "cache_modifier of a store", vm::AttrEnum::kCacheModifier,
                {{".wb", "wb"}, {".cg", "cg"}, {".cs", "cs"}, {".wt", "wt"}});
}
std::optional<int64_t> Eviction(FunctionLowering& fl, const Value& value) {
  return EnumOf(fl, value, "eviction_policy", vm::AttrEnum::kEvictionPolicy,
                {{"evict_first", "evict_first"}, {"evict_last", "evict_last"}, {"evict_normal", "normal"}});
}
std::optional<int64_t> PaddingOf(FunctionLowering& fl, const Value& value) {
  return EnumOf(fl, value, "padding_option", vm::AttrEnum::kPadding, {{"zero", "zero"}, {"nan", "nan"}});
}

bool IsEmpty(const Value& value) {
  return value.is_none() || (value.is_tuple() && value.items().empty()) ||
         (value.is_constant() && std::holds_alternative<std::string>(value.constant()) &&
          std::get<std::string>(value.constant()).empty());
}

std::optional<std::vector<int64_t>> BoundaryCheck(FunctionLowering& fl, const Value& value, int rank,
                                                  absl::string_view what) {
  std::vector<int64_t> axes;
  if (value.is_none()) return axes;
  const std::vector<Value> items = value.is_tuple() ? value.items() : std::vector<Value>{value};
  for (const Value& item : items) {
    std::optional<int> axis = fl.emitter().RequireAxis(item, rank, what);
    if (!axis) return std::nullopt;
    axes.push_back(*axis);
  }
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) {
    fl.Error(absl::StrCat(what, ": an axis is given twice"));
    return std::nullopt;
  }
  return axes;
}

bool RequirePointer(FunctionLowering& fl, const Value& value, absl::string_view what) {
  if (value.is_ssa() && (value.type().is_pointer() || value.type().is_block_ptr())) return true;
  if (!value.is_error()) {
    fl.Error(absl::StrCat(what, ": expected a pointer or a tile of pointers, found ", value.Describe()),
             value.is_ssa() ? "pass a tensor, or add an offset to a pointer parameter" : "");
  }
  return false;
}

// A run-time value or a number: what memory can hold.
bool RequireValue(FunctionLowering& fl, const Value& value, absl::string_view what) {
  if (value.is_ssa() || (value.is_constant() && IsNumber(value.constant()))) return true;
  if (!value.is_error()) fl.Error(absl::StrCat(what, " must be a number or a tile, found ", value.Describe()));
  return false;
}

// Brings mask to i1 of the pointer's shape, growing the pointer if the mask is the larger one.
bool MatchMask(FunctionLowering& fl, Value* pointer, Value* mask, absl::string_view what) {
  *mask = fl.emitter().ToSsa(*mask);
  if (mask->is_error()) return false;
  if (!mask->type().is_integer()) {
    fl.Error(absl::StrCat(what, ": the mask must be boolean, found ", mask->type().ToString()));
    return false;
  }
  *mask = fl.emitter().ToBool(*mask);
  if (pointer->type().is_scalar() && mask->type().is_tile()) {
    fl.Error(absl::StrCat(what, ": the mask is ", mask->type().ToString(), " but the pointer is a scalar"),
             "add tl.arange offsets to the pointer");
    return false;
  }
  Value* const both[] = {pointer, mask};
  return fl.emitter().BroadcastTogether(both, what);
}

Value LoadBlock(FunctionLowering& fl, BuiltinCall& call, int64_t cache, int64_t eviction, bool is_volatile) {
  const Type& type = call[0].type();
  if (!call[1].is_none() || !call[2].is_none()) {
    return fl.Error("tl.load: mask and other can't be used with a block pointer",
                    "use boundary_check and padding_option");
  }
  std::optional<std::vector<int64_t>> axes = BoundaryCheck(fl, call[3], type.rank(), "tl.load: boundary_check");
  std::optional<int64_t> padding = PaddingOf(fl, call[4]);
  if (!axes || !padding) return Value();
  if (*padding == static_cast<int64_t>(vm::Padding::kNan) && !vm::IsFloat(type.dtype())) {
    return fl.Error(absl::StrCat("tl.load: padding_option='nan' needs a float tensor, found ", type.ToString()));
  }
  return fl.emitter().Create1(Op::kBlockLoad, {call[0].id()}, Type::Tile(type.shape(), type.dtype()),
                              {*axes, *padding, cache, eviction, int64_t{is_volatile}});
}

}  // namespace

Value BuiltinLoad(FunctionLowering& fl, BuiltinCall& call) {
  Emitter& e = fl.emitter();
  if (call[0].is_ssa() && call[0].type().is_desc()) {
    return fl.Error("tl.load: a tensor descriptor is loaded with its own method", "write desc.load([offsets])");
  }
  if (!RequirePointer(fl, call[0], "tl.load")) return Value();
  std::optional<int64_t> cache = LoadCache(fl, call[5]);
  std::optional<int64_t> eviction = Eviction(fl, call[6]);
  std::optional<bool> is_volatile = e.RequireBool(call[7], "tl.load: volatile");
  if (!cache || !eviction || !is_volatile) return Value();
  if (call[0].type().is_block_ptr()) return LoadBlock(fl, call, *cache, *eviction, *is_volatile);
  if (!IsEmpty(call[3]) || !IsEmpty(call[4])) {
    return fl.Error("tl.load: boundary_check and padding_option need a block pointer",
                    "use mask and other with a tile of pointers");
  }
  Value pointer = call[0], mask = call[1], other = call[2];
  if (mask.is_none() && !other.is_none()) return fl.Error("tl.load: other cannot be provided without mask");
  // A mask that is known to hold is no mask.
  if (mask.is_constant() && IsNumber(mask.constant()) && IsTrue(mask.constant()) && other.is_none())
    mask = Value::None();
  std::vector<ValueId> operands;
  if (!mask.is_none()) {
    if (!MatchMask(fl, &pointer, &mask, "tl.load")) return Value();
    operands = {pointer.id(), mask.id()};
    if (!other.is_none()) {
      const Type element = pointer.type().AsScalar().Pointee();
      other = other.is_constant() && IsNumber(other.constant()) && element.is_number()
                  ? e.MakeConstant(element, other.constant())
                  : e.Cast(other, element);
      if (other.is_error()) return other;
      other = e.BroadcastTo(other, pointer.type().shape(), "tl.load: other");
      if (other.is_error()) return other;
      operands.push_back(other.id());
    }
  } else {
    operands = {pointer.id()};
  }
  while (operands.size() < 3) operands.push_back(ValueId::None());
  return e.Create1(Op::kLoad, operands, pointer.type().Pointee(), {*cache, *eviction, int64_t{*is_volatile}});
}

Value BuiltinStore(FunctionLowering& fl, BuiltinCall& call) {
  Emitter& e = fl.emitter();
  if (call[0].is_ssa() && call[0].type().is_desc()) {
    return fl.Error("tl.store: a tensor descriptor is stored to with its own method",
                    "write desc.store([offsets], value)");
  }
  if (!RequirePointer(fl, call[0], "tl.store")) return Value();
  if (!fl.MayWrite(call[0], "tl.store")) return Value();
  if (!RequireValue(fl, call[1], "tl.store: the value")) return Value();
  std::optional<int64_t> cache = StoreCache(fl, call[4]);
  std::optional<int64_t> eviction = Eviction(fl, call[5]);
  if (!cache || !eviction) return Value();
  Value pointer = call[0], value = call[1], mask = call[2];
  if (pointer.type().is_block_ptr()) {
    if (!mask.is_none()) return fl.Error("tl.store: mask can't be used with a block pointer", "use boundary_check");
    std::optional<std::vector<int64_t>> axes =
        BoundaryCheck(fl, call[3], pointer.type().rank(), "tl.store: boundary_check");
    if (!axes) return Value();
    value = e.ToSsa(value);
    if (value.is_error()) return value;
    value = e.BroadcastTo(e.Cast(value, pointer.type().dtype()), pointer.type().shape(), "tl.store");
    if (value.is_error()) return value;
    e.builder().Create(Op::kBlockStore, {pointer.id(), value.id()}, {}, {*axes, *cache, *eviction});
    return Value::None();
  }
  if (!IsEmpty(call[3]))
    return fl.Error("tl.store: boundary_check needs a block pointer", "use mask with a tile of pointers");
  const Type element = pointer.type().AsScalar().Pointee();
  value = value.is_constant() && IsNumber(value.constant()) && element.is_number()
              ? e.MakeConstant(element, value.constant())
              : e.Cast(value, element);
  if (value.is_error()) return value;
  if (pointer.type().is_scalar() && value.type().is_tile()) {
    return fl.Error(absl::StrCat("tl.store: the value is ", value.type().ToString(), " but the pointer is a scalar"),
                    "add tl.arange offsets to the pointer, or reduce the value to a scalar");
  }
  Value* const both[] = {&pointer, &value};
  if (!e.BroadcastTogether(both, "tl.store")) return Value();
  if (mask.is_constant() && IsNumber(mask.constant()) && IsTrue(mask.constant())) mask = Value::None();
  std::vector<ValueId> operands = {pointer.id(), value.id()};
  if (!mask.is_none()) {
    if (!MatchMask(fl, &pointer, &mask, "tl.store")) return Value();
    value = e.BroadcastTo(value, pointer.type().shape(), "tl.store");
    operands = {pointer.id(), value.id(), mask.id()};
  } else {
    operands.push_back(ValueId::None());
  }
  e.builder().Create(Op::kStore, operands, {}, {*cache, *eviction});
  return Value::None();
}

// --- atomics
// -------------------------------------------------------------------------------------------------------------

namespace {

std::optional<int64_t> OrderOf(FunctionLowering& fl, const Value& value) {
  if (value.is_none()) return static_cast<int64_t>(vm::MemoryOrder::kAcqRel);
  return EnumOf(fl, value, "sem", vm::AttrEnum::kMemoryOrder,
                {{"acquire", "acquire"}, {"release", "release"}, {"acq_rel", "acq_rel"}, {"relaxed", "relaxed"}});
}
std::optional<int64_t> ScopeOf(FunctionLowering& fl, const Value& value) {
  if (value.is_none()) return static_cast<int64_t>(vm::MemoryScope::kGpu);
  return EnumOf(fl, value, "scope", vm::AttrEnum::kMemoryScope, {{"gpu", "gpu"}, {"cta", "cta"}, {"sys", "sys"}});
}

// `value` as an element of what the pointer points to, in the pointer's shape.
bool MatchAtomicValue(FunctionLowering& fl, Value* pointer, Value* value, absl::string_view what) {
  if (!RequireValue(fl, *value, absl::StrCat(what, ": the value"))) return false;
  const Type element = pointer->type().AsScalar().Pointee();
  *value = value->is_constant() && IsNumber(value->constant()) && element.is_number()
               ? fl.emitter().MakeConstant(element, value->constant())
               : fl.emitter().Cast(*value, element);
  if (value->is_error()) return false;
  Value* const both[] = {pointer, value};
  return fl.emitter().BroadcastTogether(both, what);
}

vm::AtomicOp AtomicKind(absl::string_view name) {
  if (absl::EndsWith(name, "add")) return vm::AtomicOp::kAdd;
  if (absl::EndsWith(name, "and")) return vm::AtomicOp::kAnd;
  if (absl::EndsWith(name, "xor")) return vm::AtomicOp::kXor;
  if (absl::EndsWith(name, "or")) return vm::AtomicOp::kOr;
  if (absl::EndsWith(name, "max")) return vm::AtomicOp::kMax;
  if (absl::EndsWith(name, "min")) return vm::AtomicOp::kMin;
  return vm::AtomicOp::kXchg;
}

}  // namespace

Value BuiltinAtomicRmw(FunctionLowering& fl, BuiltinCall& call) {
  Emitter& e = fl.emitter();
  const std::string what = absl::StrCat("tl.", call.name);
  if (!RequirePointer(fl, call[0], what)) return Value();
  if (!fl.MayWrite(call[0], what)) return Value();
  if (call[0].type().is_block_ptr()) return fl.Error(absl::StrCat(what, ": block pointers are not supported"));
  Value pointer = call[0], value = call[1], mask = call[2];
  std::optional<int64_t> order = OrderOf(fl, call[3]), scope = ScopeOf(fl, call[4]);
  if (!order || !scope || !MatchAtomicValue(fl, &pointer, &value, what)) return Value();
  const vm::AtomicOp kind = AtomicKind(call.name);
  const Type element = pointer.type().AsScalar().Pointee();
  if (!element.is_pointer() &&
      (vm::InfoOf(element.dtype()).bits < 16 || (element.is_integer() && vm::InfoOf(element.dtype()).bits < 32))) {
    return fl.Error(absl::StrCat(what, " does not support ", element.ToString()), "use a 32-bit element type");
  }
  const bool bitwise = kind == vm::AtomicOp::kAnd || kind == vm::AtomicOp::kOr || kind == vm::AtomicOp::kXor;
  if ((bitwise && !element.is_integer()) || (element.is_pointer() && kind != vm::AtomicOp::kXchg)) {
    return fl.Error(absl::StrCat(what, " is not defined for ", element.ToString()));
  }
  std::vector<ValueId> operands = {pointer.id(), value.id(), ValueId::None()};
  if (!mask.is_none() && !(mask.is_constant() && IsNumber(mask.constant()) && IsTrue(mask.constant()))) {
    if (!MatchMask(fl, &pointer, &mask, what)) return Value();
    value = e.BroadcastTo(value, pointer.type().shape(), what);
    operands = {pointer.id(), value.id(), mask.id()};
  }
  return e.Create1(Op::kAtomicRmw, operands, value.type(), {static_cast<int64_t>(kind), *order, *scope});
}

Value BuiltinAtomicCas(FunctionLowering& fl, BuiltinCall& call) {
  if (!RequirePointer(fl, call[0], "tl.atomic_cas")) return Value();
  if (!fl.MayWrite(call[0], "tl.atomic_cas")) return Value();
  if (call[0].type().is_block_ptr()) return fl.Error("tl.atomic_cas: block pointers are not supported");
  Value pointer = call[0], compare = call[1], value = call[2];
  std::optional<int64_t> order = OrderOf(fl, call[3]), scope = ScopeOf(fl, call[4]);
  if (!order || !scope) return Value();
  if (pointer.type().AsScalar().Pointee().element_bytes() < 2) {
    return fl.Error(
        absl::StrCat("tl.atomic_cas only supports elements of 16, 32 or 64 bits, found ", pointer.type().ToString()));
  }
  if (!MatchAtomicValue(fl, &pointer, &compare, "tl.atomic_cas") ||
      !MatchAtomicValue(fl, &pointer, &value, "tl.atomic_cas")) {
    return Value();
  }
  compare = fl.emitter().BroadcastTo(compare, pointer.type().shape(), "tl.atomic_cas");
  return fl.emitter().Create1(Op::kAtomicCas, {pointer.id(), compare.id(), value.id()}, value.type(), {*order, *scope});
}

// --- block pointers
// --------------------------------------------------------------------------------------------------------

namespace {

// Appends scalars converted to `dtype`.
bool AppendScalars(FunctionLowering& fl, const Value& values, DType dtype, absl::string_view what,
                   std::vector<ValueId>* ids, std::vector<Value>* kept = nullptr) {
  const std::vector<Value> items = values.is_tuple() ? values.items() : std::vector<Value>{values};
  for (const Value& item : items) {
    Value scalar =
        item.is_constant() && AsInt(item.constant()) ? fl.emitter().ToSsa(item, dtype) : fl.emitter().ToSsa(item);
    if (scalar.is_error()) return false;
    if (!scalar.type().is_scalar() || !scalar.type().is_integer()) {
      fl.Error(absl::StrCat(what, ": expected integer scalars, found ", scalar.type().ToString()));
      return false;
    }
    scalar = fl.emitter().Cast(scalar, dtype);
    ids->push_back(scalar.id());
    if (kept != nullptr) kept->push_back(scalar);
  }
  return true;
}

size_t CountOf(const Value& values) { return values.is_tuple() ? values.items().size() : 1; }

}  // namespace

Value BuiltinMakeBlockPtr(FunctionLowering& fl, BuiltinCall& call) {
  const Value& base = call[0];
  if (!base.is_ssa() || !base.type().is_pointer() || !base.type().is_scalar()) {
    return fl.Error(absl::StrCat("tl.make_block_ptr: base must be a scalar pointer, found ", base.Describe()));
  }
  std::optional<Type::Shape> block = fl.emitter().RequireShape(call[4], "tl.make_block_ptr: block_shape");
  std::optional<std::vector<int64_t>> order = fl.emitter().RequireInts(call[5], "tl.make_block_ptr: order");
  if (!block || !order) return Value();
  const size_t rank = block->size();
  for (const auto& [i, name] : {std::pair<size_t, const char*>(1, "shape"), {2, "strides"}, {3, "offsets"}}) {
    if (CountOf(call[i]) != rank) {
      return fl.Error(absl::StrCat("tl.make_block_ptr: ", name, " has length ", CountOf(call[i]),
                                   ", block_shape has length ", rank));
    }
  }
  std::vector<int64_t> sorted = *order;
  std::sort(sorted.begin(), sorted.end());
  bool permutation = sorted.size() == rank;
  for (size_t i = 0; permutation && i < rank; ++i) permutation = sorted[i] == static_cast<int64_t>(i);
  if (!permutation) return fl.Error(absl::StrCat("tl.make_block_ptr: order must be a permutation of 0 to ", rank - 1));
  std::vector<ValueId> operands = {base.id()};
  if (!AppendScalars(fl, call[1], DType::kI64, "tl.make_block_ptr: shape", &operands) ||
      !AppendScalars(fl, call[2], DType::kI64, "tl.make_block_ptr: strides", &operands) ||
      !AppendScalars(fl, call[3], DType::kI32, "tl.make_block_ptr: offsets", &operands)) {
    return Value();
  }
  return fl.emitter().Create1(Op::kMakeBlockPtr, operands, Type::BlockPtr(*block, base.type().dtype()), {*order});
}

Value BuiltinAdvance(FunctionLowering& fl, BuiltinCall& call) {
  if (!call[0].is_ssa() || !call[0].type().is_block_ptr()) {
    return fl.Error(absl::StrCat("tl.advance: expected a block pointer, found ", call[0].Describe()));
  }
  if (CountOf(call[1]) != static_cast<size_t>(call[0].type().rank())) {
    return fl.Error(
        absl::StrCat("tl.advance: ", Count(CountOf(call[1]), "offset"), " for ", call[0].type().ToString()));
  }
  std::vector<ValueId> operands = {call[0].id()};
  if (!AppendScalars(fl, call[1], DType::kI32, "tl.advance: offsets", &operands)) return Value();
  return fl.emitter().Create1(Op::kAdvance, operands, call[0].type());
}

// --- tensor descriptors
// ------------------------------------------------------------------------------------------------------

Value BuiltinMakeDescriptor(FunctionLowering& fl, BuiltinCall& call) {
  const Value& base = call[0];
  if (!base.is_ssa() || !base.type().is_pointer() || !base.type().is_scalar()) {
    return fl.Error(absl::StrCat("tl.make_tensor_descriptor: base must be a scalar pointer, found ", base.Describe()));
  }
  std::optional<Type::Shape> block = fl.emitter().RequireShape(call[3], "tl.make_tensor_descriptor: block_shape");
  std::optional<int64_t> padding = PaddingOf(fl, call[4]);
  if (!block || !padding) return Value();
  const size_t rank = block->size();
  if (rank < 1 || rank > 5)
    return fl.Error(absl::StrCat("tl.make_tensor_descriptor: the rank must be 1 to 5, found ", rank));
  if (CountOf(call[1]) != rank)
    return fl.Error(
        absl::StrCat("tl.make_tensor_descriptor: expected ", rank, " entries in shape, found ", CountOf(call[1])));
  if (CountOf(call[2]) != rank)
    return fl.Error(absl::StrCat("tl.make_tensor_descriptor: expected ", rank, " strides, found ", CountOf(call[2])));
  const Value last = call[2].is_tuple() ? call[2].items().back() : call[2];
  if (std::optional<Int> stride = last.AsKnownInt(); stride && *stride != 1) {
    return fl.Error(absl::StrCat("tl.make_tensor_descriptor: the last stride must be 1, found ", IntToString(*stride)));
  }
  const int64_t row_bytes = block->back() * Type::Scalar(base.type().dtype()).element_bytes();
  if (row_bytes < 16) {
    return fl.Error(absl::StrCat(
        "tl.make_tensor_descriptor: Descriptor block shape must have at least 16 bytes in the last dimension, found ",
        block->back(), " x ", vm::InfoOf(base.type().dtype()).text, " = ", row_bytes, " bytes"));
  }
  std::vector<ValueId> operands = {base.id()};
  std::vector<Value> parts;
  if (!AppendScalars(fl, call[1], DType::kI32, "tl.make_tensor_descriptor: shape", &operands, &parts) ||
      !AppendScalars(fl, call[2], DType::kI64, "tl.make_tensor_descriptor: strides", &operands, &parts)) {
    return Value();
  }
  Value desc = fl.emitter().Create1(Op::kMakeDesc, operands, Type::Desc(*block, base.type().dtype()), {*padding});
  desc.set_items(std::move(parts));
  return desc;
}

bool FunctionLowering::MayWrite(const Value& pointer, absl::string_view what) {
  const std::string* const parameter = read_only().Find(function(), pointer.id());
  if (parameter == nullptr) return true;
  Error(absl::StrCat(what, ": ", *parameter, " is a tl.const pointer, which nothing is written through"),
        "leave out the annotation tl.const of the parameter");
  return false;
}

namespace {

bool RequireDesc(FunctionLowering& fl, const BuiltinCall& call) {
  if (call[0].is_ssa() && call[0].type().is_desc()) return true;
  fl.Error(absl::StrCat(call.name, ": expected a tensor descriptor, found ", call[0].Describe()));
  return false;
}

bool AppendOffsets(FunctionLowering& fl, const Value& desc, const Value& offsets, std::vector<ValueId>* operands) {
  if (CountOf(offsets) != static_cast<size_t>(desc.type().rank())) {
    fl.Error(absl::StrCat("expected ", desc.type().rank(), " offsets for ", desc.type().ToString(), ", found ",
                          CountOf(offsets)));
    return false;
  }
  return AppendScalars(fl, offsets, DType::kI32, "descriptor offsets", operands);
}

// The value to store: of the block's shape (or the same elements under another shape) and the element type.
bool MatchBlockValue(FunctionLowering& fl, const Value& desc, Value* value) {
  *value = fl.emitter().ToSsa(*value);
  if (value->is_error()) return false;
  *value = fl.emitter().Cast(*value, desc.type().dtype());
  if (value->is_error()) return false;
  if (value->type().shape() != desc.type().shape()) {
    if (value->type().num_elements() != Type::Tile(desc.type().shape(), desc.type().dtype()).num_elements() ||
        value->type().is_scalar()) {
      fl.Error(absl::StrCat("the value is ", value->type().ToString(), ", the descriptor's block is ",
                            desc.type().ToString()));
      return false;
    }
    *value =
        fl.emitter().Create1(Op::kReshape, {value->id()}, value->type().WithShape(desc.type().shape()), {int64_t{0}});
  }
  return true;
}

}  // namespace

Value BuiltinDescLoad(FunctionLowering& fl, BuiltinCall& call) {
  if (!RequireDesc(fl, call)) return Value();
  std::vector<ValueId> operands = {call[0].id()};
  std::optional<int64_t> cache = LoadCache(fl, call[2]), eviction = Eviction(fl, call[3]);
  if (!cache || !eviction || !AppendOffsets(fl, call[0], call[1], &operands)) return Value();
  const Type& type = call[0].type();
  return fl.emitter().Create1(Op::kDescLoad, operands, Type::Tile(type.shape(), type.dtype()), {*cache, *eviction});
}

Value BuiltinDescStore(FunctionLowering& fl, BuiltinCall& call) {
  if (!RequireDesc(fl, call) || !fl.MayWrite(call[0], call.name)) return Value();
  Value value = call[2];
  if (!MatchBlockValue(fl, call[0], &value)) return Value();
  std::vector<ValueId> operands = {call[0].id(), value.id()};
  if (!AppendOffsets(fl, call[0], call[1], &operands)) return Value();
  fl.emitter().builder().Create(Op::kDescStore, operands, {});
  return Value::None();
}

Value BuiltinOldDescLoad(FunctionLowering& fl, BuiltinCall& call) {
  Value desc = call[0];
  if (!desc.is_ssa() || !desc.type().is_desc()) {
    std::optional<Type> element = fl.emitter().RequireType(call[3], "tl._experimental_descriptor_load: dtype");
    if (!element) return Value();
    desc = DescriptorInMemory(fl, desc, call[2], *element);
  }
  return desc.is_error() ? desc : fl.CallBuiltin("desc.load", {{desc, call[1]}, {}, {}});
}

Value BuiltinOldDescStore(FunctionLowering& fl, BuiltinCall& call) {
  Value desc = call[0];
  const Value value = fl.emitter().ToSsa(call[1]);
  if (value.is_error()) return value;
  if (!desc.is_ssa() || !desc.type().is_desc()) {
    std::vector<Value> block;
    for (int64_t extent : value.type().shape()) block.push_back(Value::Of(Int{extent}));
    desc = DescriptorInMemory(fl, desc, Value::Tuple(std::move(block)), value.type().AsScalar());
  }
  return desc.is_error() ? desc : fl.CallBuiltin("desc.store", {{desc, call[2], value}, {}, {}});
}

namespace {

// The element types that the hardware's tensor copies combine (PTX ISA, cp.reduce.async.bulk.tensor), as in Triton.
bool CheckReducible(FunctionLowering& fl, const BuiltinCall& call, const Type& type) {
  const vm::AtomicOp kind = AtomicKind(call.name);
  const bool is_narrow_float = type.dtype() == DType::kF16 || type.dtype() == DType::kBF16;
  bool is_legal = type.dtype() == DType::kI32 || type.dtype() == DType::kU32 || type.dtype() == DType::kU64;
  if (kind == vm::AtomicOp::kAdd) {
    is_legal |= type.dtype() == DType::kF32 || is_narrow_float;
  } else {
    is_legal |= type.dtype() == DType::kI64;
    if (kind == vm::AtomicOp::kMax || kind == vm::AtomicOp::kMin) is_legal |= is_narrow_float;
  }
  if (!is_legal) {
    fl.Error(absl::StrCat(
        call.name, ": Unsupported dtype: a descriptor can't combine ", type.ToString(),
        "; 32-bit and 64-bit integers can be combined, and floats of 16 bits (add: 32 bits too) added and compared"));
  }
  return is_legal;
}

}  // namespace

Value BuiltinDescReduce(FunctionLowering& fl, BuiltinCall& call) {
  if (!RequireDesc(fl, call) || !fl.MayWrite(call[0], call.name)) return Value();
  Value value = call[2];
  if (!MatchBlockValue(fl, call[0], &value)) return Value();
  if (!CheckReducible(fl, call, value.type())) return Value();
  std::vector<ValueId> operands = {call[0].id(), value.id()};
  if (!AppendOffsets(fl, call[0], call[1], &operands)) return Value();
  fl.emitter().builder().Create(Op::kDescReduce, operands, {}, {static_cast<int64_t>(AtomicKind(call.name))});
  return Value::None();
}

namespace {

// Rows and column of gather and scatter.
bool MatchRows(FunctionLowering& fl, const BuiltinCall& call, size_t rows_at, Value* rows, Value* column) {
  const Type& type = call[0].type();
  if (type.rank() != 2 || type.dim(0) != 1) {
    fl.Error(absl::StrCat(call.name, ": the descriptor's block must be [1, N], found ", type.ToString()));
    return false;
  }
  *rows = call[rows_at];
  if (!rows->is_ssa() || rows->type().rank() != 1 || !rows->type().is_integer()) {
    fl.Error(absl::StrCat(call.name, ": x_offsets must be a tile of integers of rank 1, found ", rows->Describe()));
    return false;
  }
  *rows = fl.emitter().Cast(*rows, DType::kI32);
  *column = fl.emitter().ToSsa(call[rows_at + 1], DType::kI32);
  return !column->is_error();
}

}  // namespace

Value BuiltinDescGather(FunctionLowering& fl, BuiltinCall& call) {
  Value rows, column;
  if (!RequireDesc(fl, call) || !MatchRows(fl, call, 1, &rows, &column)) return Value();
  const Type& type = call[0].type();
  return fl.emitter().Create1(Op::kDescGather, {call[0].id(), rows.id(), column.id()},
                              Type::Tile({rows.type().dim(0), type.dim(1)}, type.dtype()));
}

Value BuiltinDescScatter(FunctionLowering& fl, BuiltinCall& call) {
  Value rows, column;
  if (!RequireDesc(fl, call) || !fl.MayWrite(call[0], call.name) || !MatchRows(fl, call, 2, &rows, &column))
    return Value();
  const Type& type = call[0].type();
  Value value = fl.emitter().Cast(call[1], type.dtype());
  if (value.is_error()) return value;
  const Type wanted = Type::Tile({rows.type().dim(0), type.dim(1)}, type.dtype());
  if (value.type() != wanted) {
    return fl.Error(
        absl::StrCat("desc.scatter: the value must be ", wanted.ToString(), ", found ", value.type().ToString()));
  }
  fl.emitter().builder().Create(Op::kDescScatter, {call[0].id(), value.id(), rows.id(), column.id()}, {});
  return Value::None();
}

Value BuiltinDebugBarrier(FunctionLowering& fl, BuiltinCall&) {
  fl.emitter().builder().Create(Op::kBarrier, {}, {});
  return Value::None();
}

}  // namespace trivet::frontend
