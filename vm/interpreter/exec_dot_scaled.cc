// dot_scaled: acc + (a * a_scale) @ (b * b_scale) on microscaling operands.
//
// Format: "OCP Microscaling Formats (MX) Specification", version 1.0. 32 elements along K share one e8m0 scale: the
// power of two 2^(code - 127), or NaN for code 0xff. a_scale is [M, K / 32], b_scale is [N, K / 32], each with the
// batch axis in front; an absent scale is 1. e2m1 elements lie two in a byte, the one of the lower index in the low
// half, along K or, without *_k_pack, along the other axis.
//
// Numerics: elements and scales are exact in f32. Their product is rounded to f32, which matters only where it leaves
// f32's range (a bf16 or fp16 element by an extreme scale): it overflows to infinity or loses bits of a subnormal. The
// products then enter an f32 dot as in exec_dot.cc. fast_math is a permission to other tiers; here it has no effect.
#include <memory>

#include "vm/interpreter/dot_operands.h"
#include "vm/interpreter/prepare.h"
#include "vm/interpreter/scratch_layout.h"
#include "vm/numerics/float_formats.h"

namespace trivet::vm {
namespace {

constexpr int64_t kElementsPerScale = 32;

// One operand as stored: [rows, columns] elements after unpacking.
struct ScaledOperand {
  int64_t rows = 0;
  int64_t columns = 0;
  DType element = DType::kNone;  // of the tile; kNone for e2m1
  bool packs_columns = false;    // e2m1: two neighbours of a row share a byte, else two of a column
  bool k_is_columns = false;     // K runs along columns (of a), else along rows (of b)
  int64_t bytes = 0;             // of one matrix, as stored

  int64_t count() const { return rows * columns; }
  int64_t num_scales() const { return count() / kElementsPerScale; }
};

struct DotScaledPlan {
  int64_t batch = 1;
  MatmulShape shape;
  ScaledOperand a;
  ScaledOperand b;
};

struct DotScaledScratch {
  float* packing;
  float* a;
  float* b;

