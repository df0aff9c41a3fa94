#include "vm/interpreter/wait_detector.h"

#include <utility>

namespace trivet::vm {

WaitDetector::Finding WaitDetector::Observe(Program& program, uint64_t version, bool has_written) {
  const uint64_t state = program.HashState();
  const uint64_t last_seen = std::exchange(last_seen_, version);
  if (has_reference_ && state == reference_ && program.pc() == pc_) {
    if (program.num_accesses() == accesses_) {
      program.SetTrap(TrapKind::kEndlessLoop, "the loop never ends: it neither reads memory nor changes anything");
      return Finding::kEndless;
    }
    if (version == version_) return Finding::kWaits;
    // Where it was, though memory changed: if the program itself only stored what was there, that counts from now on.
    program.set_compare_stores();
    version_ = version;
    accesses_ = program.num_accesses();
    return Finding::kGoesOn;
  }
  const bool is_new_search = !has_reference_ || (version != last_seen && !has_written);
  if (is_new_search) next_move_ = 0;
  if (is_new_search || ++looks_ >= next_move_) MoveReference(program, state, version);
  return Finding::kGoesOn;
}

void WaitDetector::MoveReference(const Program& program, uint64_t state, uint64_t version) {
  reference_ = state;
  pc_ = program.pc();
  version_ = version;
  accesses_ = program.num_accesses();
  has_reference_ = true;
  looks_ = 0;
  next_move_ = next_move_ == 0 ? 1 : 2 * next_move_;
}

}  // namespace trivet::vm
