#include "jit/driver/cuda_driver.h"

#include <dlfcn.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "vm/base/options.h"
#include "vm/base/status.h"

namespace trivet::jit {
namespace {

constexpr absl::string_view kResultPayload = "trivet/cuda_result";

enum class Need { Required, Optional };

struct ErrorKind {
  absl::StatusCode status_code;
  bool is_device_fault = false;
};
// The names of the column Kind.
namespace error_kind {
constexpr ErrorKind InvalidArgument{absl::StatusCode::kInvalidArgument};
constexpr ErrorKind ResourceExhausted{absl::StatusCode::kResourceExhausted};
constexpr ErrorKind FailedPrecondition{absl::StatusCode::kFailedPrecondition};
constexpr ErrorKind Unavailable{absl::StatusCode::kUnavailable};
constexpr ErrorKind NotFound{absl::StatusCode::kNotFound};
constexpr ErrorKind Internal{absl::StatusCode::kInternal};
constexpr ErrorKind Unimplemented{absl::StatusCode::kUnimplemented};
constexpr ErrorKind DeviceFault{absl::StatusCode::kInternal, true};
}  // namespace error_kind

struct ErrorInfo {
  cuda::Result result;
  ErrorKind kind;
  const char* advice;
};
constexpr ErrorInfo kErrors[] = {
#define TRIVET_CUDA_ERROR(code, Kind, advice) {code, error_kind::Kind, advice},
#include "jit/driver/cuda_errors.def"
#undef TRIVET_CUDA_ERROR
};

ErrorInfo InfoOf(cuda::Result result) {
  for (const ErrorInfo& info : kErrors) {
    if (info.result == result) return info;
  }
  return {result, error_kind::Internal, ""};
}

}  // namespace

absl::StatusOr<const CudaDriver*> CudaDriver::Get() {
  static const pid_t opened_by = getpid();
  static const absl::StatusOr<std::unique_ptr<CudaDriver>>& driver = []() -> auto& {
    const std::string path = vm::OptionText(vm::Option::kCudaDriver);
    // Never destroyed: threads may still launch while the process exits.
    return *new absl::StatusOr<std::unique_ptr<CudaDriver>>(Open(path.empty() ? "libcuda.so.1" : path));
  }();
  if (!driver.ok()) return driver.status();
  if (opened_by != getpid()) {
    return absl::FailedPreconditionError(
        "CUDA was initialised before this process was forked, and can't be used in it; start workers with spawn");
  }
  return driver->get();
}

absl::StatusOr<std::unique_ptr<CudaDriver>> CudaDriver::Open(const std::string& path) {
  std::unique_ptr<CudaDriver> driver(new CudaDriver);
  TRIVET_RETURN_IF_ERROR(driver->Initialise(path));
  return driver;
}

absl::Status CudaDriver::Initialise(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return absl::NotFoundError(absl::StrCat("no CUDA driver: ", dlerror(),
                                            "; to use a GPU, install NVIDIA's driver (in a container, let it see the "
                                            "device)"));
  }
  std::string missing;
#define TRIVET_CUDA(name, symbol, need, parameters)                                  \
  api_.name = reinterpret_cast<cuda::Result(*) parameters>(dlsym(library, #symbol)); \
  if (api_.name == nullptr && Need::need == Need::Required) absl::StrAppend(&missing, " ", #symbol);
  using namespace cuda;  // NOLINT(google-build-using-namespace): the table's parameters are written in its names
#include "jit/driver/cuda_api.def"
#undef TRIVET_CUDA
  if (!missing.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the CUDA driver ", path, " is too old; it lacks", missing, "; update it"));
  }
  TRIVET_RETURN_IF_ERROR(TRIVET_CUDA_CALL(*this, cuInit, 0));
  TRIVET_RETURN_IF_ERROR(TRIVET_CUDA_CALL(*this, cuDriverGetVersion, &version_));
  return ReadDevices();
}

absl::Status CudaDriver::ReadDevices() {
  int count = 0;
  TRIVET_RETURN_IF_ERROR(TRIVET_CUDA_CALL(*this, cuDeviceGetCount, &count));
  if (count == 0) {
    return absl::NotFoundError("the CUDA driver sees no device; see nvidia-smi and CUDA_VISIBLE_DEVICES");
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    DeviceFacts facts;
    facts.ordinal = ordinal;
    cuda::Device device = 0;
    TRIVET_RETURN_IF_ERROR(TRIVET_CUDA_CALL(*this, cuDeviceGet, &device, ordinal));
    char name[256] = "";
    TRIVET_RETURN_IF_ERROR(TRIVET_CUDA_CALL(*this, cuDeviceGetName, name, sizeof name, device));
    facts.name = name;
    size_t memory_bytes = 0;
    TRIVET_RETURN_IF_ERROR(TRIVET_CUDA_CALL(*this, cuDeviceTotalMem, &memory_bytes, device));
    facts.memory_bytes = memory_bytes;
#define TRIVET_DEVICE_ATTRIBUTE(field, number, doc) \
  TRIVET_RETURN_IF_ERROR(TRIVET_CUDA_CALL(*this, cuDeviceGetAttribute, &facts.field, number, device));
#include "jit/driver/device_attributes.def"
#undef TRIVET_DEVICE_ATTRIBUTE
    devices_.push_back(std::move(facts));
  }
  primary_contexts_ = std::make_unique<std::atomic<cuda::Context>[]>(devices_.size());
  return absl::OkStatus();
}

absl::StatusOr<const DeviceFacts*> CudaDriver::FindDevice(int ordinal) const {
  if (ordinal < 0 || static_cast<size_t>(ordinal) >= devices_.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no CUDA device ", ordinal, "; the driver sees ", devices_.size()));
  }
  return &devices_[static_cast<size_t>(ordinal)];
}

absl::Status CudaDriver::Failure(cuda::Result result, const char* call) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (api_.cuGetErrorName(result, &name) != cuda::kSuccess || name == nullptr) name = "unknown error";
  if (api_.cuGetErrorString(result, &text) != cuda::kSuccess || text == nullptr) text = "";
  const ErrorInfo info = InfoOf(result);
  std::string message = absl::StrCat(call, ": ", name, " (", result, ")");
  if (*text != '\0') absl::StrAppend(&message, ": ", text);
  if (*info.advice != '\0') absl::StrAppend(&message, "; ", info.advice);
  absl::Status status(info.kind.status_code, message);
  status.SetPayload(kResultPayload, absl::Cord(absl::StrCat(result)));
  return status;
}

absl::StatusOr<cuda::Context> CudaDriver::PrimaryContext(int device) const {
  std::atomic<cuda::Context>& slot = primary_contexts_[static_cast<size_t>(device)];
  if (cuda::Context context = slot.load(std::memory_order_acquire)) return context;
  // Two threads may both retain it; the count is never brought back to zero anyway.
  cuda::Device handle = 0;
  cuda::Context context = nullptr;
  TRIVET_RETURN_IF_ERROR(TRIVET_CUDA_CALL(*this, cuDeviceGet, &handle, device));
  TRIVET_RETURN_IF_ERROR(TRIVET_CUDA_CALL(*this, cuDevicePrimaryCtxRetain, &context, handle));
  slot.store(context, std::memory_order_release);
  return context;
}

absl::StatusOr<bool> CudaDriver::IsCapturing(cuda::Stream stream) const {
  cuda::CaptureStatus status = cuda::kCaptureNone;
  const cuda::Result result = api_.cuStreamIsCapturing(stream, &status);
  if (result == cuda::kStreamCaptureImplicit) return true;
  TRIVET_RETURN_IF_ERROR(Check(result, "cuStreamIsCapturing"));
  return status != cuda::kCaptureNone;
}

cuda::Result CudaResultOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kResultPayload);
  cuda::Result result = cuda::kSuccess;
  if (payload.has_value() && !absl::SimpleAtoi(std::string(*payload), &result)) return cuda::kSuccess;
  return result;
}

