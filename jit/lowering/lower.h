// From a function with layouts to LLVM IR in NVPTX's dialect.
//
// One op becomes instructions on the registers of one thread, by the function that lowering.def names for it. Control
// flow becomes basic blocks with phis; helper functions are lowered in place of their calls. Nothing is decided here:
// passes chose layouts, the analyses know how wide an access may be.
//
// Kernel ABI: one LLVM parameter for each parameter of the bytecode (for a descriptor: base, padding, extents,
// strides), then a `ptr addrspace(1)` that nobody reads yet: it is for what print and assert will write. Dynamic shared
// memory is @trivet_shared.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "jit/analysis/axis_info.h"
#include "jit/passes/assign_layouts.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "vm/bytecode/module.h"

namespace trivet::jit {

struct LoweringOptions {
  int num_warps = 4;
  int compute_capability = 90;  // 80, 89, 90, ...
};

// What lowering needs to know of one function of the module.
struct FunctionPlan {
  LayoutResult layouts;
  AxisInfoAnalysis axis_info;  // of the function before layouts were assigned
};

struct LoweredKernel {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  std::string kernel_name;
  int64_t shared_bytes = 0;  // dynamic
};

// The LLVM IR as text.
std::string ToText(const LoweredKernel& kernel);

// `plans` has a row for each function of `module`; only the kernel's and its helpers' are read. Errors: Unimplemented,
// with op, source line and reason, for what this tier can't.
absl::StatusOr<LoweredKernel> LowerKernel(const vm::Module& module, FunctionId kernel,
                                          const std::vector<FunctionPlan>& plans, const LoweringOptions& options);

}  // namespace trivet::jit
