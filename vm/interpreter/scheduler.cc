#include "vm/interpreter/scheduler.h"

#include "vm/interpreter/scheduler_workers.h"

namespace trivet::vm {

ScheduleResult RunPrograms(LaunchContext& launch, int64_t count) {
  const LaunchOptions& options = launch.request.options;
  switch (options.schedule) {
    case Schedule::kInOrder:
      return RunOrdered(launch, count, 1);
    case Schedule::kThreads:
      return RunOrdered(launch, count,
                        options.observer != nullptr ? 1
                        : options.threads > 0       ? options.threads
                                                    : NumCores());
    case Schedule::kRandom:
      return RunInterleaved(launch, count, true);
    case Schedule::kRoundRobin:
      return RunInterleaved(launch, count, false);
  }
  return {};
}

}  // namespace trivet::vm
