// A region is turned into expressions over its parameters, helpers inlined; equal expressions get equal numbers, so
// that a pattern is a comparison of a few integers.
#include "vm/interpreter/region_patterns.h"

#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "vm/base/id.h"

namespace trivet::vm {
namespace {

using ExprId = int;
constexpr ExprId kNoExpr = -1;

// A parameter of the region (param >= 0), or an op on other expressions.
struct Expr {
  int param = -1;
  Op op{};
  absl::InlinedVector<int64_t, 2> attrs = {};
  absl::InlinedVector<ExprId, 3> args = {};
  DType dtype = DType::kNone;
  friend bool operator==(const Expr&, const Expr&) = default;
};

class Expressions {
 public:
  explicit Expressions(const Module& module) : module_(module) {}

  // What `region` gives when its parameters are `args`; nothing if it is not straight-line arithmetic, or long.
  std::optional<std::vector<ExprId>> Evaluate(const Function& function, RegionId region,
                                              const std::vector<ExprId>& args, int call_depth = 0) {
    if (call_depth > kMaxCallDepth) return std::nullopt;
    const Region& body = function.region(region);
    if (body.params.size() != args.size()) return std::nullopt;
    std::vector<ExprId> values(function.num_values(), kNoExpr);
    for (size_t i = 0; i < args.size(); ++i) values[body.params[i].index()] = args[i];
    for (OpId id : body.ops) {
      const Operation& op = function.op(id);
      std::vector<ExprId> operands;
      for (ValueId operand : op.operands) {
        const ExprId expr = operand.is_none() ? kNoExpr : values[operand.index()];
        if (expr == kNoExpr) return std::nullopt;
        operands.push_back(expr);
      }
      if (op.opcode == Op::kYield || op.opcode == Op::kReturn) return operands;
      std::optional<std::vector<ExprId>> results = EvaluateOp(function, op, operands, call_depth);
      if (!results.has_value() || results->size() != op.results.size()) return std::nullopt;
      for (size_t i = 0; i < results->size(); ++i) values[op.results[i].index()] = (*results)[i];
    }
    return std::nullopt;
  }

  ExprId Param(int index, DType dtype) { return Intern(Expr{.param = index, .dtype = dtype}); }
  const Expr& operator[](ExprId id) const { return exprs_[static_cast<size_t>(id)]; }
  bool IsOp(ExprId id, Op op) const { return (*this)[id].param < 0 && (*this)[id].op == op; }

 private:
  static constexpr int kMaxCallDepth = 8;
  static constexpr size_t kMaxExpressions = 64;

  std::optional<std::vector<ExprId>> EvaluateOp(const Function& function, const Operation& op,
                                                const std::vector<ExprId>& operands, int call_depth) {
    if (op.opcode == Op::kCall) {
      const Function& callee = module_.functions[static_cast<size_t>(op.int_attr(CallOp::At::callee))];
      return Evaluate(callee, callee.body, operands, call_depth + 1);
    }
    if (!op.regions.empty() || op.results.size() != 1 || op.info().effects != OpEffects::kPure) return std::nullopt;
    Expr expr{.op = op.opcode, .dtype = function.type(op.result()).dtype()};
    expr.args.assign(operands.begin(), operands.end());
    for (const Attribute& attr : op.attrs) {
      const int64_t* number = std::get_if<int64_t>(&attr);
      if (number == nullptr) return std::nullopt;
      expr.attrs.push_back(*number);
    }
    const ExprId id = Intern(std::move(expr));
    if (id == kNoExpr) return std::nullopt;
    return std::vector<ExprId>{id};
  }

  ExprId Intern(Expr expr) {
    for (size_t i = 0; i < exprs_.size(); ++i) {
      if (exprs_[i] == expr) return static_cast<ExprId>(i);
    }
    if (exprs_.size() >= kMaxExpressions) return kNoExpr;
    exprs_.push_back(std::move(expr));
    return static_cast<ExprId>(exprs_.size() - 1);
  }

