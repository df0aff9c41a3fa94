// Makes a module for NVPTX one for this processor: see emulator.h for what is replaced.
//
//   llvm.nvvm.*, inline PTX     call of the host function of its row, operands and results in arrays of 64-bit slots
//   globals in addrspace(3)     constant addresses in the shared memory buffer
//   loads, stores, atomics      preceded by a check where they go to shared or global memory
//   back edges of loops         count down a budget; those of loops that wait for memory let other threads run
//   parameters                  @trivet_emulated_entry(ptr slots) unpacks them and calls the kernel
//
// Contraction and other liberties that fast-math flags give are dropped, so that a kernel rounds as often as it says.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "jit/emulator/call.h"
#include "jit/emulator/cta.h"

namespace llvm {
class Module;
}  // namespace llvm

namespace trivet::jit {

// What the rewritten module refers to by address; it lives as long as the code.
struct HostSites {
  std::vector<std::unique_ptr<CallSite>> calls;
  std::vector<std::unique_ptr<AccessSite>> accesses;
  std::vector<std::unique_ptr<std::string>> loops;  // where they are
};

struct RewrittenKernel {
  HostSites sites;
  int num_parameters = 0;
  int64_t static_shared_bytes = 0;    // from the start of the buffer
  int64_t dynamic_shared_offset = 0;  // where @trivet_shared is
};

inline constexpr char kEntryName[] = "trivet_emulated_entry";

// Rewrites `module` in place, for `kernel`. `shared_address`: of the buffer; `iterations`: the budget of loops.
absl::StatusOr<RewrittenKernel> RewriteForHost(llvm::Module& module, absl::string_view kernel, uint64_t shared_address,
                                               int64_t* iterations);

}  // namespace trivet::jit
