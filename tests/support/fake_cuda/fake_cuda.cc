#include "tests/support/fake_cuda/fake_cuda.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <type_traits>

#include "jit/driver/cuda_driver.h"
#include "tests/support/fake_cuda/fake_image.h"

namespace trivet::jit::cuda {

struct CtxOpaque {
  int device = 0;
};
struct ModuleOpaque {
  Context context = nullptr;
  std::vector<fake_cuda::Entry> entries;
};
struct FunctionOpaque {
  Context context = nullptr;
  fake_cuda::Entry entry;
  int max_dynamic_shared_bytes = 48 * 1024;
};
struct StreamOpaque {};
struct EventOpaque {};
struct LinkOpaque {
  std::string ptx;
  std::string cubin;
  char* log = nullptr;
};

}  // namespace trivet::jit::cuda

namespace trivet::fake_cuda {
namespace {

using namespace jit::cuda;  // NOLINT(google-build-using-namespace): this is the driver

constexpr int kDriverVersion = 12080;
constexpr Result kInvalidValue = 1;
constexpr Result kNotInitialised = 3;
constexpr Result kInvalidDevice = 101;
constexpr Result kInvalidContext = 201;
constexpr Result kNoBinary = 209;
constexpr Result kInvalidPtx = 218;
constexpr Result kNotFound = 500;
constexpr Result kCaptureInvalidatedError = 901;

struct Failure {
  Result result;
  int times;
  int skip;
};
struct Capture {
  CaptureMode mode;
  bool is_valid = true;
};

int FromEnvironment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr && *text != '\0' ? std::atoi(text) : otherwise;
}

// All that there is, under one lock.
struct State {
  std::recursive_mutex mutex;
  bool is_initialised = false;
  int num_devices = FromEnvironment("FAKE_CUDA_DEVICES", 1);
  int capability = FromEnvironment("FAKE_CUDA_CAPABILITY", 90);
  std::map<int, std::unique_ptr<CtxOpaque>> primary_contexts;
  std::map<DevicePtr, size_t> allocations;
  std::map<Stream, Capture> captures;
  std::map<std::string, Failure> failures;
  std::map<std::string, int> calls;
  std::map<std::string, KernelFacts> kernel_facts;
  std::map<std::string, std::function<void(const Launch&)>> bodies;
  std::vector<Launch> launches;
  std::vector<std::shared_ptr<void>> made;  // contexts, functions, streams and events: never given back
  Result pending_fault = kSuccess;          // shows at the next synchronisation
  Result sticky_fault = kSuccess;           // shows at every call

