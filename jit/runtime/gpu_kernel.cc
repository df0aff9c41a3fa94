#include "jit/runtime/gpu_kernel.h"

#include <deque>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "jit/driver/resources.h"
#include "jit/runtime/recent_launches.h"
#include "vm/base/status.h"

namespace trivet::jit {
namespace {

// A copy of `label` that lives for ever; one for all kernels of that name.
const std::string* Intern(const std::string& label) {
  static std::mutex mutex;
  static auto& labels = *new std::set<std::string>;  // its elements stay where they are
  const std::lock_guard lock(mutex);
  return &*labels.insert(label).first;
}

}  // namespace

std::string ToString(const Grid& grid) { return absl::StrCat("(", grid.x, ", ", grid.y, ", ", grid.z, ")"); }

GpuKernel::GpuKernel(const CudaDriver& driver, CompiledKernel compiled, std::string label, OnAssembled on_assembled)
    : driver_(driver),
      get_current_(driver.api().cuCtxGetCurrent),
      compiled_(std::move(compiled)),
      label_(Intern(label)),
      on_assembled_(std::move(on_assembled)),
      num_devices_(driver.devices().size()),
      by_device_(std::make_unique<std::atomic<const Loaded*>[]>(num_devices_)),
      cubin_(compiled_.cubin),
      cubin_capability_(compiled_.cubin_capability),
      refusals_(num_devices_) {}

absl::Status GpuKernel::LaunchLoaded(const Loaded& loaded, cuda::Stream stream, const Grid& grid, void** params) const {
  TheRecentLaunches().Note(label_->c_str());
  const cuda::Result result =
      compiled_.num_ctas == 1
          ? driver_.api().cuLaunchKernel(loaded.function.function, static_cast<unsigned int>(grid.x),
                                         static_cast<unsigned int>(grid.y), static_cast<unsigned int>(grid.z),
                                         static_cast<unsigned int>(compiled_.threads_per_cta()), 1, 1,
                                         static_cast<unsigned int>(compiled_.shared_bytes), stream, params, nullptr)
          : LaunchCluster(loaded, stream, grid, params);
  return result == cuda::kSuccess ? absl::OkStatus() : LaunchError(result, grid);
}

cuda::Result GpuKernel::LaunchCluster(const Loaded& loaded, cuda::Stream stream, const Grid& grid,
                                      void** params) const {
  const auto num_ctas = static_cast<unsigned int>(compiled_.num_ctas);
  cuda::LaunchAttribute cluster{};
  cluster.id = cuda::kAttributeClusterDimension;
  cluster.value.cluster_dimension = {num_ctas, 1, 1};
  const cuda::LaunchConfig config{
      .grid_x = static_cast<unsigned int>(grid.x) * num_ctas,
      .grid_y = static_cast<unsigned int>(grid.y),
      .grid_z = static_cast<unsigned int>(grid.z),
      .block_x = static_cast<unsigned int>(compiled_.threads_per_cta()),
      .block_y = 1,
      .block_z = 1,
      .shared_bytes = static_cast<unsigned int>(compiled_.shared_bytes),
      .stream = stream,
      .attributes = &cluster,
      .num_attributes = 1,
  };
  return driver_.api().cuLaunchKernelEx(&config, loaded.function.function, params, nullptr);
}

absl::Status GpuKernel::LaunchError(cuda::Result result, const Grid& grid) const {
  const char* call = compiled_.num_ctas == 1 ? "cuLaunchKernel" : "cuLaunchKernelEx";
  const absl::Status status = driver_.Check(result, call);
  // The driver reports here what an earlier launch did: ours is innocent, and was not run.
  if (IsDeviceFault(status)) return ExplainFault(Prefixed(status, absl::StrCat("launching kernel '", *label_, "'")));
  return Prefixed(status, absl::StrCat("launching kernel '", *label_, "' with grid ", ToString(grid), ", ",
                                       compiled_.threads_per_cta(), " threads and ", compiled_.shared_bytes,
                                       " bytes of shared memory"));
}

absl::Status GpuKernel::CheckGrid(const DeviceFacts& device, const Grid& grid) const {
  const struct {
    const char* axis;
    int64_t programs;
    int64_t limit;
  } kAxes[] = {{"0 (x)", grid.x, device.max_grid_x / compiled_.num_ctas},
               {"1 (y)", grid.y, device.max_grid_y},
               {"2 (z)", grid.z, device.max_grid_z}};
  for (const auto& [axis, programs, limit] : kAxes) {
    if (programs < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("kernel '", *label_, "': the grid ", ToString(grid), " is negative along axis ", axis));
    }
    if (programs > limit) {
      return absl::InvalidArgumentError(absl::StrCat("kernel '", *label_, "': the grid ", ToString(grid), " has ",
                                                     programs, " programs along axis ", axis, "; ", device.name,
                                                     " can have ", limit));
    }
  }
  return absl::OkStatus();
}

