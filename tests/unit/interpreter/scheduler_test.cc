#include "vm/interpreter/scheduler.h"

#include <chrono>

#include "gmock/gmock.h"
#include "tests/unit/interpreter/launch_text.h"

namespace trivet::vm {
namespace {

using ::testing::HasSubstr;
using testing::TextKernel;

constexpr Schedule kSchedules[] = {Schedule::kInOrder, Schedule::kRandom, Schedule::kThreads, Schedule::kRoundRobin};

// Each program takes the lock, adds 1 to a plain counter in two steps with a loop between, and gives the lock back.
constexpr char kSpinLock[] = R"(
kernel @locked(%lock: ptr<i32>, %sum: ptr<i32>) {
  %0 = constant 0 : i32
  %1 = constant 1 : i32
  %20 = constant 20 : i32
  while {
    %old = atomic_cas %lock, %0, %1 : i32
    %taken = cmpi %old, %0 predicate=ne : i1
    condition %taken
  } do {
    yield
  }
  %before = load %sum : i32
  %later = for %0, %20, %1, %before : i32 {
  ^(%i: i32, %x: i32):
    yield %x
  }
  %after = addi %later, %1
  store %sum, %after
  %gone = atomic_rmw %lock, %0 kind=xchg : i32
  return
}
)";

// Every program arrives, then waits for all the others, three times.
constexpr char kGridBarrier[] = R"(
kernel @barrier(%count: ptr<i32>, %done: ptr<i32>) {
  %0 = constant 0 : i32
  %1 = constant 1 : i32
  %3 = constant 3 : i32
  %n = num_programs axis=0 : i32
  for %0, %3, %1 {
  ^(%phase: i32):
    %next = addi %phase, %1
    %goal = muli %next, %n
    %arrived = atomic_rmw %count, %1 kind=add : i32
    while {
      %now = load %count is_volatile=true : i32
      %early = cmpi %now, %goal predicate=lt : i1
      condition %early
    } do {
      yield
    }
    yield
  }
  %d = atomic_rmw %done, %1 kind=add : i32
  return
}
)";

TEST(SchedulerTest, SpinLocksFinishUnderEverySchedule) {
  for (Schedule schedule : kSchedules) {
    std::vector<int32_t> lock{0}, sum{0};
    TextKernel kernel(kSpinLock);
    kernel.Array("lock", lock, DType::kI32).Array("sum", sum, DType::kI32);
    kernel.request.options.threads = 4;
    const LaunchResult result = kernel.Run(200, schedule);
    EXPECT_TRUE(result.status.ok()) << result.status.message();
    EXPECT_EQ(sum[0], 200) << static_cast<int>(schedule);
  }
}

TEST(SchedulerTest, GridBarriersFinishUnderEverySchedule) {
  for (Schedule schedule : kSchedules) {
    std::vector<int32_t> count{0}, done{0};
    TextKernel kernel(kGridBarrier);
    kernel.Array("count", count, DType::kI32).Array("done", done, DType::kI32);
    kernel.request.options.threads = 3;
    const LaunchResult result = kernel.Run(100, schedule);
    EXPECT_TRUE(result.status.ok()) << result.status.message();
    EXPECT_EQ(done[0], 100) << static_cast<int>(schedule);
  }
}

// Each change of memory ends a wait and begins another. To find that out may not take longer each time.
TEST(SchedulerTest, WaitsThatFollowEachOtherAreFoundQuickly) {
  for (Schedule schedule : {Schedule::kInOrder, Schedule::kRandom, Schedule::kRoundRobin}) {
    std::vector<int32_t> count{0}, done{0};
    TextKernel kernel(kGridBarrier);
    kernel.Array("count", count, DType::kI32).Array("done", done, DType::kI32);
    const LaunchResult result = kernel.Run(100, schedule);
    EXPECT_TRUE(result.status.ok()) << result.status.message();
    EXPECT_LT(result.steps, 1'000'000) << static_cast<int>(schedule);
  }
}

TEST(SchedulerTest, ThreadsFinishBarriersAgainAndAgain) {
  TextKernel kernel(kGridBarrier);
  std::vector<int32_t> count{0}, done{0};
  kernel.Array("count", count, DType::kI32).Array("done", done, DType::kI32);
  for (int i = 0; i < 100; ++i) {
    count[0] = done[0] = 0;
    kernel.request.options.threads = 2 + i % 4;
    const LaunchResult result = kernel.Run(40, Schedule::kThreads);
    ASSERT_TRUE(result.status.ok()) << result.status.message();
    ASSERT_EQ(done[0], 40);
  }
}

