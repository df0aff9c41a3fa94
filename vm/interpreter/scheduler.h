// Runs the programs of a launch in some order, such that programs that wait for each other all finish.
//
// A program that waits spins: it reads memory in a loop until another program has changed it. It is found out exactly:
// at a back edge it stands where it stood before, with the same bits in its frame, while no program has changed memory
// in between. Since programs are deterministic, it will go on like that until memory changes: it waits. It is then put
// aside for the others. When every program that has not finished waits, at one and the same version of memory, there is
// a deadlock. A program that makes any progress, if only in a counter, never seems to wait.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "vm/interpreter/execute.h"
#include "vm/interpreter/program.h"

namespace trivet::vm {

// Recognises waiting, for one program. "Version" counts the changes of memory by all programs together.
class WaitDetector {
 public:
  void Reset() { *this = WaitDetector(); }
  // At a back edge: the program's state, and the version of memory. True if the program waits.
  bool Observe(Program& program, uint64_t version);

 private:
  // Brent's algorithm: compare with a reference that moves on after 1, 2, 4, ... looks finds a cycle of any length.
  uint64_t reference_ = 0;
  uint64_t version_ = 0;
  uint32_t pc_ = 0;
  int64_t looks_ = 0;
  int64_t next_move_ = 0;
  bool has_reference_ = false;
};

// How a launch ended.
struct ScheduleResult {
  std::unique_ptr<Program> trapped;               // the program that ended the launch, or
  std::vector<std::unique_ptr<Program>> waiting;  // those that wait for each other, in order of their ids
  bool is_deadlock = false;
};

// Runs `count` programs as `options.schedule` says.
ScheduleResult RunPrograms(LaunchContext& launch, int64_t count);

}  // namespace trivet::vm
