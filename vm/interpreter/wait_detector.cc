#include "vm/interpreter/wait_detector.h"

#include <utility>

namespace trivet::vm {

bool WaitDetector::Observe(Program& program, uint64_t version, bool has_written) {
  const uint64_t state = program.HashState();
  const uint64_t last_seen = std::exchange(last_seen_, version);
  if (has_reference_ && state == reference_ && program.pc() == pc_) {
    if (version == version_) return true;
    // Where it was, though memory changed: if the program itself only stored what was there, that counts from now on.
    program.set_compare_stores();
    version_ = version;
    return false;
  }
  const bool is_new_search = !has_reference_ || (version != last_seen && !has_written);
  if (is_new_search) next_move_ = 0;
  if (is_new_search || ++looks_ >= next_move_) MoveReference(state, program.pc(), version);
  return false;
}

void WaitDetector::MoveReference(uint64_t state, uint32_t pc, uint64_t version) {
  reference_ = state;
  pc_ = pc;
  version_ = version;
  has_reference_ = true;
  looks_ = 0;
  next_move_ = next_move_ == 0 ? 1 : 2 * next_move_;
}

}  // namespace trivet::vm
