// Indices of tiles: x[None, :] adds axes as in Triton; constant slices, integers and assignment to them are extensions
// (docs/extensions.md).
//
//   x[2:6, ::2]   a part: `slice`                    x[i, j]      one scalar: `extract`, at run-time indices too
//   x[0, :]       a row: `slice` and `reshape`       x[2:6] = y   `insert_slice`
//   x[i, :]       a row at a run-time index:         x[i] = v     `select` by comparison with arange, so that i may be
//                 `gather` and `reshape`                          a run-time value
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "frontend/builtins.h"
#include "frontend/function_lowering.h"

namespace trivet::frontend {

using vm::DType;
using vm::Op;
using vm::Type;

namespace {

// What one index says about one axis of the tile.
struct AxisIndex {
  bool is_integer = false;  // the axis disappears
  Value integer;            // run-time or known
  int64_t start = 0, step = 1, count = 0;
};

constexpr char kPortableWay[] = "use tl.gather, tl.split, tl.where with a mask, or a load through pointers";

}  // namespace

// The indices by axis of the tile, axes that are not named whole; `new_axes` gets the positions of None in the result.
// Empty after an error.
static std::optional<std::vector<AxisIndex>> ParseIndices(FunctionLowering& fl, const Value& tile,
                                                          const std::vector<Value>& indices,
                                                          std::vector<int>* new_axes) {
  Emitter& e = fl.emitter();
  const Type& type = tile.type();
  std::vector<AxisIndex> axes;
  int position = 0;  // in the result
  for (const Value& one : indices) {
    if (one.is_none()) {
      new_axes->push_back(position++);
      continue;
    }
    const bool whole = one.kind() == ValueKind::kSlice && one.items()[0].is_none() && one.items()[1].is_none() &&
                       one.items()[2].is_none();
    if (type.is_scalar() && whole) continue;  // as in Triton, a scalar has a ':' for the asking
    if (type.is_scalar()) {
      fl.Error(
          absl::StrCat("unsupported tensor index: ", tile.Describe(), " is a scalar, indexed with ", one.Describe()),
          type.is_pointer() ? "write tl.load(pointer + offset)" : "");
      return std::nullopt;
    }
    if (static_cast<int>(axes.size()) == type.rank()) {
      size_t kept = 0;
      for (const Value& v : indices) kept += v.is_none() ? 0 : 1;
      fl.Error(absl::StrCat("too many indices: ", kept, " for ", type.ToString(), " of rank ", type.rank()));
      return std::nullopt;
    }
    AxisIndex axis;
    const int64_t extent = type.shape()[axes.size()];
    if (one.kind() == ValueKind::kSlice) {
      int64_t part[3] = {0, extent, 1};
      for (size_t i : {2, 0, 1}) {
        if (one.items()[i].is_none()) continue;
        std::optional<int64_t> given = e.RequireInt(one.items()[i], "a bound of a slice of a tile");
        if (!given) return std::nullopt;
        part[i] = i < 2 && *given < 0 ? *given + extent : *given;
      }
      part[1] = std::min(part[1], extent);
      if (part[2] < 1) {
        fl.Error(absl::StrCat("the step of a slice of a tile must be positive, found ", part[2]),
                 "use tl.flip to reverse");
        return std::nullopt;
      }
      if (part[0] < 0 || part[0] >= part[1]) {
        fl.Error(absl::StrCat("the slice ", part[0], ":", part[1], " of an axis of extent ", extent, " is empty"));
        return std::nullopt;
      }
      axis.start = part[0];
      axis.step = part[2];
      axis.count = (part[1] - part[0] + part[2] - 1) / part[2];
      ++position;
    } else {
      const bool integer = one.AsKnownInt() || (one.is_ssa() && one.type().is_scalar() && one.type().is_integer());
      if (!integer || type.is_pointer()) {
        if (type.is_pointer()) {
          fl.Error(absl::StrCat("a pointer can't be indexed, found ", tile.Describe()),
                   "write tl.load(pointer + offset)");
        } else {
          fl.Error(absl::StrCat("unsupported tensor index: ", one.Describe()), kPortableWay);
        }
        return std::nullopt;
      }
      axis.is_integer = true;
      axis.integer = one;
      if (std::optional<Int> known = one.AsKnownInt()) {
        const Int at = *known < 0 ? *known + extent : *known;
        if (at < 0 || at >= extent) {
          fl.Error(
              absl::StrCat("index ", IntToString(*known), " is outside axis ", axes.size(), " of ", type.ToString()));
          return std::nullopt;
        }
        axis.integer = Value::Of(at);
        axis.start = static_cast<int64_t>(at);
        axis.count = 1;
      }
    }
    axes.push_back(std::move(axis));
  }
  while (static_cast<int>(axes.size()) < type.rank()) {
    axes.push_back({.is_integer = false, .integer = {}, .start = 0, .step = 1, .count = type.shape()[axes.size()]});
  }
  return axes;
}

Value BuiltinSlice(FunctionLowering&, BuiltinCall& call) { return Value::Slice(call[0], call[1], call[2]); }

Value FunctionLowering::GetTileItem(const Value& tile, const std::vector<Value>& indices) {
  std::vector<int> new_axes;
  std::optional<std::vector<AxisIndex>> axes = ParseIndices(*this, tile, indices, &new_axes);
  if (!axes) return Value();
  Value result = tile;
  bool whole = true, all_integers = !axes->empty(), run_time = false;
  for (size_t i = 0; i < axes->size(); ++i) {
    const AxisIndex& a = (*axes)[i];
    whole = whole && !a.is_integer && a.count == tile.type().shape()[i] && a.step == 1;
    all_integers = all_integers && a.is_integer;
    run_time = run_time || (a.is_integer && a.count == 0);
  }
  if (!whole) {
    if (!AllowExtension(
            absl::StrCat("a tile is indexed with ':' and None only, found an index into ", tile.type().ToString()),
            kPortableWay)) {
      return Value();
    }
    if (all_integers) {
      std::vector<ValueId> operands = {tile.id()};
      for (const AxisIndex& a : *axes) {
        Value at = emitter_.ToSsa(a.integer);
        at = emitter_.Cast(at, vm::InfoOf(at.type().dtype()).bits > 32 ? DType::kI64 : DType::kI32);
        operands.push_back(at.id());
      }
      result = emitter_.Create1(Op::kExtract, operands, tile.type().AsScalar());
    } else {
      Type::Shape part, kept;
      std::vector<int64_t> starts, steps;
      for (size_t i = 0; i < axes->size(); ++i) {
        const AxisIndex& a = (*axes)[i];
        part.push_back(a.is_integer && a.count == 0 ? tile.type().shape()[i] : a.count);
        if (!a.is_integer) kept.push_back(a.count);
        starts.push_back(a.start);
        steps.push_back(a.step);
      }
      if (part != tile.type().shape() || std::any_of(steps.begin(), steps.end(), [](int64_t s) { return s != 1; }))
        result = emitter_.Create1(Op::kSlice, {tile.id()}, tile.type().WithShape(part), {starts, steps});
      for (size_t i = 0; i < axes->size() && run_time; ++i) {
        const AxisIndex& a = (*axes)[i];
        if (!a.is_integer || a.count != 0) continue;
        part[i] = 1;
        Value at = emitter_.Cast(emitter_.ToSsa(a.integer), DType::kI32);
        at = emitter_.Create1(Op::kSplat, {at.id()}, Type::Tile(part, DType::kI32));
        result = emitter_.Create1(Op::kGather, {result.id(), at.id()}, result.type().WithShape(part),
                                  {static_cast<int64_t>(i)});
      }
      if (kept != part)
        result = emitter_.Create1(Op::kReshape, {result.id()}, tile.type().WithShape(kept), {int64_t{0}});
    }
  }
  for (int axis : new_axes) result = emitter_.ExpandDims(result, axis);
  return result;
}

Value FunctionLowering::SetTileItem(const Value& tile, const std::vector<Value>& indices, const Value& given) {
  if (!AllowExtension("elements of a tile can't be assigned in Triton",
                      "use tl.where with a mask of the positions to change"))
    return Value();
  std::vector<int> new_axes;
  std::optional<std::vector<AxisIndex>> axes = ParseIndices(*this, tile, indices, &new_axes);
  if (!axes) return Value();
  if (!new_axes.empty()) return Error("None can't stand in an index that is assigned to");
  Value value = emitter_.Cast(given, tile.type().AsScalar());
  if (value.is_error()) return value;
  bool run_time = false;
  Type::Shape part, kept;
  std::vector<int64_t> starts, steps;
  for (const AxisIndex& a : *axes) {
    run_time = run_time || (a.is_integer && a.count == 0);
    part.push_back(a.count);
    if (!a.is_integer) kept.push_back(a.count);
    starts.push_back(a.start);
    steps.push_back(a.step);
  }
  if (!run_time) {
    value = emitter_.BroadcastTo(value, kept, "assignment to a part of a tile");
    if (value.is_error()) return value;
    const Type part_type = tile.type().WithShape(part);
    if (value.type().is_scalar()) {
      value = emitter_.Create1(Op::kSplat, {value.id()}, part_type);
    } else if (value.type() != part_type) {
      value = emitter_.Create1(Op::kReshape, {value.id()}, part_type, {int64_t{0}});
    }
    return emitter_.Create1(Op::kInsertSlice, {tile.id(), value.id()}, tile.type(), {starts, steps});
  }
  // At a run-time index: where each axis' position equals it.
  Value mask;
  for (size_t i = 0; i < axes->size(); ++i) {
    const AxisIndex& a = (*axes)[i];
    const int64_t extent = tile.type().shape()[i];
    if (!a.is_integer) {
      if (a.count == extent) continue;
      return Error("an index known at run time only can't be mixed with a part of an axis", kPortableWay);
    }
    Value positions = emitter_.Create1(Op::kArange, {}, Type::Tile({extent}, DType::kI32), {int64_t{0}, extent});
    Value equal = emitter_.Compare("==", positions, a.integer);
    for (size_t k = i + 1; k < axes->size(); ++k) equal = emitter_.ExpandDims(equal, equal.type().rank());
    mask = mask.is_error() ? equal : emitter_.Logical("and", mask, equal);
  }
  mask = emitter_.BroadcastTo(mask, tile.type().shape(), "assignment to a part of a tile");
  // The value has the axes that are whole, in order.
  for (size_t i = 0; i < axes->size() && !value.type().is_scalar(); ++i) {
    if ((*axes)[i].is_integer)
      value =
          emitter_.ExpandDims(value, static_cast<int>(std::min<size_t>(i, static_cast<size_t>(value.type().rank()))));
  }
  value = emitter_.BroadcastTo(value, tile.type().shape(), "assignment to a part of a tile");
  if (mask.is_error() || value.is_error()) return Value();
  return emitter_.Create1(Op::kSelect, {mask.id(), value.id(), tile.id()}, tile.type());
}

}  // namespace trivet::frontend
