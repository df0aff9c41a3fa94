// Which memory ops of a program need a barrier before them, so that they see what other threads of the program did
// before.
//
// Memory ops of a program take effect in program order (docs/semantics.md, "Order"); on a GPU an element is a thread's,
// and two ops on the same memory may be spread differently. A barrier is needed before an access when an earlier one,
// or one of an earlier iteration of a loop around both, may touch the same memory, one of the two writes, and the
// threads are not surely the same: not needed for two accesses through one tile of addresses in one layout without
// copies, outside of loops, nor between two atomics.
//
// Accesses may touch the same memory when they are of the same kernel parameter, or when that is not known of one. Two
// parameters may name overlapping tensors; a program that writes one and then reads the other through other threads
// needs a debug_barrier.
#pragma once

#include "absl/container/flat_hash_set.h"
#include "jit/passes/assign_layouts.h"
#include "vm/bytecode/module.h"

namespace trivet::jit {

class ProgramOrder {
 public:
  // Of a function after its layouts were assigned; it must not change as long as this is asked.
  static ProgramOrder Of(const vm::Function& fn, const LayoutResult& layouts);

  bool NeedsBarrierBefore(const vm::Operation& op) const { return needs_barrier_.contains(&op); }

 private:
  absl::flat_hash_set<const vm::Operation*> needs_barrier_;
};

}  // namespace trivet::jit
