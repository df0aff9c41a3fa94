// inline: replaces calls of helper functions by their bodies, and the calls in those, until none is left that can be.
//
// Before: portable ops. After: the same. Keeps: what runs and in what order; locations and names are the helper's.
//
// A helper that returns early from a branch has what follows the branch moved into it:
//
//   if %c { return %a } else { yield }         %r = if %c { yield %a } else {
//   %b = ..                              ->      %b = ..
//   return %b                                    yield %b }
//
// If both sides of a branch may go on, what follows is copied to both; kMaxCopiedOps bounds that. A call stays, with a
// remark, where the helper returns from inside a loop: lowering makes control flow of it.
#include <algorithm>
#include <utility>
#include <vector>

#include "jit/passes/pass.h"
#include "jit/passes/rewrite.h"

namespace trivet::jit {
namespace {

using vm::Function;
using vm::Op;
using vm::Operation;
using vm::Type;

constexpr int64_t kMaxCopiedOps = 4000;

// Why a helper can't be inlined; nullptr if it can.
const char* WhyNot(const Function& helper) {
  bool returns_in_loop = false;
  helper.ForEachOp([&](OpId id) {
    const Operation& op = helper.op(id);
    if (op.opcode != Op::kFor && op.opcode != Op::kWhile) return;
    for (RegionId region : op.regions) returns_in_loop |= Returns(helper, region);
  });
  return returns_in_loop ? "it returns from inside a loop" : nullptr;
}

class Inliner {
 public:
  Inliner(Function& fn, PassContext& cx) : fn_(fn), cx_(cx), replacements_(fn) {}

  int64_t Run() {
    WalkRegion(fn_.body);
    return inlined_;
  }

 private:
  // Where a branch of the helper goes on: after `branch`, at op `next` of `region`.
  struct Frame {
    RegionId region;
    size_t next;
    OpId branch;
  };

  void WalkRegion(RegionId region) {
    const std::vector<OpId> old_ops = std::move(fn_.region(region).ops);
    std::vector<OpId> ops;
    for (OpId id : old_ops) Visit(id, ops);
    fn_.region(region).ops = std::move(ops);
  }

  // Appends the op, or what replaces it, to `ops`.
  void Visit(OpId id, std::vector<OpId>& ops) {
    replacements_.Apply(fn_.op(id));
    if (fn_.op(id).opcode == Op::kCall && TryInline(id, ops)) return;
    const auto regions = fn_.op(id).regions;
    for (RegionId region : regions) WalkRegion(region);
    ops.push_back(id);
  }

  bool TryInline(OpId call, std::vector<OpId>& ops) {
    const Operation op = fn_.op(call);
    const Function& helper = cx_.module().functions[static_cast<size_t>(op.int_attr(vm::CallOp::At::callee))];
    if (const char* why = WhyNot(helper)) {
      cx_.Note(call, "call of @", helper.name, " stays: ", why);
      return false;
    }
    ValueMap values;
    for (size_t i = 0; i < op.operands.size(); ++i) values[helper.params()[i]] = op.operands[i];
    std::vector<OpId> body;
    std::vector<ValueId> results;
    copied_ = 0;
    if (!Emit(helper, helper.body, 0, {}, values, body, results)) {
      cx_.Note(call, "call of @", helper.name, " stays: its branches would be copied too often");
      return false;
    }
    ++inlined_;
    for (size_t i = 0; i < results.size(); ++i) replacements_.Set(op.results[i], results[i]);
    for (OpId id : body) Visit(id, ops);  // calls inside
    return true;
  }

  // Copies the helper's code from op `index` of `region` on, through the branches around it, up to a return, whose
  // values become `results`. False if that gets too long.
  bool Emit(const Function& helper, RegionId region, size_t index, std::vector<Frame> frames, ValueMap values,
            std::vector<OpId>& body, std::vector<ValueId>& results) {
    const auto mapped = [&](ValueId value) {
      const auto found = values.find(value);
      return found == values.end() ? value : found->second;
    };
    while (true) {
      const OpId id = helper.region(region).ops[index++];
      const Operation& op = helper.op(id);
      if (op.opcode == Op::kReturn) {
        for (ValueId value : op.operands) results.push_back(mapped(value));
        return true;
      }
      if (op.opcode == Op::kYield) {  // of a branch that goes on
        const Frame frame = frames.back();
        frames.pop_back();
        const Operation& branch = helper.op(frame.branch);
        for (size_t i = 0; i < branch.results.size(); ++i) values[branch.results[i]] = mapped(op.operands[i]);
        region = frame.region;
        index = frame.next;
        continue;
      }
      if (op.opcode == Op::kIf && (Returns(helper, op.regions[0]) || Returns(helper, op.regions[1]))) {
        frames.push_back({region, index, id});
        return EmitBranch(helper, id, frames, values, body, results);
      }
      if (!frames.empty() && ++copied_ > kMaxCopiedOps) return false;
      body.push_back(CloneOp(helper, id, fn_, values));
    }
  }

  // An `if` that may return: one with the helper's results, in whose branches all that follows stands.
  bool EmitBranch(const Function& helper, OpId id, const std::vector<Frame>& frames, const ValueMap& values,
                  std::vector<OpId>& body, std::vector<ValueId>& results) {
    Operation branch;
    branch.opcode = Op::kIf;
    branch.location = helper.op(id).location;
    const ValueId condition = helper.op(id).operand(0);
    const auto found = values.find(condition);
    branch.operands.push_back(found == values.end() ? condition : found->second);
    for (RegionId region : helper.op(id).regions) {
      std::vector<OpId> inside;
      std::vector<ValueId> yielded;
      if (!Emit(helper, region, 0, frames, values, inside, yielded)) return false;
      Operation yield;
      yield.opcode = Op::kYield;
      yield.location = branch.location;
      yield.operands.assign(yielded.begin(), yielded.end());
      const OpId yield_id = fn_.AddOp(std::move(yield));
      inside.push_back(yield_id);
      const RegionId made = fn_.AddRegion();
      fn_.region(made).ops = std::move(inside);
      branch.regions.push_back(made);
    }
    for (const Type& type : helper.result_types) {
      branch.results.push_back(fn_.AddValue(type));
      results.push_back(branch.results.back());
    }
    body.push_back(fn_.AddOp(std::move(branch)));
    return true;
  }

  Function& fn_;
  PassContext& cx_;
  Replacements replacements_;
  int64_t inlined_ = 0;
  int64_t copied_ = 0;
};

}  // namespace

absl::StatusOr<PassResult> InlineCalls(Function& fn, PassContext& cx) {
  const int64_t inlined = Inliner(fn, cx).Run();
  cx.Count("calls", inlined);
  return PassResult{.changed = inlined > 0};
}

}  // namespace trivet::jit