bool IsDeviceFault(const absl::Status& status) { return InfoOf(CudaResultOf(status)).kind.is_device_fault; }

absl::Status Prefixed(const absl::Status& status, absl::string_view prefix) {
  if (status.ok()) return status;
  absl::Status result(status.code(), absl::StrCat(prefix, ": ", status.message()));
  status.ForEachPayload([&](absl::string_view type, const absl::Cord& payload) { result.SetPayload(type, payload); });
  return result;
}

absl::StatusOr<ScopedContext> ScopedContext::Enter(const CudaDriver& driver, int device) {
  cuda::Context current = nullptr;
  TRIVET_RETURN_IF_ERROR(TRIVET_CUDA_CALL(driver, cuCtxGetCurrent, &current));
  if (current != nullptr) {
    cuda::Device current_device = -1;
    cuda::Device wanted = 0;
    TRIVET_RETURN_IF_ERROR(TRIVET_CUDA_CALL(driver, cuCtxGetDevice, &current_device));
    TRIVET_RETURN_IF_ERROR(TRIVET_CUDA_CALL(driver, cuDeviceGet, &wanted, device));
    if (current_device == wanted) return ScopedContext(driver, current, /*is_pushed=*/false);
  }
  TRIVET_ASSIGN_OR_RETURN(const cuda::Context primary, driver.PrimaryContext(device));
  TRIVET_RETURN_IF_ERROR(TRIVET_CUDA_CALL(driver, cuCtxPushCurrent, primary));
  return ScopedContext(driver, primary, /*is_pushed=*/true);
}

ScopedContext::ScopedContext(ScopedContext&& other) noexcept
    : driver_(other.driver_), context_(other.context_), is_pushed_(std::exchange(other.is_pushed_, false)) {}

ScopedContext::~ScopedContext() {
  // Fails only if someone else took our context off the stack; there is nothing left to do then.
  cuda::Context popped = nullptr;
  if (is_pushed_) driver_->api().cuCtxPopCurrent(&popped);
}

RelaxedCapture::RelaxedCapture(const CudaDriver& driver) : driver_(driver) {
  is_exchanged_ = driver_.api().cuThreadExchangeStreamCaptureMode(&previous_) == cuda::kSuccess;
}

RelaxedCapture::~RelaxedCapture() {
  if (is_exchanged_) driver_.api().cuThreadExchangeStreamCaptureMode(&previous_);
}

}  // namespace trivet::jit