  const Module& module_;
  std::vector<Expr> exprs_;
};

CombineKind KindOfFloatMinMax(const Expr& expr, CombineKind ignore, CombineKind propagate) {
  return expr.attrs[0] == static_cast<int64_t>(NanRule::kIgnore) ? ignore : propagate;
}

// Of an op on both parameters.
CombineKind KindOfBinary(const Expr& expr) {
  const auto rounds_to_nearest = [&] { return expr.attrs[0] == static_cast<int64_t>(Rounding::kNearestEven); };
  // Arithmetic on i1 is the elementwise handlers' business; only bitwise combines are recognised.
  const bool is_bool = IsBool(expr.dtype);
  if (expr.op == Op::kAndI) return CombineKind::kAnd;
  if (expr.op == Op::kOrI) return CombineKind::kOr;
  if (expr.op == Op::kXorI) return CombineKind::kXor;
  if (is_bool) return CombineKind::kUnknown;
  if (expr.op == Op::kAddI) return CombineKind::kAdd;
  if (expr.op == Op::kMulI) return CombineKind::kMul;
  if (expr.op == Op::kMinI) return CombineKind::kMin;
  if (expr.op == Op::kMaxI) return CombineKind::kMax;
  if (expr.op == Op::kAddF && rounds_to_nearest()) return CombineKind::kAdd;
  if (expr.op == Op::kMulF && rounds_to_nearest()) return CombineKind::kMul;
  if (expr.op == Op::kMinF) return KindOfFloatMinMax(expr, CombineKind::kMin, CombineKind::kMinPropagateNan);
  if (expr.op == Op::kMaxF) return KindOfFloatMinMax(expr, CombineKind::kMax, CombineKind::kMaxPropagateNan);
  return CombineKind::kUnknown;
}

// The predicate under which `expr` compares `a` with `b`, in this order; nothing if it does not.
std::optional<CmpPredicate> ComparisonOf(const Expressions& exprs, ExprId id, ExprId a, ExprId b) {
  if (!exprs.IsOp(id, Op::kCmpF) && !exprs.IsOp(id, Op::kCmpI)) return std::nullopt;
  const Expr& expr = exprs[id];
  const CmpPredicate predicate = static_cast<CmpPredicate>(expr.attrs[0]);
  if (expr.args[0] == a && expr.args[1] == b) return predicate;
  if (expr.args[0] != b || expr.args[1] != a) return std::nullopt;
  switch (predicate) {
    case CmpPredicate::kEq:
    case CmpPredicate::kNe:
      return predicate;
    case CmpPredicate::kLt:
      return CmpPredicate::kGt;
    case CmpPredicate::kLe:
      return CmpPredicate::kGe;
    case CmpPredicate::kGt:
      return CmpPredicate::kLt;
    case CmpPredicate::kGe:
      return CmpPredicate::kLe;
  }
  return std::nullopt;
}

// Calls test(x, y) for the operands of the binary op `op` at `id`, in both orders, until it holds.
template <typename Test>
bool EitherOrder(const Expressions& exprs, ExprId id, Op op, const Test& test) {
  if (!exprs.IsOp(id, op)) return false;
  const ExprId x = exprs[id].args[0];
  const ExprId y = exprs[id].args[1];
  return test(x, y) || test(y, x);
}

// yields: select(first, value1, value2), select(first, index1, index2)
//   first = value1 > value2                                               Fast
//   first = (value1 > value2) | ((value1 == value2) & (index1 < index2))  Left
CombineKind KindOfArgCombine(const Expressions& exprs, const std::vector<ExprId>& params,
                             const std::vector<ExprId>& yields) {
  const ExprId value1 = params[0], index1 = params[1], value2 = params[2], index2 = params[3];
  if (!exprs.IsOp(yields[0], Op::kSelect) || !exprs.IsOp(yields[1], Op::kSelect)) return CombineKind::kUnknown;
  const Expr& value = exprs[yields[0]];
  const Expr& index = exprs[yields[1]];
  const ExprId first = value.args[0];
  if (index.args[0] != first || value.args[1] != value1 || value.args[2] != value2 || index.args[1] != index1 ||
      index.args[2] != index2) {
    return CombineKind::kUnknown;
  }
  const auto compares = [&](ExprId id, ExprId a, ExprId b, CmpPredicate predicate) {
    return ComparisonOf(exprs, id, a, b) == predicate;
  };
  const auto is_tie_to_left = [&](ExprId id) {
    return EitherOrder(exprs, id, Op::kAndI, [&](ExprId x, ExprId y) {
      return compares(x, value1, value2, CmpPredicate::kEq) && compares(y, index1, index2, CmpPredicate::kLt);
    });
  };
  const auto is_left = [&](CmpPredicate wins) {
    return EitherOrder(exprs, first, Op::kOrI,
                       [&](ExprId x, ExprId y) { return compares(x, value1, value2, wins) && is_tie_to_left(y); });
  };
  if (compares(first, value1, value2, CmpPredicate::kGt)) return CombineKind::kArgMaxFast;
  if (compares(first, value1, value2, CmpPredicate::kLt)) return CombineKind::kArgMinFast;
  if (is_left(CmpPredicate::kGt)) return CombineKind::kArgMaxLeft;
  if (is_left(CmpPredicate::kLt)) return CombineKind::kArgMinLeft;
  return CombineKind::kUnknown;
}

}  // namespace

CombineKind RecogniseCombine(const Module& module, const Function& function, RegionId region) {
  Expressions exprs(module);
  std::vector<ExprId> params;
  for (ValueId param : function.region(region).params) {
    if (!function.type(param).is_number()) return CombineKind::kUnknown;
    params.push_back(exprs.Param(static_cast<int>(params.size()), function.type(param).dtype()));
  }
  if (params.size() != 2 && params.size() != 4) return CombineKind::kUnknown;
  const std::optional<std::vector<ExprId>> yields = exprs.Evaluate(function, region, params);
  if (!yields.has_value() || yields->size() * 2 != params.size()) return CombineKind::kUnknown;
  if (params.size() == 4) return KindOfArgCombine(exprs, params, *yields);
  const Expr& combined = exprs[yields->front()];
  const bool is_of_both = combined.param < 0 && combined.args.size() == 2 &&
                          ((combined.args[0] == params[0] && combined.args[1] == params[1]) ||
                           (combined.args[0] == params[1] && combined.args[1] == params[0]));
  return is_of_both ? KindOfBinary(combined) : CombineKind::kUnknown;
}

}  // namespace trivet::vm
