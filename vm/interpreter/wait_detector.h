// Recognises a program that waits for others, or that will never end.
//
// A program that waits spins: it reads memory in a loop until another program has changed it. It is found out exactly:
// at a back edge it stands where it stood before, with the same bits in its frame, while no program has changed memory
// in between. Since programs are deterministic, it will go on like that until memory changes: it waits. If it has not
// even read memory in between, no change will ever end it. A program that makes any progress, if only in a counter,
// never seems to wait.
#pragma once

#include <cstdint>

#include "vm/interpreter/program.h"

namespace trivet::vm {

// Looks at one program. "Version" counts the changes of memory by all programs together.
class WaitDetector {
 public:
  enum class Finding {
    kGoesOn,
    kWaits,
    kEndless,  // and has trapped
  };
  // At a back edge: the program's state, the version of memory, and whether the program itself changed memory since the
  // last look.
  Finding Observe(Program& program, uint64_t version, bool has_written);

 private:
  void MoveReference(const Program& program, uint64_t state, uint64_t version);

  // Brent's algorithm: comparing with a reference that moves on after 1, 2, 4, ... looks finds a cycle of any length.
  // When others change memory the cycle is another one, and the search begins anew: otherwise each change would double
  // the looks that it takes to find the next wait.
  uint64_t reference_ = 0;
  uint32_t pc_ = 0;
  uint64_t version_ = 0;    // since the reference, or since its state came back with another memory
  uint64_t accesses_ = 0;   // of the program, at the reference
  uint64_t last_seen_ = 0;  // version at the last look
  int64_t looks_ = 0;
  int64_t next_move_ = 0;
  bool has_reference_ = false;
};

}  // namespace trivet::vm
