// Threads that help with launches. They are started when first needed and wait for work ever after.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace trivet::vm {

// Lends threads to a launch while it exists.
class WorkerLoan {
 public:
  // Up to `count` threads call `work` once each, as they come free; maybe none does.
  WorkerLoan(int count, std::function<void()> work);
  // As if WaitFor were called until it gives true.
  ~WorkerLoan();
  WorkerLoan(const WorkerLoan&) = delete;
  WorkerLoan& operator=(const WorkerLoan&) = delete;

  // From now on no thread begins. True if every thread that began has returned from `work`; waits up to `time` for it.
  bool WaitFor(std::chrono::milliseconds time);

  struct Job;

 private:
  std::shared_ptr<Job> job_;
};

// Threads that are worth using: one a core.
int NumCores();

}  // namespace trivet::vm
