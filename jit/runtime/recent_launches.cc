#include "jit/runtime/recent_launches.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "jit/driver/cuda_driver.h"

namespace trivet::jit {

std::vector<std::string> RecentLaunches::Labels() const {
  std::vector<std::string> newest_first;
  const uint32_t next = next_.load(std::memory_order_relaxed);
  for (uint32_t back = 1; back <= std::min<uint32_t>(next, kCapacity); ++back) {
    const char* label = labels_[(next - back) % kCapacity].load(std::memory_order_relaxed);
    if (label == nullptr || std::find(newest_first.begin(), newest_first.end(), label) != newest_first.end()) continue;
    newest_first.emplace_back(label);
  }
  std::reverse(newest_first.begin(), newest_first.end());
  return newest_first;
}

RecentLaunches& TheRecentLaunches() {
  static RecentLaunches recent;
  return recent;
}

absl::Status ExplainFault(const absl::Status& status) {
  if (!IsDeviceFault(status)) return status;
  const std::vector<std::string> labels = TheRecentLaunches().Labels();
  if (labels.empty()) return status;
  return Prefixed(status, absl::StrCat(labels.size() == 1 ? "a fault in kernel " : "a fault in one of the kernels ",
                                       absl::StrJoin(labels, ", "), labels.size() == 1 ? "" : " (the newest last)"));
}

}  // namespace trivet::jit
