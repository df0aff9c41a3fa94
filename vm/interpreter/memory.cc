#include "vm/interpreter/memory.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace trivet::vm {
namespace {

uint64_t EndOf(const Allocation& allocation) {
  return allocation.storage_base + static_cast<uint64_t>(allocation.storage_bytes);
}

// The union of the storages, as disjoint ranges. `allocations` is ordered by storage_base.
std::vector<MemoryRange> MergeStorages(const std::vector<Allocation>& allocations, bool writable_only) {
  std::vector<MemoryRange> ranges;
  for (const Allocation& allocation : allocations) {
    if (allocation.storage_bytes <= 0 || (writable_only && !allocation.is_writable)) continue;
    if (!ranges.empty() && allocation.storage_base < ranges.back().end) {
      ranges.back().end = std::max(ranges.back().end, EndOf(allocation));
    } else {
      ranges.push_back({allocation.storage_base, EndOf(allocation), writable_only});
    }
  }
  return ranges;
}

}  // namespace

void AllocationRegistry::Add(Allocation allocation) { allocations_.push_back(std::move(allocation)); }

void AllocationRegistry::Seal() {
  std::stable_sort(allocations_.begin(), allocations_.end(),
                   [](const Allocation& a, const Allocation& b) { return a.storage_base < b.storage_base; });
  readable_ = MergeStorages(allocations_, false);
  writable_ = MergeStorages(allocations_, true);
}

const MemoryRange* AllocationRegistry::FindRange(uint64_t address, int64_t size_bytes, bool for_writing) const {
  const std::vector<MemoryRange>& ranges = for_writing ? writable_ : readable_;
  auto next = std::upper_bound(ranges.begin(), ranges.end(), address,
                               [](uint64_t a, const MemoryRange& range) { return a < range.begin; });
  if (next == ranges.begin()) return nullptr;
  const MemoryRange& range = *std::prev(next);
  return range.Holds(address, static_cast<uint64_t>(size_bytes)) ? &range : nullptr;
}

const Allocation* AllocationRegistry::Find(uint64_t address, int64_t size_bytes) const {
  for (const Allocation& allocation : allocations_) {
    const MemoryRange range{allocation.storage_base, EndOf(allocation), true};
    if (range.Holds(address, static_cast<uint64_t>(size_bytes))) return &allocation;
  }
  return nullptr;
}

const Allocation* AllocationRegistry::FindOverlapping(uint64_t address, int64_t size_bytes) const {
  const uint64_t last = address + static_cast<uint64_t>(size_bytes) - 1;
  for (const Allocation& allocation : allocations_) {
    if (allocation.storage_bytes > 0 && allocation.storage_base <= last && EndOf(allocation) > address) {
      return &allocation;
    }
  }
  return nullptr;
}

bool AllocationRegistry::Overlaps(uint64_t address, int64_t size_bytes) const {
  const uint64_t last = address + static_cast<uint64_t>(size_bytes) - 1;
  const auto next = std::partition_point(readable_.begin(), readable_.end(),
                                         [&](const MemoryRange& range) { return range.end <= address; });
  return next != readable_.end() && next->begin <= last;
}

const Allocation* AllocationRegistry::FindNearest(uint64_t address) const {
  const Allocation* nearest = nullptr;
  uint64_t least = ~uint64_t{0};
  for (const Allocation& allocation : allocations_) {
    const uint64_t end = EndOf(allocation);
    const uint64_t distance = address < allocation.storage_base ? allocation.storage_base - address
                              : address >= end                  ? address - end
                                                                : 0;
    if (nearest == nullptr || distance < least) {
      nearest = &allocation;
      least = distance;
    }
  }
  return nearest;
}

const Allocation* AllocationRegistry::FindByName(absl::string_view name) const {
  for (const Allocation& allocation : allocations_) {
    if (allocation.name == name) return &allocation;
  }
  return nullptr;
}

std::string DescribeAddress(const Allocation& allocation, uint64_t address) {
  const int64_t size = allocation.dtype == DType::kNone ? 1 : InfoOf(allocation.dtype).storage_bytes;
  const auto offset_bytes = static_cast<int64_t>(address - allocation.view_base);
  int64_t rest = offset_bytes / size;
  int64_t odd_bytes = offset_bytes % size;
  if (odd_bytes < 0) {
    odd_bytes += size;
    --rest;
  }
  // From the largest stride to the smallest; only the index of the first may lie outside its extent.
  const size_t rank = allocation.shape.size();
  std::vector<size_t> axes(rank);
  std::iota(axes.begin(), axes.end(), size_t{0});
  std::stable_sort(axes.begin(), axes.end(),
                   [&](size_t a, size_t b) { return allocation.strides[a] > allocation.strides[b]; });
  std::vector<int64_t> index(rank, 0);
  bool is_exact = allocation.strides.size() == rank;
  for (size_t i = 0; i < rank && is_exact; ++i) {
    const int64_t stride = allocation.strides[axes[i]];
    if (stride <= 0) {
      is_exact = stride == 0 && allocation.shape[axes[i]] <= 1;
      continue;
    }
    int64_t quotient = rest / stride;
    if (rest % stride < 0) --quotient;
    index[axes[i]] = quotient;
    rest -= quotient * stride;
  }
  if (!is_exact || rest != 0) {
    return absl::StrCat(allocation.name, offset_bytes < 0 ? " - " : " + ",
                        offset_bytes < 0 ? -static_cast<uint64_t>(offset_bytes) : static_cast<uint64_t>(offset_bytes),
                        " bytes");
  }
  std::string text = absl::StrCat(allocation.name, "[", absl::StrJoin(index, ", "), "]");
  if (odd_bytes != 0) absl::StrAppend(&text, " + ", odd_bytes, " bytes");
  return text;
}

MemoryRange FindProcessMapping(uint64_t address) {
  const std::unique_ptr<FILE, int (*)(FILE*)> maps(std::fopen("/proc/self/maps", "re"), &std::fclose);
  if (maps == nullptr) return {};
  MemoryRange found;
  char line[512];
  while (std::fgets(line, sizeof line, maps.get()) != nullptr) {
    uint64_t begin = 0;
    uint64_t end = 0;
    char readable = '-';
    char writable = '-';
    if (std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %c%c", &begin, &end, &readable, &writable) != 4) continue;
    if (readable != 'r') continue;
    const bool is_writable = writable == 'w';
    // Mappings that touch and permit the same are one range.
    if (found.end == begin && found.end != 0 && found.is_writable == is_writable) {
      found.end = end;
    } else if (found.Holds(address, 1) || begin > address) {
      break;
    } else {
      found = {begin, end, is_writable};
    }
  }
  return found.Holds(address, 1) ? found : MemoryRange{};
}

}  // namespace trivet::vm
