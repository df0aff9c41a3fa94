#include "jit/runtime/kernel_cache.h"

#include <condition_variable>
#include <utility>

#include "absl/strings/str_cat.h"
#include "jit/runtime/kernel_file.h"
#include "vm/base/status.h"

namespace trivet::jit {

// A kernel that is there, or that someone is making.
struct KernelCache::Entry {
  std::mutex mutex;
  std::condition_variable made;
  std::optional<absl::StatusOr<std::shared_ptr<const GpuKernel>>> kernel;  // once made
};

KernelCache::KernelCache(const CudaDriver& driver, Settings settings)
    : driver_(driver), settings_(std::move(settings)) {}

Sha256Digest KernelCache::KeyOf(absl::string_view module_bytes, const CompileOptions& options) const {
  Sha256 hash;
  hash.UpdatePart("trivet kernel 1");
  hash.UpdatePart(settings_.compiler_version);
  hash.UpdatePart(options.KeyText());
  hash.UpdatePart(module_bytes);
  return hash.Finish();
}

absl::StatusOr<std::shared_ptr<const GpuKernel>> KernelCache::Get(const vm::Module& module,
                                                                  absl::string_view module_bytes,
                                                                  const CompileOptions& options) {
  const Sha256Digest key = KeyOf(module_bytes, options);
  std::shared_ptr<Entry> entry;
  bool is_ours = false;
  {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Entry>& place = entries_[key];
    is_ours = place == nullptr;
    if (is_ours) place = std::make_shared<Entry>();
    entry = place;
  }
  if (is_ours) {
    absl::StatusOr<std::shared_ptr<const GpuKernel>> kernel = Make(key, module, options);
    const std::lock_guard lock(entry->mutex);
    entry->kernel = std::move(kernel);
    entry->made.notify_all();
    return *entry->kernel;
  }
  memory_hits_.fetch_add(1, std::memory_order_relaxed);
  std::unique_lock lock(entry->mutex);
  entry->made.wait(lock, [&] { return entry->kernel.has_value(); });
  return *entry->kernel;
}

absl::StatusOr<std::shared_ptr<const GpuKernel>> KernelCache::Make(const Sha256Digest& key, const vm::Module& module,
                                                                   const CompileOptions& options) {
  std::optional<CompiledKernel> compiled = ReadFromDisk(key);
  if (!compiled.has_value()) {
    compiles_.fetch_add(1, std::memory_order_relaxed);
    TRIVET_ASSIGN_OR_RETURN(compiled, settings_.compile(module, options));
    WriteToDisk(key, *compiled);
  }
  const std::string label = options.kernel.empty() ? compiled->kernel_name : options.kernel;
  return std::make_shared<const GpuKernel>(driver_, *std::move(compiled), label,
                                           [this, key](const CompiledKernel& kernel) { WriteToDisk(key, kernel); });
}

std::optional<CompiledKernel> KernelCache::ReadFromDisk(const Sha256Digest& key) {
  if (settings_.disk == nullptr) return std::nullopt;
  const absl::StatusOr<std::string> bytes = settings_.disk->Find(key);
  if (!bytes.ok()) {
    if (!absl::IsNotFound(bytes.status())) CountDiskError(bytes.status());
    return std::nullopt;
  }
  absl::StatusOr<CompiledKernel> kernel = ParseKernel(*bytes);
  if (!kernel.ok()) {
    corrupt_entries_.fetch_add(1, std::memory_order_relaxed);
    Warn(Prefixed(kernel.status(), absl::StrCat("cache: ", settings_.disk->PathOf(key), " is compiled anew")));
    settings_.disk->Remove(key);
    return std::nullopt;
  }
  disk_hits_.fetch_add(1, std::memory_order_relaxed);
  return *std::move(kernel);
}

void KernelCache::WriteToDisk(const Sha256Digest& key, const CompiledKernel& kernel) {
  if (settings_.disk == nullptr) return;
  const absl::Status status = settings_.disk->Put(key, SerializeKernel(kernel));
  if (!status.ok()) CountDiskError(status);
}

void KernelCache::CountDiskError(const absl::Status& status) {
  // The first tells it all: the next kernel will find the disk as full.
  if (disk_errors_.fetch_add(1, std::memory_order_relaxed) == 0) Warn(status);
}

void KernelCache::Warn(const absl::Status& status) const {
  if (settings_.warn) settings_.warn(status.message());
}

KernelCacheCounts KernelCache::counts() const {
  return {memory_hits_.load(std::memory_order_relaxed), disk_hits_.load(std::memory_order_relaxed),
          compiles_.load(std::memory_order_relaxed), corrupt_entries_.load(std::memory_order_relaxed),
          disk_errors_.load(std::memory_order_relaxed)};
}

}  // namespace trivet::jit
