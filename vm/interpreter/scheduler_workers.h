// Threads that help with launches. They are started when first needed and wait for work ever after.
#pragma once

#include <functional>
#include <memory>

namespace trivet::vm {

// Lends threads to a launch while it exists.
class WorkerLoan {
 public:
  // Up to `count` threads call `work` once each, as they come free; maybe none does.
  WorkerLoan(int count, std::function<void()> work);
  // Returns when every thread that began has returned from `work`. No thread begins afterwards.
  ~WorkerLoan();
  WorkerLoan(const WorkerLoan&) = delete;
  WorkerLoan& operator=(const WorkerLoan&) = delete;

  struct Job;

 private:
  std::shared_ptr<Job> job_;
};

// Threads that are worth using: one a core.
int NumCores();

}  // namespace trivet::vm
