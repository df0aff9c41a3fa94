// canonicalise: folds constants, applies identities that keep every bit, and resolves branches and loops that are
// decided.
//
// Before: any level. After: the same; commutative integer ops have their constant on the right. Keeps: every bit of
// every result, every effect and its order. Rules go towards fewer and cheaper ops only, so one walk in program order
// suffices:
//
//   constants      elementwise integer ops on constants; whatever ranges and launch facts leave one value for
//   identities     x + 0, x - 0, x * 1, x * 0, x / 1, x & x, x | 0, x << 0, min(x, x), select(c, x, x), casts and
//                  reshapes there and back; none on floats, where x + 0 and x * 1 may change a bit
//   shape          splat, broadcast, expand_dims, reshape, trans of a constant or of what a splat made; trans of trans
//   branches       an `if` whose condition is known is replaced by that side
//   loops          a `for` that never runs is its initial values, one that runs once is its body; a carried value that
//                  always stays what it was is its initial value
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "jit/analysis/assumptions.h"
#include "jit/passes/fold.h"
#include "jit/passes/pass.h"
#include "jit/passes/rewrite.h"
#include "vm/bytecode/builder.h"

namespace trivet::jit {
namespace {

using vm::Function;
using vm::Op;
using vm::Operation;
using vm::Type;

bool IsCommutative(Op op) {
  return op == Op::kAddI || op == Op::kMulI || op == Op::kAndI || op == Op::kOrI || op == Op::kXorI ||
         op == Op::kMinI || op == Op::kMaxI;
}

class Canonicaliser {
 public:
  Canonicaliser(Function& fn, PassContext& cx)
      : fn_(fn), cx_(cx), ranges_(cx.ranges()), replacements_(fn), defining_(DefiningOps(fn)) {}

  bool Run() {
    std::vector<OpId> constants;
    ops_ = &constants;
    const std::vector<ValueId> params(fn_.params().begin(), fn_.params().end());
    for (ValueId param : params) {
      const Type type = fn_.type(param);
      const Range range = ranges_.Get(param);
      if (!type.is_integer() || !range.is_constant()) continue;
      replacements_.Set(param, MakeConstant(type, vm::BitsOf(type.dtype(), range.lo), fn_.location));
    }
    Walk(fn_.body, /*in_while_condition=*/false);
    std::vector<OpId>& ops = fn_.region(fn_.body).ops;
    ops.insert(ops.begin(), constants.begin(), constants.end());
    cx_.Count("simplified", simplified_);
    return changes_ > 0 || !constants.empty();
  }

 private:
  enum class Flow { kGoesOn, kEnds };

  void Walk(RegionId region, bool in_while_condition) {
    const std::vector<OpId> old_ops = std::move(fn_.region(region).ops);
    std::vector<OpId> ops;
    WalkOps(old_ops, in_while_condition, ops);
    fn_.region(region).ops = std::move(ops);
  }

  // Appends what the ops become to `ops`; what follows a terminator is dropped.
  Flow WalkOps(const std::vector<OpId>& old_ops, bool in_while_condition, std::vector<OpId>& ops) {
    for (OpId id : old_ops) {
      if (Visit(id, in_while_condition, ops) == Flow::kEnds) return Flow::kEnds;
    }
    return Flow::kGoesOn;
  }

  Flow Visit(OpId id, bool in_while_condition, std::vector<OpId>& ops) {
    replacements_.Apply(fn_.op(id));
    ops_ = &ops;
    switch (fn_.op(id).opcode) {
      case Op::kIf:
        if (const std::optional<bool> side = KnownCondition(fn_.op(id).operand(0))) {
          if (const std::optional<Flow> flow = TakeSide(id, *side ? 0 : 1, in_while_condition, ops)) return *flow;
        }
        break;
      case Op::kFor:
        if (TryResolveLoop(id, ops)) return Flow::kGoesOn;
        ForwardUnchanged(id);
        break;
      default:
        if (Simplify(id)) {
          ++changes_;
          ++simplified_;
          return Flow::kGoesOn;
        }
        break;
    }
    const auto regions = fn_.op(id).regions;
    const bool is_while = fn_.op(id).opcode == Op::kWhile;
    for (size_t i = 0; i < regions.size(); ++i) Walk(regions[i], is_while && i == 0);
    ops.push_back(id);
    return fn_.op(id).info().is_terminator() ? Flow::kEnds : Flow::kGoesOn;
  }

