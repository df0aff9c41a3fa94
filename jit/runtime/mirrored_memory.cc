#include "jit/runtime/mirrored_memory.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "jit/runtime/compile.h"
#include "jit/runtime/recent_launches.h"
#include "jit/runtime/written_parameters.h"
#include "vm/base/status.h"

namespace trivet::jit {
namespace {

constexpr uint64_t kPageBytes = 4096;

bool IsAddress(const vm::Type& type) { return type.is_pointer() || type.is_block_ptr() || type.is_desc(); }

// True if the host can use the memory at `address` as it is: pinned, managed, or not the driver's at all.
bool IsHostMemory(const CudaDriver& driver, uint64_t address) {
  unsigned int type = 0;
  const cuda::Result result = driver.api().cuPointerGetAttribute(&type, cuda::kMemoryType, address);
  if (result != cuda::kSuccess) return true;  // the driver has never heard of it
  return type == cuda::kHostMemory;
}

bool Holds(const vm::Allocation& allocation, uint64_t address) {
  return address - allocation.storage_base < static_cast<uint64_t>(std::max<int64_t>(allocation.storage_bytes, 1));
}

bool IsBefore(const vm::Allocation& a, const vm::Allocation& b) { return a.storage_base < b.storage_base; }

// The allocation that the driver knows around a device address, as a tensor without a view.
absl::StatusOr<vm::Allocation> AllocationAround(const CudaDriver& driver, uint64_t address) {
  cuda::DevicePtr base = 0;
  size_t bytes = 0;
  TRIVET_RETURN_IF_ERROR(TRIVET_CUDA_CALL(driver, cuMemGetAddressRange, &base, &bytes, address));
  vm::Allocation around;
  around.storage_base = base;
  around.storage_bytes = static_cast<int64_t>(bytes);
  return around;
}

// Tables of pointers are tensors of 64-bit integers. Numbers below this are no addresses that a driver hands out: it
// leaves the first 4 GiB to 32-bit code, and counters and sizes need not be asked about.
constexpr uint64_t kLeastDeviceAddress = uint64_t{1} << 32;

bool MayBeTable(const vm::Allocation& tensor) {
  return tensor.dtype == vm::DType::kI64 || tensor.dtype == vm::DType::kU64;
}
// The 64-bit elements of a table's storage.
uint64_t FirstWord(const vm::Allocation& table) {
  return table.storage_base + (table.view_base - table.storage_base) % sizeof(uint64_t);
}
uint64_t NumWords(const vm::Allocation& table) {
  const uint64_t bytes = static_cast<uint64_t>(std::max<int64_t>(table.storage_bytes, 0));
  const uint64_t skipped = FirstWord(table) - table.storage_base;
  return bytes <= skipped ? 0 : (bytes - skipped) / sizeof(uint64_t);
}

// Bytes that new allocations may take without pushing others out, or a great many if that is unknown.
uint64_t AvailableHostBytes() {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen("/proc/meminfo", "re"), &std::fclose);
  char line[128];
  while (file != nullptr && std::fgets(line, sizeof line, file.get()) != nullptr) {
    uint64_t kilobytes = 0;
    if (std::sscanf(line, "MemAvailable: %" SCNu64, &kilobytes) == 1) return kilobytes * 1024;
  }
  return ~uint64_t{0};
}

}  // namespace

absl::StatusOr<MirroredMemory> MirroredMemory::Copy(const CudaDriver& driver, const vm::Module& module,
                                                    const DeviceLaunch& launch) {
  MirroredMemory memory(driver);
  memory.device_ = launch.device;
  memory.stream_ = launch.stream;
  memory.request_ = launch.request;
  TRIVET_RETURN_IF_ERROR(driver.FindDevice(launch.device).status());
  TRIVET_ASSIGN_OR_RETURN(const FunctionId kernel, FindKernel(module, launch.request.kernel));
  if (module.function(kernel).params().size() != launch.request.arguments.size()) {
    return absl::InvalidArgumentError(absl::StrCat("kernel '", module.function(kernel).name, "' takes ",
                                                   module.function(kernel).params().size(), " arguments, not ",
                                                   launch.request.arguments.size()));
  }
  TRIVET_ASSIGN_OR_RETURN(const ScopedContext scope, ScopedContext::Enter(driver, launch.device));
  TRIVET_ASSIGN_OR_RETURN(const bool is_capturing, driver.IsCapturing(launch.stream));
  if (is_capturing) {
    return absl::FailedPreconditionError(absl::StrCat(
        "kernel '", module.function(kernel).name, "' would run on the interpreter, which a CUDA graph can't capture"));
  }
  const RelaxedCapture relaxed(driver);
  TRIVET_RETURN_IF_ERROR(ExplainFault(TRIVET_CUDA_CALL(driver, cuStreamSynchronize, launch.stream)));
  const WrittenParameters written = FindWrittenParameters(module, kernel);
  TRIVET_RETURN_IF_ERROR(memory.FindTensors(module.function(kernel)));
  TRIVET_RETURN_IF_ERROR(memory.FindRanges(module.function(kernel), written));
  TRIVET_RETURN_IF_ERROR(memory.AllocateCopies());
  TRIVET_RETURN_IF_ERROR(memory.CopyIn());
  if (written.follows_stored_pointers) {
    memory.FindTableEntries();
    memory.PointTablesAt(/*host=*/true);
  }
  memory.Rewrite(module.function(kernel));
  return memory;
}

