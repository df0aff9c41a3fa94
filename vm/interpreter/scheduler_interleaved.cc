// kRandom and kRoundRobin: one thread, programs preempted after a few back edges.
#include <algorithm>
#include <utility>

#include "vm/interpreter/scheduler.h"

namespace trivet::vm {
namespace {

// Programs interleaved at once: as many as fit, but at least so many.
constexpr int64_t kMaxInterleavedBytes = int64_t{1} << 26;
constexpr int64_t kMinInterleaved = 64;

// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  // Uniform enough in [0, n). Requires n > 0.
  int64_t Below(int64_t n) {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<int64_t>((z ^ (z >> 31)) % static_cast<uint64_t>(n));
  }

 private:
  uint64_t state_;
};

class InterleavedScheduler {
 public:
  InterleavedScheduler(LaunchContext& launch, int64_t count, bool is_random)
      : launch_(launch), count_(count), is_random_(is_random), random_(launch.request.options.seed) {
    const auto arena_bytes = static_cast<int64_t>(launch.kernel.arena_bytes) + 1;
    max_live_ = std::max(kMinInterleaved, kMaxInterleavedBytes / arena_bytes);
  }

  ScheduleResult Run();

 private:
  // The number of the next program to begin: any, or the first.
  int64_t NextIndex();
  void Begin();
  // Runs a slice of live_[i]. False if the launch ends.
  bool Step(size_t i, ScheduleResult* result);
  void Remove(size_t i);
  bool Waits(const ScheduledTask& task) const { return task.is_counted && task.waits_at == version_; }

  LaunchContext& launch_;
  const int64_t count_;
  const bool is_random_;
  Random random_;
  int64_t max_live_;
  std::vector<ScheduledTask> live_;  // begun and not finished
  std::vector<std::unique_ptr<Program>> spare_;
  int64_t begun_ = 0;
  std::vector<int64_t> order_;  // a random window of the programs that are next
  int64_t ordered_ = 0;         // programs that entered the window
  uint64_t version_ = 0;
  int64_t num_waiting_ = 0;  // live programs that wait at version_
};

int64_t InterleavedScheduler::NextIndex() {
  ++begun_;
  if (!is_random_) return begun_ - 1;
  constexpr size_t kWindow = size_t{1} << 16;
  while (order_.size() < kWindow && ordered_ < count_) order_.push_back(ordered_++);
  std::swap(order_[static_cast<size_t>(random_.Below(static_cast<int64_t>(order_.size())))], order_.back());
  const int64_t index = order_.back();
  order_.pop_back();
  return index;
}

void InterleavedScheduler::Begin() {
  ScheduledTask task;
  if (spare_.empty()) {
    task.program = std::make_unique<Program>(launch_);
  } else {
    task.program = std::move(spare_.back());
    spare_.pop_back();
  }
  task.index = NextIndex();
  task.program->Start(task.index);
  live_.push_back(std::move(task));
}

void InterleavedScheduler::Remove(size_t i) {
  spare_.push_back(std::move(live_[i].program));
  if (is_random_) {
    if (i + 1 != live_.size()) live_[i] = std::move(live_.back());
    live_.pop_back();
  } else {
    live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

bool InterleavedScheduler::Step(size_t i, ScheduleResult* result) {
  ScheduledTask& task = live_[i];
  Program& program = *task.program;
  const int64_t slice = is_random_ ? 1 + random_.Below(kShortSlice) : kShortSlice;
  const bool may_run = launch_.watch.Permit(program);
  const Program::Outcome outcome = may_run ? program.Resume(slice) : Program::Outcome::kTrapped;
  if (outcome == Program::Outcome::kTrapped) {
    result->trapped = std::move(task.program);
    return false;
  }
  const bool was_waiting = Waits(task);
  const bool has_written = program.TakeWrites() > 0;
  if (has_written) {
    ++version_;
    num_waiting_ = 0;
  } else if (was_waiting) {
    --num_waiting_;
  }
  task.is_counted = false;
  if (outcome == Program::Outcome::kFinished) {
    Remove(i);
    return true;
  }
  const WaitDetector::Finding finding = task.detector.Observe(program, version_, has_written);
  if (finding == WaitDetector::Finding::kEndless) {
    result->trapped = std::move(task.program);
    return false;
  }
  if (finding == WaitDetector::Finding::kWaits) {
    task.waits_at = version_;
    task.is_counted = true;
    ++num_waiting_;
  }
  return true;
}

ScheduleResult InterleavedScheduler::Run() {
  ScheduleResult result;
  size_t turn = 0;
  while (!live_.empty() || begun_ < count_) {
    const auto live = static_cast<int64_t>(live_.size());
    const bool all_wait = num_waiting_ == live;
    if (begun_ < count_ && (live < max_live_ || all_wait)) {
      if (!is_random_) {
        Begin();
        continue;
      }
      // Any of those that could run is as likely as another.
      const int64_t runnable = live + std::min(count_ - begun_, kMinInterleaved);
      const int64_t choice = all_wait ? live : random_.Below(runnable);
      if (choice >= live) Begin();
      if (!Step(choice >= live ? live_.size() - 1 : static_cast<size_t>(choice), &result)) return result;
      continue;
    }
    if (all_wait) {
      result.is_deadlock = true;
      std::sort(live_.begin(), live_.end(),
                [](const ScheduledTask& a, const ScheduledTask& b) { return a.index < b.index; });
      for (ScheduledTask& task : live_) result.waiting.push_back(std::move(task.program));
      return result;
    }
    if (is_random_) {
      if (!Step(static_cast<size_t>(random_.Below(live)), &result)) return result;
      continue;
    }
    if (turn >= live_.size()) turn = 0;
    const size_t before = live_.size();
    // What waits stays so until memory changes.
    if (!Waits(live_[turn]) && !Step(turn, &result)) return result;
    if (live_.size() == before) ++turn;
  }
  return result;
}

}  // namespace

ScheduleResult RunInterleaved(LaunchContext& launch, int64_t count, bool is_random) {
  return InterleavedScheduler(launch, count, is_random).Run();
}

}  // namespace trivet::vm
