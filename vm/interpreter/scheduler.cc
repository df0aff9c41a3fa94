#include "vm/interpreter/scheduler.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "vm/interpreter/scheduler_workers.h"

namespace trivet::vm {
namespace {

using Clock = std::chrono::steady_clock;

// Back edges before a program is looked at for the first time, and at most between two looks.
constexpr int64_t kFirstSlice = 64;
constexpr int64_t kLongestSlice = 65536;
// Of a program that has waited before, and of all when there is a limit of steps.
constexpr int64_t kShortSlice = 8;
// Programs interleaved at once by kRandom and kRoundRobin: as many as fit, but at least so many.
constexpr int64_t kMaxInterleavedBytes = int64_t{1} << 26;
constexpr int64_t kMinInterleaved = 64;
// Looks for work that leave programs unbegun because many wait, before one is begun all the same.
constexpr int64_t kMostHeldBack = 16;
// Other threads are worth waking once a launch has taken so long.
constexpr auto kSerialTime = std::chrono::microseconds(20);
constexpr auto kPollInterval = std::chrono::milliseconds(10);

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

// A program and what the scheduler knows of it.
struct Task {
  std::unique_ptr<Program> program;
  WaitDetector detector;
  int64_t index = 0;
  bool has_waited = false;
  uint64_t waits_at = 0;    // version of memory at which it was last found to wait
  bool is_counted = false;  // among those that wait at version waits_at
};

// Asks the limits and the caller's interrupt. One for each launch, used by the thread that called Launch.
class Watch {
 public:
  explicit Watch(LaunchContext& launch) : launch_(launch), options_(launch.request.options) {}

  // True if the program may go on; otherwise it has a trap.
  bool Permit(Program& program, bool is_caller) {
    if (options_.max_steps > 0 && launch_.steps.load(std::memory_order_relaxed) > options_.max_steps) {
      program.SetTrap(TrapKind::kStepLimit, absl::StrCat("the launch ran more than ", options_.max_steps, " ops"));
      return false;
    }
    if (is_caller && options_.interrupted && Clock::now() >= next_poll_) {
      next_poll_ = Clock::now() + kPollInterval;
      if (options_.interrupted()) {
        program.SetTrap(TrapKind::kInterrupted, "the launch was interrupted");
        return false;
      }
    }
    return true;
  }
  int64_t Slice(int64_t wish) const { return options_.max_steps > 0 ? std::min(wish, kShortSlice) : wish; }

 private:
  LaunchContext& launch_;
  const LaunchOptions& options_;
  Clock::time_point next_poll_ = Clock::now() + kPollInterval;
};

// kInOrder and kThreads: workers take programs in order and run each to its end, unless it waits or runs very long.
class OrderedScheduler {
 public:
  OrderedScheduler(LaunchContext& launch, int64_t count, int num_workers)
      : launch_(launch), count_(count), num_workers_(num_workers), watch_(launch) {}

  ScheduleResult Run() {
    std::optional<WorkerLoan> helpers;
    const Clock::time_point start = Clock::now();
    Work(true, [&] {
      if (helpers || num_workers_ == 1 || Clock::now() - start < kSerialTime) return;
      const int64_t left = count_ - next_.load(std::memory_order_relaxed);
      const auto useful = static_cast<int>(std::min<int64_t>(num_workers_ - 1, left));
      if (useful > 0) helpers.emplace(useful, [this] { Work(false, [] {}); });
    });
    helpers.reset();

    ScheduleResult result;
    result.trapped = std::move(trapped_);
    result.is_deadlock = is_deadlock_;
    if (is_deadlock_) {
      std::vector<Task> tasks;
      for (auto* list : {&awake_, &long_, &waiting_}) {
        for (Task& task : *list) tasks.push_back(std::move(task));
      }
      std::sort(tasks.begin(), tasks.end(), [](const Task& a, const Task& b) { return a.index < b.index; });
      for (Task& task : tasks) result.waiting.push_back(std::move(task.program));
    }
    return result;
  }

 private:
  enum class End { kFinished, kWaits, kLong, kTrapped, kAborted };

