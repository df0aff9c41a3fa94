// The CUDA driver: libcuda.so.1, opened at run time, its functions, its errors as absl::Status, and its devices.
//
//   TRIVET_ASSIGN_OR_RETURN(const CudaDriver* driver, CudaDriver::Get());
//   TRIVET_RETURN_IF_ERROR(TRIVET_CUDA_CALL(*driver, cuStreamSynchronize, stream));
//
// Contexts are shared with PyTorch and whoever else uses the device's primary context; see ScopedContext.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "jit/driver/cuda_types.h"

namespace trivet::jit {

namespace cuda {

// The functions of cuda_api.def. Optional ones may be null.
struct Api {
#define TRIVET_CUDA(name, symbol, Need, parameters) Result(*name) parameters = nullptr;
#include "jit/driver/cuda_api.def"
#undef TRIVET_CUDA
};

}  // namespace cuda

// A device, as it was when the driver was opened. The numbers are documented in device_attributes.def.
struct DeviceFacts {
  int ordinal = 0;  // as PyTorch counts: among the visible devices
  std::string name;
  uint64_t memory_bytes = 0;
#define TRIVET_DEVICE_ATTRIBUTE(field, number, doc) int field = 0;
#include "jit/driver/device_attributes.def"
#undef TRIVET_DEVICE_ATTRIBUTE

  // 90 for compute capability 9.0.
  int compute_capability() const { return 10 * compute_major + compute_minor; }
};

class CudaDriver {
 public:
  // The process's driver, opened and initialised by the first call; TRIVET_CUDA_DRIVER names a library other than
  // libcuda.so.1. Errors, the same at each call: NotFound without a driver or a device; what cuInit says. In a process
  // forked after the first call: FailedPrecondition.
  static absl::StatusOr<const CudaDriver*> Get();

  // Opens the library at `path` for this caller alone. Never closed: its code may be anywhere on the stack at exit.
  static absl::StatusOr<std::unique_ptr<CudaDriver>> Open(const std::string& path);

  CudaDriver(const CudaDriver&) = delete;
  CudaDriver& operator=(const CudaDriver&) = delete;

  const cuda::Api& api() const { return api_; }
  // As the driver counts: 12040 for CUDA 12.4.
  int version() const { return version_; }
  // One per device, by ordinal.
  const std::vector<DeviceFacts>& devices() const { return devices_; }
  // InvalidArgument, with how many there are, for a device that is not there.
  absl::StatusOr<const DeviceFacts*> FindDevice(int ordinal) const;

  // What `call` came back with: OK, or "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory; free ...". The code
  // can be had back from the status by CudaResultOf.
  absl::Status Check(cuda::Result result, const char* call) const {
    return result == cuda::kSuccess ? absl::OkStatus() : Failure(result, call);
  }

  // The context that PyTorch uses on `device`. It is retained once and never released: launched work may need it until
  // the process ends. Requires a device that is there.
  absl::StatusOr<cuda::Context> PrimaryContext(int device) const;

  // True while work sent to `stream` is recorded into a CUDA graph, or while the default stream may not be used because
  // another stream is. A capture that failed counts as one.
  absl::StatusOr<bool> IsCapturing(cuda::Stream stream) const;

 private:
  CudaDriver() = default;

  absl::Status Initialise(const std::string& path);
  absl::Status ReadDevices();
  absl::Status Failure(cuda::Result result, const char* call) const;

  cuda::Api api_;
  int version_ = 0;
  std::vector<DeviceFacts> devices_;
  std::unique_ptr<std::atomic<cuda::Context>[]> primary_contexts_;  // by device; null until used
};

// Calls a function of cuda_api.def; its failure as a Status.
#define TRIVET_CUDA_CALL(driver, function, ...) ((driver).Check((driver).api().function(__VA_ARGS__), #function))

// The CUresult that made `status`, or 0 if it was not the driver's.
cuda::Result CudaResultOf(const absl::Status& status);
// True for the failures of a running kernel after which its context is lost.
bool IsDeviceFault(const absl::Status& status);
// `status` with `prefix` and a colon before its message, and its payloads kept. OK stays OK.
absl::Status Prefixed(const absl::Status& status, absl::string_view prefix);

// Makes a context of `device` current on this thread: the current one if it is that device's, else the primary one,
// which is taken off again at the end.
class ScopedContext {
 public:
  static absl::StatusOr<ScopedContext> Enter(const CudaDriver& driver, int device);
  ScopedContext(ScopedContext&& other) noexcept;
  ScopedContext& operator=(ScopedContext&&) = delete;
  ~ScopedContext();

  cuda::Context context() const { return context_; }

 private:
  ScopedContext(const CudaDriver& driver, cuda::Context context, bool is_pushed)
      : driver_(&driver), context_(context), is_pushed_(is_pushed) {}

  const CudaDriver* driver_;
  cuda::Context context_;
  bool is_pushed_;
};

// Permits this thread, until the end, calls that a capture on another stream would forbid (loading modules, allocating,
// copying). They don't become part of that capture. Harmless where there is none.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const CudaDriver& driver);
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;
  ~RelaxedCapture();

 private:
  const CudaDriver& driver_;
  cuda::CaptureMode previous_ = cuda::kCaptureRelaxed;
  bool is_exchanged_ = false;
};

}  // namespace trivet::jit
