// Decoding: from the structured ops of a kernel and its helpers to one flat array of instructions with jumps.
//
// Each function that the kernel calls has one frame at a fixed place: calls don't recurse, so a function is active once
// at most. A program is then one block of memory, a program counter and nothing else. Where a function returns to is a
// word of its frame.
//
//   arena   | kernel's frame | helpers' frames, overlapping where neither calls the other | constants |
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "vm/bytecode/module.h"
#include "vm/interpreter/decode_constants.h"
#include "vm/interpreter/exec_context.h"
#include "vm/interpreter/frame.h"
#include "vm/interpreter/prepare.h"

namespace trivet::vm {

// What observers need to know of an instruction.
struct InstrInfo {
  uint32_t function = 0;   // index into DecodedKernel::functions
  bool starts_op = false;  // an op begins with it
  bool ends_op = false;    // an op ends with it: its results are there
};

// A function's part of the code.
struct FunctionCode {
  FunctionId id;
  uint32_t entry_pc = 0;
  uint32_t link_slot = kNoSlot;  // where the pc to return to is kept; none in the kernel
  std::vector<uint32_t> param_slots;
  std::vector<uint32_t> result_slots;
  std::vector<uint32_t> value_slots;  // with keep_values, by value; kNoSlot where the value is in a region
};

// A kernel ready to run, with the functions it calls. Immutable.
struct DecodedKernel {
  const Module* module = nullptr;
  std::vector<Instr> code;
  std::vector<InstrInfo> info;         // of code
  std::deque<FunctionCode> functions;  // the kernel first
  uint64_t frame_bytes = 0;            // of all frames, without constants
  uint64_t arena_bytes = 0;
  size_t scratch_bytes = 0;  // of one op
  int region_depth = 0;      // regions within regions: each has scratch memory of its own
  std::vector<ArenaConstant> constants;

  const Function& function(uint32_t index) const { return module->function(functions[index].id); }

  std::deque<std::vector<uint32_t>> slots;            // what Instr::slots points into
  std::vector<std::shared_ptr<const void>> payloads;  // what Instr::data points to
};

// Decodes `entry`, usually a kernel, and what it calls. The module must be verified and outlive the result. With
// keep_values every value keeps its own memory and every op its place, for observers. Errors: ResourceExhausted when
// frames or code would be too large; what a Prepare function says.
absl::StatusOr<std::unique_ptr<const DecodedKernel>> DecodeKernel(const Module& module, FunctionId entry,
                                                                  bool keep_values);

}  // namespace trivet::vm
