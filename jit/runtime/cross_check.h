// A launch on the GPU and on the interpreter, from the same inputs, compared.
//
// The GPU works on the tensors themselves, the interpreter on copies made before; so the program goes on with the GPU's
// results whatever comes out, and kernels that work in place or on overlapping tensors are compared rightly.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "jit/driver/cuda_driver.h"
#include "jit/runtime/compare.h"
#include "jit/runtime/mirrored_memory.h"
#include "vm/interpreter/execute.h"

namespace trivet::jit {

// A tensor on which the two disagree.
struct TensorMismatch {
  std::string tensor;  // the parameter's name
  Comparison comparison;
  // Who wrote comparison.first on the interpreter, last: not there if nobody did.
  std::optional<std::array<int32_t, 3>> program;
  std::string location;  // "softmax.py:14:3"
};

struct CrossCheckReport {
  std::string kernel;
  std::vector<TensorMismatch> mismatches;
  // Why the interpreter did not come to the end of what the GPU ran: its trap, with all places. Nothing is compared
  // then.
  std::string interpreter_error;
  // Tensors that the kernel may write and that both tiers used in place (host memory).
  std::vector<std::string> not_compared;
  // See KernelTolerance: a mismatch may then be none.
  bool depends_on_order = false;
  int64_t num_elements = 0;  // that were compared
  double max_ulp = 0;        // of what was within the tolerance, too

  bool is_equal() const { return mismatches.empty() && interpreter_error.empty(); }
  // Some lines for people; one if all is equal.
  std::string ToString() const;
};

// Copies what `launch` may touch, calls `launch_on_gpu`, which must send exactly that launch to its stream, runs the
// interpreter on the copies, and compares the tensors that the kernel may write, by ToleranceOfKernel. Slow. Errors:
// those of `launch_on_gpu`, of the GPU's kernel (a fault), and of MirroredMemory.
absl::StatusOr<CrossCheckReport> CrossCheck(const CudaDriver& driver, const vm::Executable& executable,
                                            const DeviceLaunch& launch,
                                            const std::function<absl::Status()>& launch_on_gpu);

}  // namespace trivet::jit
