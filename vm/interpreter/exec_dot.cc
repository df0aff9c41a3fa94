// dot: acc + a @ b, each element one chain of fused multiply-adds in order of increasing k (matmul_kernel.h).
//
//   operands             arithmetic
//   f16 bf16 f8..        widened to f32 exactly (products of two are exact, but for bf16 near the ends of its range);
//                        the pair may be mixed
//   f32 ieee             in f32
//   f32 tf32             cut off to tf32, then in f32: tensor cores do not read the lower 13 bits of an operand
//   f32 tf32x3           a = a0 + a1, b = b0 + b1 in tf32 (x0 = x rounded as cvt.rna.tf32.f32 does, x1 = x - x0 cut
//   off):
//                          c = a1 b0, then + a0 b1; NaN -> 0; then + a0 b0; acc is added last
//   f32 bf16x3           the same with bf16 in place of tf32, to nearest even
//   f32 bf16x6           three parts: c = a1 b1 + a2 b0 + a0 b2 + a1 b0 + a0 b1; NaN -> 0; then + a0 b0; acc last
//   f64                  in f64
//   integers             i32, wrapping, whatever the operands' signedness
//
// An accumulator narrower than f32 is widened, takes part in f32 across all of K, and is rounded once at the end.
// Where corrections are NaN (infinity times the zero left of a split) they count as 0, so that an infinite or NaN
// result is that of the leading product. max_num_imprecise_acc is a permission to other tiers; here it has no effect.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "vm/interpreter/dot_operands.h"
#include "vm/interpreter/element_dispatch.h"
#include "vm/interpreter/matmul_kernel.h"
#include "vm/interpreter/prepare.h"
#include "vm/interpreter/scratch_layout.h"

namespace trivet::vm {
namespace {

// What the handlers know of one dot. Operands are [batch, m, k], [batch, k, n]; acc and result [batch, m, n].
struct DotPlan {
  int64_t batch = 1;
  MatmulShape shape;
  WidenFn to_f32_a = nullptr;  // null: the operand is used as it is
  WidenFn to_f32_b = nullptr;
  AccumulatorPlan accumulator;
  int64_t a_bytes = 0;  // of one matrix
  int64_t b_bytes = 0;
  int64_t acc_bytes = 0;

  int64_t a_count() const { return shape.m * shape.k; }
  int64_t b_count() const { return shape.k * shape.n; }
  int64_t acc_count() const { return shape.m * shape.n; }
};

// The matrices of one batch entry.
struct DotMatrices {
  const std::byte* a;
  const std::byte* b;
  const std::byte* acc;
  std::byte* out;
};

template <typename Visitor>
void ForEachMatrix(ExecContext& cx, const Instr& at, const DotPlan& plan, const Visitor& visit) {
  for (int64_t i = 0; i < plan.batch; ++i) {
    visit(DotMatrices{cx.Operand<std::byte>(at, DotOp::In::a) + i * plan.a_bytes,
                      cx.Operand<std::byte>(at, DotOp::In::b) + i * plan.b_bytes,
                      cx.Operand<std::byte>(at, DotOp::In::acc) + i * plan.acc_bytes,
                      cx.Result<std::byte>(at) + i * plan.acc_bytes});
  }
}

// --- one product in f32 -------------------------------------------------------------------------------------------

struct DotScratch {
  float* packing;
  float* wide_acc;
  float* a;
  float* b;

  static DotScratch In(ScratchLayout& layout, const DotPlan& plan) {
    return {layout.Take<float>(MatmulPackingElements(plan.shape)),
            layout.Take<float>(plan.accumulator.is_f32() ? 0 : plan.acc_count()),
            layout.Take<float>(plan.to_f32_a == nullptr ? 0 : plan.a_count()),
            layout.Take<float>(plan.to_f32_b == nullptr ? 0 : plan.b_count())};
  }
};

// The operand as f32: itself, or converted into `buffer`.
const float* AsF32(WidenFn convert, const std::byte* operand, float* buffer, int64_t count) {
  if (convert == nullptr) return reinterpret_cast<const float*>(operand);
  convert(operand, buffer, count);
  return buffer;
}

void ExecDotF32(ExecContext& cx, const Instr& at) {
  const DotPlan& plan = at.payload<DotPlan>();
  ScratchLayout layout(cx.Scratch<std::byte>());
  const DotScratch scratch = DotScratch::In(layout, plan);
  ForEachMatrix(cx, at, plan, [&](const DotMatrices& matrices) {
    const float* a = AsF32(plan.to_f32_a, matrices.a, scratch.a, plan.a_count());
    const float* b = AsF32(plan.to_f32_b, matrices.b, scratch.b, plan.b_count());
    MatmulInto(plan.accumulator, plan.shape, a, b, matrices.acc, matrices.out, scratch.wide_acc, scratch.packing);
  });
}

void CutToTf32(const void* from, float* to, int64_t count) {
  RoundToTf32({static_cast<const float*>(from), static_cast<size_t>(count)}, {to, static_cast<size_t>(count)},
              Rounding::kTowardZero);
}

// --- f32 as a sum of narrower products ----------------------------------------------------------------------------

// Part number `index` of an operand of which `rest` is left.
struct Tf32Part {
  static float Of(float rest, int index) {
    return RoundToTf32(rest, index == 0 ? Rounding::kNearestAway : Rounding::kTowardZero);
  }
};
struct Bf16Part {
  static float Of(float rest, int) { return Widen(Round<BF16>(rest)); }
};

// x = parts[0] + parts[1] + ... as far as the parts reach; each has `count` elements.
template <typename Part, int kParts>
void SplitIntoParts(const float* x, float* const (&parts)[kParts], int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    float rest = x[i];
    for (int part = 0; part < kParts; ++part) {
      parts[part][i] = Part::Of(rest, part);
      rest -= parts[part][i];
    }
  }
}

template <int kParts>
struct SplitScratch {
  float* packing;
  float* wide_acc;
  float* sums;
  float* a[kParts];
  float* b[kParts];

