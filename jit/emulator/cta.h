// One program as a GPU runs it: its threads, the order they run in, and everything they wait for.
//
// Threads are fibers on one thread of the host. One runs until it must wait (a warp operation, a barrier) or ends; then
// the scheduler picks another that can run. When none can and some are left, they wait for what never comes, and that
// is the error: it says who waits for whom.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "jit/emulator/call.h"
#include "jit/emulator/emulator.h"
#include "jit/emulator/fiber.h"
#include "jit/emulator/shared_memory.h"

namespace trivet::jit {

// A load, store or atomic operation of the kernel itself, for reports.
struct AccessSite {
  SharedAccess access;
  int64_t bytes;
  int64_t alignment;  // what the instruction promises, in bytes
  std::string location;
};

// A warp operation for which all lanes of `mask` have come. calls[l] is null for lanes outside.
struct WarpCall {
  Cta& cta;
  const CallSite& site;
  uint32_t mask;
  std::array<const Call*, 32> calls;
};

class Cta {
 public:
  // What the kernel was compiled to: `entry(arguments)` runs one thread; it counts loop iterations down in *iterations.
  struct Program {
    void (*entry)(const uint64_t* arguments);
    int64_t* iterations;
    uint64_t shared_address;
    int64_t shared_bytes;
  };
  Cta(const Program& program, const EmulatedLaunch& launch, FiberStacks& stacks);

  // Runs all threads of program `id` to their end.
  absl::Status Run(std::array<int, 3> id);

  // The one that the calling thread of the host runs.
  static Cta& Current();

  // --- For host functions: the thread that called. ---
  int thread() const { return running_; }
  int lane() const { return running_ % 32; }
  int warp() const { return running_ / 32; }
  const std::array<int, 3>& program_id() const { return program_id_; }
  const EmulatedLaunch& launch() const { return launch_; }
  int64_t shared_bytes() const { return shared_.size_bytes(); }

  // Ends the launch with an error: "shfl.sync.idx.i32 by thread 3 (warp 0, lane 3) of program (0, 0, 0): message". The
  // host function returns after it; no thread then runs again. The first error counts. `thread`: the calling one if
  // negative.
  void Fail(absl::StatusCode code, const CallSite& site, absl::string_view message, int thread = -1);
  bool failed() const { return !status_.ok(); }

  // Waits until all lanes of `mask` have made the same call; then `compute` works for all of them.
  void WarpOperation(const Call& call, uint32_t mask, void (*compute)(const WarpCall&));

  // Waits until no lane of the warp can run, then `compute` works for those that wait here: the converged lanes.
  void ConvergedOperation(const Call& call, void (*compute)(const WarpCall&));

  // Arrives at barrier `id` (0 to 15) for `count` threads. When `waits`, returns once all have come, after `finish`, if
  // not null, has worked on the calls of those that waited. `aligned`: the lanes of a warp must come from one site.
  using BarrierFinish = void (*)(std::span<const Call* const> calls);
  void Barrier(const Call& call, int id, int count, bool waits, bool aligned, BarrierFinish finish);

  // Orders what the calling warp did in shared memory before what it does after: bar.warp.sync.
  void OrderWarp() { shared_.OrderWarps(uint32_t{1} << warp()); }

  // Lets other threads run: for loops that wait for memory to change.
  void Yield();
  // Ends the calling thread.
  void Exit();

  // Whether `thread` may access [address, address + bytes), which must be aligned to its size, and no race is seen;
  // Fail otherwise. For shared and global memory. `value`: what is to be written, or null.
  bool CheckAccess(const CallSite& site, int thread, SharedAccess access, uint64_t address, int64_t bytes,
                   const void* value = nullptr);
  bool IsShared(uint64_t address) const { return shared_.Contains(address, 1); }

  // Asynchronous copies of the calling thread, in order. `source_bytes` are copied, the rest is zero.
  struct Copy {
    uint64_t destination;  // in shared memory
    uint64_t source;
    int bytes;
    int source_bytes;
  };
  void StartCopy(const CallSite& site, const Copy& copy);
  void CommitCopies();
  // Completes all groups but the newest `pending`; all copies, committed or not, when `pending` is negative.
  void WaitForCopies(const CallSite& site, int pending);

  // --- For the code that the rewrite puts in. ---
  void CheckShared(const AccessSite& site, uint64_t address, const void* value);
  void CheckGlobal(const AccessSite& site, uint64_t address);
  void OutOfIterations(absl::string_view location);
  // Gives up the calling thread for good if the launch has failed.
  void LeaveIfFailed();

 private:
  enum class State : uint8_t { kReady, kYielded, kWarp, kConverged, kBarrier, kExited };
  struct Thread {
    Fiber fiber;
    State state = State::kExited;
    const Call* call = nullptr;  // what it waits in
    uint32_t mask = 0;
    int barrier = 0;
    std::vector<Copy> copies;           // in flight, oldest first
    std::vector<int> committed_copies;  // sizes of committed groups, oldest first
  };
  struct BarrierState {
    int expected = 0;  // 0: nobody has come
    std::vector<int> arrived;
    std::vector<int> waiting;
  };

  static void RunThread(void* thread_index);
  void Block(State state);
  void MakeReady(int thread);
  int PickThread();
  // Runs ConvergedOperations of warps that have come to a stop; whether there was one.
  bool ResolveConverged();
  absl::Status Deadlock() const;
  std::string Name(int thread) const;         // "thread 3 (warp 0, lane 3)"
  std::string Whereabouts(int thread) const;  // "has exited", "waits in ..."
  // An access and who makes it, for checks and their messages.
  struct Access {
    absl::string_view what;
    absl::string_view location;
    int thread;
    SharedAccess access;
    uint64_t address;
    int64_t bytes;
    int64_t alignment;
  };
  bool CheckMemory(const Access& access, const void* value);
  void FailRace(absl::string_view what, absl::string_view location, int thread, const SharedMemory::Race& race);
  void FailAt(absl::StatusCode code, absl::string_view what, absl::string_view location, int thread,
              absl::string_view message);
  bool IsAllocated(uint64_t address, int64_t bytes) const;
  uint64_t Random();

  Program program_;
  const EmulatedLaunch& launch_;
  SharedMemory shared_;
  FiberStacks& stacks_;
  std::vector<MemoryRange> allocations_;  // by address
  std::array<int, 3> program_id_ = {0, 0, 0};

  Fiber scheduler_;
  std::vector<Thread> threads_;
  std::array<BarrierState, 16> barriers_;
  int running_ = 0;
  int num_alive_ = 0;
  uint32_t ready_warps_ = 0;
  std::array<uint32_t, kMaxWarps> ready_lanes_{};
  std::vector<int> yielded_;
  int64_t synchronisations_ = 0;
  uint64_t random_state_ = 0;
  absl::Status status_;
};

// "shfl.sync.idx.i32 at file.py:12", for messages.
std::string Describe(const CallSite& site);

}  // namespace trivet::jit
