// Which kernels were launched last: a fault shows at some later call, and these are the ones to suspect.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace trivet::jit {

// The process's last launches, of all threads and devices. Noting one takes nanoseconds and no lock; when threads race
// for a place, one of them may be missing.
class RecentLaunches {
 public:
  static constexpr size_t kCapacity = 8;

  // `label` must live for ever.
  void Note(const char* label) {
    const uint32_t place = next_.fetch_add(1, std::memory_order_relaxed);
    labels_[place % kCapacity].store(label, std::memory_order_relaxed);
  }
  // The newest last, each kernel once.
  std::vector<std::string> Labels() const;

 private:
  std::atomic<uint32_t> next_{0};
  std::array<std::atomic<const char*>, kCapacity> labels_{};
};

RecentLaunches& TheRecentLaunches();

// `status`, with the kernels launched last if it is a device's fault: for every call that may be the first to hear of
// one (a launch, a copy, a synchronisation).
absl::Status ExplainFault(const absl::Status& status);

}  // namespace trivet::jit
