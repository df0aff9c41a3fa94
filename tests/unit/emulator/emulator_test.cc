// Threads, barriers, warp operations: each test would fail if threads did not run as a GPU's do.
#include "jit/emulator/emulator.h"

#include <numeric>

#include "emulator_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trivet::jit {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// out[i] = x[i] + y[i] for i = ctaid.x * ntid.x + tid.x < n
constexpr char kAdd[] = R"(
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %y, ptr addrspace(1) %out, i32 %n) #0 {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %ntid = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %cta = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %cta, %ntid
  %i = add i32 %base, %tid
  %inside = icmp slt i32 %i, %n
  br i1 %inside, label %work, label %done
work:
  %px = getelementptr float, ptr addrspace(1) %x, i32 %i
  %py = getelementptr float, ptr addrspace(1) %y, i32 %i
  %po = getelementptr float, ptr addrspace(1) %out, i32 %i
  %vx = load float, ptr addrspace(1) %px
  %vy = load float, ptr addrspace(1) %py
  %sum = fadd float %vx, %vy
  store float %sum, ptr addrspace(1) %po
  br label %done
done:
  ret void
}
attributes #0 = { "target-cpu"="sm_90a" "nvvm.maxntid"="128" }
)";

TEST(Emulator, AddsInManyPrograms) {
  std::vector<float> x(1000), y(1000), out(1000, -1);
  std::iota(x.begin(), x.end(), 0.0f);
  std::iota(y.begin(), y.end(), 0.5f);
  EmulatedLaunch launch;
  launch.grid = {8, 1, 1};
  launch.num_threads = 128;
  launch.arguments = {AddressOf(x), AddressOf(y), AddressOf(out), 1000};
  launch.allocations = {RangeOf(x), RangeOf(y), RangeOf(out)};
  ASSERT_EQ(RunText(kAdd, launch), absl::OkStatus());
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(out[i], x[i] + y[i]) << i;
}

TEST(Emulator, NamesAnAccessOutsideOfTheAllocations) {
  std::vector<float> x(1000), y(1000), out(1000);
  EmulatedLaunch launch;
  launch.grid = {8, 1, 1};
  launch.num_threads = 128;
  launch.arguments = {AddressOf(x), AddressOf(y), AddressOf(out), 1024};
  launch.allocations = {RangeOf(x), RangeOf(y), RangeOf(out)};
  const absl::Status status = RunText(kAdd, launch);
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("load by thread 104 (warp 3, lane 8) of program (7, 0, 0)"), HasSubstr("no allocation")));
}

// Reverses 128 numbers through shared memory; %s is the barrier.
std::string Reverse(absl::string_view barrier) {
  return R"(
@trivet_shared = external addrspace(3) global [0 x i8], align 1024
define ptx_kernel void @kernel(ptr addrspace(1) %data) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %last = sub i32 127, %tid
  %p = getelementptr i32, ptr addrspace(1) %data, i32 %tid
  %s = getelementptr i32, ptr addrspace(3) @trivet_shared, i32 %tid
  %r = getelementptr i32, ptr addrspace(3) @trivet_shared, i32 %last
  %v = load i32, ptr addrspace(1) %p
  store i32 %v, ptr addrspace(3) %s
)" + std::string(barrier) +
         R"(
  %w = load i32, ptr addrspace(3) %r
  store i32 %w, ptr addrspace(1) %p
  ret void
})";
}
constexpr char kBarrier[] = "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)";

EmulatedLaunch ReverseLaunch(std::vector<int>& data) {
  std::iota(data.begin(), data.end(), 0);
  EmulatedLaunch launch;
  launch.num_threads = 128;
  launch.shared_bytes = 512;
  launch.arguments = {AddressOf(data)};
  return launch;
}

TEST(Emulator, ReversesThroughSharedMemoryInAnyOrder) {
  auto kernel = LoadText(Reverse(kBarrier));
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<int> data(128);
    EmulatedLaunch launch = ReverseLaunch(data);
    launch.seed = seed;
    ASSERT_EQ((*kernel)->Launch(launch), absl::OkStatus());
    for (int i = 0; i < 128; ++i) EXPECT_EQ(data[static_cast<size_t>(i)], 127 - i);
  }
}

TEST(Emulator, AMissingBarrierGivesWrongData) {
  std::vector<int> data(128);
  EmulatedLaunch launch = ReverseLaunch(data);
  launch.check_races = false;
  ASSERT_EQ(RunText(Reverse(""), launch), absl::OkStatus());
  EXPECT_EQ(static_cast<uint32_t>(data[0]), 0xa5a5a5a5u);  // thread 127 had not written yet
}

TEST(Emulator, AMissingBarrierIsARace) {
  std::vector<int> data(128);
  const EmulatedLaunch launch = ReverseLaunch(data);
  const absl::Status status = RunText(Reverse(""), launch);
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("store by thread 64 (warp 2, lane 0)"), HasSubstr("byte 256 of shared memory"),
                    HasSubstr("thread 63 (warp 1, lane 31) read without a barrier between")));
}

TEST(Emulator, NamesAnAccessOutsideOfSharedMemory) {
  std::vector<int> data(128);
  EmulatedLaunch launch = ReverseLaunch(data);
  launch.shared_bytes = 508;
  const absl::Status status = RunText(Reverse(kBarrier), launch);
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("thread 127"), HasSubstr("offset 508"), HasSubstr("508 bytes")));
}

