#include "jit/emulator/shared_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace trivet::jit {

namespace {

constexpr size_t kWindowBytes = size_t{256} << 10;
#ifdef MAP_32BIT
constexpr int kLowAddress = MAP_32BIT;
#else
constexpr int kLowAddress = 0;
#endif

}  // namespace

absl::StatusOr<SharedBuffer> SharedBuffer::Make() {
  void* mapping = mmap(nullptr, 2 * kWindowBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | kLowAddress, -1, 0);
  if (mapping == MAP_FAILED) return absl::ResourceExhaustedError("emulator: no memory for a shared memory buffer");
  const auto first = reinterpret_cast<uint64_t>(mapping);
  return SharedBuffer(mapping, (first + kWindowBytes - 1) / kWindowBytes * kWindowBytes);
}

SharedBuffer::SharedBuffer(SharedBuffer&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)), address_(other.address_) {}

SharedBuffer::~SharedBuffer() {
  if (mapping_ != nullptr) munmap(mapping_, 2 * kWindowBytes);
}

SharedMemory::SharedMemory(uint64_t address, int64_t size_bytes, int num_threads, bool check_races)
    : address_(address), size_(size_bytes), num_warps_((num_threads + 31) / 32), check_(check_races) {
  if (check_) bytes_.resize(static_cast<size_t>(size_));
}

void SharedMemory::Reset() {
  if (size_ != 0) std::memset(reinterpret_cast<void*>(address_), kPoison, static_cast<size_t>(size_));
  if (any_copy_) {
    for (Byte& byte : bytes_) byte.copier = kNobody;
    any_copy_ = false;
  }
  // Clocks go on, so that whatever the last program left in bytes_ is in the past of all warps.
  uint32_t latest = 0;
  for (const auto& clocks : clocks_) latest = std::max(latest, *std::max_element(clocks.begin(), clocks.end()));
  for (size_t warp = 0; warp < clocks_.size(); ++warp) {
    clocks_[warp].fill(latest + 1);
    clocks_[warp][warp] = latest + 2;
  }
}

bool SharedMemory::IsOrdered(int thread, uint16_t other, uint32_t clock) const {
  if (other == kNobody || other == thread) return true;
  const auto warp = static_cast<size_t>(thread / 32);
  const auto other_warp = static_cast<size_t>(other / 32);
  return warp == other_warp ? clock < clocks_[warp][warp] : clock <= clocks_[warp][other_warp];
}

std::optional<SharedMemory::Race> SharedMemory::Access(int thread, SharedAccess access, uint64_t address,
                                                       int64_t num_bytes, const void* value) {
  if (!check_) return std::nullopt;
  const auto first = static_cast<size_t>(address - address_);
  const auto warp = static_cast<size_t>(thread / 32);
  const uint32_t now = clocks_[warp][warp];
  for (size_t i = 0; i < static_cast<size_t>(num_bytes); ++i) {
    Byte& byte = bytes_[first + i];
    const auto race = [&](uint16_t other, SharedAccess before) {
      return Race{static_cast<int64_t>(first + i), other, before, access};
    };
    if (byte.copier != kNobody && access != SharedAccess::kAsyncCopy) {
      return race(byte.copier, SharedAccess::kAsyncCopy);
    }
    const auto* current = reinterpret_cast<const uint8_t*>(address + i);
    if (access == SharedAccess::kStore && value != nullptr && static_cast<const uint8_t*>(value)[i] == *current &&
        byte.writer != kNobody && !IsOrdered(thread, byte.writer, byte.write_clock)) {
      continue;  // the same value again: the first writer stays on record
    }
    if (!IsOrdered(thread, byte.writer, byte.write_clock)) return race(byte.writer, byte.written_by);
    if (access == SharedAccess::kAtomicLoad) continue;  // not remembered: its conflicts would be with plain stores only
    if (access != SharedAccess::kAtomic && !IsOrdered(thread, byte.atomic, byte.atomic_clock)) {
      return race(byte.atomic, SharedAccess::kAtomic);
    }
    if (access == SharedAccess::kLoad) {
      const size_t slot = byte.reader[0] == thread ? 0 : 1;
      if (slot == 1 && byte.reader[1] != thread) {  // the older of the two makes room
        byte.reader[0] = byte.reader[1];
        byte.read_clock[0] = byte.read_clock[1];
      }
      byte.reader[slot] = static_cast<uint16_t>(thread);
      byte.read_clock[slot] = now;
      continue;
    }
    for (size_t slot = 0; slot < 2; ++slot) {
      if (!IsOrdered(thread, byte.reader[slot], byte.read_clock[slot])) {
        return race(byte.reader[slot], SharedAccess::kLoad);
      }
    }
    if (access == SharedAccess::kAtomic) {
      byte.atomic = static_cast<uint16_t>(thread);
      byte.atomic_clock = now;
    } else {
      byte.writer = static_cast<uint16_t>(thread);
      byte.write_clock = now;
      byte.written_by = access;
    }
  }
  return std::nullopt;
}

std::optional<SharedMemory::Race> SharedMemory::StartCopy(int thread, uint64_t address, int64_t num_bytes) {
  std::optional<Race> race = Access(thread, SharedAccess::kAsyncCopy, address, num_bytes, nullptr);
  if (race || !check_) return race;
  any_copy_ = true;
  for (int64_t i = 0; i < num_bytes; ++i) {
    bytes_[static_cast<size_t>(address - address_) + static_cast<size_t>(i)].copier = static_cast<uint16_t>(thread);
  }
  return std::nullopt;
}

std::optional<SharedMemory::Race> SharedMemory::FinishCopy(int thread, uint64_t address, int64_t num_bytes) {
  if (!check_) return std::nullopt;
  for (int64_t i = 0; i < num_bytes; ++i) {
    bytes_[static_cast<size_t>(address - address_) + static_cast<size_t>(i)].copier = kNobody;
  }
  return Access(thread, SharedAccess::kAsyncCopy, address, num_bytes, nullptr);
}

void SharedMemory::OrderWarps(uint32_t warps) {
  if (!check_) return;
  std::array<uint32_t, kMaxWarps> joined{};
  for (size_t warp = 0; warp < static_cast<size_t>(num_warps_); ++warp) {
    if (((warps >> warp) & 1) == 0) continue;
    for (size_t other = 0; other < joined.size(); ++other)
      joined[other] = std::max(joined[other], clocks_[warp][other]);
  }
  for (size_t warp = 0; warp < static_cast<size_t>(num_warps_); ++warp) {
    if (((warps >> warp) & 1) == 0) continue;
    clocks_[warp] = joined;
    ++clocks_[warp][warp];
  }
}

}  // namespace trivet::jit
