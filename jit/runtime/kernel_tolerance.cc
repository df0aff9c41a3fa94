#include "jit/runtime/kernel_tolerance.h"

#include <algorithm>
#include <cmath>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "vm/interpreter/decode_provenance.h"
#include "vm/interpreter/region_patterns.h"
#include "vm/numerics/vector_math.h"

namespace trivet::jit {
namespace {

constexpr int64_t kTurnsOfALoop = 64;
constexpr double kLargestExponent = 88;

const vm::MathFunctionInfo* FindMathFunction(absl::string_view text) {
  for (const vm::MathFunctionInfo& info : vm::MathFunctions()) {
    if (text == info.text) return &info;
  }
  return nullptr;
}

// True if the region of a float reduce or scan picks one of its operands.
bool IsExactCombine(vm::CombineKind kind) {
  switch (kind) {
    case vm::CombineKind::kUnknown:
    case vm::CombineKind::kAdd:
    case vm::CombineKind::kMul:
      return false;
    case vm::CombineKind::kMin:
    case vm::CombineKind::kMax:
    case vm::CombineKind::kMinPropagateNan:
    case vm::CombineKind::kMaxPropagateNan:
    case vm::CombineKind::kAnd:
    case vm::CombineKind::kOr:
    case vm::CombineKind::kXor:
    case vm::CombineKind::kArgMaxLeft:
    case vm::CombineKind::kArgMaxFast:
    case vm::CombineKind::kArgMinLeft:
    case vm::CombineKind::kArgMinFast:
      return true;
  }
  return false;
}

vm::OpClass ClassOfDot(vm::DType operand, vm::DotPrecision precision) {
  if (operand != vm::DType::kF32 && operand != vm::DType::kF64) return vm::OpClass::kDotNarrow;
  switch (precision) {
    case vm::DotPrecision::kIeee:
      return vm::OpClass::kDotIeee;
    case vm::DotPrecision::kTf32:
      return vm::OpClass::kDotTf32;
    case vm::DotPrecision::kTf32x3:
    case vm::DotPrecision::kBf16x3:
    case vm::DotPrecision::kBf16x6:
      return vm::OpClass::kDotTf32x3;
  }
  return vm::OpClass::kDotTf32;
}

// Adds up the ops of one function.
class Estimator {
 public:
  Estimator(const vm::Module& module, const vm::Function& function, int64_t num_programs, KernelTolerance& total)
      : module_(module), function_(function), num_programs_(num_programs), total_(total) {}

  void Run() {
    function_.ForEachOp([&](OpId id) {
      for (ValueId operand : function_.op(id).operands) used_.insert(operand);
    });
    if (function_.body) Walk(function_.body, /*turns=*/1);
  }

 private:
  void Walk(RegionId region, int64_t turns) {
    for (OpId id : function_.region(region).ops) {
      const vm::Operation& op = function_.op(id);
      Visit(op, turns);
      const bool is_loop = op.opcode == vm::Op::kFor || op.opcode == vm::Op::kWhile;
      // What a reduce or scan does inside is that op's.
      if (op.opcode == vm::Op::kReduce || op.opcode == vm::Op::kScan) continue;
      for (RegionId inner : op.regions) Walk(inner, is_loop ? kTurnsOfALoop : turns);
    }
  }

  void Add(const vm::Tolerance& tolerance, bool is_f64, int64_t terms = 1) {
    const double ulp = tolerance.ulp + tolerance.ulp_per_argument * kLargestExponent;
    total_.ulp += ulp;
    total_.relative += ulp * (is_f64 ? 0x1p-52 : 0x1p-23) +
                       tolerance.relative_to_terms * std::sqrt(static_cast<double>(std::max<int64_t>(terms, 1)));
  }
  void AddClass(vm::OpClass op_class, bool is_f64, int64_t terms = 1) {
    Add(is_f64 ? vm::ToleranceForF64(op_class, terms) : vm::ToleranceFor(op_class, terms), is_f64, terms);
  }

