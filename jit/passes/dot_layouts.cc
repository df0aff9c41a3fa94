#include "jit/passes/dot_layouts.h"

#include <algorithm>

namespace trivet::jit {
namespace {

using vm::DotOp;
using vm::DType;
using vm::Function;
using vm::Op;
using vm::Operation;

std::optional<MmaKind> KindOf(const Function& fn, const Operation& dot, int compute_capability) {
  const DType a = fn.type(dot.operand(DotOp::In::a)).dtype();
  const DType b = fn.type(dot.operand(DotOp::In::b)).dtype();
  const DType acc = fn.type(dot.operand(DotOp::In::acc)).dtype();
  const auto precision = dot.enum_attr<vm::DotPrecision>(DotOp::At::precision);
  const auto is_f8 = [](DType t) { return t == DType::kF8E4M3 || t == DType::kF8E5M2; };
  if (a == b && (a == DType::kF16 || a == DType::kBF16)) {
    const bool is_own_accumulator = a == DType::kF16 && acc == DType::kF16;
    if (acc == DType::kF32 || is_own_accumulator) return MmaKind::kHalf;
  }
  if (a == b && a == DType::kF32 && acc == DType::kF32 && precision == vm::DotPrecision::kTf32) return MmaKind::kTf32;
  if (a == b && (a == DType::kI8 || a == DType::kU8) && acc == DType::kI32) return MmaKind::kByte;
  if (is_f8(a) && is_f8(b) && acc == DType::kF32 && compute_capability >= 89) return MmaKind::kByte;
  if (a == b && a == DType::kF64 && acc == DType::kF64) return MmaKind::kDouble;
  return std::nullopt;
}

// The op that defines each value; none for parameters.
std::vector<OpId> Definitions(const Function& fn) {
  std::vector<OpId> definitions(fn.num_values());
  fn.ForEachOp([&](OpId id) {
    for (ValueId result : fn.op(id).results) definitions[result.index()] = id;
  });
  return definitions;
}

// True if `value` is computed element by element from the result of `dot` (of any, if null).
bool ComesFromDot(const Function& fn, const std::vector<OpId>& definitions, ValueId value, const Operation* dot,
                  int depth) {
  if (value.is_none() || depth == 0) return false;
  const OpId id = definitions[value.index()];
  if (!id) return false;
  const Operation& op = fn.op(id);
  if (op.opcode == Op::kDot) return dot == nullptr || op.results[0] == dot->results[0];
  if (op.info().effects != vm::OpEffects::kPure || !op.regions.empty()) return false;
  if (op.results.size() != 1 || fn.type(op.result()).shape() != fn.type(value).shape()) return false;
  return std::any_of(op.operands.begin(), op.operands.end(), [&](ValueId v) {
    return !v.is_none() && fn.type(v).shape() == fn.type(value).shape() &&
           ComesFromDot(fn, definitions, v, dot, depth - 1);
  });
}

// A product whose result is the next one's left operand (attention): if each warp has whole rows, the result turns into
// the operand without leaving the thread.
bool IsChained(const Function& fn, const Operation& dot) {
  const std::vector<OpId> definitions = Definitions(fn);
  constexpr int kMaxDepth = 12;
  if (ComesFromDot(fn, definitions, dot.operand(DotOp::In::a), nullptr, kMaxDepth)) return true;
  bool is_chained = false;
  fn.ForEachOp([&](OpId id) {
    const Operation& other = fn.op(id);
    if (is_chained || other.opcode != Op::kDot || other.results[0] == dot.results[0]) return;
    is_chained = ComesFromDot(fn, definitions, other.operand(DotOp::In::a), &dot, kMaxDepth);
  });
  return is_chained;
}

}  // namespace

std::optional<DotLayouts> MmaLayouts(const Function& function, const Operation& dot, int num_warps,
                                     int compute_capability) {
  const auto kind = KindOf(function, dot, compute_capability);
  if (!kind) return std::nullopt;
  const auto& a = function.type(dot.operand(DotOp::In::a)).shape();
  const auto& b = function.type(dot.operand(DotOp::In::b)).shape();
  const auto& result = function.type(dot.result()).shape();
  const MmaSize size = InstructionSize(*kind);
  const size_t rank = result.size();
  if (result[rank - 2] < size.m || result[rank - 1] < size.n || a[rank - 1] < size.k) return std::nullopt;
  MmaWarps warps = SpreadWarps(result, num_warps, *kind);
  if (rank == 2 && result[0] >= int64_t{size.m} * num_warps && IsChained(function, dot)) warps = {num_warps, 1, 1};
  return DotLayouts{*kind, MmaOperandA(a, warps, *kind), MmaOperandB(b, warps, *kind), MmaResult(result, warps, *kind)};
}

}  // namespace trivet::jit
