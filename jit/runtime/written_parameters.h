// Which memory a kernel may change, found without running it.
#pragma once

#include <vector>

#include "vm/bytecode/module.h"

namespace trivet::jit {

struct WrittenParameters {
  std::vector<bool> may_write;  // by parameter of the kernel; false for numbers
  // A write goes through a pointer that several parameters, memory or an integer may have given: any memory may change,
  // and may_write is true for every pointer.
  bool writes_anywhere = false;
  // Something is read or written through a pointer that memory or an integer may have given.
  bool follows_stored_pointers = false;
};

// Follows the pointers of all stores, atomics and reductions that `kernel` may reach. The module must be verified.
WrittenParameters FindWrittenParameters(const vm::Module& module, FunctionId kernel);

}  // namespace trivet::jit
