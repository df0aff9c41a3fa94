// The shared memory of one program at a time, and who touched which byte of it when.
//
// Races. Two accesses to a byte conflict when one of them writes, they are not both atomic, and nothing orders them.
// Order comes from barriers alone, as on GPUs (shuffles and votes order nothing): each warp has a vector clock
// (Lamport's happens-before; FastTrack, Flanagan and Freund 2009, with warps for threads), whose own entry grows at
// each barrier that the warp takes part in; a barrier joins the clocks of its warps. A byte remembers its last writer,
// the last atomic operation and the last two readers with their warp's clock then. What this can miss: a third reader,
// a barrier of some lanes only (it counts as one of the whole warp), accesses through generic pointers. What it reports
// is a race.
//
// Writing the value that is there already is no race: layouts with replicated elements do that.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace trivet::jit {

inline constexpr int kMaxThreads = 1024;
inline constexpr int kMaxWarps = kMaxThreads / 32;

// What one program may have on sm_90: 227 KiB (CUDA programming guide, "compute capabilities").
inline constexpr int64_t kMaxSharedBytes = 232448;

enum class SharedAccess : uint8_t { kLoad, kStore, kAtomicLoad, kAtomic, kAsyncCopy };

// The buffer. It lies in the low 2 GiB where the system can do that, at a multiple of 256 KiB, because addresses in
// shared memory are 32 bits wide, and the low 18 of them go into matrix descriptors.
class SharedBuffer {
 public:
  static absl::StatusOr<SharedBuffer> Make();
  SharedBuffer(SharedBuffer&& other) noexcept;
  SharedBuffer& operator=(SharedBuffer&&) = delete;
  ~SharedBuffer();

  uint64_t address() const { return address_; }

 private:
  SharedBuffer(void* mapping, uint64_t address) : mapping_(mapping), address_(address) {}
  void* mapping_;
  uint64_t address_;
};

class SharedMemory {
 public:
  // An access that conflicts with an earlier one by `other`.
  struct Race {
    int64_t offset;  // in bytes
    int other;       // thread
    SharedAccess before;
    SharedAccess now;
  };

  SharedMemory(uint64_t address, int64_t size_bytes, int num_threads, bool check_races);

  // A new program: poison everywhere, nothing touched.
  void Reset();

  bool Contains(uint64_t address, int64_t bytes) const {
    return address >= address_ && address - address_ + static_cast<uint64_t>(bytes) <= static_cast<uint64_t>(size_);
  }
  uint64_t address() const { return address_; }
  int64_t size_bytes() const { return size_; }

  // Notes an access to [address, address + bytes), which lie inside, just before it happens. `value`: what a store is
  // about to write, or null when that is not known.
  std::optional<Race> Access(int thread, SharedAccess access, uint64_t address, int64_t bytes, const void* value);

  // An asynchronous copy by `thread` was issued, and is complete.
  std::optional<Race> StartCopy(int thread, uint64_t address, int64_t bytes);
  std::optional<Race> FinishCopy(int thread, uint64_t address, int64_t bytes);

  // A barrier of these warps (bit w: warp w).
  void OrderWarps(uint32_t warps);

 private:
  static constexpr uint16_t kNobody = 0xffff;
  static constexpr uint8_t kPoison = 0xa5;

  struct Byte {
    uint32_t write_clock = 0;
    uint32_t atomic_clock = 0;
    std::array<uint32_t, 2> read_clock = {0, 0};
    uint16_t writer = kNobody;
    uint16_t atomic = kNobody;
    std::array<uint16_t, 2> reader = {kNobody, kNobody};
    uint16_t copier = kNobody;  // of a copy in flight
    SharedAccess written_by = SharedAccess::kStore;
  };

  bool IsOrdered(int thread, uint16_t other, uint32_t clock) const;

  uint64_t address_;
  int64_t size_;
  int num_warps_;
  bool check_;
  bool any_copy_ = false;
  std::vector<Byte> bytes_;
  // clocks_[w][v]: how far warp w knows of warp v.
  std::array<std::array<uint32_t, kMaxWarps>, kMaxWarps> clocks_{};
};

}  // namespace trivet::jit
