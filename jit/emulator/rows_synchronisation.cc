// Barriers, fences, traps (PTX ISA, "Parallel Synchronization and Communication Instructions").
#include <bit>

#include "absl/strings/str_format.h"
#include "jit/emulator/cta.h"
#include "jit/emulator/rows.h"

namespace trivet::jit {

namespace {

// The operands of a barrier: id, threads (unless "all"), predicate (of reductions).
struct BarrierOperands {
  int id;
  int count;
  size_t predicate;  // its index
};

BarrierOperands OperandsOf(const Call& call, bool all) {
  return {FromSlot<int32_t>(call.in[0]), all ? call.cta.launch().num_threads : FromSlot<int32_t>(call.in[1]),
          all ? size_t{1} : size_t{2}};
}

// barrier.cta.sync{.aligned}.{all|count}
void BarrierSync(const Call& call) {
  const BarrierOperands at = OperandsOf(call, call.site.choice[1] == 0);
  call.cta.Barrier(call, at.id, at.count, /*waits=*/true, call.site.choice[0] == 1, nullptr);
}

void BarrierArrive(const Call& call) {
  const BarrierOperands at = OperandsOf(call, false);
  call.cta.Barrier(call, at.id, at.count, /*waits=*/false, call.site.choice[0] == 1, nullptr);
}

void FinishReduction(std::span<const Call* const> calls) {
  uint64_t set = 0;
  for (const Call* call : calls) set += call->in[OperandsOf(*call, call->site.choice[2] == 0).predicate] & 1;
  const uint64_t results[] = {set, set == calls.size(), set != 0};  // popc, and, or
  for (const Call* call : calls) call->out[0] = results[call->site.choice[0]];
}

void BarrierReduce(const Call& call) {
  const BarrierOperands at = OperandsOf(call, call.site.choice[2] == 0);
  call.cta.Barrier(call, at.id, at.count, /*waits=*/true, call.site.choice[1] == 1, FinishReduction);
}

void WarpSync(const Call& call) {
  call.cta.WarpOperation(call, FromSlot<uint32_t>(call.in[0]), [](const WarpCall& all) { all.cta.OrderWarp(); });
}

void Nothing(const Call&) {}

void Trap(const Call& call) { call.cta.Fail(absl::StatusCode::kAborted, call.site, "the kernel stopped itself"); }

void Exit(const Call& call) { call.cta.Exit(); }

constexpr Row kRows[] = {
    {"barrier.cta.sync{|.aligned}.{all|count}", BarrierSync},
    {"barrier.cta.arrive{|.aligned}.count", BarrierArrive},
    {"barrier.cta.red.{popc|and|or}{|.aligned}.{all|count}", BarrierReduce},
    {"bar.warp.sync", WarpSync},
    // A cluster is one program here, so arriving is enough.
    {"barrier.cluster.arrive{|.relaxed}{|.aligned}", Nothing},
    {"barrier.cluster.wait{|.aligned}", Nothing},
    // Threads of a program run one at a time and see memory in order.
    {"membar.{cta|gl|sys}", Nothing},
    {"fence.~", Nothing},
    {"nanosleep", [](const Call& call) { call.cta.Yield(); }},
    {"griddepcontrol.{wait|launch.dependents}", Nothing},
    {"setmaxnreg.{inc|dec}.sync.aligned.u32", Nothing},
    {"pm.event.mask", Nothing},
    {"exit", Exit},
    {"llvm.{trap|debugtrap}", Trap},
};

}  // namespace

std::span<const Row> SynchronisationRows() { return kRows; }

}  // namespace trivet::jit
