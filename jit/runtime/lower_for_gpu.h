// From bytecode to LLVM IR: what Compile does before PTX, for tests that run the IR elsewhere.
#pragma once

#include "jit/lowering/lower.h"
#include "jit/runtime/compile.h"

namespace trivet::jit {

struct LoweredModule {
  vm::Module tile;  // after all passes
  LoweredKernel kernel;
};

// Errors as Compile.
absl::StatusOr<LoweredModule> LowerForGpu(const vm::Module& module, const CompileOptions& options);

}  // namespace trivet::jit
