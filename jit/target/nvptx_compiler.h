// From LLVM IR in NVPTX's dialect to PTX.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "llvm/IR/Module.h"

namespace trivet::jit {

struct PtxOptions {
  std::string target = "sm_90a";  // sm_80, sm_89, sm_90a, ...
  int optimisation_level = 3;
};

// Optimises `module` (in place) and gives PTX. Errors: InvalidArgument for a target that LLVM doesn't know; Internal
// when LLVM can't select an instruction.
absl::StatusOr<std::string> CompileToPtx(llvm::Module& module, const PtxOptions& options);

// "sm_90a" -> 90. InvalidArgument if it isn't of that form.
absl::StatusOr<int> ComputeCapabilityOf(absl::string_view target);

}  // namespace trivet::jit
