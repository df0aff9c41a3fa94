// Compiles a rewritten module for this processor and keeps the code: LLVM's ORC.
//
// Exact: nothing is fused or reassociated, and the processor is one of two fixed descriptions, not what this one
// happens to be, so that results don't depend on the machine (bf16 instructions, for one, flush subnormals).
#pragma once

#include <memory>

#include "absl/status/statusor.h"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace trivet::jit {

class HostCode {
 public:
  // Gives the module the triple and data layout of this machine. To be done before anything asks for sizes.
  static absl::Status Retarget(llvm::Module& module);

  // Compiles the module; `entry` names the function to find. ResourceExhausted when a function needs too large a frame.
  static absl::StatusOr<std::unique_ptr<HostCode>> Compile(std::unique_ptr<llvm::LLVMContext> context,
                                                           std::unique_ptr<llvm::Module> module, const char* entry);
  ~HostCode();

  void* entry() const { return entry_; }

 private:
  struct Impl;
  HostCode(std::unique_ptr<Impl> impl, void* entry);
  std::unique_ptr<Impl> impl_;
  void* entry_;
};

}  // namespace trivet::jit
