// Control flow, and running the regions of reduce, scan and map_elementwise.
#include "vm/interpreter/exec_control.h"

#include <cstring>

#include "vm/interpreter/decode.h"
#include "vm/interpreter/element_dispatch.h"
#include "vm/interpreter/prepare.h"
#include "vm/interpreter/program.h"

namespace trivet::vm {
namespace {

// Counts a jump back, or a call: without them nothing runs for long. Outside regions a program is preempted there.
template <bool kInRegion>
void CountSlice(ExecContext& cx) {
  if (--cx.slice > 0) return;
  if constexpr (kInRegion) {
    cx.program->PollInRegion();
  } else {
    cx.stop = true;
  }
}

template <bool kInRegion>
void ExecLoopBack(ExecContext& cx, const Instr& at) {
  const auto& payload = at.payload<JumpPayload>();
  RunMoves(cx, payload.moves);
  cx.pc = payload.target;
  CountSlice<kInRegion>(cx);
}

// How often a loop from lower to upper by step runs. Requires step != 0.
template <typename T>
uint64_t TripCount(T lower, T upper, T step) {
  const auto distance = [](T from, T to) { return static_cast<uint64_t>(to) - static_cast<uint64_t>(from); };
  if (step > 0) return lower < upper ? (distance(lower, upper) - 1) / static_cast<uint64_t>(step) + 1 : 0;
  return lower > upper ? (distance(upper, lower) - 1) / (uint64_t{0} - static_cast<uint64_t>(step)) + 1 : 0;
}

template <typename T>
void ExecForBegin(ExecContext& cx, const Instr& at) {
  const auto& payload = at.payload<ForPayload>();
  const T lower = *cx.Operand<T>(at, 0);
  const T upper = *cx.Operand<T>(at, 1);
  const T step = *cx.Operand<T>(at, 2);
  if (step == 0) return cx.RaiseTrap(at, TrapKind::kZeroStep, "the step of the loop is 0");
  const uint64_t count = TripCount<T>(lower, upper, step);
  RunMoves(cx, payload.moves);
  *cx.Result<T>(at, 0) = lower;
  *cx.Result<uint64_t>(at, 1) = count;
  if (count == 0) cx.pc = payload.target;
  if (cx.observer != nullptr) cx.program->NotifyBranch(at, count != 0);
}

template <typename T, bool kInRegion>
void ExecForEnd(ExecContext& cx, const Instr& at) {
  using U = std::make_unsigned_t<T>;
  uint64_t* remaining = cx.Result<uint64_t>(at, 1);
  const bool goes_on = --*remaining != 0;
  if (goes_on) {
    T* counter = cx.Result<T>(at, 0);
    *counter = static_cast<T>(static_cast<U>(*counter) + static_cast<U>(*cx.Operand<T>(at, 2)));
    cx.pc = at.payload<ForPayload>().target;
    CountSlice<kInRegion>(cx);
  }
  if (cx.observer != nullptr) cx.program->NotifyBranch(at, goes_on);
}

}  // namespace

void ExecNothing(ExecContext&, const Instr&) {}

void ExecMoves(ExecContext& cx, const Instr& at) { RunMoves(cx, at.payload<MovesPayload>().moves); }

void ExecJump(ExecContext& cx, const Instr& at) {
  const auto& payload = at.payload<JumpPayload>();
  RunMoves(cx, payload.moves);
  cx.pc = payload.target;
}

void ExecBranch(ExecContext& cx, const Instr& at) {
  const auto& payload = at.payload<BranchPayload>();
  const bool holds = *cx.Operand<uint8_t>(at, 0) != 0;
  RunMoves(cx, holds ? payload.moves : payload.else_moves);
  if (!holds) cx.pc = payload.target;
  if (cx.observer != nullptr) cx.program->NotifyBranch(at, holds);
}

void ExecCall(ExecContext& cx, const Instr& at) {
  const auto& payload = at.payload<CallPayload>();
  RunMoves(cx, payload.arguments);
  *cx.At<uint64_t>(payload.callee->link_slot) = cx.pc;
  cx.pc = payload.callee->entry_pc;
  CountSlice<false>(cx);
}

void ExecReturn(ExecContext& cx, const Instr& at) {
  RunMoves(cx, at.payload<ReturnPayload>().moves);
  cx.pc = static_cast<uint32_t>(*cx.Operand<uint64_t>(at, 0));
}

void ExecFinish(ExecContext& cx, const Instr& at) {
  RunMoves(cx, at.payload<ReturnPayload>().moves);
  cx.finished = true;
  cx.stop = true;
}

Handler LoopBackHandler(bool in_region) { return in_region ? &ExecLoopBack<true> : &ExecLoopBack<false>; }

Handler ForBeginHandler(DType dtype) {
  return VisitElement(dtype, []<typename T>() -> Handler {
    if constexpr (std::is_integral_v<T>) return &ExecForBegin<T>;
    return nullptr;
  });
}

Handler ForEndHandler(DType dtype, bool in_region) {
  return VisitElement(dtype, [&]<typename T>() -> Handler {
    if constexpr (std::is_integral_v<T>) return in_region ? &ExecForEnd<T, true> : &ExecForEnd<T, false>;
    return nullptr;
  });
}

void RunRegion(ExecContext& cx, const RegionCode& region) {
  cx.scratch += cx.scratch_stride;
  if (!region.has_control) {
    for (const Instr& at : region.code) {
      at.handler(cx, at);
      if (cx.stop) break;
    }
  } else {
    const uint32_t pc = cx.pc;
    cx.pc = 0;
    while (cx.pc < region.code.size() && !cx.stop) {
      const Instr& at = region.code[cx.pc++];
      ++cx.steps;
      at.handler(cx, at);
    }
    cx.pc = pc;
  }
  cx.scratch -= cx.scratch_stride;
}

}  // namespace trivet::vm