  static SplitScratch In(ScratchLayout& layout, const DotPlan& plan) {
    SplitScratch scratch;
    scratch.packing = layout.Take<float>(MatmulPackingElements(plan.shape));
    scratch.wide_acc = layout.Take<float>(plan.acc_count());
    scratch.sums = layout.Take<float>(plan.acc_count());
    for (float*& part : scratch.a) part = layout.Take<float>(plan.a_count());
    for (float*& part : scratch.b) part = layout.Take<float>(plan.b_count());
    return scratch;
  }
};

// Which parts are multiplied for the corrections, smallest first: parts i of a and j of b.
template <int kParts>
constexpr auto Corrections() {
  using Pair = std::pair<int, int>;
  if constexpr (kParts == 2) return std::array<Pair, 2>{{{1, 0}, {0, 1}}};
  if constexpr (kParts == 3) return std::array<Pair, 5>{{{1, 1}, {2, 0}, {0, 2}, {1, 0}, {0, 1}}};
}

template <typename Part, int kParts>
void ExecDotSplit(ExecContext& cx, const Instr& at) {
  const DotPlan& plan = at.payload<DotPlan>();
  ScratchLayout layout(cx.Scratch<std::byte>());
  const SplitScratch<kParts> scratch = SplitScratch<kParts>::In(layout, plan);
  const auto accumulate = [&](int i, int j) {
    Matmul(plan.shape, scratch.a[i], scratch.b[j], scratch.sums, scratch.sums, scratch.packing);
  };
  ForEachMatrix(cx, at, plan, [&](const DotMatrices& matrices) {
    SplitIntoParts<Part, kParts>(reinterpret_cast<const float*>(matrices.a), scratch.a, plan.a_count());
    SplitIntoParts<Part, kParts>(reinterpret_cast<const float*>(matrices.b), scratch.b, plan.b_count());
    const int64_t count = plan.acc_count();
    std::fill_n(scratch.sums, count, 0.0f);
    for (const auto& [i, j] : Corrections<kParts>()) accumulate(i, j);
    for (int64_t i = 0; i < count; ++i) scratch.sums[i] = std::isnan(scratch.sums[i]) ? 0.0f : scratch.sums[i];
    accumulate(0, 0);
    const float* acc = AsF32(plan.accumulator.widen, matrices.acc, scratch.wide_acc, count);
    float* out = plan.accumulator.is_f32() ? reinterpret_cast<float*>(matrices.out) : scratch.wide_acc;
    for (int64_t i = 0; i < count; ++i) out[i] = scratch.sums[i] + acc[i];
    if (!plan.accumulator.is_f32()) plan.accumulator.round(out, matrices.out, count);
  });
}

template <typename Part, int kParts>
Handler SplitHandler(PrepareContext& cx, const DotPlan& plan) {
  ScratchLayout layout(nullptr);
  SplitScratch<kParts>::In(layout, plan);
  cx.RequireScratch(layout.size_bytes());
  return &ExecDotSplit<Part, kParts>;
}

// --- f64 and integers ---------------------------------------------------------------------------------------------

void ExecDotF64(ExecContext& cx, const Instr& at) {
  const DotPlan& plan = at.payload<DotPlan>();
  ForEachMatrix(cx, at, plan, [&](const DotMatrices& matrices) {
    Matmul(plan.shape, reinterpret_cast<const double*>(matrices.a), reinterpret_cast<const double*>(matrices.b),
           reinterpret_cast<const double*>(matrices.acc), reinterpret_cast<double*>(matrices.out),
           cx.Scratch<double>());
  });
}

struct IntegerScratch {
  uint32_t* packing;
  uint32_t* a;
  uint32_t* b;

