// From bytecode to a kernel that can be launched: out of memory, off the disk, or by compiling.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "jit/runtime/compile.h"
#include "jit/runtime/disk_cache.h"
#include "jit/runtime/gpu_kernel.h"
#include "vm/base/sha256.h"

namespace trivet::jit {

// What the cache did since it was made.
struct KernelCacheCounts {
  int64_t memory_hits = 0;
  int64_t disk_hits = 0;
  int64_t compiles = 0;
  int64_t corrupt_entries = 0;
  int64_t disk_errors = 0;
};

// Thread safe. Of several threads that ask for one kernel, one compiles and the others wait; no lock is held meanwhile.
// Must outlive its kernels, which bring it the machine code they make.
class KernelCache {
 public:
  struct Settings {
    CompileFn compile;             // jit::Compile
    std::string compiler_version;  // part of every key: BuildId()
    DiskCache* disk = nullptr;     // null: in memory only. Must outlive the cache.
    // Told of a disk that fails, once, and of corrupt entries; neither is an error. May be empty.
    std::function<void(absl::string_view message)> warn;
  };

  // `driver` must outlive the cache.
  KernelCache(const CudaDriver& driver, Settings settings);

  // The kernel for `options` of `module`, whose bytes (a .tvbc file, or anything else that stands for it) are
  // `module_bytes`. A failure to compile is remembered too: asking again costs nothing and gives the same answer.
  absl::StatusOr<std::shared_ptr<const GpuKernel>> Get(const vm::Module& module, absl::string_view module_bytes,
                                                       const CompileOptions& options);

  // The name of what Get would look for.
  Sha256Digest KeyOf(absl::string_view module_bytes, const CompileOptions& options) const;
  KernelCacheCounts counts() const;

 private:
  struct Entry;

  absl::StatusOr<std::shared_ptr<const GpuKernel>> Make(const Sha256Digest& key, const vm::Module& module,
                                                        const CompileOptions& options);
  // Nothing if the disk has none, or a corrupt one, which is removed.
  std::optional<CompiledKernel> ReadFromDisk(const Sha256Digest& key);
  void WriteToDisk(const Sha256Digest& key, const CompiledKernel& kernel);
  void CountDiskError(const absl::Status& status);
  void Warn(const absl::Status& status) const;

  const CudaDriver& driver_;
  const Settings settings_;

  std::mutex mutex_;  // never held during a compile
  absl::flat_hash_map<Sha256Digest, std::shared_ptr<Entry>> entries_ ABSL_GUARDED_BY(mutex_);

  std::atomic<int64_t> memory_hits_{0};
  std::atomic<int64_t> disk_hits_{0};
  std::atomic<int64_t> compiles_{0};
  std::atomic<int64_t> corrupt_entries_{0};
  std::atomic<int64_t> disk_errors_{0};
};

}  // namespace trivet::jit