  // --- What is known of values. Ranges are of the function as it was: values made since are constants.

  const Operation* DefiningOp(ValueId value) const {
    const OpId id = value.index() < defining_.size() ? defining_[value.index()] : OpId();
    return id.is_none() ? nullptr : &fn_.op(id);
  }
  // The bits that every element has.
  std::optional<int64_t> UniformBits(ValueId value) const {
    const Operation* op = value.is_none() ? nullptr : DefiningOp(value);
    if (op == nullptr || op->opcode != Op::kConstant) return std::nullopt;
    return op->int_attr(vm::ConstantOp::At::value);
  }
  bool IsInteger(ValueId value, int64_t expected) const {
    const Type& type = fn_.type(value);
    const std::optional<int64_t> bits = UniformBits(value);
    return bits && type.is_integer() && vm::IntValueOf(type.dtype(), *bits) == expected;
  }
  std::optional<bool> KnownCondition(ValueId value) const {
    const std::optional<int64_t> bits = UniformBits(value);
    return bits ? std::optional<bool>(*bits != 0) : std::nullopt;
  }
  std::optional<int64_t> KnownInteger(ValueId value) const {
    const std::optional<int64_t> bits = UniformBits(value);
    return bits ? std::optional<int64_t>(vm::IntValueOf(fn_.type(value).dtype(), *bits)) : std::nullopt;
  }

  // --- Single ops.

  ValueId MakeConstant(const Type& type, int64_t bits, const vm::Location& location) {
    Operation op;
    op.opcode = Op::kConstant;
    op.location = location;
    op.attrs = {bits};
    const ValueId value = fn_.AddValue(type);
    op.results = {value};
    const OpId id = fn_.AddOp(std::move(op));
    ops_->push_back(id);
    defining_.resize(fn_.num_values());
    defining_[value.index()] = id;
    return value;
  }

  bool ReplaceBy(OpId id, ValueId value) {
    replacements_.Set(fn_.op(id).result(), value);
    return true;
  }
  bool ReplaceByConstant(OpId id, int64_t bits) {
    const Type type = fn_.type(fn_.op(id).result());
    return ReplaceBy(id, MakeConstant(type, bits, fn_.op(id).location));
  }

  // True if the op is no longer needed.
  bool Simplify(OpId id) {
    Operation& op = fn_.op(id);
    if (op.results.size() != 1 || op.info().effects != vm::OpEffects::kPure || !op.regions.empty()) return false;
    if (op.opcode == Op::kConstant || op.opcode == Op::kHint) return false;
    return FoldConstants(id) || FoldByRange(id) || Identity(id) || ShapeIdentity(id);
  }

  bool FoldConstants(OpId id) {
    const Operation& op = fn_.op(id);
    absl::InlinedVector<int64_t, 3> bits;
    for (ValueId operand : op.operands) {
      const std::optional<int64_t> known = UniformBits(operand);
      if (!known) return false;
      bits.push_back(*known);
    }
    const std::optional<int64_t> folded = FoldElement(fn_, op, bits);
    return folded && ReplaceByConstant(id, *folded);
  }

  bool FoldByRange(OpId id) {
    const ValueId result = fn_.op(id).result();
    const Type& type = fn_.type(result);
    if (!type.is_integer() || type.dtype() == vm::DType::kU64) return false;
    const Range range = ranges_.Get(result);
    return range.is_constant() && ReplaceByConstant(id, vm::BitsOf(type.dtype(), range.lo));
  }

