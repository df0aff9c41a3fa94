// Running bytecode on the CPU: load a verified module once, launch its kernels over a grid.
//
//   TRIVET_ASSIGN_OR_RETURN(auto executable, Executable::Load(module));
//   LaunchRequest request{.kernel = "add", .grid = {64, 1, 1}, .arguments = {...}};
//   request.memory.Add({...}); request.memory.Seal();
//   LaunchResult result = Launch(*executable, request);
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "vm/bytecode/module.h"
#include "vm/interpreter/exec_context.h"
#include "vm/interpreter/memory.h"
#include "vm/interpreter/observer.h"

namespace trivet::vm {

// Where `print` goes. Called by one thread at a time.
class PrintSink {
 public:
  virtual ~PrintSink() = default;
  virtual void Write(absl::string_view text) = 0;
};

// A decoded module. Immutable; may be launched from several threads at once.
class Executable {
 public:
  // Decodes all functions. The module must have passed VerifyModule.
  static absl::StatusOr<std::shared_ptr<const Executable>> Load(Module module);
  virtual ~Executable() = default;
  virtual const Module& module() const = 0;
};

enum class Schedule : uint8_t {
  kInOrder,     // one program after another; one that spins lets the others run
  kRandom,      // a seeded random choice at each preemption; repeats exactly
  kThreads,     // several threads, programs taken in order
  kRoundRobin,  // all programs at once, preempted at back edges in turn
};

struct LaunchOptions {
  Schedule schedule = Schedule::kThreads;
  int threads = 0;                  // for kThreads; 0: one a core
  uint64_t seed = 0;                // for kRandom
  int64_t max_steps = 0;            // ops a launch may run, all programs together; 0: no limit
  Observer* observer = nullptr;     // forces one thread
  PrintSink* print_sink = nullptr;  // null: standard output
  // Asked now and then by the thread that called Launch; the launch stops when it gives true. May be empty.
  std::function<bool()> interrupted;
};

// One kernel argument, as the words it takes in a frame: one for a scalar (its bits) or a pointer (its address);
// base, padding, shape.., strides.. for a descriptor.
struct KernelArgument {
  std::vector<uint64_t> words;
};

struct LaunchRequest {
  std::string kernel;  // may be empty if the module has one kernel
  std::array<int64_t, 3> grid{1, 1, 1};
  std::vector<KernelArgument> arguments;
  AllocationRegistry memory;
  LaunchOptions options;
};

struct TrapReport {
  TrapKind kind;
  std::string kernel;
  std::array<int32_t, 3> program_id;
  std::string location;  // "matmul.py:31:21", innermost frame first in `frames`
  std::vector<std::string> frames;
  std::string message;  // the whole message, for people
};

struct LaunchResult {
  absl::Status status;             // of a trap: its message
  std::optional<TrapReport> trap;  // when the kernel was at fault
  int64_t steps = 0;               // ops run
};

// Runs every program of the grid. A grid with a zero extent runs nothing. Errors: unknown kernel, argument count or
// size, negative grid; traps of the kernel; deadlock, with each program's place.
LaunchResult Launch(const Executable& executable, const LaunchRequest& request);

// Ops that EvaluateFunction runs at most, unless told.
inline constexpr int64_t kMaxEvaluationSteps = int64_t{1} << 24;

// Runs one function (a helper without memory arguments) on values given as bytes in the frame's layout (types.h,
// Type::value_bytes: elements contiguous, row major) and gives its results in the same form. For tests and folding.
// Errors: unknown function, argument count or size; traps, of which a loop without end or more than max_steps ops are
// two.
absl::StatusOr<std::vector<std::vector<uint8_t>>> EvaluateFunction(const Executable& executable,
                                                                   absl::string_view function,
                                                                   absl::Span<const std::vector<uint8_t>> arguments,
                                                                   int64_t max_steps = kMaxEvaluationSteps);

}  // namespace trivet::vm
