// kInOrder and kThreads: workers take programs in order and run each to its end, unless it waits or runs very long.
//
// A program that is put aside lies in one of three lists: it waits; it waited, and memory has changed since; or it ran
// long. Who takes turns with whom decides what ends, and how much memory it takes:
//
//   * new programs and those that were woken alternate: the first end barriers, the second give back locks early;
//   * every list has its turn now and then, or two programs that wake each other for ever would starve a third one that
//     they wait for;
//   * while many are aside and others can go on, few new ones are begun, since each takes memory; but some are, since
//     all the others may wait for one that is not begun (a barrier of the whole grid).
#include <algorithm>
#include <atomic>
#include <chrono>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "vm/interpreter/scheduler.h"
#include "vm/interpreter/scheduler_workers.h"

namespace trivet::vm {
namespace {

using Clock = std::chrono::steady_clock;

// Back edges before a program is looked at for the first time, and at most between two looks.
constexpr int64_t kFirstSlice = 64;
constexpr int64_t kLongestSlice = 65536;
// Looks for work between two turns of the long ones.
constexpr uint64_t kTurnsBetweenLong = 4;
// Looks for work that leave programs unbegun because many are aside, before one is begun all the same.
constexpr int64_t kMostHeldBack = 16;
// Other threads are worth waking once a launch has taken so long.
constexpr auto kSerialTime = std::chrono::microseconds(20);
// How often the calling thread, out of work, asks whether it is interrupted.
constexpr auto kInterruptPoll = std::chrono::milliseconds(10);
// How long a worker without work sleeps before it looks again.
constexpr auto kIdleSleep = std::chrono::microseconds(20);

class OrderedScheduler {
 public:
  OrderedScheduler(LaunchContext& launch, int64_t count, int num_workers)
      : launch_(launch), count_(count), num_workers_(num_workers) {}

  ScheduleResult Run();

 private:
  using TaskList = std::list<ScheduledTask>;
  enum class End { kFinished, kWaits, kLong, kTrapped, kAborted };

  // What each worker does. Calls after_program() after each program it ran.
  template <typename AfterProgram>
  void Work(const AfterProgram& after_program);
  End RunTask(ScheduledTask& task);
  // Gives the memory changes of a program to the others. True if there were any.
  bool Publish(Program& program) {
    const bool has_written = program.TakeWrites() > 0;
    if (has_written) version_.fetch_add(1);
    return has_written;
  }
  // Appends the next program that is not begun to `tasks`. False if all are.
  bool Begin(std::unique_ptr<Program>& spare, TaskList& tasks);
  // A list of one task that can go on, or none: then the worker is done.
  TaskList Pick(std::unique_ptr<Program>& spare);
  void PutBack(TaskList task, End end);
  void WakeIfChanged();
  void Uncount(ScheduledTask& task) {
    if (task.is_counted && task.waits_at == waiting_version_) --num_waiting_;
    task.is_counted = false;
  }
  // True if all programs wait, and nothing has changed since they were counted: a program publishes what it changed
  // before it counts as finished.
  bool IsDeadlock() const { return num_waiting_ == count_ - finished_.load() && version_.load() == waiting_version_; }

  LaunchContext& launch_;
  const int64_t count_;
  const int num_workers_;
  std::atomic<int64_t> next_{0};  // first program not begun
  std::atomic<int64_t> finished_{0};
  std::atomic<uint64_t> version_{0};   // of memory
  std::atomic<int64_t> num_aside_{0};  // tasks in the lists below