  // Identities on integers, and those that hold for any type.
  bool Identity(OpId id) {
    Operation& op = fn_.op(id);
    if (IsCommutative(op.opcode) && UniformBits(op.operand(0)) && !UniformBits(op.operand(1))) {
      std::swap(op.operands[0], op.operands[1]);
      ++changes_;
    }
    const auto same = [&](int a, int b) { return op.operand(a) == op.operand(b); };
    switch (op.opcode) {
      case Op::kAddI:
      case Op::kXorI:
      case Op::kSubI:
        if (IsInteger(op.operand(1), 0)) return ReplaceBy(id, op.operand(0));
        return op.opcode != Op::kAddI && same(0, 1) && ReplaceByConstant(id, 0);
      case Op::kShl:
      case Op::kShr:
        return IsInteger(op.operand(1), 0) && ReplaceBy(id, op.operand(0));
      case Op::kMulI:
        if (IsInteger(op.operand(1), 0)) return ReplaceBy(id, op.operand(1));
        return IsInteger(op.operand(1), 1) && ReplaceBy(id, op.operand(0));
      case Op::kDivI:
        return IsInteger(op.operand(1), 1) && ReplaceBy(id, op.operand(0));
      case Op::kAndI:
        if (IsInteger(op.operand(1), 0)) return ReplaceBy(id, op.operand(1));
        return (same(0, 1) || IsAllOnes(op.operand(1))) && ReplaceBy(id, op.operand(0));
      case Op::kOrI:
        if (IsAllOnes(op.operand(1))) return ReplaceBy(id, op.operand(1));
        return (same(0, 1) || IsInteger(op.operand(1), 0)) && ReplaceBy(id, op.operand(0));
      case Op::kMinI:
      case Op::kMaxI:
        return same(0, 1) && ReplaceBy(id, op.operand(0));
      case Op::kAddPtr:
        return IsInteger(op.operand(1), 0) && ReplaceBy(id, op.operand(0));
      case Op::kSelect:
        if (same(1, 2)) return ReplaceBy(id, op.operand(1));
        if (const std::optional<bool> side = KnownCondition(op.operand(0))) {
          return ReplaceBy(id, op.operand(*side ? 1 : 2));
        }
        return false;
      case Op::kCast:
        return CastIdentity(id);
      case Op::kBitcast: {
        const Operation* inner = DefiningOp(op.operand(0));
        if (inner != nullptr && inner->opcode == Op::kBitcast && fn_.type(inner->operand(0)) == fn_.type(op.result())) {
          return ReplaceBy(id, replacements_.Of(inner->operand(0)));
        }
        return fn_.type(op.operand(0)) == fn_.type(op.result()) && ReplaceBy(id, op.operand(0));
      }
      default:
        return false;
    }
  }

  bool IsAllOnes(ValueId value) const {
    const Type& type = fn_.type(value);
    const std::optional<int64_t> bits = UniformBits(value);
    return bits && type.is_integer() && *bits == vm::BitsOf(type.dtype(), type.is_bool() ? int64_t{1} : int64_t{-1});
  }

  // An integer to a wider type and back.
  bool CastIdentity(OpId id) {
    const Operation& op = fn_.op(id);
    const Type& to = fn_.type(op.result());
    if (fn_.type(op.operand(0)) == to) return ReplaceBy(id, op.operand(0));
    const Operation* inner = DefiningOp(op.operand(0));
    if (inner == nullptr || inner->opcode != Op::kCast) return false;
    const Type& middle = fn_.type(op.operand(0));
    const ValueId origin = replacements_.Of(inner->operand(0));
    const Type& from = fn_.type(origin);
    if (!from.is_integer() || !middle.is_integer() || from != to || to.is_bool()) return false;
    return vm::InfoOf(middle.dtype()).bits >= vm::InfoOf(to.dtype()).bits && ReplaceBy(id, origin);
  }

