// reduce.
//
// The order of combination is part of the reference. Along the axis, neighbours are combined, then neighbours of what
// that gives, and so on; an odd one at the end goes on as it is:
//
//   s[i] = combine(s[2i], s[2i + 1])            0 1 2 3 4 5 6      extent 7
//                                               01  23  45  6             4
//                                               0123    456               2
//                                               0123456                   1
//
// The order of the operands is kept, so a region need only be associative, not commutative; and the error of a float
// sum grows with the logarithm of the extent. Narrow floats round after each combine, as the region says (the
// language's `sum` and `max` widen first where Triton does). Recognised combines (region_patterns.h) and all others
// (exec_region.cc) combine in this same order.
//
// An axis other than the last, or an even extent, needs no loop over rows: pairs of neighbours of one row after another
// are pairs of neighbours of the whole tile.
#include <algorithm>
#include <memory>
#include <span>

#include "vm/interpreter/combine_ops.h"
#include "vm/interpreter/element_dispatch.h"
#include "vm/interpreter/prepare.h"
#include "vm/interpreter/region_ops.h"
#include "vm/interpreter/scratch_layout.h"

namespace trivet::vm {
namespace {

// Where the halves of one level go: from `in` to `out`, which don't overlap. `pairs` rows of `inner` elements each.
template <CombineKind kKind, typename C>
void CombinePairs(const C* __restrict in, C* __restrict out, int64_t pairs, int64_t inner) {
  if (inner == 1) {
    for (int64_t i = 0; i < pairs; ++i) out[i] = Combine<kKind>(in[2 * i], in[2 * i + 1]);
    return;
  }
  for (int64_t pair = 0; pair < pairs; ++pair) {
    const C* first = in + 2 * pair * inner;
    const C* second = first + inner;
    C* result = out + pair * inner;
    for (int64_t i = 0; i < inner; ++i) result[i] = Combine<kKind>(first[i], second[i]);
  }
}

// One level: [outer, extent, inner] -> [outer, ceil(extent / 2), inner]. `combine_pairs(from, to, pairs)` combines
// `pairs` pairs of rows that begin with row `from` into rows that begin with row `to`; `copy(from, to)` carries a row.
template <typename CombinePairsFn, typename CopyFn>
void ForEachRunOfPairs(int64_t outer, int64_t extent, const CombinePairsFn& combine_pairs, const CopyFn& copy) {
  const int64_t half = extent / 2;
  if (extent % 2 == 0) return combine_pairs(0, 0, outer * half);
  for (int64_t o = 0; o < outer; ++o) {
    const int64_t to = o * (half + 1);
    combine_pairs(o * extent, to, half);
    copy(o * extent + extent - 1, to + half);
  }
}

// Elements that the levels of a reduction need between operand and result: the first level's, and the second's.
struct LevelBuffers {
  int64_t first;
  int64_t second;
};
LevelBuffers BuffersFor(const AxisExtents& at) {
  const int64_t half = (at.extent + 1) / 2;
  return {at.outer * half * at.inner, at.outer * ((half + 1) / 2) * at.inner};
}

template <NarrowFloatElement T>
void RoundInPlace(float* values, T* rounded, int64_t count) {
  const std::span<float> wide(values, static_cast<size_t>(count));
  const std::span<T> narrow(rounded, static_cast<size_t>(count));
  RoundFromF32<T>(wide, narrow);
  WidenToF32<T>(narrow, wide);
}

// Stores values that T holds, infinities included.
template <typename T>
void StoreExactly(const ComputeType<T>* values, T* out, int64_t count) {
  if constexpr (NarrowFloatElement<T>) {
    RoundFromF32<T>({values, static_cast<size_t>(count)}, {out, static_cast<size_t>(count)}, T::kInfo.default_rounding,
                    Overflow::kInfinity);
  } else {
    std::copy_n(values, count, out);
  }
}

template <typename T>
struct ReduceScratch {
  ComputeType<T>* widened;  // the operand; narrow floats only
  ComputeType<T>* levels[2];
  T* rounded;  // narrow floats only

