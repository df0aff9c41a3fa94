// Runs the LLVM module that goes to NVPTX on this processor, thread by thread, as a GPU would.
//
// So every lowering can be tested against the interpreter on a machine without a GPU. The module is the very one that
// NVPTX gets; only what this processor doesn't have is replaced: each llvm.nvvm intrinsic and each piece of inline PTX
// becomes a call of a host function (a row of a table, rows.h), and LLVM compiles the rest as it is. Shared memory
// is a buffer; a GPU thread is a fiber that runs until it has to wait for others.
//
// What it finds that a GPU doesn't tell: divergent warp operations, barriers that not all threads reach, two threads
// that touch a byte of shared memory without a barrier between, accesses outside shared memory or outside the
// allocations of a launch, addresses less aligned than the instruction needs, asynchronous copies that are read too
// early, loops without end. Each is a status that names program, thread and op.
//
// What it isn't: a model of time, of caches or of the memory order between programs. Programs run one after another.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace trivet::jit {

// Memory that a kernel may access through global pointers.
struct MemoryRange {
  uint64_t address;
  int64_t size_bytes;
};

// One launch. `arguments` holds the bits of each parameter of the LLVM function, in its low bytes; a byval parameter
// is the address of its bytes.
struct EmulatedLaunch {
  std::array<int, 3> grid = {1, 1, 1};
  int num_threads = 32;      // per program; a multiple of 32, at most 1024
  int64_t shared_bytes = 0;  // dynamic shared memory, @trivet_shared
  std::vector<uint64_t> arguments;

  // The order in which threads run between two synchronisations. 0: always the lowest thread that can run, so that
  // warps run as far ahead of each other as barriers allow. Otherwise a random order from this seed.
  uint64_t seed = 0;

  // Where global memory is. When empty, global accesses are not checked (and a wild one is a signal).
  std::vector<MemoryRange> allocations;

  bool check_races = true;  // two threads and a byte of shared memory; see shared_memory.h

  // Limits per program, so that an endless loop is an error.
  int64_t max_synchronisations = 100'000'000;
  int64_t max_loop_iterations = 1'000'000'000;  // of all threads together
};

// A kernel compiled for this processor. Launches of one kernel take turns; different kernels run at once.
class EmulatedKernel {
 public:
  // Compiles the function `kernel` of `module`. Errors: NotFound when there is no such kernel, Unimplemented with the
  // name of an intrinsic, inline PTX or function that has no row, InvalidArgument for a module that is not valid.
  static absl::StatusOr<std::unique_ptr<EmulatedKernel>> Load(std::unique_ptr<llvm::LLVMContext> context,
                                                              std::unique_ptr<llvm::Module> module,
                                                              absl::string_view kernel);
  ~EmulatedKernel();

  // Runs all programs of the grid, in order. Errors: InvalidArgument for a launch that no GPU takes or a misaligned
  // access, Aborted for mistakes in synchronisation and for races, OutOfRange for accesses outside of memory,
  // DeadlineExceeded for limits.
  absl::Status Launch(const EmulatedLaunch& launch) const;

 private:
  struct Impl;
  explicit EmulatedKernel(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace trivet::jit
