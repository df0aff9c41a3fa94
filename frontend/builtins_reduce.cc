// Reductions, scans and element maps over a combine function of the author's, and histogram.
#include "absl/strings/str_cat.h"
#include "frontend/builtins.h"

namespace trivet::frontend {

using vm::DType;
using vm::Op;
using vm::Type;

namespace {

// The tiles to reduce or scan: one, or a tuple of tiles of one shape.
bool RequireTiles(FunctionLowering& fl, const Value& input, absl::string_view what, std::vector<Value>* tiles) {
  *tiles = input.is_tuple() ? input.items() : std::vector<Value>{input};
  for (Value& tile : *tiles) {
    tile = fl.emitter().ToSsa(tile);
    if (tile.is_error()) return false;
    if (!tile.type().is_tile() || !tile.type().is_number()) {
      fl.Error(absl::StrCat(what, ": expected a tile of numbers, found ", tile.type().ToString()));
      return false;
    }
    if (tile.type().shape() != (*tiles)[0].type().shape()) {
      fl.Error(absl::StrCat(what, ": all inputs must have one shape, found ", (*tiles)[0].type().ToString(), " and ",
                            tile.type().ToString()));
      return false;
    }
  }
  if (tiles->empty()) {
    fl.Error(absl::StrCat(what, ": the tuple of inputs is empty"));
    return false;
  }
  return true;
}

bool RequireFunction(FunctionLowering& fl, const Value& value, absl::string_view what) {
  if (value.kind() == ValueKind::kLambda) return true;
  if (value.is_host() && value.host()->kind() == HostKind::kFunction) return true;
  if (!value.is_error()) {
    fl.Error(absl::StrCat(what, ": the combine function must be a @jit function, found ", value.Describe()));
  }
  return false;
}

// A region of scalars `param_types` that calls `function` and yields results of `result_types` (any, if empty).
// Region of none after an error.
RegionId CombineRegion(FunctionLowering& fl, const Value& function, absl::Span<const Type> param_types,
                       absl::Span<const Type> result_types, absl::string_view what, std::vector<Type>* yielded) {
  vm::Builder& b = fl.emitter().builder();
  const RegionId outer = b.region();
  const RegionId region = fl.function().AddRegion();
  b.set_region(region);
  std::vector<Value> params;
  for (const Type& type : param_types) params.push_back(fl.emitter().Wrap(fl.function().AddParam(region, type)));
  const Value result = fl.CallInRegion(function, params);
  bool ok = !result.is_error();
  std::vector<ValueId> ids;
  if (ok) {
    std::vector<Value> results = result.is_tuple() ? result.items() : std::vector<Value>{result};
    if (!result_types.empty() && results.size() != result_types.size()) {
      fl.Error(absl::StrCat(what, ": the combine function must return ", Count(result_types.size(), "value"),
                            ", found ", results.size()));
      ok = false;
    }
    for (size_t i = 0; ok && i < results.size(); ++i) {
      Value scalar = fl.emitter().ToSsa(results[i]);
      if (scalar.is_error()) {
        ok = false;
        break;
      }
      if (!scalar.type().is_scalar() || !scalar.type().is_number()) {
        fl.Error(absl::StrCat(what, ": the combine function must return scalars, found ", scalar.type().ToString()));
        ok = false;
        break;
      }
      if (!result_types.empty() && scalar.type() != result_types[i]) {
        // A combine function that widens (i8 + i8 gives i32 through a constant) comes back to the input's type.
        scalar = fl.emitter().Cast(scalar, result_types[i]);
      }
      ids.push_back(scalar.id());
      yielded->push_back(scalar.type());
    }
  }
  if (ok) b.Create(Op::kYield, ids, {});
  b.set_region(outer);
  return ok ? region : RegionId::None();
}

}  // namespace

Value BuiltinReduce(FunctionLowering& fl, BuiltinCall& call) {
  Emitter& e = fl.emitter();
  std::vector<Value> tiles;
  if (!RequireFunction(fl, call[2], "tl.reduce") || !RequireTiles(fl, call[0], "tl.reduce", &tiles)) return Value();
  std::optional<bool> keep = e.RequireBool(call[3], "tl.reduce: keep_dims");
  if (!keep) return Value();
  const Type::Shape original = tiles[0].type().shape();
  int axis = 0;
  if (call[1].is_none()) {
    // No axis: all elements, in row-major order.
    for (Value& tile : tiles) {
      if (tile.type().rank() > 1) {
        tile = e.Create1(Op::kReshape, {tile.id()}, tile.type().WithShape({tile.type().num_elements()}), {int64_t{0}});
      }
    }
  } else {
    std::optional<int> given = e.RequireAxis(call[1], tiles[0].type().rank(), "reduction");
    if (!given) return Value();
    axis = *given;
  }
  Type::Shape shape = tiles[0].type().shape();
  shape.erase(shape.begin() + axis);
  std::vector<Type> scalars, results;
  std::vector<ValueId> operands;
  for (const Value& tile : tiles) {
    scalars.push_back(tile.type().AsScalar());
    results.push_back(tile.type().WithShape(shape));
    operands.push_back(tile.id());
  }
  std::vector<Type> params = scalars;
  params.insert(params.end(), scalars.begin(), scalars.end());
  std::vector<Type> yielded;
  const RegionId region = CombineRegion(fl, call[2], params, scalars, "tl.reduce", &yielded);
  if (!region) return Value();
  const OpId op = e.builder().Create(Op::kReduce, operands, results, {int64_t{axis}}, {region});
  std::vector<Value> out;
  for (size_t i = 0; i < tiles.size(); ++i) {
    Value value = e.Wrap(fl.function().op(op).result(static_cast<int>(i)));
    if (*keep) {
      if (call[1].is_none()) {
        Type::Shape ones(original.size(), 1);
        value = e.BroadcastTo(value, ones, "tl.reduce");
      } else {
        value = e.ExpandDims(value, axis);
      }
    }
    out.push_back(value);
  }
  return call[0].is_tuple() ? Value::Tuple(std::move(out)) : out[0];
}

Value BuiltinAssociativeScan(FunctionLowering& fl, BuiltinCall& call) {
  Emitter& e = fl.emitter();
  std::vector<Value> tiles;
  if (!RequireFunction(fl, call[2], "tl.associative_scan") || !RequireTiles(fl, call[0], "tl.associative_scan", &tiles))
    return Value();
  std::optional<int> axis = e.RequireAxis(call[1], tiles[0].type().rank(), "scan");
  std::optional<bool> reverse = e.RequireBool(call[3], "tl.associative_scan: reverse");
  if (!axis || !reverse) return Value();
  std::vector<Type> scalars, results;
  std::vector<ValueId> operands;
  for (const Value& tile : tiles) {
    scalars.push_back(tile.type().AsScalar());
    results.push_back(tile.type());
    operands.push_back(tile.id());
  }
  std::vector<Type> params = scalars;
  params.insert(params.end(), scalars.begin(), scalars.end());
  std::vector<Type> yielded;
  const RegionId region = CombineRegion(fl, call[2], params, scalars, "tl.associative_scan", &yielded);
  if (!region) return Value();
  const OpId op = e.builder().Create(Op::kScan, operands, results, {int64_t{*axis}, int64_t{*reverse}}, {region});
  std::vector<Value> out;
  for (size_t i = 0; i < tiles.size(); ++i) out.push_back(e.Wrap(fl.function().op(op).result(static_cast<int>(i))));
  return call[0].is_tuple() ? Value::Tuple(std::move(out)) : out[0];
}

Value BuiltinMapElementwise(FunctionLowering& fl, BuiltinCall& call) {
  Emitter& e = fl.emitter();
  const bool is_function = RequireFunction(fl, call[0], "tl.map_elementwise");
  std::optional<int64_t> pack = e.RequireInt(call[1], "tl.map_elementwise: pack");
  if (!is_function || !pack) return Value();
  std::vector<Value> tiles = call.variadic;
  if (tiles.empty()) return fl.Error("tl.map_elementwise: no inputs");
  std::vector<Value*> pointers;
  for (Value& tile : tiles) {
    tile = e.ToSsa(tile);
    pointers.push_back(&tile);
  }
  if (!e.BroadcastTogether(pointers, "tl.map_elementwise")) return Value();
  if (*pack < 1 || tiles[0].type().num_elements() % *pack != 0) {
    return fl.Error(absl::StrCat("tl.map_elementwise: pack must divide the ", tiles[0].type().num_elements(),
                                 " elements, found ", *pack));
  }
  std::vector<Type> params;
  std::vector<ValueId> operands;
  for (const Value& tile : tiles) {
    if (!tile.type().is_tile())
      return fl.Error(absl::StrCat("tl.map_elementwise: expected tiles, found ", tile.type().ToString()));
    operands.push_back(tile.id());
    for (int64_t i = 0; i < *pack; ++i) params.push_back(tile.type().AsScalar());
  }
  std::vector<Type> yielded;
  const RegionId region = CombineRegion(fl, call[0], params, {}, "tl.map_elementwise", &yielded);
  if (!region) return Value();
  if (yielded.size() % static_cast<size_t>(*pack) != 0) {
    return fl.Error(absl::StrCat("tl.map_elementwise: the function returns ", yielded.size(),
                                 " values, not a multiple of pack = ", *pack));
  }
  std::vector<Type> results;
  for (size_t i = 0; i < yielded.size(); i += static_cast<size_t>(*pack))
    results.push_back(yielded[i].WithShape(tiles[0].type().shape()));
  const OpId op = e.builder().Create(Op::kMapElementwise, operands, results, {*pack}, {region});
  std::vector<Value> out;
  for (size_t i = 0; i < results.size(); ++i) out.push_back(e.Wrap(fl.function().op(op).result(static_cast<int>(i))));
  return out.size() == 1 ? out[0] : Value::Tuple(std::move(out));
}

Value BuiltinHistogram(FunctionLowering& fl, BuiltinCall& call) {
  Emitter& e = fl.emitter();
  const Value& input = call[0];
  if (!input.is_ssa() || input.type().rank() != 1 || !input.type().is_integer()) {
    return fl.Error(absl::StrCat("tl.histogram: expected a tile of integers of rank 1, found ", input.Describe()));
  }
  std::optional<Type::Shape> bins = e.RequireShape(call[1], "tl.histogram: num_bins");
  if (!bins) return Value();
  std::vector<ValueId> operands = {input.id(), ValueId::None()};
  if (!call[2].is_none()) {
    Value mask = e.BroadcastTo(e.ToBool(call[2]), input.type().shape(), "tl.histogram: mask");
    if (mask.is_error()) return mask;
    operands[1] = mask.id();
  }
  return e.Create1(Op::kHistogram, operands, Type::Tile(*bins, DType::kI32));
}

}  // namespace trivet::frontend
