#include "vm/interpreter/dot_operands.h"

#include "vm/interpreter/element_dispatch.h"

namespace trivet::vm {
namespace {

template <NarrowFloatElement T>
void Widen32(const void* from, float* to, int64_t count) {
  WidenToF32<T>({static_cast<const T*>(from), static_cast<size_t>(count)}, {to, static_cast<size_t>(count)});
}

template <NarrowFloatElement T>
void Round32(const float* from, void* to, int64_t count) {
  RoundFromF32<T>({from, static_cast<size_t>(count)}, {static_cast<T*>(to), static_cast<size_t>(count)});
}

}  // namespace

WidenFn WidenTo32(DType dtype) {
  return VisitElement(dtype, []<typename T>() -> WidenFn {
    if constexpr (NarrowFloatElement<T>) return &Widen32<T>;
    return nullptr;
  });
}

RoundFn RoundFrom32(DType dtype) {
  return VisitElement(dtype, []<typename T>() -> RoundFn {
    if constexpr (NarrowFloatElement<T>) return &Round32<T>;
    return nullptr;
  });
}

void MatmulInto(const AccumulatorPlan& plan, const MatmulShape& shape, const float* a, const float* b, const void* acc,
                void* out, float* wide, float* packing) {
  if (plan.is_f32()) {
    return Matmul(shape, a, b, static_cast<const float*>(acc), static_cast<float*>(out), packing);
  }
  plan.widen(acc, wide, shape.m * shape.n);
  Matmul(shape, a, b, wide, wide, packing);
  plan.round(wide, out, shape.m * shape.n);
}

}  // namespace trivet::vm
