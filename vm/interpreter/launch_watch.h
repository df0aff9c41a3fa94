// The limits of a launch: steps, and the caller's interrupt.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace trivet::vm {

struct LaunchOptions;
class Program;

// One for each launch, made by the thread that called Launch: only that thread asks `options.interrupted`, the others
// hear of it. Thread safe.
class LaunchWatch {
 public:
  explicit LaunchWatch(const LaunchOptions& options);

  void CountSteps(int64_t steps) { steps_.fetch_add(steps, std::memory_order_relaxed); }
  int64_t steps() const { return steps_.load(std::memory_order_relaxed); }
  // True if the program may go on; otherwise it has a trap.
  bool Permit(Program& program);
  // Asks the caller's interrupt, by the calling thread and not too often. True from when it was once given.
  bool IsInterrupted();

 private:
  using Clock = std::chrono::steady_clock;

  const LaunchOptions& options_;
  const std::thread::id caller_ = std::this_thread::get_id();
  Clock::time_point next_poll_;  // the calling thread's
  std::atomic<int64_t> steps_{0};
  std::atomic<bool> is_interrupted_{false};
};

}  // namespace trivet::vm
