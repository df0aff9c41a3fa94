#include "jit/lowering/program_order.h"

#include <algorithm>
#include <vector>

namespace trivet::jit {
namespace {

using vm::Function;
using vm::Op;
using vm::OpEffects;
using vm::Operation;

struct Access {
  const Operation* op = nullptr;
  ValueId base;  // a parameter of the function, or none when it is not known
  bool writes = false;
  bool is_atomic = false;
  std::vector<OpId> loops;  // around it, outermost first
};

bool IsAccess(const Operation& op) {
  const OpEffects effects = op.info().effects;
  const bool touches =
      effects == OpEffects::kReads || effects == OpEffects::kWrites || effects == OpEffects::kReadsWrites;
  return touches && !op.operands.empty();
}

class Collector {
 public:
  explicit Collector(const Function& fn) : fn_(fn), definitions_(fn.num_values()) {
    fn.ForEachOp([&](OpId id) {
      for (ValueId result : fn.op(id).results) definitions_[result.index()] = id;
    });
  }

  std::vector<Access> Run() {
    Visit(fn_.body);
    return std::move(accesses_);
  }

 private:
  void Visit(RegionId region) {
    for (OpId id : fn_.region(region).ops) {
      const Operation& op = fn_.op(id);
      if (IsAccess(op)) {
        const bool is_atomic = op.info().effects == OpEffects::kReadsWrites;
        accesses_.push_back({&op, BaseOf(op.operand(0)), op.info().effects != OpEffects::kReads, is_atomic, loops_});
      }
      const bool is_loop = op.opcode == Op::kFor || op.opcode == Op::kWhile;
      if (is_loop) loops_.push_back(id);
      for (RegionId inner : op.regions) Visit(inner);
      if (is_loop) loops_.pop_back();
    }
  }

  // The parameter that an address is computed from; none if it comes from elsewhere.
  ValueId BaseOf(ValueId address) const {
    for (;;) {
      const auto& params = fn_.params();
      if (std::find(params.begin(), params.end(), address) != params.end()) return address;
      const OpId id = definitions_[address.index()];
      if (!id) return ValueId::None();
      switch (fn_.op(id).opcode) {
        case Op::kAddPtr:
        case Op::kSplat:
        case Op::kBroadcast:
        case Op::kExpandDims:
        case Op::kReshape:
        case Op::kTrans:
        case Op::kBitcast:
        case Op::kHint:
        case Op::kConvertLayout:
        case Op::kMakeBlockPtr:
        case Op::kAdvance:
        case Op::kMakeDesc:
          address = fn_.op(id).operand(0);
          break;
        default:
          return ValueId::None();
      }
    }
  }

  const Function& fn_;
  std::vector<OpId> definitions_;
  std::vector<OpId> loops_;
  std::vector<Access> accesses_;
};

// True if each address is touched by the same thread in both.
bool HaveSameThreads(const Access& a, const Access& b, const LayoutResult& layouts) {
  const ValueId x = a.op->operand(0);
  const ValueId y = b.op->operand(0);
  const LayoutTable& table = layouts.layouts;
  if (!table.Has(x) || table.IndexOf(x) != table.IndexOf(y)) return false;
  return layouts.origin[x.index()] == layouts.origin[y.index()] && table.Of(x).FreeThreadBits() == 0;
}

bool ShareLoop(const Access& a, const Access& b) {
  return !a.loops.empty() && !b.loops.empty() && a.loops[0] == b.loops[0];
}

}  // namespace

ProgramOrder ProgramOrder::Of(const Function& fn, const LayoutResult& layouts) {
  ProgramOrder out;
  const std::vector<Access> accesses = Collector(fn).Run();
  for (size_t later = 0; later < accesses.size(); ++later) {
    const Access& b = accesses[later];
    for (size_t earlier = 0; earlier < accesses.size(); ++earlier) {
      const Access& a = accesses[earlier];
      const bool in_loop = ShareLoop(a, b);
      if (earlier >= later && !in_loop) break;
      if (!a.writes && !b.writes) continue;
      if (a.is_atomic && b.is_atomic) continue;
      if (a.base && b.base && a.base != b.base) continue;
      if (&a == &b || (!in_loop && HaveSameThreads(a, b, layouts))) continue;
      out.needs_barrier_.insert(b.op);
      break;
    }
  }
  return out;
}

}  // namespace trivet::jit
