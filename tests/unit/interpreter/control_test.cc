// Control flow: parallel copies, leaving loops from any depth, loop bounds at the limits, calls, resumption.
#include <algorithm>
#include <ctime>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "tests/unit/interpreter/evaluate_text.h"
#include "tests/unit/interpreter/launch_text.h"

namespace trivet::vm {
namespace {

using testing::Bytes;
using testing::Evaluate;
using testing::EvaluateTo;
using testing::FromBytes;
using ::testing::HasSubstr;
using testing::TextKernel;
using testing::ToBytes;

template <typename T>
Bytes One(T value) {
  return ToBytes(std::vector<T>{value});
}

TEST(ControlTest, YieldSwapsAndRotates) {
  const std::vector<Bytes> results =
      Evaluate(R"(
func @f(%n: i32, %a: tile<4xi32>, %b: tile<4xi32>, %c: tile<4xi32>) -> (tile<4xi32>, tile<4xi32>, tile<4xi32>) {
  %0 = constant 0 : i32
  %1 = constant 1 : i32
  %x, %y, %z = for %0, %n, %1, %a, %b, %c : tile<4xi32>, tile<4xi32>, tile<4xi32> {
  ^(%i: i32, %p: tile<4xi32>, %q: tile<4xi32>, %r: tile<4xi32>):
    yield %q, %r, %p
  }
  return %y, %x, %z
}
)",
               {One(4), ToBytes(std::vector<int32_t>(4, 1)), ToBytes(std::vector<int32_t>(4, 2)),
                ToBytes(std::vector<int32_t>(4, 3))});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(FromBytes<int32_t>(results[1]), std::vector<int32_t>(4, 2));
  EXPECT_EQ(FromBytes<int32_t>(results[0]), std::vector<int32_t>(4, 3));
  EXPECT_EQ(FromBytes<int32_t>(results[2]), std::vector<int32_t>(4, 1));
}

// Sums i over two nested loops; leaves in some way at i == 3, j == 2.
int32_t LeaveAtDepth(const std::string& leave) {
  return EvaluateTo<int32_t>(1,
                             absl::StrCat(R"(
func @f(%n: i32) -> i32 {
  %0 = constant 0 : i32
  %1 = constant 1 : i32
  %2 = constant 2 : i32
  %3 = constant 3 : i32
  %1000 = constant 1000 : i32
  %sum = for %0, %n, %1, %0 : i32 {
  ^(%i: i32, %s: i32):
    %inner = for %0, %n, %1, %s : i32 {
    ^(%j: i32, %t: i32):
      %next = addi %t, %i
      %far = cmpi %i, %3 predicate=ge : i1
      if %far {
        %there = cmpi %j, %2 predicate=eq : i1
        if %there {
          )",
                                          leave, R"(
        } else {
          yield
        }
        yield
      } else {
        yield
      }
      yield %next
    }
    yield %inner
  }
  return %sum
}
)"),
                             {One(5)})[0];
}

TEST(ControlTest, LeavesFromAnyDepth) {
  EXPECT_EQ(LeaveAtDepth("yield"), 50);
  EXPECT_EQ(LeaveAtDepth("break %t"), 5 * 3 + 2 * 3 + 2 * 4);
  EXPECT_EQ(LeaveAtDepth("continue %t"), 5 * 3 + 4 * 3 + 4 * 4);
  EXPECT_EQ(LeaveAtDepth("return %1000"), 1000);
}

template <typename T>
std::vector<T> CountLoop(const char* dtype, T lower, T upper, T step) {
  const std::vector<Bytes> results = Evaluate(absl::Substitute(R"(
func @f(%a: $0, %b: $0, %c: $0) -> ($0, $0) {
  %0 = constant 0 : $0
  %1 = constant 1 : $0
  %n, %last = for %a, %b, %c, %0, %0 : $0, $0 {
  ^(%i: $0, %k: $0, %l: $0):
    %next = addi %k, %1
    yield %next, %i
  }
  return %n, %last
}
)",
                                                               dtype),
                                              {One(lower), One(upper), One(step)});
  return results.empty() ? std::vector<T>() : std::vector<T>{FromBytes<T>(results[0])[0], FromBytes<T>(results[1])[0]};
}