  static ReduceScratch In(ScratchLayout& layout, const AxisExtents& at) {
    const LevelBuffers buffers = BuffersFor(at);
    ReduceScratch scratch{};
    if constexpr (NarrowFloatElement<T>) {
      scratch.widened = layout.Take<float>(at.num_elements());
      scratch.rounded = layout.Take<T>(buffers.first);
    }
    scratch.levels[0] = layout.Take<ComputeType<T>>(buffers.first);
    scratch.levels[1] = layout.Take<ComputeType<T>>(buffers.second);
    return scratch;
  }
};

template <typename T, CombineKind kKind>
void ExecReduce(ExecContext& cx, const Instr& at) {
  using C = ComputeType<T>;
  const AxisExtents& extents = at.payload<AxisExtents>();
  ScratchLayout layout(cx.Scratch<std::byte>());
  const ReduceScratch<T> scratch = ReduceScratch<T>::In(layout, extents);
  const T* x = cx.Operand<T>(at, 0);
  const int64_t results = extents.outer * extents.inner;
  const C* from;
  if constexpr (NarrowFloatElement<T>) {
    WidenToF32<T>({x, static_cast<size_t>(extents.num_elements())},
                  {scratch.widened, static_cast<size_t>(extents.num_elements())});
    from = scratch.widened;
  } else {
    from = x;
  }
  int64_t extent = extents.extent;
  for (int level = 0; extent > 1; ++level) {
    C* to = scratch.levels[level % 2];
    const int64_t inner = extents.inner;
    ForEachRunOfPairs(
        extents.outer, extent,
        [&](int64_t from_row, int64_t to_row, int64_t pairs) {
          CombinePairs<kKind>(from + from_row * inner, to + to_row * inner, pairs, inner);
          if constexpr (NarrowFloatElement<T> && CombineRounds(kKind)) {
            RoundInPlace<T>(to + to_row * inner, scratch.rounded, pairs * inner);
          }
        },
        [&](int64_t from_row, int64_t to_row) { std::copy_n(from + from_row * inner, inner, to + to_row * inner); });
    extent = (extent + 1) / 2;
    from = to;
  }
  StoreExactly(from, cx.Result<T>(at), results);
}

template <typename T>
Handler HandlerFor(CombineKind kind) {
  if constexpr (std::integral<T>) {
    return VisitIntegerCombine<Handler>(kind, []<CombineKind kKind>() -> Handler { return &ExecReduce<T, kKind>; });
  } else {
    return VisitFloatCombine<Handler>(kind, []<CombineKind kKind>() -> Handler { return &ExecReduce<T, kKind>; });
  }
}

// --- argmax and argmin: (value, i32 index) pairs ------------------------------------------------------------------

// Whether the first of two pairs wins.
template <CombineKind kKind, typename C>
inline bool FirstWins(C value1, int32_t index1, C value2, int32_t index2) {
  constexpr bool kIsMax = kKind == CombineKind::kArgMaxLeft || kKind == CombineKind::kArgMaxFast;
  constexpr bool kIsLeft = kKind == CombineKind::kArgMaxLeft || kKind == CombineKind::kArgMinLeft;
  const bool wins = kIsMax ? value1 > value2 : value1 < value2;
  if constexpr (!kIsLeft) return wins;
  return wins | ((value1 == value2) & (index1 < index2));
}

template <CombineKind kKind, typename C>
void CombineArgPairs(const C* __restrict values, const int32_t* __restrict indices, C* __restrict out_values,
                     int32_t* __restrict out_indices, int64_t pairs, int64_t inner) {
  for (int64_t pair = 0; pair < pairs; ++pair) {
    const int64_t first = 2 * pair * inner;
    const int64_t second = first + inner;
    for (int64_t i = 0; i < inner; ++i) {
      const C value1 = values[first + i];
      const C value2 = values[second + i];
      const int32_t index1 = indices[first + i];
      const int32_t index2 = indices[second + i];
      const bool first_wins = FirstWins<kKind>(value1, index1, value2, index2);
      out_values[pair * inner + i] = first_wins ? value1 : value2;
      out_indices[pair * inner + i] = first_wins ? index1 : index2;
    }
  }
}

// As CombineArgPairs for inner == 1, a loop that vectorises.
template <CombineKind kKind, typename C>
void CombineArgNeighbours(const C* __restrict values, const int32_t* __restrict indices, C* __restrict out_values,
                          int32_t* __restrict out_indices, int64_t pairs) {
  for (int64_t i = 0; i < pairs; ++i) {
    const bool first_wins = FirstWins<kKind>(values[2 * i], indices[2 * i], values[2 * i + 1], indices[2 * i + 1]);
    out_values[i] = first_wins ? values[2 * i] : values[2 * i + 1];
    out_indices[i] = first_wins ? indices[2 * i] : indices[2 * i + 1];
  }
}

template <typename T, CombineKind kKind>
void ExecArgReduce(ExecContext& cx, const Instr& at) {
  using C = ComputeType<T>;
  const AxisExtents& extents = at.payload<AxisExtents>();
  const int64_t inner = extents.inner;
  ScratchLayout layout(cx.Scratch<std::byte>());
  const ReduceScratch<T> scratch = ReduceScratch<T>::In(layout, extents);
  const ReduceScratch<int32_t> index_scratch = ReduceScratch<int32_t>::In(layout, extents);
  const T* x = cx.Operand<T>(at, 0);
  const int32_t* indices = cx.Operand<int32_t>(at, 1);
  const C* values;
  if constexpr (NarrowFloatElement<T>) {
    WidenToF32<T>({x, static_cast<size_t>(extents.num_elements())},
                  {scratch.widened, static_cast<size_t>(extents.num_elements())});
    values = scratch.widened;
  } else {
    values = x;
  }
  int64_t extent = extents.extent;
  for (int level = 0; extent > 1; ++level) {
    C* to = scratch.levels[level % 2];
    int32_t* to_indices = index_scratch.levels[level % 2];
    ForEachRunOfPairs(
        extents.outer, extent,
        [&](int64_t from_row, int64_t to_row, int64_t pairs) {
          const int64_t source = from_row * inner;
          const int64_t target = to_row * inner;
          if (inner == 1) {
            CombineArgNeighbours<kKind>(values + source, indices + source, to + target, to_indices + target, pairs);
          } else {
            CombineArgPairs<kKind>(values + source, indices + source, to + target, to_indices + target, pairs, inner);
          }
        },
        [&](int64_t from_row, int64_t to_row) {
          std::copy_n(values + from_row * inner, inner, to + to_row * inner);
          std::copy_n(indices + from_row * inner, inner, to_indices + to_row * inner);
        });
    extent = (extent + 1) / 2;
    values = to;
    indices = to_indices;
  }
  const int64_t results = extents.outer * inner;
  StoreExactly(values, cx.Result<T>(at, 0), results);
  std::copy_n(indices, results, cx.Result<int32_t>(at, 1));
}

template <typename T>
Handler ArgHandlerFor(CombineKind kind) {
  switch (kind) {
    case CombineKind::kArgMaxLeft:
      return &ExecArgReduce<T, CombineKind::kArgMaxLeft>;
    case CombineKind::kArgMaxFast:
      return &ExecArgReduce<T, CombineKind::kArgMaxFast>;
    case CombineKind::kArgMinLeft:
      return &ExecArgReduce<T, CombineKind::kArgMinLeft>;
    case CombineKind::kArgMinFast:
      return &ExecArgReduce<T, CombineKind::kArgMinFast>;
    case CombineKind::kUnknown:
    case CombineKind::kAdd:
    case CombineKind::kMul:
    case CombineKind::kMin:
    case CombineKind::kMax:
    case CombineKind::kMinPropagateNan:
    case CombineKind::kMaxPropagateNan:
    case CombineKind::kAnd:
    case CombineKind::kOr:
    case CombineKind::kXor:
      break;
  }
  return nullptr;
}

// The typed loop for the op in `cx`, and the scratch it needs; a null handler if there is none.
template <typename T>
Handler FastHandler(PrepareContext& cx, CombineKind kind, const AxisExtents& extents) {
  ScratchLayout layout(nullptr);
  ReduceScratch<T>::In(layout, extents);
  Handler handler = nullptr;
  if (cx.op().operands.size() == 1) {
    handler = HandlerFor<T>(kind);
  } else if (cx.op().operands.size() == 2 && cx.operand_type(1).dtype() == DType::kI32) {
    ReduceScratch<int32_t>::In(layout, extents);
    handler = ArgHandlerFor<T>(kind);
  }
  if (handler != nullptr) cx.RequireScratch(layout.size_bytes());
  return handler;
}

}  // namespace

absl::StatusOr<PreparedOp> PrepareReduce(PrepareContext& cx) {
  const Operation& op = cx.op();
  const Type& type = cx.operand_type(0);
  const CombineKind kind = RecogniseCombine(cx.module(), cx.function(), op.regions[0]);
  const auto extents = std::make_shared<AxisExtents>(AxisExtents::Of(type, op.int_attr(ReduceOp::At::axis)));
  // Nothing to combine: the elements pass unchanged, which loops through f32 would not do to every code.
  const bool is_copy = extents->extent == 1;
  if (kind == CombineKind::kUnknown || is_copy) return PrepareReduceByRegion(cx);
  const Handler handler = VisitElement(type.dtype(), [&]<typename T>() { return FastHandler<T>(cx, kind, *extents); });
  if (handler == nullptr) return PrepareReduceByRegion(cx);
  return PreparedOp{handler, extents};
}

}  // namespace trivet::vm
