// A compiled kernel, ready to be launched on any device of its architecture.
//
// A launch that was seen before costs little more than the driver's own: no lock, no allocation, no lookup by name
// (benchmarks/launch_overhead.cc measures it).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "jit/driver/cuda_driver.h"
#include "jit/driver/cuda_module.h"
#include "jit/runtime/compile.h"

namespace trivet::jit {

// Programs along each axis.
struct Grid {
  int64_t x = 1;
  int64_t y = 1;
  int64_t z = 1;
};

// "(4, 1, 1)"
std::string ToString(const Grid& grid);

// Thread safe.
class GpuKernel {
 public:
  // Called once, by the thread that assembled PTX into machine code, with the cubin in place.
  using OnAssembled = std::function<void(const CompiledKernel& kernel)>;

  // `driver` must outlive all kernels. `label` is what people call the kernel.
  GpuKernel(const CudaDriver& driver, CompiledKernel compiled, std::string label, OnAssembled on_assembled = nullptr);
  GpuKernel(const GpuKernel&) = delete;
  GpuKernel& operator=(const GpuKernel&) = delete;

  // Launches grid.x * grid.y * grid.z programs on `stream` of `device`. params[i] points to the value of parameter i,
  // as the kernel's ABI wants it. The first launch on a device loads the kernel there, which takes a compiler run where
  // no cubin is known. With num_ctas > 1 each program is a cluster of so many CTAs along x. A grid with a zero launches
  // nothing, and nothing is loaded for it.
  //
  // Errors: InvalidArgument for a device that is not there, and for a grid that is negative or too large, naming the
  // axis; OutOfResources; FailedPrecondition when it would have to load while `stream` captures a graph; the driver's.
  absl::Status Launch(int device, cuda::Stream stream, const Grid& grid, void** params) const {
    if (static_cast<size_t>(device) < num_devices_ && IsPlain(grid)) [[likely]] {
      const Loaded* loaded = by_device_[static_cast<size_t>(device)].load(std::memory_order_acquire);
      cuda::Context current = nullptr;
      if (loaded != nullptr && get_current_(&current) == cuda::kSuccess && current == loaded->context) [[likely]] {
        return LaunchLoaded(*loaded, stream, grid, params);
      }
    }
    return LaunchSlowly(device, stream, grid, params);
  }

  // What the kernel takes on `device`; loads it there if it was not. Not during a capture.
  absl::StatusOr<LoadedFunction> Load(int device) const;
  // CTAs that a multiprocessor of `device` holds at once; loads as Load.
  absl::StatusOr<int> CtasPerSm(int device) const;

  // As it was compiled; the cubin may have come later.
  const CompiledKernel& compiled() const { return compiled_; }
  // Machine code for `device`: from the compiler, the cache, or made now.
  absl::StatusOr<std::string> Cubin(int device) const;
  const std::string& label() const { return *label_; }

 private:
  // The kernel in one context. Never freed, like the module: a captured graph may launch it after we are gone.
  struct Loaded {
    cuda::Context context = nullptr;
    LoadedFunction function;
    const Loaded* next = nullptr;  // the same device, another context
  };

  // What the driver takes everywhere: 1 <= x < 2^31, 1 <= y, z < 65536.
  static bool IsPlain(const Grid& grid) {
    return static_cast<uint64_t>(grid.x - 1) < 0x7fffffff && static_cast<uint64_t>(grid.y - 1) < 65535 &&
           static_cast<uint64_t>(grid.z - 1) < 65535;
  }

  absl::Status LaunchLoaded(const Loaded& loaded, cuda::Stream stream, const Grid& grid, void** params) const;
  absl::Status LaunchSlowly(int device, cuda::Stream stream, const Grid& grid, void** params) const;
  cuda::Result LaunchCluster(const Loaded& loaded, cuda::Stream stream, const Grid& grid, void** params) const;
  absl::Status CheckGrid(const DeviceFacts& device, const Grid& grid) const;
  absl::Status LaunchError(cuda::Result result, const Grid& grid) const;

  // A copy that lives for ever.
  static const Loaded* Keep(const Loaded& loaded);
  const Loaded* FindLoaded(int device, cuda::Context context) const;
  // In the current context, which is `context`. One thread loads, the others wait.
  absl::StatusOr<const Loaded*> LoadHere(const DeviceFacts& device, cuda::Context context) const;
  // Machine code for `device`: known, or assembled now. Requires loading_ to be held.
  absl::StatusOr<std::string> CubinHere(const DeviceFacts& device) const;

  const CudaDriver& driver_;
  cuda::Result (*const get_current_)(cuda::Context*);
  const CompiledKernel compiled_;
  const std::string* const label_;  // lives for ever: see RecentLaunches
  const OnAssembled on_assembled_;
  const size_t num_devices_;
  const std::unique_ptr<std::atomic<const Loaded*>[]> by_device_;  // the context used last is first

  // Held while the kernel is being loaded; launches of loaded kernels don't take it.
  mutable std::mutex loading_;
  mutable std::string cubin_ ABSL_GUARDED_BY(loading_);
  mutable int cubin_capability_ ABSL_GUARDED_BY(loading_) = 0;
  // By device: why it will never fit there.
  mutable std::vector<absl::Status> refusals_ ABSL_GUARDED_BY(loading_);
};

}  // namespace trivet::jit