TEST(ControlTest, CountsUpDownAndNearTheLimits) {
  using V = std::vector<int32_t>;
  EXPECT_EQ(CountLoop<int32_t>("i32", 0, 10, 3), (V{4, 9}));
  EXPECT_EQ(CountLoop<int32_t>("i32", 10, 0, -3), (V{4, 1}));
  EXPECT_EQ(CountLoop<int32_t>("i32", 5, 5, 1), (V{0, 0}));
  EXPECT_EQ(CountLoop<int32_t>("i32", 0, 10, -1), (V{0, 0}));
  EXPECT_EQ(CountLoop<int32_t>("i32", INT32_MAX - 5, INT32_MAX, 4), (V{2, INT32_MAX - 1}));
  EXPECT_EQ(CountLoop<int32_t>("i32", INT32_MIN + 5, INT32_MIN, -4), (V{2, INT32_MIN + 1}));
  EXPECT_EQ(CountLoop<int32_t>("i32", INT32_MIN, INT32_MAX, INT32_MAX), (V{3, INT32_MAX - 1}));
  EXPECT_EQ(CountLoop<uint32_t>("u32", 0xfffffff0u, 0xffffffffu, 8), (std::vector<uint32_t>{2, 0xfffffff8u}));
  EXPECT_EQ(CountLoop<int64_t>("i64", INT64_MIN, INT64_MAX, INT64_MAX), (std::vector<int64_t>{3, INT64_MAX - 1}));
}

TEST(ControlTest, AStepOfZeroTraps) {
  TextKernel kernel(R"(
kernel @k(%step: i32) {
  %0 = constant 0 : i32
  %9 = constant 9 : i32
  for %0, %9, %step {
  ^(%i: i32):
    yield
  }
  return
}
)");
  kernel.Word(0);
  EXPECT_THAT(std::string(kernel.Run(1).status.message()), HasSubstr("the step of the loop is 0"));
}

TEST(ControlTest, AccumulatesInPlaceWithoutTouchingWhatLives) {
  // %a is needed after the addition in one case and not in the other.
  EXPECT_EQ(EvaluateTo<int32_t>(1, R"(
func @f(%n: i32) -> i32 {
  %0 = constant 0 : i32
  %1 = constant 1 : i32
  %acc, %previous = for %0, %n, %1, %1, %0 : i32, i32 {
  ^(%i: i32, %a: i32, %b: i32):
    %sum = addi %a, %b
    yield %sum, %a
  }
  return %acc
}
)",
                                {One(10)})[0],
            89);
}

TEST(ControlTest, CallsKeepTheirCallersValues) {
  EXPECT_EQ(EvaluateTo<int32_t>(1, R"(
func @f(%x: i32) -> i32 {
  %a = call %x callee=@g : i32
  %b = call %a callee=@g : i32
  %c = call %b callee=@h : i32
  %d = addi %a, %b
  %e = addi %d, %c
  return %e
}
func @g(%x: i32) -> i32 {
  %0 = constant 0 : i32
  %big = cmpi %x, %0 predicate=gt : i1
  if %big {
    %y = call %x callee=@h : i32
    %z = addi %y, %x
    return %z
  } else {
    yield
  }
  return %0
}
func @h(%x: i32) -> i32 {
  %1 = constant 1 : i32
  %r = addi %x, %1
  return %r
}
)",
                                {One(3)})[0],
            7 + 15 + 16);
}

TEST(ControlTest, AProgramGoesOnWhereItWasPreempted) {
  // Longer than any slice, with a call and carried values, under the schedule that preempts most often.
  std::vector<int64_t> out(3, 0);
  TextKernel kernel(R"(
kernel @k(%out: ptr<i64>) {
  %0 = constant 0 : i64
  %1 = constant 1 : i64
  %n = constant 1000 : i64
  %sum = for %0, %n, %1, %0 : i64 {
  ^(%i: i64, %s: i64):
    %next = call %s, %i callee=@plus : i64
    yield %next
  }
  %pid = program_id axis=0 : i32
  %p = addptr %out, %pid
  store %p, %sum
  return
}
func @plus(%a: i64, %b: i64) -> i64 {
  %r = addi %a, %b
  return %r
}
)");
  kernel.Array("out", out, DType::kI64);
  EXPECT_TRUE(kernel.Run(3, Schedule::kRoundRobin).status.ok());
  EXPECT_EQ(out, std::vector<int64_t>(3, 499500));
}