  std::mutex mutex_;  // of all that follows
  TaskList awake_;    // waited; memory has changed since
  TaskList long_;     // run long without an end
  TaskList waiting_;  // wait at waiting_version_
  uint64_t waiting_version_ = 0;
  int64_t num_waiting_ = 0;  // programs that wait at waiting_version_, those being looked at again included
  int active_ = 0;           // workers that may be running a program
  uint64_t turn_ = 0;
  int64_t held_back_ = 0;  // times that no program was begun since many are aside, after the last that was
  std::unique_ptr<Program> trapped_;
  bool is_deadlock_ = false;
};

ScheduleResult OrderedScheduler::Run() {
  std::optional<WorkerLoan> helpers;
  const Clock::time_point start = Clock::now();
  Work([&] {
    if (helpers || num_workers_ == 1 || Clock::now() - start < kSerialTime) return;
    const int64_t left = count_ - next_.load(std::memory_order_relaxed);
    const auto useful = static_cast<int>(std::min<int64_t>(num_workers_ - 1, left));
    if (useful > 0) helpers.emplace(useful, [this] { Work([] {}); });
  });
  // The helpers hear of an interrupt through the watch.
  while (helpers && !helpers->WaitFor(kInterruptPoll)) launch_.watch.IsInterrupted();

  ScheduleResult result;
  result.trapped = std::move(trapped_);
  result.is_deadlock = is_deadlock_;
  if (is_deadlock_) {
    awake_.splice(awake_.end(), long_);
    awake_.splice(awake_.end(), waiting_);
    awake_.sort([](const ScheduledTask& a, const ScheduledTask& b) { return a.index < b.index; });
    for (ScheduledTask& task : awake_) result.waiting.push_back(std::move(task.program));
  }
  return result;
}

template <typename AfterProgram>
void OrderedScheduler::Work(const AfterProgram& after_program) {
  {
    const std::lock_guard lock(mutex_);
    ++active_;
  }
  std::unique_ptr<Program> spare;
  int64_t since_poll = 0;
  while (!launch_.abort.load(std::memory_order_relaxed)) {
    TaskList tasks;
    if (num_aside_.load(std::memory_order_relaxed) > 0 || !Begin(spare, tasks)) tasks = Pick(spare);
    if (tasks.empty()) break;
    ScheduledTask& task = tasks.front();
    End end = End::kTrapped;
    if (++since_poll % 8 != 0 || launch_.watch.Permit(*task.program)) end = RunTask(task);
    if (end == End::kFinished) {
      Publish(*task.program);
      spare = std::move(task.program);
      if (task.is_counted) {
        const std::lock_guard lock(mutex_);
        Uncount(task);
      }
      finished_.fetch_add(1);
    } else {
      PutBack(std::move(tasks), end);
    }
    after_program();
  }
  const std::lock_guard lock(mutex_);
  --active_;
}

bool OrderedScheduler::Begin(std::unique_ptr<Program>& spare, TaskList& tasks) {
  const int64_t index = next_.fetch_add(1);
  if (index >= count_) return false;
  ScheduledTask& task = tasks.emplace_back();
  task.program = spare != nullptr ? std::move(spare) : std::make_unique<Program>(launch_);
  task.index = index;
  task.program->Start(index);
  return true;
}

OrderedScheduler::End OrderedScheduler::RunTask(ScheduledTask& task) {
  Program& program = *task.program;
  int64_t slice = task.has_waited ? kShortSlice : kFirstSlice;
  int64_t taken = 0;
  for (;;) {
    const int64_t now = launch_.request.options.max_steps > 0 ? std::min(slice, kShortSlice) : slice;
    const Program::Outcome outcome = program.Resume(now);
    if (outcome == Program::Outcome::kFinished) return End::kFinished;
    if (outcome == Program::Outcome::kTrapped) return End::kTrapped;
    if (launch_.abort.load(std::memory_order_relaxed)) return End::kAborted;
    if (!launch_.watch.Permit(program)) return End::kTrapped;
    const bool has_written = Publish(program);
    const uint64_t version = version_.load();
    const WaitDetector::Finding finding = task.detector.Observe(program, version, has_written);
    if (finding == WaitDetector::Finding::kEndless) return End::kTrapped;
    if (finding == WaitDetector::Finding::kWaits) {
      task.has_waited = true;
      if (task.is_counted && task.waits_at == version) return End::kWaits;
      const std::lock_guard lock(mutex_);
      Uncount(task);
      task.waits_at = version;
      return End::kWaits;
    }
    taken += now;
    if (taken >= kLongestSlice) return End::kLong;
    if (taken >= 2 * kFirstSlice) slice = std::min(2 * slice, kLongestSlice);
  }
}

void OrderedScheduler::WakeIfChanged() {
  const uint64_t version = version_.load();
  if (version == waiting_version_) return;
  waiting_version_ = version;
  num_waiting_ = 0;
  awake_.splice(awake_.end(), waiting_);
}

void OrderedScheduler::PutBack(TaskList tasks, End end) {
  ScheduledTask& task = tasks.front();
  const std::lock_guard lock(mutex_);
  WakeIfChanged();
  if (end == End::kTrapped) {
    if (trapped_ == nullptr) trapped_ = std::move(task.program);
    launch_.abort.store(true);
    return;
  }
  num_aside_.fetch_add(1);
  if (end == End::kWaits && task.waits_at == waiting_version_) {
    if (!task.is_counted) ++num_waiting_;
    task.is_counted = true;
    waiting_.splice(waiting_.end(), tasks);
    return;
  }
  Uncount(task);
  TaskList& list = end == End::kWaits ? awake_ : long_;
  list.splice(list.end(), tasks);
}

OrderedScheduler::TaskList OrderedScheduler::Pick(std::unique_ptr<Program>& spare) {
  TaskList picked;
  const auto take = [&](TaskList& list) {
    picked.splice(picked.end(), list, list.begin());
    num_aside_.fetch_sub(1);
    return std::move(picked);
  };
  std::unique_lock lock(mutex_);
  for (int64_t idle = 0; !launch_.abort.load(std::memory_order_relaxed); ++idle) {
    WakeIfChanged();
    ++turn_;
    const bool others_run = active_ > 1;
    if (turn_ % kTurnsBetweenLong == 0 && !long_.empty()) return take(long_);
    if (turn_ % 2 == 0 && !awake_.empty()) return take(awake_);

    const bool others_can_go_on = others_run || !awake_.empty() || !long_.empty();
    const bool is_crowded = others_can_go_on && num_aside_.load() >= 4 * num_workers_ && held_back_ < kMostHeldBack;
    if (next_.load() < count_) {
      if (is_crowded) {
        ++held_back_;
      } else if (Begin(spare, picked)) {
        held_back_ = 0;
        return picked;
      }
    }
    if (!awake_.empty()) return take(awake_);
    if (!long_.empty()) return take(long_);
    if (waiting_.empty() && (next_.load() >= count_ || !others_run)) return picked;
    if (IsDeadlock()) {
      is_deadlock_ = true;
      launch_.abort.store(true);
      return picked;
    }
    // What waits may go on before a running program publishes its changes: look again now and then.
    if (!waiting_.empty() && idle > 0) return take(waiting_);
    --active_;
    lock.unlock();
    if (idle < 4) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(kIdleSleep);
    }
    lock.lock();
    ++active_;
  }
  return picked;
}

}  // namespace

ScheduleResult RunOrdered(LaunchContext& launch, int64_t count, int num_workers) {
  return OrderedScheduler(launch, count, num_workers).Run();
}

}  // namespace trivet::vm
