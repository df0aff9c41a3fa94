// Atomics, print, assert and assume.
#include "gmock/gmock.h"
#include "tests/unit/interpreter/launch_text.h"

namespace trivet::vm {
namespace {

using ::testing::HasSubstr;
using testing::TextKernel;

TEST(AtomicTest, CountsRightOnManyThreads) {
  std::vector<float> sum{0};
  std::vector<int32_t> most{-5};
  TextKernel kernel(R"(
kernel @k(%sum: ptr<f32>, %most: ptr<i32>) {
  %1 = constant 1.0 : tile<8xf32>
  %ps = splat %sum : tile<8xptr<f32>>
  %old = atomic_rmw %ps, %1 kind=add : tile<8xf32>
  %pid = program_id axis=0 : i32
  %top = atomic_rmw %most, %pid kind=max : i32
  return
}
)");
  kernel.Array("sum", sum, DType::kF32).Array("most", most, DType::kI32);
  kernel.request.options.threads = 4;
  EXPECT_TRUE(kernel.Run(20000, Schedule::kThreads).status.ok());
  EXPECT_EQ(sum[0], 160000.0f);
  EXPECT_EQ(most[0], 19999);
}

TEST(AtomicTest, GivesOldValuesInRowMajorOrder) {
  std::vector<int32_t> x{10};
  std::vector<int32_t> out(4, -1);
  TextKernel kernel(R"(
kernel @k(%x: ptr<i32>, %out: ptr<i32>) {
  %range = arange start=0 end=4 : tile<4xi32>
  %2 = constant 2 : tile<4xi32>
  %mask = cmpi %range, %2 predicate=ne : tile<4xi1>
  %ps = splat %x : tile<4xptr<i32>>
  %old = atomic_rmw %ps, %range, %mask kind=add : tile<4xi32>
  %os = splat %out : tile<4xptr<i32>>
  %op = addptr %os, %range
  store %op, %old
  return
}
)");
  kernel.Array("x", x, DType::kI32).Array("out", out, DType::kI32);
  EXPECT_TRUE(kernel.Run(1).status.ok());
  EXPECT_EQ(x[0], 14);
  EXPECT_EQ(out, (std::vector<int32_t>{10, 10, 0, 11}));
}

TEST(AtomicTest, MisalignedAddressesTrap) {
  std::vector<int32_t> x{0, 0};
  TextKernel kernel(R"(
kernel @k(%x: ptr<i32>) {
  %1 = constant 1 : i32
  %bytes = bitcast %x : ptr<i8>
  %odd = addptr %bytes, %1
  %p = bitcast %odd : ptr<i32>
  %old = atomic_rmw %p, %1 kind=add : i32
  return
}
)");
  kernel.Array("x", x, DType::kI32);
  const LaunchResult result = kernel.Run(1);
  ASSERT_TRUE(result.trap.has_value());
  EXPECT_EQ(result.trap->kind, TrapKind::kMisaligned);
  EXPECT_THAT(result.trap->message, HasSubstr("x[0] + 1 bytes is not at a multiple of 4 bytes"));
}

TEST(OutputTest, PrintsScalarsAndTilesAndElides) {
  TextKernel kernel(R"(
kernel @k() {
  %x = constant 1.5 : f32
  %b = constant true : i1
  %u = constant -1 : i32
  print %x, %b prefix="x: "
  print %u prefix="hex" hex=true
  %r = arange start=0 end=4 : tile<4xi32>
  %m = reshape %r : tile<2x2xi32>
  print %m prefix="m"
  %long = arange start=0 end=256 : tile<256xi32>
  print %long
  return
}
)");
  testing::StringSink sink;
  kernel.request.options.print_sink = &sink;
  EXPECT_TRUE(kernel.Run(1).status.ok());
  EXPECT_THAT(sink.text, ::testing::StartsWith("pid (0, 0, 0) x: 1.5, True\n"
                                               "pid (0, 0, 0) hex: 0xffffffff\n"
                                               "pid (0, 0, 0) m: tile<2x2xi32> [[0, 1], [2, 3]]\n"
                                               "pid (0, 0, 0): tile<256xi32> [0, 1, 2,"));
  EXPECT_THAT(sink.text, HasSubstr("30, 31, ..., 224, 225"));
}

TEST(OutputTest, AssertNamesMessageAndFirstElement) {
  TextKernel kernel(R"(
kernel @k() {
  %r = arange start=0 end=8 : tile<8xi32>
  %5 = constant 5 : tile<8xi32>
  %2 = constant 2 : tile<8xi32>
  %ok = cmpi %r, %2 predicate=lt : tile<8xi1>
  %mask = cmpi %r, %5 predicate=ge : tile<8xi1>
  assert %ok, %mask message="too large"
  return
}
)");
  const LaunchResult result = kernel.Run(1);
  ASSERT_TRUE(result.trap.has_value());
  EXPECT_EQ(result.trap->kind, TrapKind::kAssert);
  EXPECT_THAT(result.trap->message, HasSubstr("assertion failed: too large (element 5)"));
}

}  // namespace
}  // namespace trivet::vm
