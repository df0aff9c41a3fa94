#include "vm/interpreter/scheduler_workers.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace trivet::vm {

struct WorkerLoan::Job {
  std::function<void()> work;
  int wanted = 0;  // threads that may still begin
  int running = 0;
};

namespace {

// Lives as long as the process: its threads may be asleep when the process exits.
class WorkerPool {
 public:
  static WorkerPool& Get() {
    static std::mutex mutex;
    static WorkerPool* pool = nullptr;
    const std::lock_guard lock(mutex);
    // After a fork the threads are gone, and the pool's own lock may be held by one of them: leave it behind.
    if (pool == nullptr || pool->process_ != getpid()) pool = new WorkerPool();
    return *pool;
  }

  void Add(std::shared_ptr<WorkerLoan::Job> job) {
    const std::lock_guard lock(mutex_);
    const int missing = job->wanted - idle_;
    for (int i = 0; i < missing && num_threads_ < kMaxThreads; ++i, ++num_threads_) {
      std::thread(&WorkerPool::Run, this).detach();
    }
    const int wanted = job->wanted;
    jobs_.push_back(std::move(job));
    for (int i = 0; i < wanted; ++i) work_.notify_one();
  }
  bool WaitFor(const std::shared_ptr<WorkerLoan::Job>& job, std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    job->wanted = 0;
    std::erase(jobs_, job);
    return done_.wait_for(lock, time, [&] { return job->running == 0; });
  }

 private:
  static constexpr int kMaxThreads = 256;

  void Run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      ++idle_;
      work_.wait(lock, [&] { return !jobs_.empty(); });
      --idle_;
      const std::shared_ptr<WorkerLoan::Job> job = jobs_.front();
      if (--job->wanted == 0) jobs_.pop_front();
      ++job->running;
      lock.unlock();
      job->work();
      lock.lock();
      if (--job->running == 0) done_.notify_all();
    }
  }

  const pid_t process_ = getpid();
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable done_;
  std::deque<std::shared_ptr<WorkerLoan::Job>> jobs_;
  int idle_ = 0;
  int num_threads_ = 0;
};

}  // namespace

WorkerLoan::WorkerLoan(int count, std::function<void()> work) : job_(std::make_shared<Job>()) {
  job_->work = std::move(work);
  job_->wanted = count;
  WorkerPool::Get().Add(job_);
}

WorkerLoan::~WorkerLoan() {
  while (!WaitFor(std::chrono::seconds(1))) continue;
}

bool WorkerLoan::WaitFor(std::chrono::milliseconds time) { return WorkerPool::Get().WaitFor(job_, time); }

int NumCores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace trivet::vm
