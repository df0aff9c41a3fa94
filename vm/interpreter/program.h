// One program of a launch: a block of memory, a program counter, and nothing on the C++ stack. It can be left at any
// back edge and gone on with later, by any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "vm/interpreter/decode.h"
#include "vm/interpreter/exec_context.h"
#include "vm/interpreter/execute.h"
#include "vm/interpreter/launch_watch.h"

namespace trivet::vm {

// Memory for the frames and constants of one program. The constants are there; everything else is arbitrary.
class Arena {
 public:
  explicit Arena(const DecodedKernel& kernel);
  std::byte* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(std::byte* data) const;
  };
  std::unique_ptr<std::byte[], Free> data_;
};

// Arenas that wait for the next program or launch of a kernel.
class ArenaPool {
 public:
  explicit ArenaPool(const DecodedKernel& kernel) : kernel_(kernel) {}
  Arena Take();
  void Give(Arena arena);

 private:
  const DecodedKernel& kernel_;
  std::mutex mutex_;
  std::vector<Arena> arenas_;
};

// What the programs of one launch share.
struct LaunchContext {
  const DecodedKernel& kernel;
  const LaunchRequest& request;
  ArenaPool& arenas;
  PrintSink* print_sink = nullptr;  // takes turns by itself
  std::array<int32_t, 3> grid{1, 1, 1};
  std::atomic<bool> abort{false};  // every program stops at its next back edge
  LaunchWatch watch{request.options};
};

// A place in the author's code.
struct ProgramFrame {
  FunctionId function;
  OpId op;
};

class Program {
 public:
  explicit Program(LaunchContext& launch);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Begins program number `index` of the grid, axis 0 fastest.
  void Start(int64_t index);

  enum class Outcome { kFinished, kTrapped, kPreempted };
  // Runs until it returns, traps, or has taken `slice` back edges and calls.
  Outcome Resume(int64_t slice);

  const std::array<int32_t, 3>& id() const { return cx_.program_id; }
  const Module& module() const { return *launch_.kernel.module; }
  const Trap& trap() const { return cx_.trap; }
  // Where it is, innermost function first. After a trap, where that happened.
  std::vector<ProgramFrame> Frames() const;
  // The bytes of a value of the innermost function, in the frame's layout; what it was last, if it is out of scope.
  // Only while an observer is attached; empty otherwise, and for values inside the region of a reduce, scan or map.
  absl::Span<const uint8_t> ReadValue(ValueId value) const;
  // As above, of frame `depth` of Frames().
  absl::Span<const uint8_t> ReadValue(size_t depth, ValueId value) const;

  // --- For the scheduler.
  uint32_t pc() const { return cx_.pc; }
  // Changes of memory and prints since the last call.
  uint64_t TakeWrites();
  // Loads and atomics, changes of memory and prints so far.
  uint64_t num_accesses() const { return cx_.reads + cx_.writes; }
  // Of all that decides how it goes on, except memory.
  uint64_t HashState() const;
  void set_compare_stores() { cx_.compare_stores = true; }
  void SetTrap(TrapKind kind, std::string message);
  // Bytes of value `i` that the kernel returned.
  absl::Span<const uint8_t> ReadResult(size_t i) const;
  void WriteParam(size_t i, absl::Span<const uint8_t> bytes);

  // --- For handlers.
  // Called by loops in regions, where there is no preemption: traps when the launch is to stop.
  void PollInRegion();
  void NotifyBranch(const Instr& at, bool taken);
  // The name of the kernel's parameter `index`.
  absl::string_view ParamName(int index) const;
  // The op that runs, for events.
  OpEvent EventAt(const Instr& at) const;

 private:
  void RunPlain();
  void RunObserved();
  void CountSteps();
  void WriteArguments();

  LaunchContext& launch_;
  Arena arena_;
  std::unique_ptr<std::byte[]> scratch_memory_;
  ExecContext cx_;
  int64_t counted_steps_ = 0;
  uint64_t taken_writes_ = 0;
  uint32_t running_pc_ = 0;  // while observed
};

}  // namespace trivet::vm
