#include "vm/interpreter/launch_watch.h"

#include "absl/strings/str_cat.h"
#include "vm/interpreter/execute.h"
#include "vm/interpreter/program.h"

namespace trivet::vm {
namespace {

constexpr auto kPollInterval = std::chrono::milliseconds(10);

}  // namespace

LaunchWatch::LaunchWatch(const LaunchOptions& options) : options_(options), next_poll_(Clock::now() + kPollInterval) {}

bool LaunchWatch::Permit(Program& program) {
  if (options_.max_steps > 0 && steps() > options_.max_steps) {
    program.SetTrap(TrapKind::kStepLimit, absl::StrCat("more than ", options_.max_steps, " ops were run, the limit"));
    return false;
  }
  if (!IsInterrupted()) return true;
  program.SetTrap(TrapKind::kInterrupted, "the launch was interrupted");
  return false;
}

bool LaunchWatch::IsInterrupted() {
  if (!options_.interrupted) return false;
  if (is_interrupted_.load(std::memory_order_relaxed)) return true;
  if (std::this_thread::get_id() != caller_ || Clock::now() < next_poll_) return false;
  const bool is_interrupted = options_.interrupted();
  next_poll_ = Clock::now() + kPollInterval;
  if (is_interrupted) is_interrupted_.store(true, std::memory_order_relaxed);
  return is_interrupted;
}

}  // namespace trivet::vm