// So much memory a program that few are interleaved at once: the others are begun as those are found to wait.
TEST(SchedulerTest, BarriersFinishWhenNotAllProgramsFitInMemory) {
  for (Schedule schedule : kSchedules) {
    std::vector<int32_t> count{0}, sum{0};
    TextKernel kernel(R"(
kernel @k(%count: ptr<i32>, %sum: ptr<i32>) {
  %1 = constant 1 : i32
  %id = program_id axis=0 : i32
  %n = num_programs axis=0 : i32
  %large = splat %id : tile<262144xi32>
  %arrived = atomic_rmw %count, %1 kind=add : i32
  while {
    %now = load %count is_volatile=true : i32
    %early = cmpi %now, %n predicate=lt : i1
    condition %early
  } do {
    yield
  }
  %last = reduce %large axis=0 : i32 {
  ^(%a: i32, %b: i32):
    %m = maxi %a, %b
    yield %m
  }
  %old = atomic_rmw %sum, %last kind=add : i32
  return
}
)");
    kernel.Array("count", count, DType::kI32).Array("sum", sum, DType::kI32);
    kernel.request.options.threads = 2;
    const LaunchResult result = kernel.Run(66, schedule);
    EXPECT_TRUE(result.status.ok()) << result.status.message();
    EXPECT_EQ(sum[0], 66 * 65 / 2);
    EXPECT_LT(result.steps, 10'000'000) << static_cast<int>(schedule);
  }
}

// Programs 1 and 2 hand a token to each other until program 0, which takes long, is done.
TEST(SchedulerTest, ProgramsThatWakeEachOtherDontStarveALongOne) {
  for (Schedule schedule : kSchedules) {
    std::vector<int32_t> done{0}, token{1};
    TextKernel kernel(R"(
kernel @k(%done: ptr<i32>, %token: ptr<i32>) {
  %0 = constant 0 : i32
  %1 = constant 1 : i32
  %3 = constant 3 : i32
  %n = constant 400000 : i32
  %id = program_id axis=0 : i32
  %is_long = cmpi %id, %0 predicate=eq : i1
  if %is_long {
    %r = for %0, %n, %1, %0 : i32 {
    ^(%i: i32, %x: i32):
      %y = addi %x, %i
      yield %y
    }
    store %done, %1
    yield
  } else {
    %other = subi %3, %id
    while {
      %d = load %done is_volatile=true : i32
      %go = cmpi %d, %0 predicate=eq : i1
      condition %go
    } do {
      %t = load %token is_volatile=true : i32
      %mine = cmpi %t, %id predicate=eq : i1
      if %mine {
        store %token, %other
        yield
      } else {
        yield
      }
      yield
    }
    yield
  }
  return
}
)");
    kernel.Array("done", done, DType::kI32).Array("token", token, DType::kI32);
    kernel.request.options.threads = 3;
    kernel.request.options.max_steps = 200'000'000;
    const LaunchResult result = kernel.Run(3, schedule);
    EXPECT_TRUE(result.status.ok()) << static_cast<int>(schedule) << result.status.message();
    EXPECT_EQ(done[0], 1);
  }
}

TEST(SchedulerTest, ReportsADeadlockQuicklyWithEachProgramsPlace) {
  for (Schedule schedule : kSchedules) {
    std::vector<int32_t> lock{1}, sum{0};  // nobody will give the lock back
    TextKernel kernel(kSpinLock);
    kernel.Array("lock", lock, DType::kI32).Array("sum", sum, DType::kI32);
    kernel.request.options.threads = 4;
    const auto start = std::chrono::steady_clock::now();
    const LaunchResult result = kernel.Run(20, schedule);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
    ASSERT_TRUE(result.trap.has_value()) << static_cast<int>(schedule);
    EXPECT_EQ(result.trap->kind, TrapKind::kDeadlock);
    EXPECT_THAT(result.trap->message, HasSubstr("deadlock in @locked: 20 programs wait"));
    EXPECT_THAT(result.trap->message, HasSubstr("program (3, 0, 0) at op"));
    EXPECT_THAT(result.trap->message, HasSubstr("and 4 more"));
  }
}

