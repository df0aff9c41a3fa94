// The recognised combines of reduce and scan as inline functions on compute types, and the extents they run over.
#pragma once

#include <concepts>
#include <cstdint>

#include "vm/bytecode/types.h"
#include "vm/interpreter/region_patterns.h"
#include "vm/numerics/float_ops.h"
#include "vm/numerics/int_ops.h"

namespace trivet::vm {

// A tile seen from one axis: [outer, extent, inner] in row-major order.
struct AxisExtents {
  int64_t outer = 1;
  int64_t extent = 1;
  int64_t inner = 1;

  static AxisExtents Of(const Type& type, int64_t axis) {
    AxisExtents extents;
    for (int64_t i = 0; i < type.rank(); ++i) {
      int64_t& target = i < axis ? extents.outer : i == axis ? extents.extent : extents.inner;
      target *= type.dim(static_cast<int>(i));
    }
    return extents;
  }
  int64_t num_elements() const { return outer * extent * inner; }
};

// True if combining may give a value between two representable ones, so that narrow floats round.
constexpr bool CombineRounds(CombineKind kind) { return kind == CombineKind::kAdd || kind == CombineKind::kMul; }

// One combine of two elements, in the compute type (float, double or an integer).
template <CombineKind kKind, std::floating_point F>
inline F Combine(F a, F b) {
  if constexpr (kKind == CombineKind::kAdd) return a + b;
  if constexpr (kKind == CombineKind::kMul) return a * b;
  if constexpr (kKind == CombineKind::kMin) return MinNum(a, b);
  if constexpr (kKind == CombineKind::kMax) return MaxNum(a, b);
  if constexpr (kKind == CombineKind::kMinPropagateNan) return MinPropagateNan(a, b);
  if constexpr (kKind == CombineKind::kMaxPropagateNan) return MaxPropagateNan(a, b);
}

template <CombineKind kKind, std::integral I>
inline I Combine(I a, I b) {
  if constexpr (kKind == CombineKind::kAdd) return WrapAdd(a, b);
  if constexpr (kKind == CombineKind::kMul) return WrapMul(a, b);
  if constexpr (kKind == CombineKind::kMin) return a < b ? a : b;
  if constexpr (kKind == CombineKind::kMax) return a > b ? a : b;
  if constexpr (kKind == CombineKind::kAnd) return static_cast<I>(a & b);
  if constexpr (kKind == CombineKind::kOr) return static_cast<I>(a | b);
  if constexpr (kKind == CombineKind::kXor) return static_cast<I>(a ^ b);
}

// Calls visit.template operator()<kKind>() if `kind` is a combine of floats, and gives its result, else Result().
template <typename Result, typename Visitor>
Result VisitFloatCombine(CombineKind kind, const Visitor& visit) {
  switch (kind) {
    case CombineKind::kAdd:
      return visit.template operator()<CombineKind::kAdd>();
    case CombineKind::kMul:
      return visit.template operator()<CombineKind::kMul>();
    case CombineKind::kMin:
      return visit.template operator()<CombineKind::kMin>();
    case CombineKind::kMax:
      return visit.template operator()<CombineKind::kMax>();
    case CombineKind::kMinPropagateNan:
      return visit.template operator()<CombineKind::kMinPropagateNan>();
    case CombineKind::kMaxPropagateNan:
      return visit.template operator()<CombineKind::kMaxPropagateNan>();
    case CombineKind::kUnknown:
    case CombineKind::kAnd:
    case CombineKind::kOr:
    case CombineKind::kXor:
    case CombineKind::kArgMaxLeft:
    case CombineKind::kArgMaxFast:
    case CombineKind::kArgMinLeft:
    case CombineKind::kArgMinFast:
      break;
  }
  return Result();
}

// As VisitFloatCombine, for integers.
template <typename Result, typename Visitor>
Result VisitIntegerCombine(CombineKind kind, const Visitor& visit) {
  switch (kind) {
    case CombineKind::kAdd:
      return visit.template operator()<CombineKind::kAdd>();
    case CombineKind::kMul:
      return visit.template operator()<CombineKind::kMul>();
    case CombineKind::kMin:
      return visit.template operator()<CombineKind::kMin>();
    case CombineKind::kMax:
      return visit.template operator()<CombineKind::kMax>();
    case CombineKind::kAnd:
      return visit.template operator()<CombineKind::kAnd>();
    case CombineKind::kOr:
      return visit.template operator()<CombineKind::kOr>();
    case CombineKind::kXor:
      return visit.template operator()<CombineKind::kXor>();
    case CombineKind::kUnknown:
    case CombineKind::kMinPropagateNan:
    case CombineKind::kMaxPropagateNan:
    case CombineKind::kArgMaxLeft:
    case CombineKind::kArgMaxFast:
    case CombineKind::kArgMinLeft:
    case CombineKind::kArgMinFast:
      break;
  }
  return Result();
}

}  // namespace trivet::vm