absl::Status MirroredMemory::FindTensors(const vm::Function& kernel) {
  device_tensors_ = request_.memory.allocations();
  for (size_t i = 0; i < kernel.params().size(); ++i) {
    const vm::Type& type = kernel.type(kernel.params()[i]);
    if (!IsAddress(type) || request_.arguments[i].words.empty()) continue;
    const uint64_t address = request_.arguments[i].words[0];
    const bool is_known = std::any_of(device_tensors_.begin(), device_tensors_.end(),
                                      [&](const vm::Allocation& tensor) { return Holds(tensor, address); });
    if (address == 0 || is_known || IsHostMemory(*driver_, address)) continue;
    TRIVET_ASSIGN_OR_RETURN(vm::Allocation around, AllocationAround(*driver_, address));
    around.name = kernel.value(kernel.params()[i]).name;
    around.dtype = type.pointer_depth() > 1 ? vm::DType::kI64 : type.dtype();  // a pointer's own size
    const uint64_t rest = around.storage_base + static_cast<uint64_t>(around.storage_bytes) - address;
    around.view_base = address;
    around.shape = {static_cast<int64_t>(rest) / vm::InfoOf(around.dtype).storage_bytes};
    around.strides = {1};
    device_tensors_.push_back(around);
    request_.memory.Add(std::move(around));
  }
  std::sort(device_tensors_.begin(), device_tensors_.end(), IsBefore);
  return absl::OkStatus();
}

absl::Status MirroredMemory::FindRanges(const vm::Function& kernel, const WrittenParameters& written) {
  std::vector<vm::Allocation> allocations = device_tensors_;
  if (written.follows_stored_pointers) {
    TRIVET_RETURN_IF_ERROR(FindTableTargets(allocations));
    std::sort(allocations.begin(), allocations.end(), IsBefore);
  }
  for (const vm::Allocation& allocation : allocations) {
    if (allocation.storage_bytes <= 0 || IsHostMemory(*driver_, allocation.storage_base)) continue;
    bool may_be_written = written.writes_anywhere;
    for (size_t i = 0; i < kernel.params().size(); ++i) {
      const std::vector<uint64_t>& words = request_.arguments[i].words;
      may_be_written |= written.may_write[i] && !words.empty() && Holds(allocation, words[0]);
    }
    AddRange(allocation, may_be_written && allocation.is_writable);
  }
  return absl::OkStatus();
}

absl::Status MirroredMemory::FindTableTargets(std::vector<vm::Allocation>& allocations) const {
  for (const vm::Allocation& table : device_tensors_) {
    if (!MayBeTable(table) || IsHostMemory(*driver_, table.storage_base)) continue;
    std::vector<uint64_t> words(NumWords(table));
    TRIVET_RETURN_IF_ERROR(TRIVET_CUDA_CALL(*driver_, cuMemcpyDtoHAsync, words.data(), FirstWord(table),
                                            words.size() * sizeof(uint64_t), stream_));
    TRIVET_RETURN_IF_ERROR(TRIVET_CUDA_CALL(*driver_, cuStreamSynchronize, stream_));
    for (uint64_t word : words) {
      const bool is_known = std::any_of(allocations.begin(), allocations.end(),
                                        [&](const vm::Allocation& other) { return Holds(other, word); });
      if (word < kLeastDeviceAddress || is_known || IsHostMemory(*driver_, word)) continue;
      TRIVET_ASSIGN_OR_RETURN(vm::Allocation target, AllocationAround(*driver_, word));
      allocations.push_back(std::move(target));
    }
  }
  return absl::OkStatus();
}