  template <typename AfterFirst>
  void Work(bool is_caller, const AfterFirst& after_program);
  End RunTask(Task& task, bool is_caller);
  // Gives the memory changes of a program to the others.
  void Publish(Program& program) {
    if (program.TakeWrites() > 0) version_.fetch_add(1);
  }
  // A task that can go on, or none: then the worker is done.
  std::optional<Task> Pick(std::unique_ptr<Program>& spare);
  void PutBack(Task task, End end);
  void WakeIfChanged();
  void Uncount(Task& task) {
    if (task.is_counted && task.waits_at == waiting_version_) --num_waiting_;
    task.is_counted = false;
  }
  // Programs not begun don't wait, so they are begun first.
  bool AllWait() const { return num_waiting_ == count_ - finished_.load(); }

  LaunchContext& launch_;
  const int64_t count_;
  const int num_workers_;
  Watch watch_;
  std::atomic<int64_t> next_{0};  // first program not begun
  std::atomic<int64_t> finished_{0};
  std::atomic<uint64_t> version_{0};   // of memory
  std::atomic<int64_t> num_aside_{0};  // tasks in the lists below

  std::mutex mutex_;          // of all that follows
  std::deque<Task> awake_;    // waited; memory has changed since
  std::deque<Task> long_;     // run long without an end
  std::deque<Task> waiting_;  // wait at waiting_version_
  uint64_t waiting_version_ = 0;
  int64_t num_waiting_ = 0;  // programs that wait at waiting_version_, those being looked at again included
  int active_ = 0;           // workers that may be running a program
  uint64_t turn_ = 0;
  int64_t held_back_ = 0;  // times that no program was begun since many waited, after the last that was
  std::unique_ptr<Program> trapped_;
  bool is_deadlock_ = false;
};

template <typename AfterFirst>
void OrderedScheduler::Work(bool is_caller, const AfterFirst& after_program) {
  {
    const std::lock_guard lock(mutex_);
    ++active_;
  }
  std::unique_ptr<Program> spare;
  int64_t since_poll = 0;
  while (!launch_.abort.load(std::memory_order_relaxed)) {
    std::optional<Task> task;
    if (num_aside_.load(std::memory_order_relaxed) == 0) {
      const int64_t index = next_.fetch_add(1);
      if (index < count_) {
        if (spare == nullptr) spare = std::make_unique<Program>(launch_);
        task.emplace();
        task->program = std::move(spare);
        task->index = index;
        task->program->Start(index);
      }
    }
    if (!task) task = Pick(spare);
    if (!task) break;
    End end = End::kTrapped;
    if (++since_poll % 8 != 0 || watch_.Permit(*task->program, is_caller)) end = RunTask(*task, is_caller);
    if (end == End::kFinished) {
      Publish(*task->program);
      spare = std::move(task->program);
      if (task->is_counted) {
        const std::lock_guard lock(mutex_);
        Uncount(*task);
      }
      finished_.fetch_add(1);
    } else {
      PutBack(std::move(*task), end);
    }
    after_program();
  }
  const std::lock_guard lock(mutex_);
  --active_;
}

OrderedScheduler::End OrderedScheduler::RunTask(Task& task, bool is_caller) {
  Program& program = *task.program;
  int64_t slice = task.has_waited ? kShortSlice : kFirstSlice;
  int64_t taken = 0;
  for (;;) {
    const int64_t now = watch_.Slice(slice);
    const Program::Outcome outcome = program.Resume(now);
    if (outcome == Program::Outcome::kFinished) return End::kFinished;
    if (outcome == Program::Outcome::kTrapped) return End::kTrapped;
    if (launch_.abort.load(std::memory_order_relaxed)) return End::kAborted;
    if (!watch_.Permit(program, is_caller)) return End::kTrapped;
    Publish(program);
    const uint64_t version = version_.load();
    if (task.detector.Observe(program, version)) {
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
  for (Task& task : waiting_) awake_.push_back(std::move(task));
  waiting_.clear();
}

void OrderedScheduler::PutBack(Task task, End end) {
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
    waiting_.push_back(std::move(task));
    return;
  }
  Uncount(task);
  (end == End::kWaits ? awake_ : long_).push_back(std::move(task));
}

// Takes turns between programs whose wait may be over and new ones: the first end locks early, the second barriers.
std::optional<Task> OrderedScheduler::Pick(std::unique_ptr<Program>& spare) {
  std::unique_lock lock(mutex_);
  for (int64_t idle = 0; !launch_.abort.load(std::memory_order_relaxed); ++idle) {
    WakeIfChanged();
    const auto take = [&](std::deque<Task>& list) {
      Task task = std::move(list.front());
      list.pop_front();
      num_aside_.fetch_sub(1);
      return task;
    };
    ++turn_;
    const bool others_run = active_ > 1;
    // While others run, few new programs are begun if many wait: the wait may be over soon, and each takes memory. Not
    // for ever, though: those that run may themselves wait for a program that is not begun (a barrier of the whole
    // grid).
    const bool is_crowded = others_run && num_aside_.load() >= 4 * num_workers_ && held_back_ < kMostHeldBack;
    if (!awake_.empty() && turn_ % 2 == 0) return take(awake_);
    if (is_crowded && next_.load() < count_) ++held_back_;
    if (!is_crowded && next_.load() < count_) {
      const int64_t index = next_.fetch_add(1);
      if (index < count_) {
        held_back_ = 0;
        Task task;
        task.program = spare != nullptr ? std::move(spare) : std::make_unique<Program>(launch_);
        task.index = index;
        task.program->Start(index);
        return task;
      }
    }
    if (!awake_.empty()) return take(awake_);
    if (!long_.empty()) return take(long_);
    if (waiting_.empty() && (next_.load() >= count_ || !others_run)) return std::nullopt;
    if (AllWait()) {
      is_deadlock_ = true;
      launch_.abort.store(true);
      return std::nullopt;
    }
    // What waits may go on before a running program publishes its changes: look again now and then.
    if (!waiting_.empty() && idle > 0) return take(waiting_);
    --active_;
    lock.unlock();
    if (idle < 4) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    lock.lock();
    ++active_;
  }
  return std::nullopt;
}

// kRandom and kRoundRobin: one thread, programs preempted after a few back edges.
class InterleavedScheduler {
 public:
  InterleavedScheduler(LaunchContext& launch, int64_t count)
      : launch_(launch),
        count_(count),
        is_random_(launch.request.options.schedule == Schedule::kRandom),
        random_(launch.request.options.seed),
        watch_(launch) {
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
  bool Waits(const Task& task) const { return task.is_counted && task.waits_at == version_; }

  LaunchContext& launch_;
  const int64_t count_;
  const bool is_random_;
  Random random_;
  Watch watch_;
  int64_t max_live_;
  std::vector<Task> live_;  // begun and not finished
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
  Task task;
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
  Task& task = live_[i];
  Program& program = *task.program;
  const int64_t slice = is_random_ ? 1 + random_.Below(kShortSlice) : kShortSlice;
  Program::Outcome outcome = program.Resume(slice);
  if (outcome == Program::Outcome::kPreempted && !watch_.Permit(program, true)) outcome = Program::Outcome::kTrapped;
  if (outcome == Program::Outcome::kTrapped) {
    result->trapped = std::move(task.program);
    return false;
  }
  const bool was_waiting = Waits(task);
  if (program.TakeWrites() > 0) {
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
  if (task.detector.Observe(program, version_)) {
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
      std::sort(live_.begin(), live_.end(), [](const Task& a, const Task& b) { return a.index < b.index; });
      for (Task& task : live_) result.waiting.push_back(std::move(task.program));
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

bool WaitDetector::Observe(Program& program, uint64_t version) {
  const uint64_t state = program.HashState();
  if (has_reference_ && state == reference_ && program.pc() == pc_) {
    if (version == version_) return true;
    // Where it was, though memory changed: if the program itself only stored what was there, that counts from now on.
    program.set_compare_stores();
    version_ = version;
    return false;
  }
  if (!has_reference_ || ++looks_ >= next_move_) {
    reference_ = state;
    version_ = version;
    pc_ = program.pc();
    has_reference_ = true;
    looks_ = 0;
    next_move_ = std::max<int64_t>(1, 2 * next_move_);
  }
  return false;
}

ScheduleResult RunPrograms(LaunchContext& launch, int64_t count) {
  const LaunchOptions& options = launch.request.options;
  switch (options.schedule) {
    case Schedule::kInOrder:
      return OrderedScheduler(launch, count, 1).Run();
    case Schedule::kThreads: {
      const int threads = options.observer != nullptr ? 1 : options.threads > 0 ? options.threads : NumCores();
      return OrderedScheduler(launch, count, threads).Run();
    }
    case Schedule::kRandom:
    case Schedule::kRoundRobin:
      return InterleavedScheduler(launch, count).Run();
  }
  return {};
}

}  // namespace trivet::vm