  static IntegerScratch In(ScratchLayout& layout, const DotPlan& plan) {
    return {layout.Take<uint32_t>(MatmulPackingElements(plan.shape)), layout.Take<uint32_t>(plan.a_count()),
            layout.Take<uint32_t>(plan.b_count())};
  }
};

// Sign- or zero-extended; wrapping arithmetic then needs no more to know about signs.
template <typename T>
void WidenIntegers(const std::byte* from, uint32_t* to, int64_t count) {
  const T* elements = reinterpret_cast<const T*>(from);
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<uint32_t>(elements[i]);
}

template <typename A, typename B>
void ExecDotInteger(ExecContext& cx, const Instr& at) {
  const DotPlan& plan = at.payload<DotPlan>();
  ScratchLayout layout(cx.Scratch<std::byte>());
  const IntegerScratch scratch = IntegerScratch::In(layout, plan);
  ForEachMatrix(cx, at, plan, [&](const DotMatrices& matrices) {
    WidenIntegers<A>(matrices.a, scratch.a, plan.a_count());
    WidenIntegers<B>(matrices.b, scratch.b, plan.b_count());
    Matmul(plan.shape, scratch.a, scratch.b, reinterpret_cast<const uint32_t*>(matrices.acc),
           reinterpret_cast<uint32_t*>(matrices.out), scratch.packing);
  });
}

Handler IntegerHandler(PrepareContext& cx, const DotPlan& plan, DType a, DType b) {
  ScratchLayout layout(nullptr);
  IntegerScratch::In(layout, plan);
  cx.RequireScratch(layout.size_bytes());
  const bool a_signed = a == DType::kI8;
  const bool b_signed = b == DType::kI8;
  if (a_signed) return b_signed ? &ExecDotInteger<int8_t, int8_t> : &ExecDotInteger<int8_t, uint8_t>;
  return b_signed ? &ExecDotInteger<uint8_t, int8_t> : &ExecDotInteger<uint8_t, uint8_t>;
}

// --- choice -------------------------------------------------------------------------------------------------------

DotPlan PlanOf(const Type& a, const Type& b, const Type& acc) {
  DotPlan plan;
  plan.batch = a.rank() == 3 ? a.dim(0) : 1;
  plan.shape = {.m = a.dim(-2), .n = b.dim(-1), .k = a.dim(-1)};
  plan.a_bytes = plan.a_count() * a.element_bytes();
  plan.b_bytes = plan.b_count() * b.element_bytes();
  plan.acc_bytes = plan.acc_count() * acc.element_bytes();
  return plan;
}

Handler F32Handler(PrepareContext& cx, DotPlan& plan, DType a, DType b, DotPrecision precision) {
  plan.to_f32_a = WidenTo32(a);
  plan.to_f32_b = WidenTo32(b);
  if (a == DType::kF32 && b == DType::kF32) {
    switch (precision) {
      case DotPrecision::kIeee:
        break;
      case DotPrecision::kTf32:
        plan.to_f32_a = plan.to_f32_b = &CutToTf32;
        break;
      case DotPrecision::kTf32x3:
        return SplitHandler<Tf32Part, 2>(cx, plan);
      case DotPrecision::kBf16x3:
        return SplitHandler<Bf16Part, 2>(cx, plan);
      case DotPrecision::kBf16x6:
        return SplitHandler<Bf16Part, 3>(cx, plan);
    }
  }
  ScratchLayout layout(nullptr);
  DotScratch::In(layout, plan);
  cx.RequireScratch(layout.size_bytes());
  return &ExecDotF32;
}

// True if f32 holds every value of the type.
bool FitsF32(DType dtype) { return IsFloat(dtype) && dtype != DType::kF64; }

}  // namespace

absl::StatusOr<PreparedOp> PrepareDot(PrepareContext& cx) {
  const DType a = cx.operand_type(DotOp::In::a).dtype();
  const DType b = cx.operand_type(DotOp::In::b).dtype();
  const DType acc = cx.operand_type(DotOp::In::acc).dtype();
  const auto plan = std::make_shared<DotPlan>(
      PlanOf(cx.operand_type(DotOp::In::a), cx.operand_type(DotOp::In::b), cx.operand_type(DotOp::In::acc)));
  if (a == DType::kF64 && b == DType::kF64 && acc == DType::kF64) {
    cx.RequireScratch(static_cast<size_t>(MatmulPackingElements(plan->shape)) * sizeof(double));
    return PreparedOp{&ExecDotF64, plan};
  }
  const bool are_bytes = IsInteger(a) && IsInteger(b) && InfoOf(a).bits == 8 && InfoOf(b).bits == 8;
  if (are_bytes && acc == DType::kI32) return PreparedOp{IntegerHandler(cx, *plan, a, b), plan};
  if (FitsF32(a) && FitsF32(b) && FitsF32(acc)) {
    plan->accumulator = AccumulatorPlan::For(acc);
    const DotPrecision precision = cx.op().enum_attr<DotPrecision>(DotOp::At::precision);
    return PreparedOp{F32Handler(cx, *plan, a, b, precision), plan};
  }
  return absl::UnimplementedError(absl::StrCat("dot: ", cx.operand_type(DotOp::In::a).ToString(), " @ ",
                                               cx.operand_type(DotOp::In::b).ToString(), " into ",
                                               cx.operand_type(DotOp::In::acc).ToString()));
}

}  // namespace trivet::vm