  State() {
    const char* text = std::getenv("FAKE_CUDA_FAIL");
    std::string rest = text == nullptr ? "" : text;
    for (size_t end; !rest.empty(); rest = end < rest.size() ? rest.substr(end + 1) : "") {
      end = std::min(rest.find(','), rest.size());
      const std::string item = rest.substr(0, end);
      const size_t equals = item.find('=');
      if (equals == std::string::npos) continue;
      failures[item.substr(0, equals)] = {std::atoi(item.c_str() + equals + 1), 1 << 30, 0};
    }
  }
};

State& TheState() {
  static State& state = *new State;
  return state;
}

template <typename T, typename... Arguments>
T* Make(State& state, Arguments... arguments) {
  auto made = std::make_shared<T>(T{arguments...});
  state.made.push_back(made);
  return made.get();
}

std::atomic<bool> is_recording{FromEnvironment("FAKE_CUDA_RECORD", 1) != 0};
thread_local std::vector<Context> context_stack;
thread_local CaptureMode thread_capture_mode = kCaptureGlobal;

Context Current() { return context_stack.empty() ? nullptr : context_stack.back(); }

// Counts the call, and gives the failure that a test ordered.
Result Enter(State& state, const char* symbol, bool needs_init = true) {
  ++state.calls[symbol];
  if (auto failure = state.failures.find(symbol); failure != state.failures.end()) {
    Failure& order = failure->second;
    if (order.skip > 0) {
      --order.skip;
    } else if (order.times > 0) {
      --order.times;
      return order.result;
    }
  }
  if (needs_init && !state.is_initialised) return kNotInitialised;
  return state.sticky_fault;
}

// Calls that a capture forbids: on the capturing thread's or, in global mode, on any stream.
Result EnterUnsafe(State& state, const char* symbol) {
  if (const Result result = Enter(state, symbol); result != kSuccess) return result;
  if (thread_capture_mode == kCaptureRelaxed) return kSuccess;
  for (auto& [stream, capture] : state.captures) {
    if (capture.mode == kCaptureRelaxed) continue;
    capture.is_valid = false;
    return kStreamCaptureUnsupported;
  }
  return kSuccess;
}

Result NeedContext() { return Current() == nullptr ? kInvalidContext : kSuccess; }

Result Synchronise(State& state, Stream stream) {
  if (auto capture = state.captures.find(stream); capture != state.captures.end()) {
    capture->second.is_valid = false;
    return kStreamCaptureUnsupported;
  }
  if (state.pending_fault != kSuccess) state.sticky_fault = std::exchange(state.pending_fault, kSuccess);
  return state.sticky_fault;
}

// Fills the error log that the options name, if they do.
void WriteLog(unsigned int num_options, const JitOption* options, void** values, const std::string& text) {
  char* buffer = nullptr;
  size_t capacity = 0;
  for (unsigned int i = 0; i < num_options; ++i) {
    if (options[i] == kErrorLogBuffer) buffer = static_cast<char*>(values[i]);
    if (options[i] == kErrorLogBufferSizeBytes) capacity = reinterpret_cast<uintptr_t>(values[i]);
  }
  if (buffer != nullptr && capacity > 0) std::snprintf(buffer, capacity, "%s", text.c_str());
}

Result Run(State& state, Function function, Launch launch, void** params) {
  if (function == nullptr || function->context != Current()) return kInvalidContext;
  launch.kernel = function->entry.name;
  launch.device = function->context->device;
  if (launch.grid[0] == 0 || launch.grid[1] == 0 || launch.grid[2] == 0) return kInvalidValue;
  if (launch.grid[0] > 0x7fffffffu || launch.grid[1] > 65535 || launch.grid[2] > 65535) return kInvalidValue;
  if (launch.block[0] == 0 || launch.block[0] * launch.block[1] * launch.block[2] > 1024) return kInvalidValue;
  if (launch.shared_bytes > static_cast<unsigned int>(function->max_dynamic_shared_bytes)) return kInvalidValue;
  for (size_t i = 0; i < function->entry.parameter_bytes.size(); ++i) {
    const auto* bytes = static_cast<const uint8_t*>(params[i]);
    launch.params.emplace_back(bytes, bytes + function->entry.parameter_bytes[i]);
  }
  if (auto capture = state.captures.find(launch.stream); capture != state.captures.end()) {
    if (!capture->second.is_valid) return kCaptureInvalidatedError;
    launch.is_captured = true;
  }
  state.launches.push_back(launch);
  const auto body = state.bodies.find(launch.kernel);
  if (body != state.bodies.end() && !launch.is_captured) body->second(launch);
  return kSuccess;
}

int AttributeOf(const State& state, int attribute) {
  switch (attribute) {
    case 75:
      return state.capability / 10;
    case 76:
      return state.capability % 10;
    case 16:
      return 132;
    case 10:
      return 32;
    case 1:
      return 1024;
    case 39:
      return 2048;
    case 106:
      return 32;
    case 5:
      return 0x7fffffff;
    case 6:
    case 7:
      return 65535;
    case 8:
      return 48 * 1024;
    case 97:
      return state.capability >= 90 ? 232448 : state.capability == 80 ? 166912 : 101376;
    case 81:
      return 233472;
    case 111:
      return 1024;
    case 12:
    case 82:
      return 65536;
    default:
      return 1;
  }
}

const KernelFacts& FactsOf(State& state, const std::string& kernel) { return state.kernel_facts[kernel]; }

// The allocation that holds `address`, or the end.
std::map<DevicePtr, size_t>::iterator FindAllocation(State& state, DevicePtr address) {
  auto next = state.allocations.upper_bound(address);
  if (next == state.allocations.begin()) return state.allocations.end();
  --next;
  return address < next->first + next->second ? next : state.allocations.end();
}

}  // namespace