void MirroredMemory::FindTableEntries() {
  for (const vm::Allocation& table : device_tensors_) {
    const Range* range = FindRange(table.storage_base);
    if (!MayBeTable(table) || range == nullptr) continue;
    const uint64_t begin = FirstWord(table) - range->begin;
    for (uint64_t i = 0; i < NumWords(table); ++i) {
      uint64_t word = 0;
      std::memcpy(&word, range->copy.bytes + begin + 8 * i, sizeof word);
      if (FindRange(word) == nullptr) continue;
      table_entries_.push_back({static_cast<size_t>(range - ranges_.data()), begin + 8 * i, word});
    }
  }
}

void MirroredMemory::PointTablesAt(bool host) {
  for (const TableEntry& entry : table_entries_) {
    uint8_t* place = ranges_[entry.range].copy.bytes + entry.offset;
    const uint64_t host_address = ToHost(entry.device_address);
    uint64_t word = 0;
    std::memcpy(&word, place, sizeof word);
    if (word != (host ? entry.device_address : host_address)) continue;  // the kernel wrote something else
    std::memcpy(place, host ? &host_address : &entry.device_address, sizeof word);
  }
}

// Allocations come in the order of their addresses; those that overlap become one range.
void MirroredMemory::AddRange(const vm::Allocation& allocation, bool may_be_written) {
  const uint64_t begin = allocation.storage_base;
  const uint64_t end = begin + static_cast<uint64_t>(allocation.storage_bytes);
  if (!ranges_.empty() && begin < ranges_.back().begin + ranges_.back().size) {
    Range& last = ranges_.back();
    last.size = std::max(last.begin + last.size, end) - last.begin;
    last.may_be_written |= may_be_written;
    return;
  }
  Range range;
  range.begin = begin;
  range.size = end - begin;
  range.may_be_written = may_be_written;
  ranges_.push_back(std::move(range));
}

absl::Status MirroredMemory::AllocateCopies() {
  uint64_t total = 0;
  for (const Range& range : ranges_) total += (range.may_be_written ? 2 : 1) * (range.size + 2 * kPageBytes);
  if (const uint64_t available = AvailableHostBytes(); total > available / 10 * 9) {
    return absl::ResourceExhaustedError(absl::StrCat("running the launch on the interpreter needs ", total,
                                                     " bytes of host memory for copies, and ", available, " are free"));
  }
  for (Range& range : ranges_) {
    TRIVET_RETURN_IF_ERROR(Allocate(range, range.copy));
    if (range.may_be_written) TRIVET_RETURN_IF_ERROR(Allocate(range, range.original));
  }
  return absl::OkStatus();
}

absl::Status MirroredMemory::Allocate(const Range& range, HostBuffer& buffer) {
  const uint64_t offset = range.begin % kPageBytes;
  buffer.memory.reset(std::aligned_alloc(kPageBytes, (offset + range.size + kPageBytes - 1) / kPageBytes * kPageBytes));
  if (buffer.memory == nullptr) {
    return absl::ResourceExhaustedError(absl::StrCat("no host memory for a copy of ", range.size, " bytes"));
  }
  buffer.bytes = static_cast<uint8_t*>(buffer.memory.get()) + offset;
  return absl::OkStatus();
}

absl::Status MirroredMemory::CopyIn() {
  for (const Range& range : ranges_) {
    TRIVET_RETURN_IF_ERROR(
        TRIVET_CUDA_CALL(*driver_, cuMemcpyDtoHAsync, range.copy.bytes, range.begin, range.size, stream_));
  }
  TRIVET_RETURN_IF_ERROR(ExplainFault(TRIVET_CUDA_CALL(*driver_, cuStreamSynchronize, stream_)));
  for (const Range& range : ranges_) {
    if (range.may_be_written) std::memcpy(range.original.bytes, range.copy.bytes, range.size);
  }
  return absl::OkStatus();
}

