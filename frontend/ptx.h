// The PTX of tl.inline_asm_elementwise, as far as it has a meaning without the machine: straight-line arithmetic on
// registers.
//
// A parser for the text and, in ptx_lowering.cc, the translation of each instruction to tile ops. Instruction forms and
// their meaning: NVIDIA, "Parallel Thread Execution ISA", chapter "Instruction Set". What is not in the table there
// (memory, special registers, matrix instructions, branches) is refused by name.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace trivet::frontend {

struct PtxOperand {
  enum class Kind : uint8_t { kArgument, kRegister, kNumber, kVector };
  Kind kind = Kind::kRegister;
  int argument = -1;              // of kArgument: $3
  std::string name;               // of kRegister
  bool is_float = false;          // of kNumber: 0f3F800000, 1.5
  uint64_t bits = 0;              // of kNumber: the integer
  double number = 0;              // of kNumber, if is_float
  std::vector<PtxOperand> items;  // of kVector: {a, b}
};

struct PtxInstruction {
  std::string text;       // as written, for messages
  std::string predicate;  // @p or @!p: name of the register; empty if none
  bool predicate_negated = false;
  std::string root;                    // "cvt"
  std::vector<std::string> modifiers;  // "rn", "satfinite", "e4m3x2", "f32"
  std::vector<PtxOperand> operands;    // destination first
};

// The instructions of `text`, in order. Declarations (.reg) are read over: registers take the type that is written to
// them. Errors name the text that is not understood.
absl::StatusOr<std::vector<PtxInstruction>> ParsePtx(absl::string_view text);

}  // namespace trivet::frontend
