// What the elementwise handlers share: the loop over one function of elements, and the way narrow floats take.
//
//   Elementwise<Fn, R, X...>  handlers that compute out[i] = Fn::Apply(in[i]...), from elements X... to elements R
//   FloatKernel               the same over arrays of f32 or f64, behind a function pointer
//   PrepareNarrow             runs an f32 (or f64) kernel on a narrow format: by chunks widened, computed, rounded
//
// Result and operands are disjoint, or the same memory if their elements have the same size (a handler may run in
// place). So loops promise the compiler independent iterations, not disjoint arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "absl/status/statusor.h"
#include "vm/bytecode/types.h"
#include "vm/interpreter/prepare.h"
#include "vm/numerics/float_formats.h"
#include "vm/numerics/independent_loop.h"

namespace trivet::vm {

// The payload of handlers that need to know nothing but how many elements there are.
struct CountPayload {
  int64_t count;
};

// A handler with its payload.
template <typename Payload>
PreparedOp MakePrepared(Handler handler, Payload payload) {
  return PreparedOp{handler, std::make_shared<const Payload>(std::move(payload))};
}

// A type as a function argument, for the visitors below.
template <typename T>
struct TypeTag {
  using type = T;
};

// Calls visit(TypeTag<T>) with the C++ type that stores an integer type; i1 is uint8_t. Requires IsInteger(dtype).
template <typename Visit>
auto VisitInteger(DType dtype, Visit&& visit) {
  switch (dtype) {
    case DType::kI8:
      return visit(TypeTag<int8_t>{});
    case DType::kI16:
      return visit(TypeTag<int16_t>{});
    case DType::kI32:
      return visit(TypeTag<int32_t>{});
    case DType::kI64:
      return visit(TypeTag<int64_t>{});
    case DType::kU16:
      return visit(TypeTag<uint16_t>{});
    case DType::kU32:
      return visit(TypeTag<uint32_t>{});
    case DType::kU64:
      return visit(TypeTag<uint64_t>{});
    default:
      return visit(TypeTag<uint8_t>{});
  }
}

// Calls visit(TypeTag<U>) with the unsigned type of `bytes` bytes: 1, 2, 4 or 8. For what does not care for signs.
template <typename Visit>
auto VisitWidth(int bytes, Visit&& visit) {
  switch (bytes) {
    case 1:
      return visit(TypeTag<uint8_t>{});
    case 2:
      return visit(TypeTag<uint16_t>{});
    case 4:
      return visit(TypeTag<uint32_t>{});
    default:
      return visit(TypeTag<uint64_t>{});
  }
}

// Calls visit(TypeTag<T>) with the storage type of a float format narrower than f32.
template <typename Visit>
auto VisitNarrow(DType dtype, Visit&& visit) {
  switch (dtype) {
    case DType::kF16:
      return visit(TypeTag<F16>{});
    case DType::kBF16:
      return visit(TypeTag<BF16>{});
    case DType::kF8E4M3:
      return visit(TypeTag<F8E4M3>{});
    case DType::kF8E5M2:
      return visit(TypeTag<F8E5M2>{});
    case DType::kF8E4B8:
      return visit(TypeTag<F8E4B8>{});
    case DType::kF8E5B16:
      return visit(TypeTag<F8E5B16>{});
    default:
      return visit(TypeTag<F8E4B15>{});
  }
}

inline bool IsNarrowFloat(DType dtype) { return IsFloat(dtype) && dtype != DType::kF32 && dtype != DType::kF64; }

// operands[i] and result are arrays of `count` elements; result may be one of the operands.
using FloatKernel = void (*)(const void* const* operands, void* result, int64_t count);

// A kernel's arrays as spans, for the functions of vm/numerics.
template <typename T>
std::span<const T> In(const void* operand, int64_t count) {
  return {static_cast<const T*>(operand), static_cast<size_t>(count)};
}
template <typename T>
std::span<T> Out(void* result, int64_t count) {
  return {static_cast<T*>(result), static_cast<size_t>(count)};
}

// Handlers for out[i] = Fn::Apply(in[i]...), where X... are the operands' element types and R is the result's.
template <typename Fn, typename R, typename... X>
class Elementwise {
 public:
  // Chooses the handler for `count` elements.
  static PreparedOp Prepare(int64_t count) {
    return count == 1 ? PreparedOp{&One, nullptr} : MakePrepared(&Many, CountPayload{count});
  }

  static void Loop(R* out, int64_t count, const X*... in) {
    TRIVET_INDEPENDENT_LOOP
    for (int64_t i = 0; i < count; ++i) out[i] = Fn::Apply(in[i]...);
  }

  // The loop as a FloatKernel.
  static void Kernel(const void* const* operands, void* result, int64_t count) {
    KernelImpl(operands, result, count, std::index_sequence_for<X...>{});
  }

 private:
  static void One(ExecContext& cx, const Instr& at) { OneImpl(cx, at, std::index_sequence_for<X...>{}); }
  static void Many(ExecContext& cx, const Instr& at) { ManyImpl(cx, at, std::index_sequence_for<X...>{}); }

  template <size_t... kIndex>
  static void OneImpl(ExecContext& cx, const Instr& at, std::index_sequence<kIndex...>) {
    *cx.Result<R>(at) = Fn::Apply(*cx.Operand<X>(at, kIndex)...);
  }
  template <size_t... kIndex>
  static void ManyImpl(ExecContext& cx, const Instr& at, std::index_sequence<kIndex...>) {
    Loop(cx.Result<R>(at), at.payload<CountPayload>().count, cx.Operand<X>(at, kIndex)...);
  }
  template <size_t... kIndex>
  static void KernelImpl(const void* const* operands, void* result, int64_t count, std::index_sequence<kIndex...>) {
    Loop(static_cast<R*>(result), count, static_cast<const X*>(operands[kIndex])...);
  }
};

// Elements of a chunk: small enough that a few buffers of f64 stay in the first-level cache.
inline constexpr int64_t kChunkElements = 512;

// What becomes of a result in a narrow format.
struct NarrowResult {
  // kNearestEven means the format's own rounding to nearest.
  Rounding rounding = Rounding::kNearestEven;
  // True if the op only picks or builds values of the format, so that infinities stay. Else what is too large for an
  // f8 format saturates, infinities included, as the hardware's conversions do.
  bool is_exact = false;
};

// Handler for an op on a narrow float format: operands that are floats are widened to f32, `kernel` (of f32) runs, and
// its results are rounded once to the format. Operands of other types (i32) and results of other types (i1, i32) go
// to the kernel as they are. At most four operands.
PreparedOp PrepareNarrow(const PrepareContext& cx, FloatKernel kernel, NarrowResult result);
// The same through f64.
PreparedOp PrepareNarrowThroughF64(const PrepareContext& cx, FloatKernel kernel, NarrowResult result);

// Handler that calls `kernel` on the operands and the result as they are.
PreparedOp PrepareKernel(const PrepareContext& cx, FloatKernel kernel);

// An op on any float format, all of whose float operands have the format of operand `like`: by the kernel for f32 or
// f64 as it is, narrow formats through f32.
PreparedOp PrepareFloatKernels(const PrepareContext& cx, FloatKernel f32, FloatKernel f64, NarrowResult result,
                               int like = 0);

// Copies the bytes of the operand to the result, which has as many.
PreparedOp PrepareCopy(int64_t value_bytes);

}  // namespace trivet::vm
