// Forward dataflow over one function: what is known about each value, from arguments to results, through loops.
//
// The walk is optimistic. A carried value of a loop begins as its initial value, the body is walked, what the body
// yields is joined in, and the body is walked again until nothing changes:
//
//   %r = for 0, %n, 16, %x {        round 1   %i: {0}            %a: facts of %x
//   ^(%i: i32, %a: i32):            round 2   %i: {0} or 16 ..   %a: facts of %x joined with those of %a + 32
//     %a.1 = addi %a, %c32          round 3   nothing changed: done
//     yield %a.1
//   }
//
// A client says what is known of arguments, what each op makes of its operands, and how facts join. Facts that keep
// changing are widened, so the walk ends for lattices of any height.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "vm/bytecode/module.h"

namespace trivet::jit {

// `Fact` is copyable and equality-comparable. "No fact yet" is not a Fact: a value that no path reaches has none.
template <typename Fact>
class ForwardDataflow {
 public:
  explicit ForwardDataflow(const vm::Function& fn) : fn_(fn), facts_(fn.num_values()) {}
  virtual ~ForwardDataflow() = default;

  // Walks the function. Parameters have the facts that Parameter gives.
  void Solve() {
    const absl::Span<const ValueId> params = fn_.params();
    for (size_t i = 0; i < params.size(); ++i) Assign(params[i], Parameter(i));
    WalkRegion(fn_.body, nullptr, nullptr);
  }

  // Facts by value. Those without one are in code that nothing reaches.
  std::vector<std::optional<Fact>> TakeFacts() && { return std::move(facts_); }

 protected:
  // What holds of any value of this type.
  virtual Fact Unknown(const vm::Type& type) const = 0;
  // What holds of parameter `index` of the function.
  virtual Fact Parameter(size_t index) const = 0;
  // What holds of a value that is one of the two.
  virtual Fact Join(const Fact& a, const Fact& b) const = 0;
  // As Join, and must reach a fixed point in few steps when applied again and again.
  virtual Fact Widen(const vm::Type& type, const Fact& before, const Fact& now) const = 0;
  // What holds of the counter of a `for` in its body.
  virtual Fact Counter(const vm::Operation& loop) const = 0;
  // What holds of result `index` of an op without control flow. Get gives facts of its operands.
  virtual Fact Transfer(const vm::Operation& op, size_t index) const = 0;
  // What else is known of the value, wherever it is defined; such as by an assume.
  virtual Fact Refine(ValueId, Fact fact) const { return fact; }

  const vm::Function& fn() const { return fn_; }
  // The fact of a value; Unknown if none has reached it.
  Fact Get(ValueId value) const {
    const std::optional<Fact>& fact = facts_[value.index()];
    return fact ? *fact : Unknown(fn_.type(value));
  }

 private:
  static constexpr int kRoundsBeforeWidening = 3;

  // A loop being walked: where its breaks and continues go.
  struct Loop {
    const vm::Operation* op;
    absl::Span<const ValueId> carried;  // parameters that `continue` and the last yield feed
  };

  void Assign(ValueId value, Fact fact) { facts_[value.index()] = Refine(value, std::move(fact)); }

  // Joins `fact` into the value's.
  void Merge(ValueId value, Fact fact) {
    std::optional<Fact>& at = facts_[value.index()];
    if (!at) {
      at = Refine(value, std::move(fact));
      changed_ = true;
      return;
    }
    Fact joined = Join(*at, fact);
    if (joined == *at) return;
    if (widening_) joined = Widen(fn_.type(value), *at, joined);
    joined = Refine(value, std::move(joined));
    if (joined == *at) return;
    at = std::move(joined);
    changed_ = true;
  }

  void MergeAll(absl::Span<const ValueId> from, absl::Span<const ValueId> to) {
    for (size_t i = 0; i < to.size(); ++i) {
      if (facts_[from[i].index()]) Merge(to[i], *facts_[from[i].index()]);
    }
  }

  // `parent` is the op the region belongs to, `loop` the innermost loop around.
  void WalkRegion(RegionId region, const vm::Operation* parent, const Loop* loop) {
    for (OpId id : fn_.region(region).ops) WalkOp(fn_.op(id), parent, loop);
  }

  void WalkOp(const vm::Operation& op, const vm::Operation* parent, const Loop* loop) {
    switch (op.opcode) {
      case vm::Op::kFor:
      case vm::Op::kWhile:
        return WalkLoop(op);
      case vm::Op::kIf:
        for (RegionId region : op.regions) WalkRegion(region, &op, loop);
        return;
      case vm::Op::kYield:
        if (parent == nullptr || parent->regions.empty() || IsScalarRegion(*parent)) return;
        return MergeAll(op.operands, parent->opcode == vm::Op::kIf ? parent->results : loop->carried);
      case vm::Op::kCondition: {
        const absl::Span<const ValueId> values = absl::MakeConstSpan(op.operands).subspan(1);
        MergeAll(values, fn_.region(parent->regions[1]).params);
        return MergeAll(values, parent->results);
      }
      case vm::Op::kBreak:
        return MergeAll(op.operands, loop->op->results);
      case vm::Op::kContinue:
        return MergeAll(op.operands, loop->carried);
      case vm::Op::kReturn:
        return;
      default:  // the many without control flow
        break;
    }
    for (RegionId region : op.regions) {
      for (ValueId param : fn_.region(region).params) Assign(param, Unknown(fn_.type(param)));
      WalkRegion(region, &op, nullptr);
    }
    for (size_t i = 0; i < op.results.size(); ++i) Assign(op.results[i], Transfer(op, i));
  }

  static bool IsScalarRegion(const vm::Operation& op) {
    return op.opcode == vm::Op::kReduce || op.opcode == vm::Op::kScan || op.opcode == vm::Op::kMapElementwise;
  }

  void WalkLoop(const vm::Operation& op) {
    const bool is_for = op.opcode == vm::Op::kFor;
    const absl::Span<const ValueId> params = fn_.region(op.regions[0]).params;
    const Loop loop{&op, is_for ? params.subspan(1) : params};
    const bool changed_outside = changed_;
    const bool widening_outside = widening_;
    bool changed_at_all = false;
    MergeAll(op.variadic(), loop.carried);
    for (int round = 0;; ++round) {
      widening_ = widening_outside || round >= kRoundsBeforeWidening;
      changed_ = false;
      if (is_for) Assign(params[0], Counter(op));
      for (RegionId region : op.regions) WalkRegion(region, &op, &loop);
      changed_at_all |= changed_;
      if (!changed_) break;
    }
    // What the loop ends with if it runs to its end is what it would have gone on with.
    if (is_for) MergeAll(loop.carried, op.results);
    widening_ = widening_outside;
    changed_ = changed_outside || changed_at_all;
  }

  const vm::Function& fn_;
  std::vector<std::optional<Fact>> facts_;
  bool changed_ = false;
  bool widening_ = false;
};

}  // namespace trivet::jit