  // Ops that only move elements.
  bool ShapeIdentity(OpId id) {
    Operation& op = fn_.op(id);
    switch (op.opcode) {
      case Op::kSplat:
      case Op::kBroadcast:
      case Op::kExpandDims:
      case Op::kReshape:
      case Op::kTrans:
      case Op::kFlip:
        break;
      default:
        return false;
    }
    if (const std::optional<int64_t> bits = UniformBits(op.operand(0))) return ReplaceByConstant(id, *bits);
    const bool is_same_type = fn_.type(op.operand(0)) == fn_.type(op.result());
    if ((op.opcode == Op::kBroadcast || op.opcode == Op::kReshape) && is_same_type) return ReplaceBy(id, op.operand(0));
    const Operation* inner = DefiningOp(op.operand(0));
    if (inner == nullptr) return false;
    if (inner->opcode == Op::kSplat && op.opcode != Op::kSplat) {
      if (is_same_type) return ReplaceBy(id, op.operand(0));
      // In place: a splat of the scalar to the new shape.
      const ValueId scalar = replacements_.Of(inner->operand(0));
      op.opcode = Op::kSplat;
      op.operands = {scalar};
      op.attrs.clear();
      ++changes_;
      return false;
    }
    if (op.opcode == Op::kTrans) return TransIdentity(id, *inner);
    if (op.opcode == Op::kReshape && inner->opcode == Op::kReshape &&
        !inner->bool_attr(vm::ReshapeOp::At::allow_reorder)) {
      const ValueId origin = replacements_.Of(inner->operand(0));
      if (fn_.type(origin) == fn_.type(op.result())) return ReplaceBy(id, origin);
      op.operands[0] = origin;
      ++changes_;
    }
    return false;
  }

  bool TransIdentity(OpId id, const Operation& inner) {
    Operation& op = fn_.op(id);
    std::vector<int64_t> order = op.ints_attr(vm::TransOp::At::order);
    ValueId origin = op.operand(0);
    if (inner.opcode == Op::kTrans) {
      const std::vector<int64_t>& first = inner.ints_attr(vm::TransOp::At::order);
      for (int64_t& axis : order) axis = first[static_cast<size_t>(axis)];
      origin = replacements_.Of(inner.operand(0));
    }
    bool is_identity = true;
    for (size_t i = 0; i < order.size(); ++i) is_identity &= order[i] == static_cast<int64_t>(i);
    if (is_identity) return ReplaceBy(id, origin);
    if (origin != op.operand(0)) {
      op.operands[0] = origin;
      op.attrs[vm::TransOp::At::order] = std::move(order);
      ++changes_;
    }
    return false;
  }

  // --- Control flow.

  // The ops of one side instead of the `if`. If the side leaves (break, return), so does the region around it; in the
  // first region of a while that can't be said, and nothing happens.
  std::optional<Flow> TakeSide(OpId id, size_t side, bool in_while_condition, std::vector<OpId>& ops) {
    const Operation branch = fn_.op(id);
    const std::vector<OpId> inside = fn_.region(branch.regions[side]).ops;
    const OpId end = inside.back();
    const bool goes_on = fn_.op(end).opcode == Op::kYield;
    if (!goes_on && in_while_condition) return std::nullopt;
    ++changes_;
    cx_.Count("branches");
    cx_.Note(id, "the branch is decided: side ", side, " always runs");
    if (!goes_on) {
      WalkOps(inside, in_while_condition, ops);
      return Flow::kEnds;
    }
    const Flow flow = WalkOps({inside.begin(), inside.end() - 1}, in_while_condition, ops);
    if (flow == Flow::kEnds) return flow;
    const auto yielded = fn_.op(end).operands;
    for (size_t i = 0; i < yielded.size(); ++i) replacements_.Set(branch.results[i], yielded[i]);
    return flow;
  }