void Reset() {
  State& state = TheState();
  const std::lock_guard lock(state.mutex);
  state.failures.clear();
  state.calls.clear();
  state.kernel_facts.clear();
  state.bodies.clear();
  state.launches.clear();
  state.captures.clear();
  state.pending_fault = kSuccess;
  state.sticky_fault = kSuccess;
  is_recording = true;
}

void Fail(const char* symbol, Result result, int times, int skip) {
  State& state = TheState();
  const std::lock_guard lock(state.mutex);
  state.failures[symbol] = {result, times, skip};
}

int CallCount(const char* symbol) {
  State& state = TheState();
  const std::lock_guard lock(state.mutex);
  return state.calls[symbol];
}

void SetKernelFacts(const std::string& kernel, const KernelFacts& facts) {
  State& state = TheState();
  const std::lock_guard lock(state.mutex);
  state.kernel_facts[kernel] = facts;
}

void SetKernelBody(const std::string& kernel, std::function<void(const Launch&)> body) {
  State& state = TheState();
  const std::lock_guard lock(state.mutex);
  state.bodies[kernel] = std::move(body);
}

void FaultAtNextSynchronisation(Result result) {
  State& state = TheState();
  const std::lock_guard lock(state.mutex);
  state.pending_fault = result;
}

std::vector<Launch> Launches() {
  State& state = TheState();
  const std::lock_guard lock(state.mutex);
  return state.launches;
}

void SetRecording(bool records) { is_recording = records; }

void BeginCapture(Stream stream, CaptureMode mode) {
  State& state = TheState();
  const std::lock_guard lock(state.mutex);
  state.captures[stream] = {mode};
}

bool EndCapture(Stream stream) {
  State& state = TheState();
  const std::lock_guard lock(state.mutex);
  const bool is_valid = state.captures[stream].is_valid;
  state.captures.erase(stream);
  return is_valid;
}

int64_t AllocatedBytes() {
  State& state = TheState();
  const std::lock_guard lock(state.mutex);
  int64_t bytes = 0;
  for (const auto& [address, size] : state.allocations) bytes += static_cast<int64_t>(size);
  return bytes;
}

Context CreateContext(int device) {
  State& state = TheState();
  const std::lock_guard lock(state.mutex);
  return Make<CtxOpaque>(state, device);
}

}  // namespace trivet::fake_cuda

using namespace trivet::fake_cuda;  // NOLINT(google-build-using-namespace)

