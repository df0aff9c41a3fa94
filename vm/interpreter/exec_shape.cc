// Ops that only move elements: broadcast .. insert_slice, and gather and extract, which pick at run time.
//
// Elements are moved as unsigned words of their size, whatever their type. Nothing here runs in place.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "vm/interpreter/elementwise.h"
#include "vm/interpreter/strided_copy.h"

namespace trivet::vm {
namespace {

using Strides = absl::InlinedVector<int64_t, 4>;
using Axes = absl::InlinedVector<StridedAxis, 4>;

// --- moves known beforehand: one or two strided copies ---------------------------------------------------------------

void RunStridedCopy(ExecContext& cx, const Instr& at) {
  at.payload<StridedCopy>().Run(cx.Operand<std::byte>(at, 0), cx.Result<std::byte>(at));
}

// The result is written in order; from_strides, one an axis of the result, say where its elements come from.
PreparedOp PrepareRead(const PrepareContext& cx, absl::Span<const int64_t> from_strides, int64_t from_base) {
  const Type& type = cx.result_type();
  const Strides to_strides = RowMajorStrides(type.shape());
  Axes axes;
  for (size_t i = 0; i < to_strides.size(); ++i) axes.push_back({type.shape()[i], from_strides[i], to_strides[i]});
  return MakePrepared(&RunStridedCopy, StridedCopy::Plan(axes, from_base, 0, type.element_bytes()));
}

// Where a slice of a tile of this shape starts, and its strides.
struct SlicePlace {
  int64_t base = 0;
  Strides strides;

  SlicePlace(absl::Span<const int64_t> shape, absl::Span<const int64_t> starts, absl::Span<const int64_t> steps)
      : strides(RowMajorStrides(shape)) {
    for (size_t i = 0; i < strides.size(); ++i) {
      base += starts[i] * strides[i];
      strides[i] *= steps[i];
    }
  }
};

struct InsertPayload {
  size_t whole_bytes;
  StridedCopy copy;
};

void RunInsertSlice(ExecContext& cx, const Instr& at) {
  const InsertPayload& payload = at.payload<InsertPayload>();
  std::byte* out = cx.Result<std::byte>(at);
  const std::byte* whole = cx.Operand<std::byte>(at, InsertSliceOp::In::x);
  if (whole != out) std::memcpy(out, whole, payload.whole_bytes);
  payload.copy.Run(cx.Operand<std::byte>(at, InsertSliceOp::In::part), out);
}

// --- join, split, cat ------------------------------------------------------------------------------------------------

template <typename U>
void RunJoin(ExecContext& cx, const Instr& at) {
  const int64_t count = at.payload<CountPayload>().count;
  const U* __restrict lhs = cx.Operand<U>(at, JoinOp::In::lhs);
  const U* __restrict rhs = cx.Operand<U>(at, JoinOp::In::rhs);
  U* __restrict out = cx.Result<U>(at);
  for (int64_t i = 0; i < count; ++i) {
    out[2 * i] = lhs[i];
    out[2 * i + 1] = rhs[i];
  }
}

template <typename U>
void RunSplit(ExecContext& cx, const Instr& at) {
  const int64_t count = at.payload<CountPayload>().count;
  const U* __restrict in = cx.Operand<U>(at, SplitOp::In::x);
  U* __restrict lhs = cx.Result<U>(at, 0);
  U* __restrict rhs = cx.Result<U>(at, 1);
  for (int64_t i = 0; i < count; ++i) {
    lhs[i] = in[2 * i];
    rhs[i] = in[2 * i + 1];
  }
}

struct CatPayload {
  int64_t outer;
  size_t lhs_bytes;  // of what lies under one index of the axes before the concatenated one
  size_t rhs_bytes;
};

void RunCat(ExecContext& cx, const Instr& at) {
  const CatPayload& payload = at.payload<CatPayload>();
  const std::byte* lhs = cx.Operand<std::byte>(at, CatOp::In::lhs);
  const std::byte* rhs = cx.Operand<std::byte>(at, CatOp::In::rhs);
  std::byte* out = cx.Result<std::byte>(at);
  for (int64_t i = 0; i < payload.outer; ++i) {
    std::memcpy(out, lhs, payload.lhs_bytes);
    std::memcpy(out + payload.lhs_bytes, rhs, payload.rhs_bytes);
    lhs += payload.lhs_bytes;
    rhs += payload.rhs_bytes;
    out += payload.lhs_bytes + payload.rhs_bytes;
  }
}

// --- gather, extract -------------------------------------------------------------------------------------------------

// An axis counted from the front, with the number of elements before and after it in a tile of this shape.
struct AxisPlace {
  int64_t axis;
  int64_t outer = 1;
  int64_t inner = 1;