  // A `for` that runs never or once.
  bool TryResolveLoop(OpId id, std::vector<OpId>& ops) {
    const Operation loop = fn_.op(id);
    const std::optional<int64_t> lower = KnownInteger(loop.operand(vm::ForOp::In::lower));
    const std::optional<int64_t> upper = KnownInteger(loop.operand(vm::ForOp::In::upper));
    const std::optional<int64_t> step = KnownInteger(loop.operand(vm::ForOp::In::step));
    if (!lower || !upper || !step || *step == 0) return false;
    if (fn_.type(loop.operand(0)).dtype() == vm::DType::kU64) return false;
    const auto next = static_cast<__int128>(*lower) + *step;
    const bool never = *step > 0 ? *lower >= *upper : *lower <= *upper;
    const bool once = !never && (*step > 0 ? next >= *upper : next <= *upper);
    if (!never && !once) return false;
    const RegionId body = loop.regions[0];
    const std::vector<OpId> inside = fn_.region(body).ops;
    if (once && (LeavesToLoop(fn_, body) || fn_.op(inside.back()).opcode != Op::kYield)) return false;
    ++changes_;
    cx_.Count("loops");
    cx_.Note(id, "the loop runs ", never ? "never" : "once");
    if (never) {
      for (size_t i = 0; i < loop.results.size(); ++i) replacements_.Set(loop.results[i], loop.variadic()[i]);
      return true;
    }
    const auto params = fn_.region(body).params;
    replacements_.Set(params[0], loop.operand(vm::ForOp::In::lower));
    for (size_t i = 1; i < params.size(); ++i) replacements_.Set(params[i], loop.variadic()[i - 1]);
    WalkOps({inside.begin(), inside.end() - 1}, false, ops);
    replacements_.Apply(fn_.op(inside.back()));
    const auto yielded = fn_.op(inside.back()).operands;
    for (size_t i = 0; i < yielded.size(); ++i) replacements_.Set(loop.results[i], yielded[i]);
    return true;
  }

  // Carried values that every way through the body leaves as they are.
  void ForwardUnchanged(OpId id) {
    const Operation loop = fn_.op(id);
    const auto params = fn_.region(loop.regions[0]).params;
    for (size_t i = 0; i < loop.results.size(); ++i) {
      if (!AlwaysPasses(loop.regions[0], i, params[i + 1], loop.variadic()[i])) continue;
      if (replacements_.Of(params[i + 1]) != params[i + 1]) continue;
      replacements_.Set(params[i + 1], loop.variadic()[i]);
      replacements_.Set(loop.results[i], loop.variadic()[i]);
      ++changes_;
      cx_.Count("unchanged_values");
    }
  }
  // True if whatever ends an iteration, or the loop, passes the parameter or its initial value in slot `i`.
  bool AlwaysPasses(RegionId body, size_t i, ValueId param, ValueId init) const {
    const Operation& end = fn_.op(fn_.region(body).ops.back());
    if (end.opcode == Op::kYield && !IsOneOf(end.operands[i], param, init)) return false;
    return ExitsPass(body, i, param, init);
  }
  // The same of the breaks and continues that belong to the loop around the region.
  bool ExitsPass(RegionId region, size_t i, ValueId param, ValueId init) const {
    for (OpId id : fn_.region(region).ops) {
      const Operation& op = fn_.op(id);
      if ((op.opcode == Op::kBreak || op.opcode == Op::kContinue) && !IsOneOf(op.operands[i], param, init))
        return false;
      if (op.opcode != Op::kIf) continue;
      for (RegionId inner : op.regions) {
        if (!ExitsPass(inner, i, param, init)) return false;
      }
    }
    return true;
  }
  bool IsOneOf(ValueId value, ValueId param, ValueId init) const {
    value = replacements_.Of(value);
    return value == param || value == init;
  }

  Function& fn_;
  PassContext& cx_;
  const RangeAnalysis& ranges_;
  Replacements replacements_;
  std::vector<OpId> defining_;
  std::vector<OpId>* ops_ = nullptr;  // where new ops go
  int64_t changes_ = 0;
  int64_t simplified_ = 0;
};

}  // namespace

absl::StatusOr<PassResult> Canonicalise(Function& fn, PassContext& cx) {
  return PassResult{.changed = Canonicaliser(fn, cx).Run()};
}

}  // namespace trivet::jit