TEST(Emulator, SumsByButterfly) {
  constexpr char kText[] = R"(
define ptx_kernel void @kernel(ptr addrspace(1) %data) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr addrspace(1) %data, i32 %tid
  %v = load i32, ptr addrspace(1) %p
  br label %loop
loop:
  %distance = phi i32 [ 16, %entry ], [ %half, %loop ]
  %sum = phi i32 [ %v, %entry ], [ %next, %loop ]
  %other = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %sum, i32 %distance, i32 31)
  %next = add i32 %sum, %other
  %half = lshr i32 %distance, 1
  %more = icmp ne i32 %half, 0
  br i1 %more, label %loop, label %done
done:
  store i32 %next, ptr addrspace(1) %p
  ret void
})";
  auto kernel = LoadText(kText);
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  for (uint64_t seed = 0; seed < 10; ++seed) {
    std::vector<int> data(64);
    std::iota(data.begin(), data.end(), 0);
    EmulatedLaunch launch;
    launch.num_threads = 64;
    launch.seed = seed;
    launch.arguments = {AddressOf(data)};
    ASSERT_EQ((*kernel)->Launch(launch), absl::OkStatus());
    for (int i = 0; i < 64; ++i) EXPECT_EQ(data[static_cast<size_t>(i)], i < 32 ? 496 : 496 + 32 * 32);
  }
}

// One instruction under a condition on the thread.
std::string Guarded(absl::string_view condition, absl::string_view then, absl::string_view otherwise) {
  return "define ptx_kernel void @kernel() {\n"
         "  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n  %c = " +
         std::string(condition) + "\n  br i1 %c, label %then, label %else\nthen:\n  " + std::string(then) +
         "\n  br label %done\nelse:\n  " + std::string(otherwise) + "\n  br label %done\ndone:\n  ret void\n}";
}

TEST(Emulator, ADivergentShuffleIsAnError) {
  EmulatedLaunch launch;
  launch.num_threads = 64;
  const absl::Status status = RunText(
      Guarded("icmp ne i32 %tid, 37", "call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 1, i32 0, i32 31)", ""),
      launch);
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("thread 32 (warp 1, lane 0) of program (0, 0, 0) waits in shfl.sync.idx.i32"),
                    HasSubstr("for thread 37 (warp 1, lane 5), which has exited")));
}

TEST(Emulator, LanesInDifferentOperationsAreAnError) {
  const absl::Status status =
      RunText(Guarded("icmp ult i32 %tid, 16", "call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 1, i32 0, i32 31)",
                      "call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 true)"),
              EmulatedLaunch());
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("waits in shfl.sync.idx.i32"),
                    HasSubstr("thread 16 (warp 0, lane 16), which waits in vote.any.sync")));
}

TEST(Emulator, HalvesOfAWarpMayDiverge) {
  EXPECT_EQ(
      RunText(Guarded("icmp ult i32 %tid, 16", "call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 65535, i32 1, i32 0, i32 31)",
                      "call i1 @llvm.nvvm.vote.any.sync(i32 -65536, i1 true)"),
              EmulatedLaunch()),
      absl::OkStatus());
}

TEST(Emulator, ABarrierThatNotAllReachIsAnError) {
  EmulatedLaunch launch;
  launch.num_threads = 128;
  const absl::Status status =
      RunText(Guarded("icmp ult i32 %tid, 96", "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)", ""), launch);
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("barrier.cta.sync.aligned.all at barrier 0 for 128 threads, of which 96 came"),
                    HasSubstr("thread 96 (warp 3, lane 0) has exited")));
}

TEST(Emulator, UnknownThingsAreNamed) {
  EXPECT_THAT(
      LoadText("define ptx_kernel void @kernel() {\n  call void @llvm.nvvm.wgmma.fence.sync.aligned()\n  ret void\n}")
          .status(),
      ::testing::Property(&absl::Status::code, absl::StatusCode::kUnimplemented));
  const auto named = [](absl::string_view text) { return std::string(LoadText(text).status().message()); };
  EXPECT_THAT(
      named("define ptx_kernel void @kernel() {\n  call void @llvm.nvvm.wgmma.fence.sync.aligned()\n  ret void\n}"),
      HasSubstr("\"wgmma.fence.sync.aligned\""));
  EXPECT_THAT(named("define ptx_kernel void @kernel() {\n  call void asm \"/*odd*/ ret;\", \"\"()\n  ret void\n}"),
              HasSubstr("/*odd*/"));
  EXPECT_THAT(
      named("define ptx_kernel void @kernel() {\n  call void @missing()\n  ret void\n}\ndeclare void @missing()"),
      HasSubstr("missing"));
  EXPECT_EQ(LoadText("define void @other() {\n  ret void\n}").status().code(), absl::StatusCode::kNotFound);
}

TEST(Emulator, AnEndlessLoopIsAnError) {
  EmulatedLaunch launch;
  launch.max_loop_iterations = 100'000;
  const absl::Status status =
      RunText("define ptx_kernel void @kernel() {\n  br label %loop\nloop:\n  br label %loop\n}", launch);
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace trivet::jit
