// The reader: bytes of a .tvbc file as a module. The bytes may be anything; docs/bytecode.md says what is legal.
//
// Every error names the place and what was being read there:
//
//   byte 0x51: truncated while reading the number of operands of op 12 in @add
//
// Memory stays proportional to the size of the input, the stack to limits.max_nesting.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "vm/bytecode/limits.h"
#include "vm/bytecode/module.h"

namespace trivet::vm {

// The module in `bytes`, verified. Reads every version 1.x that needs no section or op from after kFormatMinor.
// InvalidArgument: not a file of this format, damaged, beyond the limits, or not legal (verifier.h).
absl::StatusOr<Module> ReadModule(absl::Span<const uint8_t> bytes, const Limits& limits = {});

// As ReadModule, without the verifier: for tools that look into a broken file. Ids are in range, opcodes, types and
// enumerations known; nothing else is certain.
absl::StatusOr<Module> ReadModuleUnverified(absl::Span<const uint8_t> bytes, const Limits& limits = {});

}  // namespace trivet::vm