TEST(ControlTest, AnEvaluationWithoutEndIsAnError) {
  constexpr char kText[] = R"(
func @counts(%0: i64) -> i64 {
  %true = constant true : i1
  %1 = constant 1 : i64
  %r = while %0 : i64 {
  ^(%i: i64):
    condition %true, %i
  } do {
  ^(%j: i64):
    %k = addi %j, %1
    yield %k
  }
  return %r
}
func @stands(%0: i64) -> i64 {
  %true = constant true : i1
  %r = while %0 : i64 {
  ^(%i: i64):
    condition %true, %i loc("fold.py":3:5)
  } do {
  ^(%j: i64):
    yield %j
  }
  return %r
}
func @ends(%n: i64) -> i64 {
  %0 = constant 0 : i64
  %1 = constant 1 : i64
  %r = for %0, %n, %1, %0 : i64 {
  ^(%i: i64, %x: i64):
    %y = addi %x, %i
    yield %y
  }
  return %r
}
)";
  const auto executable = Executable::Load(*Parse(kText));
  ASSERT_TRUE(executable.ok());
  const auto evaluate = [&](const char* name, int64_t argument) {
    const std::vector<Bytes> arguments{ToBytes(std::vector<int64_t>{argument})};
    return EvaluateFunction(**executable, name, arguments, /*max_steps=*/100'000);
  };
  EXPECT_EQ(evaluate("counts", 0).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(evaluate("counts", 0).status().message()), HasSubstr("more than 100000 ops were run"));
  EXPECT_THAT(std::string(evaluate("stands", 0).status().message()),
              HasSubstr("fold.py:3:5 in @stands: the loop never ends"));
  ASSERT_TRUE(evaluate("ends", 1000).ok());
  EXPECT_EQ(FromBytes<int64_t>((*evaluate("ends", 1000))[0])[0], 499500);
}

// Each helper is looked at while its callers are.
TEST(ControlTest, ARegionMayCallThroughManyHelpers) {
  constexpr int kHelpers = 50;
  std::string text = R"(
func @f(%x: tile<4xi32>) -> i32 {
  %r = reduce %x axis=0 : i32 {
  ^(%a: i32, %b: i32):
    %c = call %a, %b callee=@h0 : i32
    yield %c
  }
  return %r
}
)";
  for (int i = 0; i < kHelpers; ++i) {
    const std::string op = i + 1 == kHelpers ? "addi %a, %b" : absl::StrCat("call %a, %b callee=@h", i + 1, " : i32");
    absl::StrAppend(&text, "func @h", i, "(%a: i32, %b: i32) -> i32 {\n  %0 = constant 0 : i32\n  %c = ", op,
                    "\n  %d = addi %c, %0\n  return %d\n}\n");
  }
  EXPECT_EQ(EvaluateTo<int32_t>(1, text, {ToBytes(std::vector<int32_t>{1, 2, 3, 4})})[0], 10);
}

// A function of many regions, one after another.
std::string ManyRegions(int count) {
  std::string text = "func @f(%x0: tile<4xi32>) -> tile<4xi32> {\n";
  for (int i = 0; i < count; ++i) {
    constexpr char kMap[] = R"(  %x$1 = map_elementwise %x$0 pack=1 : tile<4xi32> {
  ^(%a$0: i32):
    %b$0 = addi %a$0, %a$0
    %c$0 = subi %b$0, %a$0
    %d$0 = addi %c$0, %a$0
    %e$0 = subi %d$0, %a$0
    yield %e$0
  }
)";
    absl::SubstituteAndAppend(&text, kMap, i, i + 1);
  }
  absl::StrAppend(&text, "  return %x", count, "\n}\n");
  return text;
}

// A region costs what is in it, not what is around it. In processor time, which other work on the machine hardly
// changes.
TEST(ControlTest, ManyRegionsAreDecodedInProportion) {
  const std::vector<int32_t> x{1, 2, 3, 4};
  const auto time = [&](int count) {
    const std::string text = ManyRegions(count);
    const std::clock_t begin = std::clock();
    EXPECT_EQ(EvaluateTo<int32_t>(4, text, {ToBytes(x)}), x);
    return static_cast<double>(std::clock() - begin);
  };
  const double few = std::max(time(500), time(500));
  EXPECT_LT(time(8000), 64 * few);  // 16 times as many; squared 256
}

}  // namespace
}  // namespace trivet::vm