  static DotScaledScratch In(ScratchLayout& layout, const DotScaledPlan& plan) {
    return {layout.Take<float>(MatmulPackingElements(plan.shape)), layout.Take<float>(plan.a.count()),
            layout.Take<float>(plan.b.count())};
  }
};

float DecodeE2M1(int code) { return Widen(F4E2M1{static_cast<uint8_t>(code & 0xf)}); }

// byte [i, j] holds elements [i, 2j] and [i, 2j + 1], or [2i, j] and [2i + 1, j].
void UnpackE2M1(const ScaledOperand& operand, const uint8_t* packed, float* out) {
  const int64_t byte_columns = operand.packs_columns ? operand.columns / 2 : operand.columns;
  const int64_t to_second = operand.packs_columns ? 1 : operand.columns;
  for (int64_t byte = 0; byte < operand.count() / 2; ++byte) {
    const int64_t i = byte / byte_columns;
    const int64_t j = byte % byte_columns;
    float* first = out + (operand.packs_columns ? i * operand.columns + 2 * j : 2 * i * operand.columns + j);
    first[0] = DecodeE2M1(packed[byte]);
    first[to_second] = DecodeE2M1(packed[byte] >> 4);
  }
}

void Decode(const ScaledOperand& operand, const std::byte* stored, float* out) {
  if (operand.element == DType::kNone) return UnpackE2M1(operand, reinterpret_cast<const uint8_t*>(stored), out);
  WidenTo32(operand.element)(stored, out, operand.count());
}

// Multiplies by the scales: [rows, K / 32] if K runs along columns, else [columns, K / 32].
void ApplyScales(const ScaledOperand& operand, const uint8_t* scales, float* values) {
  const int64_t k = operand.k_is_columns ? operand.columns : operand.rows;
  const int64_t scales_per_line = k / kElementsPerScale;
  for (int64_t row = 0; row < operand.rows; ++row) {
    float* line = values + row * operand.columns;
    for (int64_t column = 0; column < operand.columns; ++column) {
      const int64_t at = operand.k_is_columns ? row * scales_per_line + column / kElementsPerScale
                                              : column * scales_per_line + row / kElementsPerScale;
      line[column] *= Widen(F8E8M0{scales[at]});
    }
  }
}

// Operand `index` of matrix `i`, decoded and scaled.
void LoadOperand(ExecContext& cx, const Instr& at, int index, int scale_index, const ScaledOperand& operand, int64_t i,
                 float* out) {
  Decode(operand, cx.Operand<std::byte>(at, index) + i * operand.bytes, out);
  if (!cx.HasOperand(at, scale_index)) return;
  ApplyScales(operand, cx.Operand<uint8_t>(at, scale_index) + i * operand.num_scales(), out);
}

void ExecDotScaled(ExecContext& cx, const Instr& at) {
  using In = DotScaledOp::In;
  const DotScaledPlan& plan = at.payload<DotScaledPlan>();
  ScratchLayout layout(cx.Scratch<std::byte>());
  const DotScaledScratch scratch = DotScaledScratch::In(layout, plan);
  const int64_t acc_count = plan.shape.m * plan.shape.n;
  for (int64_t i = 0; i < plan.batch; ++i) {
    LoadOperand(cx, at, In::a, In::a_scale, plan.a, i, scratch.a);
    LoadOperand(cx, at, In::b, In::b_scale, plan.b, i, scratch.b);
    Matmul(plan.shape, scratch.a, scratch.b, cx.Operand<float>(at, In::acc) + i * acc_count,
           cx.Result<float>(at) + i * acc_count, scratch.packing);
  }
}

// The tile's element type by its format: u8 may hold the bytes of an f8.
DType ElementOf(ScaledFormat format) {
  switch (format) {
    case ScaledFormat::kE2M1:
      return DType::kNone;
    case ScaledFormat::kE4M3:
      return DType::kF8E4M3;
    case ScaledFormat::kE5M2:
      return DType::kF8E5M2;
    case ScaledFormat::kBF16:
      return DType::kBF16;
    case ScaledFormat::kFP16:
      return DType::kF16;
  }
  return DType::kNone;
}

ScaledOperand OperandOf(const Type& type, ScaledFormat format, bool k_pack, bool k_is_columns) {
  ScaledOperand operand;
  operand.rows = type.dim(-2);
  operand.columns = type.dim(-1);
  operand.element = ElementOf(format);
  operand.k_is_columns = k_is_columns;
  operand.packs_columns = k_pack == k_is_columns;
  operand.bytes = operand.rows * operand.columns * type.element_bytes();
  if (format == ScaledFormat::kE2M1) (operand.packs_columns ? operand.columns : operand.rows) *= 2;
  return operand;
}

}  // namespace

absl::StatusOr<PreparedOp> PrepareDotScaled(PrepareContext& cx) {
  using In = DotScaledOp::In;
  using At = DotScaledOp::At;
  const Operation& op = cx.op();
  const auto plan = std::make_shared<DotScaledPlan>();
  const Type& a = cx.operand_type(In::a);
  plan->batch = a.rank() == 3 ? a.dim(0) : 1;
  plan->a = OperandOf(a, op.enum_attr<ScaledFormat>(At::a_format), op.bool_attr(At::a_k_pack), /*k_is_columns=*/true);
  plan->b = OperandOf(cx.operand_type(In::b), op.enum_attr<ScaledFormat>(At::b_format), op.bool_attr(At::b_k_pack),
                      /*k_is_columns=*/false);
  plan->shape = {.m = plan->a.rows, .n = plan->b.columns, .k = plan->a.columns};
  ScratchLayout layout(nullptr);
  DotScaledScratch::In(layout, *plan);
  cx.RequireScratch(layout.size_bytes());
  return PreparedOp{&ExecDotScaled, plan};
}

}  // namespace trivet::vm
