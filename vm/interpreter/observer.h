// What debugger, sanitizers, coverage, trace recorder and cross-checker see of a running program.
//
// Observers are attached to a launch; without one the interpreter runs a loop that has no trace of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "vm/bytecode/module.h"

namespace trivet::vm {

class Program;

// Which op of which program. Valid during the call.
struct OpEvent {
  const Program* program;
  const Module* module;
  FunctionId function;
  OpId op;
};

// The lanes of one memory op, after masking: addresses[i] is meant where active[i] is not 0. `active` is empty when
// every lane is active.
struct MemoryEvent {
  OpEvent at;
  absl::Span<const uint64_t> addresses;
  absl::Span<const uint8_t> active;
  int32_t element_bytes;
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void OnProgramStart(const Program&) {}
  virtual void OnProgramEnd(const Program&) {}
  // Before the op runs: operands can be read through Program::ReadValue.
  virtual void OnOpStart(const OpEvent&) {}
  // After the op ran: results can be read.
  virtual void OnOpEnd(const OpEvent&) {}
  virtual void OnLoad(const MemoryEvent&) {}
  // Before the memory changes.
  virtual void OnStore(const MemoryEvent&) {}
  // Before the memory changes. Order and scope are attributes of the op.
  virtual void OnAtomic(const MemoryEvent&) {}
  // A branch (if), a loop iteration or its end was decided.
  virtual void OnBranch(const OpEvent&, bool /*taken*/) {}
};

}  // namespace trivet::vm