TEST(SchedulerTest, SeesADeadlockThroughStoresThatChangeNothing) {
  for (Schedule schedule : kSchedules) {
    std::vector<int32_t> flag{0}, other{7};
    TextKernel kernel(R"(
kernel @k(%flag: ptr<i32>, %other: ptr<i32>) {
  %0 = constant 0 : i32
  %7 = constant 7 : i32
  while {
    %now = load %flag : i32
    %go = cmpi %now, %0 predicate=eq : i1
    condition %go
  } do {
    store %other, %7
    yield
  }
  return
}
)");
    kernel.Array("flag", flag, DType::kI32).Array("other", other, DType::kI32);
    const LaunchResult result = kernel.Run(3, schedule);
    ASSERT_TRUE(result.trap.has_value());
    EXPECT_EQ(result.trap->kind, TrapKind::kDeadlock);
  }
}

// Such a loop ends neither when memory changes nor otherwise, so it is not said to wait.
TEST(SchedulerTest, ALoopThatNeitherReadsNorChangesAnythingIsEndless) {
  // Program 1 spins; the others change memory all the while, and it stores what is there.
  constexpr char kSpins[] = R"(
kernel @k(%x: ptr<i32>, %y: ptr<i32>) {
  %true = constant true : i1
  %1 = constant 1 : i32
  %id = program_id axis=0 : i32
  %spins = cmpi %id, %1 predicate=eq : i1
  %r = while %1 : i32 {
  ^(%i: i32):
    condition %true, %i loc("spin.py":7:3)
  } do {
  ^(%j: i32):
    if %spins {
      store %y, %1
      yield
    } else {
      %old = atomic_rmw %x, %1 kind=add : i32
      yield
    }
    yield %j loc("spin.py":8:5)
  }
  return
}
)";
  for (Schedule schedule : kSchedules) {
    std::vector<int32_t> x{0}, y{0};
    TextKernel kernel(kSpins);
    kernel.Array("x", x, DType::kI32).Array("y", y, DType::kI32);
    kernel.request.options.threads = 2;
    kernel.request.options.max_steps = 100'000'000;
    const LaunchResult result = kernel.Run(3, schedule);
    ASSERT_TRUE(result.trap.has_value());
    EXPECT_EQ(result.trap->kind, TrapKind::kEndlessLoop) << result.trap->message;
    EXPECT_EQ(result.trap->program_id[0], 1);
    EXPECT_EQ(result.trap->location, "spin.py:7:3");
    EXPECT_THAT(result.trap->message,
                ::testing::HasSubstr("the loop never ends: it neither reads memory nor changes anything"));
  }
}

TEST(SchedulerTest, ALongLoopIsNoDeadlock) {
  for (Schedule schedule : kSchedules) {
    std::vector<int32_t> out{0};
    TextKernel kernel(R"(
kernel @k(%out: ptr<i32>) {
  %0 = constant 0 : i32
  %1 = constant 1 : i32
  %n = constant 300000 : i32
  %r = while %0 : i32 {
  ^(%i: i32):
    %go = cmpi %i, %n predicate=lt : i1
    condition %go, %i
  } do {
  ^(%j: i32):
    %k = addi %j, %1
    yield %k
  }
  %old = atomic_rmw %out, %r kind=add : i32
  return
}
)");
    kernel.Array("out", out, DType::kI32);
    const LaunchResult result = kernel.Run(4, schedule);
    EXPECT_TRUE(result.status.ok()) << result.status.message();
    EXPECT_EQ(out[0], 1200000);
  }
}

// The order in which programs reach their back edges and ends.
class Recorder final : public Observer {
 public:
  void OnBranch(const OpEvent& event, bool) override { order.push_back(event.program->id()[0]); }
  void OnProgramEnd(const Program& program) override { order.push_back(-1 - program.id()[0]); }
  std::vector<int32_t> order;
};

std::vector<int32_t> RecordOrder(Schedule schedule, uint64_t seed) {
  std::vector<int32_t> count{0}, done{0};
  TextKernel kernel(kGridBarrier);
  kernel.Array("count", count, DType::kI32).Array("done", done, DType::kI32);
  Recorder recorder;
  kernel.request.options.observer = &recorder;
  kernel.request.options.seed = seed;
  EXPECT_TRUE(kernel.Run(12, schedule).status.ok());
  return recorder.order;
}

TEST(SchedulerTest, ASeedRepeatsExactly) {
  const std::vector<int32_t> first = RecordOrder(Schedule::kRandom, 5);
  EXPECT_EQ(RecordOrder(Schedule::kRandom, 5), first);
  EXPECT_NE(RecordOrder(Schedule::kRandom, 6), first);
  EXPECT_NE(RecordOrder(Schedule::kInOrder, 0), first);
}

