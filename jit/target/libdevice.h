// NVIDIA's library of mathematical functions for GPUs, as LLVM bitcode ("libdevice User's Guide"). It comes with CUDA
// toolkits, with nvidia-cuda-nvcc and with Triton; we ship none.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "llvm/IR/Module.h"

namespace trivet::jit {

// True if `module` calls functions of libdevice ("__nv_...") that it doesn't define.
bool NeedsLibdevice(const llvm::Module& module);

// Links what `module` needs from the file at `path`, for use by nobody else. Unimplemented, with what to do, if the
// path is empty or there is no such file, or it lacks a function; InvalidArgument if it is no bitcode.
absl::Status LinkLibdevice(llvm::Module& module, const std::string& path);

}  // namespace trivet::jit
