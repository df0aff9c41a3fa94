#include "vm/interpreter/elementwise.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "vm/base/check.h"

namespace trivet::vm {
namespace {

constexpr int kMaxOperands = 4;

// Wide is f32 or f64.
template <typename T, typename Wide>
void WidenChunk(const void* in, void* out, int64_t count) {
  const auto n = static_cast<size_t>(count);
  const std::span<const T> from(static_cast<const T*>(in), n);
  const std::span<Wide> to(static_cast<Wide*>(out), n);
  if constexpr (sizeof(Wide) == 4) {
    WidenToF32<T>(from, to);
  } else {
    WidenToF64<T>(from, to);
  }
}

template <typename T, typename Wide>
void RoundChunk(const void* in, void* out, int64_t count, Rounding rounding, Overflow overflow) {
  const auto n = static_cast<size_t>(count);
  const std::span<const Wide> from(static_cast<const Wide*>(in), n);
  const std::span<T> to(static_cast<T*>(out), n);
  if constexpr (sizeof(Wide) == 4) {
    RoundFromF32<T>(from, to, rounding, overflow);
  } else {
    RoundFromF64<T>(from, to, rounding, overflow);
  }
}

struct NarrowPlan {
  FloatKernel kernel;
  void (*widen)(const void* in, void* out, int64_t count);
  void (*round)(const void* in, void* out, int64_t count, Rounding rounding, Overflow overflow);
  Rounding rounding;
  Overflow overflow;
  int64_t count;
  int num_operands;
  std::array<bool, kMaxOperands> is_float;
  std::array<int, kMaxOperands> operand_bytes;  // of an element
  bool is_float_result;
  int result_bytes;
};

template <typename Wide>
void RunNarrow(ExecContext& cx, const Instr& at) {
  const NarrowPlan& plan = at.payload<NarrowPlan>();
  alignas(kSlotAlignment) Wide wide[kMaxOperands][kChunkElements];
  const void* operands[kMaxOperands] = {};
  for (int64_t start = 0; start < plan.count; start += kChunkElements) {
    const int64_t count = std::min(kChunkElements, plan.count - start);
    for (int i = 0; i < plan.num_operands; ++i) {
      const std::byte* in = cx.Operand<std::byte>(at, i) + start * plan.operand_bytes[i];
      operands[i] = plan.is_float[i] ? static_cast<const void*>(wide[i]) : in;
      if (plan.is_float[i]) plan.widen(in, wide[i], count);
    }
    std::byte* out = cx.Result<std::byte>(at) + start * plan.result_bytes;
    if (plan.is_float_result) {
      plan.kernel(operands, wide[0], count);
      plan.round(wide[0], out, count, plan.rounding, plan.overflow);
    } else {
      plan.kernel(operands, out, count);
    }
  }
}

template <typename Wide>
PreparedOp PrepareNarrowThrough(const PrepareContext& cx, FloatKernel kernel, NarrowResult result) {
  NarrowPlan plan{};
  plan.kernel = kernel;
  plan.count = cx.result_count();
  plan.num_operands = static_cast<int>(cx.op().operands.size());
  TRIVET_CHECK(plan.num_operands <= kMaxOperands);
  DType format = cx.result_type().dtype();
  for (int i = 0; i < plan.num_operands; ++i) {
    const Type& type = cx.operand_type(i);
    plan.is_float[i] = type.is_float();
    plan.operand_bytes[i] = type.element_bytes();
    if (type.is_float()) format = type.dtype();
  }
  plan.is_float_result = cx.result_type().is_float();
  plan.result_bytes = cx.result_type().element_bytes();
  VisitNarrow(format, [&]<typename T>(TypeTag<T>) {
    plan.widen = &WidenChunk<T, Wide>;
    plan.round = &RoundChunk<T, Wide>;
    plan.rounding = result.rounding == Rounding::kNearestEven ? T::kInfo.default_rounding : result.rounding;
    plan.overflow = result.is_exact ? Overflow::kInfinity : T::kInfo.default_overflow;
  });
  return MakePrepared(&RunNarrow<Wide>, plan);
}

struct KernelPayload {
  FloatKernel kernel;
  int64_t count;
};

void RunKernel(ExecContext& cx, const Instr& at) {
  const KernelPayload& payload = at.payload<KernelPayload>();
  const void* operands[kMaxOperands] = {};
  for (uint32_t i = 0; i < at.num_operands; ++i) operands[i] = cx.Operand<void>(at, static_cast<int>(i));
  payload.kernel(operands, cx.Result<void>(at), payload.count);
}

struct BytesPayload {
  size_t size_bytes;
};

void CopyBytes(ExecContext& cx, const Instr& at) {
  const std::byte* in = cx.Operand<std::byte>(at, 0);
  std::byte* out = cx.Result<std::byte>(at);
  if (out != in) std::memcpy(out, in, at.payload<BytesPayload>().size_bytes);
}

// A scalar of a fixed size is one move.
template <typename U>
void CopyWord(ExecContext& cx, const Instr& at) {
  *cx.Result<U>(at) = *cx.Operand<U>(at, 0);
}

}  // namespace

PreparedOp PrepareNarrow(const PrepareContext& cx, FloatKernel kernel, NarrowResult result) {
  return PrepareNarrowThrough<float>(cx, kernel, result);
}

PreparedOp PrepareNarrowThroughF64(const PrepareContext& cx, FloatKernel kernel, NarrowResult result) {
  return PrepareNarrowThrough<double>(cx, kernel, result);
}

PreparedOp PrepareKernel(const PrepareContext& cx, FloatKernel kernel) {
  TRIVET_CHECK(cx.op().operands.size() <= kMaxOperands);
  return MakePrepared(&RunKernel, KernelPayload{kernel, cx.result_count()});
}

PreparedOp PrepareFloatKernels(const PrepareContext& cx, FloatKernel f32, FloatKernel f64, NarrowResult result,
                               int like) {
  const DType format = cx.operand_type(like).dtype();
  if (format == DType::kF32) return PrepareKernel(cx, f32);
  if (format == DType::kF64) return PrepareKernel(cx, f64);
  return PrepareNarrow(cx, f32, result);
}

PreparedOp PrepareCopy(int64_t value_bytes) {
  switch (value_bytes) {
    case 1:
      return {&CopyWord<uint8_t>, nullptr};
    case 2:
      return {&CopyWord<uint16_t>, nullptr};
    case 4:
      return {&CopyWord<uint32_t>, nullptr};
    case 8:
      return {&CopyWord<uint64_t>, nullptr};
    default:
      return MakePrepared(&CopyBytes, BytesPayload{static_cast<size_t>(value_bytes)});
  }
}

}  // namespace trivet::vm
