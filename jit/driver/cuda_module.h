// From PTX or a cubin to a function that can be launched.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "jit/driver/cuda_driver.h"

namespace trivet::jit {

// What to load, and how it will be launched.
struct LoadRequest {
  std::string image;   // PTX text, or a cubin (recognised by its first bytes)
  std::string kernel;  // its name in the image
  std::string label;   // what people call it, for messages; the kernel's name if empty
  int64_t dynamic_shared_bytes = 0;
  int threads_per_cta = 0;
  bool has_large_cluster = false;  // more than 8 CTAs: needs the function's leave
};

// A kernel in one context. Plain data: the module stays loaded until the process ends, because a captured graph may
// hold it for as long, and graphs don't tell.
struct LoadedFunction {
  cuda::Module module = nullptr;
  cuda::Function function = nullptr;
  int registers = 0;                // of a thread
  int64_t local_bytes = 0;          // of a thread: stack and spilled registers
  int64_t static_shared_bytes = 0;  // of a CTA
  int max_threads_per_cta = 0;      // that its registers permit
  int binary_version = 0;           // 90: the architecture that its machine code is for
};

// True if `image` is a cubin.
bool IsCubin(absl::string_view image);

// OutOfResources if `request` can't fit `device`, as far as that is known before it is loaded.
absl::Status CheckFits(const DeviceFacts& device, const LoadRequest& request);

// Loads `request` into the current context, which must be one of `device`, and readies it for its launches: its code is
// on the device, and it may use the shared memory that it was said to need. Costs milliseconds for PTX. May be called
// while another stream captures a graph, but not for a stream that is capturing: see CudaDriver::IsCapturing.
// Errors: OutOfResources (resources.h) before or after loading; the driver's, with its compiler's log.
absl::StatusOr<LoadedFunction> LoadFunction(const CudaDriver& driver, const DeviceFacts& device,
                                            const LoadRequest& request);

// Compiles PTX to a cubin for the current context's device with the driver's own compiler. `label` is for messages. The
// result loads without a compiler. Errors: the driver's, with its compiler's log.
absl::StatusOr<std::string> AssemblePtx(const CudaDriver& driver, const std::string& ptx, absl::string_view label);

// How many CTAs of `threads` threads and `dynamic_shared_bytes` fit on one multiprocessor at once.
absl::StatusOr<int> CtasPerSm(const CudaDriver& driver, const LoadedFunction& function, int threads,
                              int64_t dynamic_shared_bytes);

}  // namespace trivet::jit
