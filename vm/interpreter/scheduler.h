// Runs the programs of a launch in some order, such that programs that wait for each other all finish.
//
// A program that waits (wait_detector.h) is put aside for the others. When every program that has not finished waits,
// at one and the same version of memory, there is a deadlock.
//
//   scheduler_ordered.cc       kInOrder and kThreads: programs in order, each to its end if it doesn't wait
//   scheduler_interleaved.cc   kRandom and kRoundRobin: one thread, programs preempted after a few back edges
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "vm/interpreter/program.h"
#include "vm/interpreter/wait_detector.h"

namespace trivet::vm {

// How a launch ended.
struct ScheduleResult {
  std::unique_ptr<Program> trapped;               // the program that ended the launch, or
  std::vector<std::unique_ptr<Program>> waiting;  // those that wait for each other, in order of their ids
  bool is_deadlock = false;
};

// Runs `count` programs as the launch's options say.
ScheduleResult RunPrograms(LaunchContext& launch, int64_t count);
ScheduleResult RunOrdered(LaunchContext& launch, int64_t count, int num_workers);
ScheduleResult RunInterleaved(LaunchContext& launch, int64_t count, bool is_random);

// A program and what a scheduler knows of it.
struct ScheduledTask {
  std::unique_ptr<Program> program;
  WaitDetector detector;
  int64_t index = 0;
  bool has_waited = false;
  uint64_t waits_at = 0;    // version of memory at which it was last found to wait
  bool is_counted = false;  // among those that wait at version waits_at
};

// Back edges between two looks at a program that has waited before, and at all programs when steps are limited.
inline constexpr int64_t kShortSlice = 8;

}  // namespace trivet::vm