TEST(SchedulerTest, StopsAtTheStepLimitAndWhenInterrupted) {
  constexpr char kCounting[] = R"(
kernel @k() {
  %0 = constant 0 : i64
  %1 = constant 1 : i64
  %true = constant true : i1
  %r = while %0 : i64 {
  ^(%i: i64):
    condition %true, %i
  } do {
  ^(%j: i64):
    %k = addi %j, %1
    yield %k
  }
  return
}
)";
  for (Schedule schedule : kSchedules) {
    TextKernel limited(kCounting);
    limited.request.options.max_steps = 1000;
    LaunchResult result = limited.Run(2, schedule);
    ASSERT_TRUE(result.trap.has_value());
    EXPECT_EQ(result.trap->kind, TrapKind::kStepLimit);
    EXPECT_THAT(result.trap->message, ::testing::HasSubstr("more than 1000 ops were run, the limit"));
    EXPECT_LT(result.steps, 10000);

    TextKernel interrupted(kCounting);
    interrupted.request.options.interrupted = [] { return true; };
    result = interrupted.Run(3, schedule);
    ASSERT_TRUE(result.trap.has_value());
    EXPECT_EQ(result.trap->kind, TrapKind::kInterrupted);
  }
}

// The calling thread may have run out of programs, or be inside a region, where programs are not preempted.
TEST(SchedulerTest, StopsWhenInterruptedWhereverTheProgramsAre) {
  constexpr char kOneRunsForEver[] = R"(
kernel @k() {
  %0 = constant 0 : i64
  %1 = constant 1 : i64
  %2 = constant 2000 : i64
  %true = constant true : i1
  %last = constant 7 : i32
  %id = program_id axis=0 : i32
  %is_last = cmpi %id, %last predicate=eq : i1
  %s = for %0, %2, %1, %0 : i64 {
  ^(%n: i64, %x: i64):
    yield %n
  }
  %r = while %0 : i64 {
  ^(%i: i64):
    condition %is_last, %i
  } do {
  ^(%j: i64):
    %k = addi %j, %1
    yield %k
  }
  return
}
)";
  constexpr char kInRegion[] = R"(
kernel @k() {
  %x = arange start=0 end=4 : tile<4xi32>
  %r = reduce %x axis=0 : i32 {
  ^(%a: i32, %b: i32):
    %true = constant true : i1
    %s = while %a : i32 {
    ^(%i: i32):
      condition %true, %i
    } do {
    ^(%j: i32):
      %k = addi %j, %b
      yield %k
    }
    yield %s
  }
  return
}
)";
  for (const char* text : {kOneRunsForEver, kInRegion}) {
    for (Schedule schedule : kSchedules) {
      TextKernel kernel(text);
      kernel.request.options.threads = 2;
      int asked = 0;
      kernel.request.options.interrupted = [&asked] { return ++asked == 3; };
      const LaunchResult result = kernel.Run(8, schedule);
      ASSERT_TRUE(result.trap.has_value());
      EXPECT_EQ(result.trap->kind, TrapKind::kInterrupted);
    }
  }
}

TEST(SchedulerTest, GridsAreCheckedAndMayBeEmpty) {
  TextKernel kernel("kernel @k() { return }");
  EXPECT_TRUE(kernel.Run(0).status.ok());
  EXPECT_EQ(kernel.Run(0).steps, 0);
  EXPECT_EQ(kernel.Run(5).steps, 5);
  EXPECT_THAT(std::string(kernel.Run(-1).status.message()), HasSubstr("the grid (-1, 1, 1)"));
}

TEST(SchedulerTest, EveryProgramRunsOnceWithItsIds) {
  std::vector<int32_t> out(2 * 3 * 4, 0);
  TextKernel kernel(R"(
kernel @k(%out: ptr<i32>) {
  %1 = constant 1 : i32
  %x = program_id axis=0 : i32
  %y = program_id axis=1 : i32
  %z = program_id axis=2 : i32
  %nx = num_programs axis=0 : i32
  %ny = num_programs axis=1 : i32
  %a = muli %z, %ny
  %b = addi %a, %y
  %c = muli %b, %nx
  %d = addi %c, %x
  %p = addptr %out, %d
  %old = atomic_rmw %p, %1 kind=add : i32
  return
}
)");
  kernel.Array("out", out, DType::kI32);
  kernel.request.grid = {2, 3, 4};
  kernel.request.options.schedule = Schedule::kThreads;
  kernel.request.memory.Seal();
  EXPECT_TRUE(Launch(kernel.executable(), kernel.request).status.ok());
  EXPECT_EQ(out, std::vector<int32_t>(24, 1));
}

}  // namespace
}  // namespace trivet::vm
