// Payloads and handlers of what decoding makes of control flow. Program counters are indices into the code that holds
// the instruction: the kernel's, or that of one region.
#pragma once

#include <cstdint>
#include <vector>

#include "vm/interpreter/exec_context.h"
#include "vm/interpreter/frame.h"

namespace trivet::vm {

struct FunctionCode;

// Copies, then jumps.
struct JumpPayload {
  std::vector<Move> moves;
  uint32_t target = 0;
};

// Slot 0: an i1. Falls through if it holds, with the moves done; jumps otherwise, after `else_moves`.
struct BranchPayload {
  std::vector<Move> moves;
  std::vector<Move> else_moves;
  uint32_t target = 0;
};

// Slots: lower, upper, step; counter, remaining (8 bytes). ForBegin sets counter and remaining and does the moves; it
// jumps when there is nothing to do. ForEnd steps the counter and jumps to `target` while something remains.
struct ForPayload {
  std::vector<Move> moves;
  uint32_t target = 0;
};

struct CallPayload {
  std::vector<Move> arguments;
  const FunctionCode* callee = nullptr;
};

// Return from a function: `moves` put the results where the caller finds them; slot 0 holds the pc to go on at.
struct ReturnPayload {
  std::vector<Move> moves;
};

// Only copies: results of a call, values yielded.
struct MovesPayload {
  std::vector<Move> moves;
};

void ExecNothing(ExecContext& cx, const Instr& at);
void ExecMoves(ExecContext& cx, const Instr& at);
void ExecJump(ExecContext& cx, const Instr& at);
void ExecBranch(ExecContext& cx, const Instr& at);
void ExecCall(ExecContext& cx, const Instr& at);
void ExecReturn(ExecContext& cx, const Instr& at);
// Return from the kernel.
void ExecFinish(ExecContext& cx, const Instr& at);
// The jump from the end of a while's body to its condition. In a region, programs are not preempted.
Handler LoopBackHandler(bool in_region);
// For a counter of type `dtype`.
Handler ForBeginHandler(DType dtype);
Handler ForEndHandler(DType dtype, bool in_region);

}  // namespace trivet::vm