void MirroredMemory::Rewrite(const vm::Function& kernel) {
  for (size_t i = 0; i < request_.arguments.size(); ++i) {
    std::vector<uint64_t>& words = request_.arguments[i].words;
    if (IsAddress(kernel.type(kernel.params()[i])) && !words.empty()) words[0] = ToHost(words[0]);
  }
  vm::AllocationRegistry host;
  for (vm::Allocation allocation : request_.memory.allocations()) {
    // By the same distance: a view may begin outside its storage, when it is empty.
    const uint64_t moved = ToHost(allocation.storage_base) - allocation.storage_base;
    allocation.storage_base += moved;
    allocation.view_base += moved;
    host.Add(std::move(allocation));
  }
  host.Seal();
  request_.memory = std::move(host);
}

const MirroredMemory::Range* MirroredMemory::FindRange(uint64_t address) const {
  for (const Range& range : ranges_) {
    if (range.Holds(address)) return &range;
  }
  return nullptr;
}

uint64_t MirroredMemory::ToHost(uint64_t address) const {
  const Range* range = FindRange(address);
  if (range == nullptr) {
    // A pointer one past the end belongs to what it is the end of.
    for (const Range& before : ranges_) {
      if (address == before.begin + before.size) range = &before;
    }
  }
  if (range == nullptr) return address;
  return reinterpret_cast<uintptr_t>(range->copy.bytes) + (address - range->begin);
}

const void* MirroredMemory::FindCopy(uint64_t device_address) const {
  const Range* range = FindRange(device_address);
  return range == nullptr || !range->may_be_written ? nullptr : range->copy.bytes + (device_address - range->begin);
}

const void* MirroredMemory::FindActual(uint64_t device_address) const {
  const Range* range = FindRange(device_address);
  return range == nullptr || range->actual.bytes == nullptr ? nullptr
                                                            : range->actual.bytes + (device_address - range->begin);
}

absl::Status MirroredMemory::WriteBack() {
  PointTablesAt(/*host=*/false);
  TRIVET_ASSIGN_OR_RETURN(const ScopedContext scope, ScopedContext::Enter(*driver_, device_));
  const RelaxedCapture relaxed(*driver_);
  for (const Range& range : ranges_) {
    if (!range.may_be_written) continue;
    const auto is_changed = [&](uint64_t page) {
      return std::memcmp(range.copy.bytes + page, range.original.bytes + page,
                         std::min(kPageBytes, range.size - page)) != 0;
    };
    // One copy for each run of pages that changed.
    for (uint64_t page = 0; page < range.size; page += kPageBytes) {
      const uint64_t run = page;
      while (page < range.size && is_changed(page)) page += kPageBytes;
      if (page == run) continue;
      TRIVET_RETURN_IF_ERROR(TRIVET_CUDA_CALL(*driver_, cuMemcpyHtoDAsync, range.begin + run, range.copy.bytes + run,
                                              std::min(page, range.size) - run, stream_));
    }
  }
  // The copies are freed soon.
  return ExplainFault(TRIVET_CUDA_CALL(*driver_, cuStreamSynchronize, stream_));
}

void MirroredMemory::Restore() {
  for (Range& range : ranges_) {
    if (range.may_be_written) std::memcpy(range.copy.bytes, range.original.bytes, range.size);
  }
  PointTablesAt(/*host=*/true);
}

absl::Status MirroredMemory::ReadDevice() {
  PointTablesAt(/*host=*/false);
  TRIVET_ASSIGN_OR_RETURN(const ScopedContext scope, ScopedContext::Enter(*driver_, device_));
  const RelaxedCapture relaxed(*driver_);
  for (Range& range : ranges_) {
    if (!range.may_be_written) continue;
    if (range.actual.bytes == nullptr) TRIVET_RETURN_IF_ERROR(Allocate(range, range.actual));
    TRIVET_RETURN_IF_ERROR(
        TRIVET_CUDA_CALL(*driver_, cuMemcpyDtoHAsync, range.actual.bytes, range.begin, range.size, stream_));
  }
  return ExplainFault(TRIVET_CUDA_CALL(*driver_, cuStreamSynchronize, stream_));
}

absl::StatusOr<vm::LaunchResult> LaunchMirrored(const CudaDriver& driver, const vm::Executable& executable,
                                                const DeviceLaunch& launch) {
  TRIVET_ASSIGN_OR_RETURN(MirroredMemory memory, MirroredMemory::Copy(driver, executable.module(), launch));
  vm::LaunchResult result = vm::Launch(executable, memory.request());
  if (result.status.ok()) TRIVET_RETURN_IF_ERROR(memory.WriteBack());
  return result;
}

}  // namespace trivet::jit