// Every entry point: take the lock, count, fail if told to.
#define FAKE_ENTER(enter, symbol)          \
  State& state = TheState();               \
  const std::lock_guard lock(state.mutex); \
  if (const Result entered = enter(state, #symbol); entered != kSuccess) return entered

extern "C" {

FAKE_CUDA_EXPORT Result cuInit(unsigned int) {
  State& state = TheState();
  const std::lock_guard lock(state.mutex);
  if (const Result result = Enter(state, "cuInit", /*needs_init=*/false); result != kSuccess) return result;
  state.is_initialised = true;
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuDriverGetVersion(int* version) {
  FAKE_ENTER(Enter, cuDriverGetVersion);
  *version = kDriverVersion;
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuGetErrorName(Result error, const char** name) {
  static const std::map<Result, const char*> kNames = {
      {1, "CUDA_ERROR_INVALID_VALUE"},     {2, "CUDA_ERROR_OUT_OF_MEMORY"},
      {100, "CUDA_ERROR_NO_DEVICE"},       {201, "CUDA_ERROR_INVALID_CONTEXT"},
      {218, "CUDA_ERROR_INVALID_PTX"},     {500, "CUDA_ERROR_NOT_FOUND"},
      {700, "CUDA_ERROR_ILLEGAL_ADDRESS"}, {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"}};
  const auto found = kNames.find(error);
  *name = found == kNames.end() ? nullptr : found->second;
  return *name == nullptr ? kInvalidValue : kSuccess;
}
FAKE_CUDA_EXPORT Result cuGetErrorString(Result error, const char** text) {
  *text = error == 700 ? "an illegal memory access was encountered" : error == 2 ? "out of memory" : nullptr;
  return *text == nullptr ? kInvalidValue : kSuccess;
}
FAKE_CUDA_EXPORT Result cuDeviceGetCount(int* count) {
  FAKE_ENTER(Enter, cuDeviceGetCount);
  *count = state.num_devices;
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuDeviceGet(Device* device, int ordinal) {
  FAKE_ENTER(Enter, cuDeviceGet);
  if (ordinal < 0 || ordinal >= state.num_devices) return kInvalidDevice;
  *device = ordinal;
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuDeviceGetName(char* name, int capacity, Device device) {
  FAKE_ENTER(Enter, cuDeviceGetName);
  std::snprintf(name, static_cast<size_t>(capacity), "Fake GPU %d", device);
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuDeviceGetAttribute(int* value, int attribute, Device) {
  FAKE_ENTER(Enter, cuDeviceGetAttribute);
  *value = AttributeOf(state, attribute);
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuDeviceTotalMem_v2(size_t* bytes, Device) {
  FAKE_ENTER(Enter, cuDeviceTotalMem_v2);
  *bytes = size_t{80} << 30;
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuDevicePrimaryCtxRetain(Context* context, Device device) {
  FAKE_ENTER(Enter, cuDevicePrimaryCtxRetain);
  std::unique_ptr<CtxOpaque>& primary = state.primary_contexts[device];
  if (primary == nullptr) primary = std::make_unique<CtxOpaque>(CtxOpaque{device});
  *context = primary.get();
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuCtxGetCurrent(Context* context) {
  *context = Current();  // asked at each launch: not counted
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuCtxSetCurrent(Context context) {
  FAKE_ENTER(Enter, cuCtxSetCurrent);
  if (!context_stack.empty()) context_stack.pop_back();
  if (context != nullptr) context_stack.push_back(context);
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuCtxPushCurrent_v2(Context context) {
  FAKE_ENTER(Enter, cuCtxPushCurrent_v2);
  context_stack.push_back(context);
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuCtxPopCurrent_v2(Context* context) {
  FAKE_ENTER(Enter, cuCtxPopCurrent_v2);
  if (context_stack.empty()) return kInvalidContext;
  *context = context_stack.back();
  context_stack.pop_back();
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuCtxGetDevice(Device* device) {
  FAKE_ENTER(Enter, cuCtxGetDevice);
  if (Current() == nullptr) return kInvalidContext;
  *device = Current()->device;
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuCtxSynchronize() {
  FAKE_ENTER(EnterUnsafe, cuCtxSynchronize);
  return Synchronise(state, nullptr);
}

FAKE_CUDA_EXPORT Result cuModuleLoadDataEx(Module* module, const void* image, unsigned int num_options,
                                           JitOption* options, void** values) {
  FAKE_ENTER(EnterUnsafe, cuModuleLoadDataEx);
  if (Current() == nullptr) return kInvalidContext;
  const Image parsed = ParseImage(static_cast<const char*>(image));
  if (!parsed.error.empty()) {
    WriteLog(num_options, options, values, parsed.error);
    return kInvalidPtx;
  }
  if (parsed.is_cubin && parsed.capability != state.capability) return kNoBinary;
  *module = Make<ModuleOpaque>(state, Current(), parsed.entries);
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuModuleUnload(Module) {
  FAKE_ENTER(EnterUnsafe, cuModuleUnload);
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuModuleGetFunction(Function* function, Module module, const char* name) {
  FAKE_ENTER(Enter, cuModuleGetFunction);
  for (const Entry& entry : module->entries) {
    if (entry.name != name) continue;
    *function = Make<FunctionOpaque>(state, module->context, entry);
    return kSuccess;
  }
  return kNotFound;
}
FAKE_CUDA_EXPORT Result cuModuleGetGlobal_v2(DevicePtr*, size_t*, Module, const char*) {
  FAKE_ENTER(Enter, cuModuleGetGlobal_v2);
  return kNotFound;
}
FAKE_CUDA_EXPORT Result cuLinkCreate_v2(unsigned int num_options, JitOption* options, void** values, LinkState* link) {
  FAKE_ENTER(EnterUnsafe, cuLinkCreate_v2);
  *link = new LinkOpaque;
  for (unsigned int i = 0; i < num_options; ++i) {
    if (options[i] == kErrorLogBuffer) (*link)->log = static_cast<char*>(values[i]);
  }
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuLinkAddData_v2(LinkState link, JitInputType type, void* data, size_t, const char*,
                                         unsigned int, JitOption*, void**) {
  FAKE_ENTER(EnterUnsafe, cuLinkAddData_v2);
  if (type != kInputPtx) return kInvalidValue;
  link->ptx = static_cast<const char*>(data);
  const Image image = ParseImage(link->ptx.c_str());
  if (image.error.empty()) return kSuccess;
  if (link->log != nullptr) std::strcpy(link->log, image.error.c_str());
  return kInvalidPtx;
}
FAKE_CUDA_EXPORT Result cuLinkComplete(LinkState link, void** cubin, size_t* bytes) {
  FAKE_ENTER(EnterUnsafe, cuLinkComplete);
  link->cubin = MakeCubin(link->ptx, state.capability);
  *cubin = link->cubin.data();
  *bytes = link->cubin.size();
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuLinkDestroy(LinkState link) {
  FAKE_ENTER(Enter, cuLinkDestroy);
  delete link;
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuFuncGetAttribute(int* value, FunctionAttribute attribute, Function function) {
  FAKE_ENTER(Enter, cuFuncGetAttribute);
  const KernelFacts& facts = FactsOf(state, function->entry.name);
  switch (attribute) {
    case kMaxThreadsPerBlock:
      *value = facts.max_threads_per_cta;
      return kSuccess;
    case kStaticSharedBytes:
      *value = facts.static_shared_bytes;
      return kSuccess;
    case kLocalBytes:
      *value = facts.local_bytes;
      return kSuccess;
    case kNumRegisters:
      *value = facts.registers;
      return kSuccess;
    case kBinaryVersion:
      *value = state.capability;
      return kSuccess;
    case kMaxDynamicSharedBytes:
      *value = function->max_dynamic_shared_bytes;
      return kSuccess;
    case kNonPortableClusterSizeAllowed:
      *value = 0;
      return kSuccess;
  }
  return kInvalidValue;
}
FAKE_CUDA_EXPORT Result cuFuncSetAttribute(Function function, FunctionAttribute attribute, int value) {
  FAKE_ENTER(Enter, cuFuncSetAttribute);
  if (attribute == kMaxDynamicSharedBytes) {
    if (value + FactsOf(state, function->entry.name).static_shared_bytes > AttributeOf(state, 97)) return kInvalidValue;
    function->max_dynamic_shared_bytes = value;
  }
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuFuncLoad(Function) {
  FAKE_ENTER(EnterUnsafe, cuFuncLoad);
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int* ctas, Function, int threads, size_t) {
  FAKE_ENTER(Enter, cuOccupancyMaxActiveBlocksPerMultiprocessor);
  *ctas = 2048 / threads;
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuLaunchKernel(Function function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                                       unsigned int block_x, unsigned int block_y, unsigned int block_z,
                                       unsigned int shared_bytes, Stream stream, void** params, void**) {
  if (!is_recording.load(std::memory_order_relaxed)) return kSuccess;
  FAKE_ENTER(Enter, cuLaunchKernel);
  Launch launch;
  launch.grid = {grid_x, grid_y, grid_z};
  launch.block = {block_x, block_y, block_z};
  launch.shared_bytes = shared_bytes;
  launch.stream = stream;
  return Run(state, function, std::move(launch), params);
}
FAKE_CUDA_EXPORT Result cuLaunchKernelEx(const LaunchConfig* config, Function function, void** params, void**) {
  FAKE_ENTER(Enter, cuLaunchKernelEx);
  Launch launch;
  launch.grid = {config->grid_x, config->grid_y, config->grid_z};
  launch.block = {config->block_x, config->block_y, config->block_z};
  launch.shared_bytes = config->shared_bytes;
  launch.stream = config->stream;
  for (unsigned int i = 0; i < config->num_attributes; ++i) {
    if (config->attributes[i].id != kAttributeClusterDimension) continue;
    const auto& cluster = config->attributes[i].value.cluster_dimension;
    launch.cluster = {cluster.x, cluster.y, cluster.z};
  }
  return Run(state, function, std::move(launch), params);
}
FAKE_CUDA_EXPORT Result cuLaunchHostFunc(Stream, HostFn function, void* user_data) {
  FAKE_ENTER(Enter, cuLaunchHostFunc);
  function(user_data);
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuTensorMapEncodeTiled(TensorMap* map, TensorMapType type, uint32_t rank, void* address,
                                               const uint64_t*, const uint64_t*, const uint32_t*, const uint32_t*,
                                               TensorMapInterleave, TensorMapSwizzle swizzle, TensorMapL2Promotion,
                                               TensorMapFill) {
  FAKE_ENTER(Enter, cuTensorMapEncodeTiled);
  *map = {};
  map->opaque[0] = reinterpret_cast<uintptr_t>(address);
  map->opaque[1] = static_cast<uint64_t>(type) | uint64_t{rank} << 8 | static_cast<uint64_t>(swizzle) << 16;
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuStreamCreate(Stream* stream, unsigned int) {
  FAKE_ENTER(Enter, cuStreamCreate);
  *stream = Make<StreamOpaque>(state);
  return NeedContext();
}
FAKE_CUDA_EXPORT Result cuStreamDestroy_v2(Stream) {
  FAKE_ENTER(Enter, cuStreamDestroy_v2);
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuStreamSynchronize(Stream stream) {
  FAKE_ENTER(EnterUnsafe, cuStreamSynchronize);
  return Synchronise(state, stream);
}
FAKE_CUDA_EXPORT Result cuStreamIsCapturing(Stream stream, CaptureStatus* status) {
  FAKE_ENTER(Enter, cuStreamIsCapturing);
  if (stream == nullptr && !state.captures.empty()) return kStreamCaptureImplicit;
  const auto capture = state.captures.find(stream);
  *status = capture == state.captures.end() ? kCaptureNone
            : capture->second.is_valid      ? kCaptureActive
                                            : kCaptureInvalidated;
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuThreadExchangeStreamCaptureMode(CaptureMode* mode) {
  FAKE_ENTER(Enter, cuThreadExchangeStreamCaptureMode);
  std::swap(*mode, thread_capture_mode);
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuEventCreate(Event* event, unsigned int) {
  FAKE_ENTER(Enter, cuEventCreate);
  *event = Make<EventOpaque>(state);
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuEventDestroy_v2(Event) {
  FAKE_ENTER(Enter, cuEventDestroy_v2);
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuEventRecord(Event, Stream) {
  FAKE_ENTER(Enter, cuEventRecord);
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuEventSynchronize(Event) {
  FAKE_ENTER(EnterUnsafe, cuEventSynchronize);
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuEventElapsedTime(float* milliseconds, Event, Event) {
  FAKE_ENTER(Enter, cuEventElapsedTime);
  *milliseconds = 1;
  return kSuccess;
}

FAKE_CUDA_EXPORT Result cuMemAlloc_v2(DevicePtr* address, size_t bytes) {
  FAKE_ENTER(EnterUnsafe, cuMemAlloc_v2);
  if (const Result result = NeedContext(); result != kSuccess) return result;
  void* memory = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
  if (memory == nullptr) return kOutOfMemory;
  *address = reinterpret_cast<uintptr_t>(memory);
  state.allocations[*address] = bytes;
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuMemFree_v2(DevicePtr address) {
  FAKE_ENTER(EnterUnsafe, cuMemFree_v2);
  if (state.allocations.erase(address) == 0) return kInvalidValue;
  std::free(reinterpret_cast<void*>(address));
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuMemcpyHtoD_v2(DevicePtr to, const void* from, size_t bytes) {
  FAKE_ENTER(EnterUnsafe, cuMemcpyHtoD_v2);
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuMemcpyDtoH_v2(void* to, DevicePtr from, size_t bytes) {
  FAKE_ENTER(EnterUnsafe, cuMemcpyDtoH_v2);
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuMemcpyDtoD_v2(DevicePtr to, DevicePtr from, size_t bytes) {
  FAKE_ENTER(EnterUnsafe, cuMemcpyDtoD_v2);
  std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuMemcpyHtoDAsync_v2(DevicePtr to, const void* from, size_t bytes, Stream) {
  FAKE_ENTER(Enter, cuMemcpyHtoDAsync_v2);
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuMemcpyDtoHAsync_v2(void* to, DevicePtr from, size_t bytes, Stream) {
  FAKE_ENTER(Enter, cuMemcpyDtoHAsync_v2);
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuMemsetD8Async(DevicePtr to, unsigned char value, size_t bytes, Stream) {
  FAKE_ENTER(Enter, cuMemsetD8Async);
  std::memset(reinterpret_cast<void*>(to), value, bytes);
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuMemGetAddressRange_v2(DevicePtr* base, size_t* bytes, DevicePtr address) {
  FAKE_ENTER(Enter, cuMemGetAddressRange_v2);
  const auto found = FindAllocation(state, address);
  if (found == state.allocations.end()) return kInvalidValue;
  if (base != nullptr) *base = found->first;
  if (bytes != nullptr) *bytes = found->second;
  return kSuccess;
}
FAKE_CUDA_EXPORT Result cuPointerGetAttribute(void* value, PointerAttribute attribute, DevicePtr address) {
  FAKE_ENTER(Enter, cuPointerGetAttribute);
  const auto found = FindAllocation(state, address);
  if (found == state.allocations.end()) return kInvalidValue;  // as for ordinary host memory
  switch (attribute) {
    case kMemoryType:
      *static_cast<unsigned int*>(value) = kDeviceMemory;
      return kSuccess;
    case kDevicePointer:
      *static_cast<DevicePtr*>(value) = address;
      return kSuccess;
    case kIsManaged:
      *static_cast<int*>(value) = 0;
      return kSuccess;
    case kDeviceOrdinal:
      *static_cast<int*>(value) = 0;
      return kSuccess;
  }
  return kInvalidValue;
}
FAKE_CUDA_EXPORT Result cuPointerGetAttributes(unsigned int count, PointerAttribute* attributes, void** values,
                                               DevicePtr address) {
  FAKE_ENTER(Enter, cuPointerGetAttributes);
  for (unsigned int i = 0; i < count; ++i) cuPointerGetAttribute(values[i], attributes[i], address);
  return kSuccess;
}

}  // extern "C"

// The table's signatures are these functions'.
#define TRIVET_CUDA(name, symbol, Need, parameters) \
  static_assert(std::is_same_v<decltype(trivet::jit::cuda::Api::name), decltype(&symbol)>, #symbol);
#include "jit/driver/cuda_api.def"
#undef TRIVET_CUDA