absl::Status GpuKernel::LaunchSlowly(int device, cuda::Stream stream, const Grid& grid, void** params) const {
  TRIVET_ASSIGN_OR_RETURN(const DeviceFacts* facts, driver_.FindDevice(device));
  TRIVET_RETURN_IF_ERROR(CheckGrid(*facts, grid));
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return absl::OkStatus();
  TRIVET_ASSIGN_OR_RETURN(const ScopedContext scope, ScopedContext::Enter(driver_, device));
  const Loaded* loaded = FindLoaded(device, scope.context());
  if (loaded == nullptr) {
    TRIVET_ASSIGN_OR_RETURN(const bool is_capturing, driver_.IsCapturing(stream));
    if (is_capturing) {
      return absl::FailedPreconditionError(
          absl::StrCat("kernel '", *label_, "' would have to be loaded on device ", device,
                       " while a CUDA graph is captured; launch it once with the same arguments before the capture"));
    }
    TRIVET_ASSIGN_OR_RETURN(loaded, LoadHere(*facts, scope.context()));
  }
  return LaunchLoaded(*loaded, stream, grid, params);
}

const GpuKernel::Loaded* GpuKernel::FindLoaded(int device, cuda::Context context) const {
  const Loaded* loaded = by_device_[static_cast<size_t>(device)].load(std::memory_order_acquire);
  while (loaded != nullptr && loaded->context != context) loaded = loaded->next;
  return loaded;
}

absl::StatusOr<const GpuKernel::Loaded*> GpuKernel::LoadHere(const DeviceFacts& device, cuda::Context context) const {
  const std::lock_guard lock(loading_);
  if (const Loaded* loaded = FindLoaded(device.ordinal, context)) return loaded;
  absl::Status& refusal = refusals_[static_cast<size_t>(device.ordinal)];
  TRIVET_RETURN_IF_ERROR(refusal);
  if (compiled_.num_ctas > 1 && driver_.api().cuLaunchKernelEx == nullptr) {
    return absl::UnimplementedError("the CUDA driver has no clusters (num_ctas > 1); they need version 11.8");
  }
  LoadRequest request;
  request.kernel = compiled_.kernel_name;
  request.label = *label_;
  request.dynamic_shared_bytes = compiled_.shared_bytes;
  request.threads_per_cta = compiled_.threads_per_cta();
  request.has_large_cluster = compiled_.num_ctas > 8;
  TRIVET_RETURN_IF_ERROR(CheckFits(device, request));
  TRIVET_ASSIGN_OR_RETURN(request.image, CubinHere(device));
  absl::StatusOr<LoadedFunction> function = LoadFunction(driver_, device, request);
  if (!function.ok() && !FindOutOfResources(function.status()).has_value() && !compiled_.cubin.empty()) {
    // The cubin may come from a newer driver's compiler, by way of the cache. Ours makes one that it understands.
    cubin_capability_ = 0;
    TRIVET_ASSIGN_OR_RETURN(request.image, CubinHere(device));
    function = LoadFunction(driver_, device, request);
  }
  if (FindOutOfResources(function.status()).has_value()) refusal = function.status();
  TRIVET_RETURN_IF_ERROR(function.status());
  std::atomic<const Loaded*>& first = by_device_[static_cast<size_t>(device.ordinal)];
  const Loaded* loaded = Keep({context, *function, first.load(std::memory_order_relaxed)});
  first.store(loaded, std::memory_order_release);
  return loaded;
}

const GpuKernel::Loaded* GpuKernel::Keep(const Loaded& loaded) {
  static std::mutex mutex;
  static auto& kept = *new std::deque<Loaded>;  // its elements stay where they are
  const std::lock_guard lock(mutex);
  return &kept.emplace_back(loaded);
}

absl::StatusOr<std::string> GpuKernel::CubinHere(const DeviceFacts& device) const {
  if (cubin_capability_ == device.compute_capability()) return cubin_;
  TRIVET_ASSIGN_OR_RETURN(std::string cubin, AssemblePtx(driver_, compiled_.ptx, *label_));
  // Devices of a second kind assemble for themselves each time; there is one place to keep.
  if (cubin_capability_ == 0) {
    cubin_ = cubin;
    cubin_capability_ = device.compute_capability();
    if (on_assembled_) {
      CompiledKernel assembled = compiled_;
      assembled.cubin = cubin_;
      assembled.cubin_capability = cubin_capability_;
      on_assembled_(assembled);
    }
  }
  return cubin;
}

absl::StatusOr<LoadedFunction> GpuKernel::Load(int device) const {
  TRIVET_ASSIGN_OR_RETURN(const DeviceFacts* facts, driver_.FindDevice(device));
  TRIVET_ASSIGN_OR_RETURN(const ScopedContext scope, ScopedContext::Enter(driver_, device));
  TRIVET_ASSIGN_OR_RETURN(const Loaded* loaded, LoadHere(*facts, scope.context()));
  return loaded->function;
}

absl::StatusOr<int> GpuKernel::CtasPerSm(int device) const {
  TRIVET_ASSIGN_OR_RETURN(const DeviceFacts* facts, driver_.FindDevice(device));
  TRIVET_ASSIGN_OR_RETURN(const ScopedContext scope, ScopedContext::Enter(driver_, device));
  TRIVET_ASSIGN_OR_RETURN(const Loaded* loaded, LoadHere(*facts, scope.context()));
  return jit::CtasPerSm(driver_, loaded->function, compiled_.threads_per_cta(), compiled_.shared_bytes);
}

absl::StatusOr<std::string> GpuKernel::Cubin(int device) const {
  TRIVET_ASSIGN_OR_RETURN(const DeviceFacts* facts, driver_.FindDevice(device));
  TRIVET_ASSIGN_OR_RETURN(const ScopedContext scope, ScopedContext::Enter(driver_, device));
  const std::lock_guard lock(loading_);
  return CubinHere(*facts);
}

}  // namespace trivet::jit
