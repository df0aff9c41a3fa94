// What dot and dot_scaled share: bringing operands to f32, and accumulators to f32 and back.
#pragma once

#include <cstdint>
#include <span>

#include "vm/bytecode/types.h"
#include "vm/interpreter/matmul_kernel.h"

namespace trivet::vm {

// Converts `count` elements of the type it was made for; exact in the widening direction.
using WidenFn = void (*)(const void* from, float* to, int64_t count);
using RoundFn = void (*)(const float* from, void* to, int64_t count);

// Exactly to f32. Null for f32 itself, and for types that f32 does not hold.
WidenFn WidenTo32(DType dtype);
// From f32, once, to nearest even (each format's own default). Null as above.
RoundFn RoundFrom32(DType dtype);

// acc + a @ b of f32 operands for an accumulator of type `dtype`: computed in f32 and rounded to `dtype` once, at the
// end.
struct AccumulatorPlan {
  WidenFn widen = nullptr;
  RoundFn round = nullptr;

  static AccumulatorPlan For(DType dtype) { return {WidenTo32(dtype), RoundFrom32(dtype)}; }
  bool is_f32() const { return widen == nullptr; }
};

// `wide` has m * n elements, used only if the accumulator is not f32; acc may be out.
void MatmulInto(const AccumulatorPlan& plan, const MatmulShape& shape, const float* a, const float* b, const void* acc,
                void* out, float* wide, float* packing);

}  // namespace trivet::vm