  AxisPlace(const Type& type, int64_t which) : axis(which < 0 ? which + type.rank() : which) {
    for (int i = 0; i < type.rank(); ++i) {
      if (i < axis) outer *= type.dim(i);
      if (i > axis) inner *= type.dim(i);
    }
  }
};

// Integers of any type as i64. A u64 beyond i64 becomes negative, which no tile has as an index either.
using LoadIndices = void (*)(const void* in, int64_t first, int64_t count, int64_t* out);

template <typename T>
void LoadIndicesOf(const void* in, int64_t first, int64_t count, int64_t* out) {
  const T* indices = static_cast<const T*>(in) + first;
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<int64_t>(indices[i]);
}

LoadIndices FindLoadIndices(DType dtype) {
  return VisitInteger(dtype, []<typename T>(TypeTag<T>) -> LoadIndices { return &LoadIndicesOf<T>; });
}

// x is [outer, from_extent, inner], index and result are [outer, to_extent, inner].
struct GatherPayload {
  LoadIndices load;
  int64_t axis;
  int64_t outer;
  int64_t from_extent;
  int64_t to_extent;
  int64_t inner;
};

// True if all indices are in [0, extent). One comparison each: a negative one is large when seen as unsigned.
bool AllInside(const int64_t* indices, int64_t count, int64_t extent) {
  uint64_t largest = 0;
  for (int64_t i = 0; i < count; ++i) largest = std::max(largest, static_cast<uint64_t>(indices[i]));
  return largest < static_cast<uint64_t>(extent);
}

void TrapIndex(ExecContext& cx, const Instr& at, const char* op, int64_t index, int64_t axis, int64_t extent,
               int64_t element) {
  cx.RaiseTrap(at, TrapKind::kIndex,
               absl::StrCat(op, ": index ", index, " is outside axis ", axis, ", whose extent is ", extent), element);
}

// Along the last axis a row of the result picks from one row of x. Along another, a row of the result has, in each
// column, its own index into that column; a row is then `inner` long.
template <typename U>
void RunGather(ExecContext& cx, const Instr& at) {
  const GatherPayload& plan = at.payload<GatherPayload>();
  const U* x = cx.Operand<U>(at, GatherOp::In::x);
  const void* index = cx.Operand<std::byte>(at, GatherOp::In::index);
  U* out = cx.Result<U>(at);
  const bool is_last = plan.inner == 1;
  const int64_t row_length = is_last ? plan.to_extent : plan.inner;
  const int64_t rows_per_outer = is_last ? 1 : plan.to_extent;
  const int64_t column_step = is_last ? 0 : 1;

  int64_t indices[kChunkElements];
  int64_t element = 0;
  for (int64_t row = 0; row < plan.outer * rows_per_outer; ++row) {
    const U* base = x + row / rows_per_outer * plan.from_extent * plan.inner;
    for (int64_t start = 0; start < row_length; start += kChunkElements) {
      const int64_t count = std::min(kChunkElements, row_length - start);
      plan.load(index, element, count, indices);
      if (!AllInside(indices, count, plan.from_extent)) {
        const int64_t* bad =
            std::find_if(indices, indices + count, [&](int64_t i) { return i < 0 || i >= plan.from_extent; });
        return TrapIndex(cx, at, "gather", *bad, plan.axis, plan.from_extent, element + (bad - indices));
      }
      const U* columns = base + start * column_step;
      for (int64_t i = 0; i < count; ++i) out[element + i] = columns[indices[i] * plan.inner + i * column_step];
      element += count;
    }
  }
}

struct ExtractPayload {
  struct Axis {
    LoadIndices load;
    int64_t extent;
    int64_t stride;
  };
  std::vector<Axis> axes;
};

template <typename U>
void RunExtract(ExecContext& cx, const Instr& at) {
  int64_t offset = 0;
  int axis = 0;
  for (const ExtractPayload::Axis& place : at.payload<ExtractPayload>().axes) {
    int64_t index;
    place.load(cx.Operand<std::byte>(at, ExtractOp::In::indices + axis), 0, 1, &index);
    if (index < 0 || index >= place.extent) return TrapIndex(cx, at, "extract", index, axis, place.extent, -1);
    offset += index * place.stride;
    ++axis;
  }
  *cx.Result<U>(at) = cx.Operand<U>(at, ExtractOp::In::x)[offset];
}

}  // namespace

absl::StatusOr<PreparedOp> PrepareBroadcast(PrepareContext& cx) {
  const Type& from = cx.operand_type(BroadcastOp::In::x);
  Strides strides = RowMajorStrides(from.shape());
  for (int i = 0; i < from.rank(); ++i) {
    if (from.dim(i) == 1) strides[static_cast<size_t>(i)] = 0;
  }
  return PrepareRead(cx, strides, 0);
}

absl::StatusOr<PreparedOp> PrepareExpandDims(PrepareContext& cx) { return PrepareCopy(cx.result_type().value_bytes()); }

// allow_reorder permits other orders; the reference keeps this one.
absl::StatusOr<PreparedOp> PrepareReshape(PrepareContext& cx) { return PrepareCopy(cx.result_type().value_bytes()); }

absl::StatusOr<PreparedOp> PrepareTrans(PrepareContext& cx) {
  const std::vector<int64_t>& order = cx.op().ints_attr(TransOp::At::order);
  const Strides from = RowMajorStrides(cx.operand_type(TransOp::In::x).shape());
  Strides strides;
  for (int64_t axis : order) strides.push_back(from[static_cast<size_t>(axis)]);
  return PrepareRead(cx, strides, 0);
}

absl::StatusOr<PreparedOp> PrepareJoin(PrepareContext& cx) {
  const CountPayload payload{cx.operand_count(JoinOp::In::lhs)};
  return VisitWidth(cx.result_type().element_bytes(),
                    [&]<typename U>(TypeTag<U>) { return MakePrepared(&RunJoin<U>, payload); });
}

absl::StatusOr<PreparedOp> PrepareSplit(PrepareContext& cx) {
  const CountPayload payload{cx.result_count()};
  return VisitWidth(cx.result_type().element_bytes(),
                    [&]<typename U>(TypeTag<U>) { return MakePrepared(&RunSplit<U>, payload); });
}

absl::StatusOr<PreparedOp> PrepareCat(PrepareContext& cx) {
  const Type& lhs = cx.operand_type(CatOp::In::lhs);
  const Type& rhs = cx.operand_type(CatOp::In::rhs);
  const int64_t outer = AxisPlace(lhs, cx.op().int_attr(CatOp::At::axis)).outer;
  return MakePrepared(&RunCat, CatPayload{outer, static_cast<size_t>(lhs.value_bytes() / outer),
                                          static_cast<size_t>(rhs.value_bytes() / outer)});
}

absl::StatusOr<PreparedOp> PrepareFlip(PrepareContext& cx) {
  const Type& type = cx.result_type();
  const auto axis = static_cast<size_t>(AxisPlace(type, cx.op().int_attr(FlipOp::At::axis)).axis);
  Strides strides = RowMajorStrides(type.shape());
  const int64_t base = (type.shape()[axis] - 1) * strides[axis];
  strides[axis] = -strides[axis];
  return PrepareRead(cx, strides, base);
}

absl::StatusOr<PreparedOp> PrepareGather(PrepareContext& cx) {
  const Type& from = cx.operand_type(GatherOp::In::x);
  const Type& index = cx.operand_type(GatherOp::In::index);
  const AxisPlace place(from, cx.op().int_attr(GatherOp::At::axis));
  const GatherPayload payload{
      FindLoadIndices(index.dtype()),          place.axis, place.outer, from.dim(static_cast<int>(place.axis)),
      index.dim(static_cast<int>(place.axis)), place.inner};
  return VisitWidth(from.element_bytes(), [&]<typename U>(TypeTag<U>) { return MakePrepared(&RunGather<U>, payload); });
}

absl::StatusOr<PreparedOp> PrepareSlice(PrepareContext& cx) {
  const SlicePlace place(cx.operand_type(SliceOp::In::x).shape(), cx.op().ints_attr(SliceOp::At::starts),
                         cx.op().ints_attr(SliceOp::At::steps));
  return PrepareRead(cx, place.strides, place.base);
}

absl::StatusOr<PreparedOp> PrepareInsertSlice(PrepareContext& cx) {
  const Type& whole = cx.result_type();
  const Type& part = cx.operand_type(InsertSliceOp::In::part);
  const SlicePlace place(whole.shape(), cx.op().ints_attr(InsertSliceOp::At::starts),
                         cx.op().ints_attr(InsertSliceOp::At::steps));
  const Strides part_strides = RowMajorStrides(part.shape());
  Axes axes;
  for (size_t i = 0; i < part_strides.size(); ++i) {
    axes.push_back({part.shape()[i], part_strides[i], place.strides[i]});
  }
  return MakePrepared(&RunInsertSlice, InsertPayload{static_cast<size_t>(whole.value_bytes()),
                                                     StridedCopy::Plan(axes, 0, place.base, whole.element_bytes())});
}

absl::StatusOr<PreparedOp> PrepareExtract(PrepareContext& cx) {
  const Type& from = cx.operand_type(ExtractOp::In::x);
  const Strides strides = RowMajorStrides(from.shape());
  ExtractPayload payload;
  for (int i = 0; i < from.rank(); ++i) {
    const Type& index = cx.operand_type(ExtractOp::In::indices + i);
    payload.axes.push_back({FindLoadIndices(index.dtype()), from.dim(i), strides[static_cast<size_t>(i)]});
  }
  return VisitWidth(cx.result_type().element_bytes(),
                    [&]<typename U>(TypeTag<U>) { return MakePrepared(&RunExtract<U>, std::move(payload)); });
}

}  // namespace trivet::vm