  void Visit(const vm::Operation& op, int64_t turns) {
    const bool is_atomic = op.opcode == vm::Op::kAtomicRmw || op.opcode == vm::Op::kAtomicCas;
    if (is_atomic && used_.contains(op.result())) total_.depends_on_order = true;
    if (op.opcode == vm::Op::kReduce || op.opcode == vm::Op::kScan) return VisitCombine(op, turns);
    if (op.opcode == vm::Op::kAtomicRmw || op.opcode == vm::Op::kDescReduce) {
      const vm::Type& value = function_.type(op.operand(1));
      const bool is_sum = op.enum_attr<vm::AtomicOp>(vm::AtomicRmwOp::At::kind) == vm::AtomicOp::kAdd;
      if (is_sum && value.is_float()) {
        AddClass(vm::OpClass::kSum, value.dtype() == vm::DType::kF64,
                 std::max({num_programs_, value.num_elements(), turns}));
      }
      return;
    }
    if (op.results.empty() || !function_.type(op.result()).is_float()) return;
    const bool is_f64 = function_.type(op.result()).dtype() == vm::DType::kF64;
    if (op.opcode == vm::Op::kDot || op.opcode == vm::Op::kDotScaled) {
      const vm::Type& a = function_.type(op.operand(0));
      const vm::OpClass op_class =
          op.opcode == vm::Op::kDotScaled
              ? vm::OpClass::kDotNarrow
              : ClassOfDot(a.dtype(), op.enum_attr<vm::DotPrecision>(vm::DotOp::At::precision));
      return AddClass(op_class, is_f64, a.dim(-1) * turns);
    }
    if (op.opcode == vm::Op::kDivF) {
      if (!op.bool_attr(vm::DivFOp::At::precise)) AddClass(vm::OpClass::kDivide, is_f64);
      return;
    }
    if (op.opcode == vm::Op::kSqrt) {
      if (!op.bool_attr(vm::SqrtOp::At::precise)) Add({.ulp = 1}, is_f64);
      return;
    }
    if (const vm::MathFunctionInfo* math = FindMathFunction(op.info().text)) {
      Add(is_f64 ? vm::ToleranceForF64(math->function) : vm::ToleranceFor(math->function, vm::FloatFormat::kF32),
          is_f64);
    }
  }

  void VisitCombine(const vm::Operation& op, int64_t turns) {
    if (IsExactCombine(vm::RecogniseCombine(module_, function_, op.regions[0]))) return;
    for (ValueId input : op.operands) {
      const vm::Type& type = function_.type(input);
      if (!type.is_float()) continue;
      const auto axis = static_cast<int>(op.int_attr(vm::ReduceOp::At::axis));
      AddClass(vm::OpClass::kSum, type.dtype() == vm::DType::kF64, type.dim(axis) * turns);
    }
  }

  const vm::Module& module_;
  const vm::Function& function_;
  const int64_t num_programs_;
  KernelTolerance& total_;
  absl::flat_hash_set<ValueId> used_;
};

static_assert(int{vm::ReduceOp::At::axis} == int{vm::ScanOp::At::axis});
static_assert(int{vm::AtomicRmwOp::At::kind} == int{vm::DescReduceOp::At::kind});

}  // namespace

KernelTolerance ToleranceOfKernel(const vm::Module& module, FunctionId kernel, int64_t num_programs) {
  KernelTolerance total;
  std::vector<FunctionId> reached;  // in their order in the module, so that sums of floats come out the same
  for (const auto& [id, facts] : vm::FindProvenance(module, kernel)) reached.push_back(id);
  std::sort(reached.begin(), reached.end());
  for (FunctionId id : reached) Estimator(module, module.function(id), num_programs, total).Run();
  if (total.relative > 0) total.ulp = std::max(total.ulp, 1.0);
  return total;
}

}  // namespace trivet::jit
