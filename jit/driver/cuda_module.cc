#include "jit/driver/cuda_module.h"

#include <array>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "jit/driver/resources.h"
#include "vm/base/status.h"

namespace trivet::jit {
namespace {

// Where the driver's compiler writes what it has to say. Must outlive the calls that are given its options.
class JitLog {
 public:
  JitLog() {
    // Numbers are passed in the pointer itself.
    values_ = {errors_.data(), reinterpret_cast<void*>(static_cast<uintptr_t>(errors_.size()))};
  }
  JitLog(const JitLog&) = delete;
  JitLog& operator=(const JitLog&) = delete;

  unsigned int num_options() const { return static_cast<unsigned int>(options_.size()); }
  cuda::JitOption* options() { return options_.data(); }
  void** values() { return values_.data(); }

  // `status` of a call that was given the options, with the log at its end.
  absl::Status Explain(const absl::Status& status) const {
    const absl::string_view log = absl::StripAsciiWhitespace(absl::string_view(errors_.data()));
    if (status.ok() || log.empty()) return status;
    absl::Status result(status.code(), absl::StrCat(status.message(), "\n", log));
    status.ForEachPayload([&](absl::string_view type, const absl::Cord& data) { result.SetPayload(type, data); });
    return result;
  }

 private:
  std::array<char, 8192> errors_{};
  std::array<cuda::JitOption, 2> options_{cuda::kErrorLogBuffer, cuda::kErrorLogBufferSizeBytes};
  std::array<void*, 2> values_;
};

std::string Subject(const LoadRequest& request) {
  return absl::StrCat("kernel '", request.label.empty() ? request.kernel : request.label, "'");
}

absl::Status CheckSharedMemory(const DeviceFacts& device, const LoadRequest& request, int64_t static_bytes) {
  const int64_t required = request.dynamic_shared_bytes + static_bytes;
  if (required <= device.max_shared_bytes_per_cta) return absl::OkStatus();
  return OutOfResourcesError({"shared memory", required, device.max_shared_bytes_per_cta}, Subject(request),
                             device.name, "use smaller tiles or fewer stages");
}

absl::Status CheckRegisters(const DeviceFacts& device, const LoadRequest& request, const LoadedFunction& loaded) {
  if (request.threads_per_cta <= loaded.max_threads_per_cta) return absl::OkStatus();
  return OutOfResourcesError(
      {"registers", int64_t{loaded.registers} * request.threads_per_cta, device.registers_per_cta}, Subject(request),
      device.name, "use fewer warps, smaller tiles, or a limit on registers (maxnreg)");
}

absl::Status ReadAttributes(const CudaDriver& driver, LoadedFunction& loaded) {
  const auto read = [&](cuda::FunctionAttribute attribute, auto& field) {
    int value = 0;
    TRIVET_RETURN_IF_ERROR(TRIVET_CUDA_CALL(driver, cuFuncGetAttribute, &value, attribute, loaded.function));
    field = value;
    return absl::OkStatus();
  };
  TRIVET_RETURN_IF_ERROR(read(cuda::kNumRegisters, loaded.registers));
  TRIVET_RETURN_IF_ERROR(read(cuda::kLocalBytes, loaded.local_bytes));
  TRIVET_RETURN_IF_ERROR(read(cuda::kStaticSharedBytes, loaded.static_shared_bytes));
  TRIVET_RETURN_IF_ERROR(read(cuda::kMaxThreadsPerBlock, loaded.max_threads_per_cta));
  return read(cuda::kBinaryVersion, loaded.binary_version);
}

// After the module is loaded: everything else that can fail.
absl::StatusOr<LoadedFunction> ReadyFunction(const CudaDriver& driver, const DeviceFacts& device,
                                             const LoadRequest& request, cuda::Module module) {
  LoadedFunction loaded{.module = module};
  TRIVET_RETURN_IF_ERROR(
      TRIVET_CUDA_CALL(driver, cuModuleGetFunction, &loaded.function, module, request.kernel.c_str()));
  // Drivers may put off loading code until the first launch, which then may be inside a capture.
  if (driver.api().cuFuncLoad != nullptr) {
    TRIVET_RETURN_IF_ERROR(TRIVET_CUDA_CALL(driver, cuFuncLoad, loaded.function));
  }
  TRIVET_RETURN_IF_ERROR(ReadAttributes(driver, loaded));
  TRIVET_RETURN_IF_ERROR(CheckSharedMemory(device, request, loaded.static_shared_bytes));
  TRIVET_RETURN_IF_ERROR(CheckRegisters(device, request, loaded));
  // Up to 48 KiB need no asking, but what is static counts towards them.
  if (request.dynamic_shared_bytes + loaded.static_shared_bytes > device.shared_bytes_per_cta) {
    TRIVET_RETURN_IF_ERROR(TRIVET_CUDA_CALL(driver, cuFuncSetAttribute, loaded.function, cuda::kMaxDynamicSharedBytes,
                                            static_cast<int>(request.dynamic_shared_bytes)));
  }
  if (request.has_large_cluster) {
    TRIVET_RETURN_IF_ERROR(
        TRIVET_CUDA_CALL(driver, cuFuncSetAttribute, loaded.function, cuda::kNonPortableClusterSizeAllowed, 1));
  }
  return loaded;
}

}  // namespace

bool IsCubin(absl::string_view image) {
  return absl::StartsWith(image,
                          "\x7f"
                          "ELF");
}

absl::Status CheckFits(const DeviceFacts& device, const LoadRequest& request) {
  TRIVET_RETURN_IF_ERROR(CheckSharedMemory(device, request, /*static_bytes=*/0));
  if (request.threads_per_cta <= device.max_threads_per_cta) return absl::OkStatus();
  return OutOfResourcesError({"threads", request.threads_per_cta, device.max_threads_per_cta}, Subject(request),
                             device.name, "use fewer warps");
}

absl::StatusOr<LoadedFunction> LoadFunction(const CudaDriver& driver, const DeviceFacts& device,
                                            const LoadRequest& request) {
  TRIVET_RETURN_IF_ERROR(CheckFits(device, request));
  const RelaxedCapture relaxed(driver);
  JitLog log;
  cuda::Module module = nullptr;
  const absl::Status status = TRIVET_CUDA_CALL(driver, cuModuleLoadDataEx, &module, request.image.c_str(),
                                               log.num_options(), log.options(), log.values());
  const std::string where =
      absl::StrCat("loading ", Subject(request), " on device ", device.ordinal, " (", device.name, ")");
  if (!status.ok()) return Prefixed(log.Explain(status), where);
  absl::StatusOr<LoadedFunction> loaded = ReadyFunction(driver, device, request, module);
  if (!loaded.ok()) {
    // Nothing was launched from it, so nothing can hold it.
    driver.api().cuModuleUnload(module);
    if (FindOutOfResources(loaded.status()).has_value()) return loaded.status();
    return Prefixed(loaded.status(), where);
  }
  return loaded;
}

absl::StatusOr<std::string> AssemblePtx(const CudaDriver& driver, const std::string& ptx, absl::string_view label) {
  const RelaxedCapture relaxed(driver);
  const std::string where = absl::StrCat("assembling kernel '", label, "'");
  JitLog log;
  cuda::LinkState state = nullptr;
  TRIVET_RETURN_IF_ERROR(
      Prefixed(TRIVET_CUDA_CALL(driver, cuLinkCreate, log.num_options(), log.options(), log.values(), &state), where));
  void* cubin = nullptr;
  size_t cubin_bytes = 0;
  // The terminating zero belongs to the text.
  absl::Status status = TRIVET_CUDA_CALL(driver, cuLinkAddData, state, cuda::kInputPtx, const_cast<char*>(ptx.c_str()),
                                         ptx.size() + 1, "trivet.ptx", 0, nullptr, nullptr);
  if (status.ok()) status = TRIVET_CUDA_CALL(driver, cuLinkComplete, state, &cubin, &cubin_bytes);
  std::string result;
  if (status.ok()) result.assign(static_cast<const char*>(cubin), cubin_bytes);  // the state owns it
  const absl::Status destroyed = TRIVET_CUDA_CALL(driver, cuLinkDestroy, state);
  if (!status.ok()) return Prefixed(log.Explain(status), where);
  TRIVET_RETURN_IF_ERROR(destroyed);
  return result;
}

absl::StatusOr<int> CtasPerSm(const CudaDriver& driver, const LoadedFunction& function, int threads,
                              int64_t dynamic_shared_bytes) {
  int ctas = 0;
  TRIVET_RETURN_IF_ERROR(TRIVET_CUDA_CALL(driver, cuOccupancyMaxActiveBlocksPerMultiprocessor, &ctas, function.function,
                                          threads, static_cast<size_t>(dynamic_shared_bytes)));
  return ctas;
}

}  // namespace trivet::jit
