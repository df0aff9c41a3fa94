// Warp operations and barriers with values, and what a module may contain besides.
#include <numeric>

#include "absl/strings/str_cat.h"
#include "emulator_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trivet::jit {
namespace {

// What each of 64 threads gets from `body`, which computes %r of type i32 from %tid and %lane.
std::vector<uint32_t> PerThread(absl::string_view body, uint64_t seed = 0) {
  std::vector<uint32_t> out(64, 0xdead);
  EmulatedLaunch launch;
  launch.num_threads = 64;
  launch.seed = seed;
  launch.arguments = {AddressOf(out)};
  const absl::Status status = RunText(absl::StrCat(R"(
define ptx_kernel void @kernel(ptr addrspace(1) %out) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %tid
)",
                                                   body, "\n  store i32 %r, ptr addrspace(1) %to\n  ret void\n}"),
                                      launch);
  EXPECT_EQ(status, absl::OkStatus()) << body;
  return out;
}

TEST(EmulatedWarp, ShufflesInAllModes) {
  const auto shuffle = [](absl::string_view mode, int b, int c) {
    return PerThread(
        absl::StrCat("%r = call i32 @llvm.nvvm.shfl.sync.", mode, ".i32(i32 -1, i32 %tid, i32 ", b, ", i32 ", c, ")"),
        3);
  };
  const auto idx = shuffle("idx", 5, 31), up = shuffle("up", 3, 0), down = shuffle("down", 3, 31),
             bfly = shuffle("bfly", 9, 31);
  const auto segments = shuffle("down", 1, 0x181f);  // segments of 8 lanes: mask 0x18
  for (uint32_t t = 0; t < 64; ++t) {
    const uint32_t lane = t % 32, first = t - lane;
    EXPECT_EQ(idx[t], first + 5);
    EXPECT_EQ(up[t], lane < 3 ? t : t - 3);
    EXPECT_EQ(down[t], lane > 28 ? t : t + 3);
    EXPECT_EQ(bfly[t], first + (lane ^ 9));
    EXPECT_EQ(segments[t], lane % 8 == 7 ? t : t + 1);
  }
}

TEST(EmulatedWarp, AShuffleSaysWhetherItWasInRange) {
  const auto out = PerThread(R"(
  %pair = call {float, i1} @llvm.nvvm.shfl.sync.up.f32p(i32 -1, float 1.5, i32 1, i32 0)
  %p = extractvalue {float, i1} %pair, 1
  %f = extractvalue {float, i1} %pair, 0
  %i = fptosi float %f to i32
  %z = zext i1 %p to i32
  %r = add i32 %z, %i)");
  for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], t % 32 == 0 ? 1u : 2u);
}

TEST(EmulatedWarp, Votes) {
  const auto ballot =
      PerThread("%c = icmp ult i32 %lane, 3\n  %r = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %c)");
  EXPECT_EQ(ballot[40], 7u);
  const auto vote = [](absl::string_view kind, int limit) {
    return PerThread(absl::StrCat("%c = icmp ult i32 %lane, ", limit, "\n  %v = call i1 @llvm.nvvm.vote.", kind,
                                  ".sync(i32 -1, i1 %c)\n  %r = zext i1 %v to i32"))[9];
  };
  EXPECT_EQ(vote("all", 31), 0u);
  EXPECT_EQ(vote("all", 32), 1u);
  EXPECT_EQ(vote("any", 0), 0u);
  EXPECT_EQ(vote("any", 1), 1u);
  EXPECT_EQ(vote("uni", 0), 1u);
  EXPECT_EQ(vote("uni", 1), 0u);
}

TEST(EmulatedWarp, MatchesReductionsElections) {
  EXPECT_EQ(PerThread("%h = lshr i32 %lane, 3\n  %r = call i32 @llvm.nvvm.match.any.sync.i32(i32 -1, i32 %h)")[41],
            0xff00u);
  EXPECT_EQ(PerThread("%r = call i32 @llvm.nvvm.redux.sync.add(i32 %tid, i32 -1)")[33], 32u * 32 + 496);
  EXPECT_EQ(PerThread("%n = sub i32 10, %tid\n  %r = call i32 @llvm.nvvm.redux.sync.min(i32 %n, i32 -1)")[0],
            static_cast<uint32_t>(-21));
  EXPECT_EQ(PerThread("%n = sub i32 10, %tid\n  %r = call i32 @llvm.nvvm.redux.sync.umin(i32 %n, i32 -1)")[0], 0u);
  EXPECT_EQ(PerThread("%r = call i32 @llvm.nvvm.redux.sync.xor(i32 %lane, i32 -1)")[0], 0u);
  const auto elected = PerThread(
      "%e = call {i32, i1} @llvm.nvvm.elect.sync(i32 -1)\n  %b = extractvalue {i32, i1} %e, 1\n  %r = zext i1 %b to "
      "i32");
  EXPECT_EQ(std::accumulate(elected.begin(), elected.end(), 0u), 2u);
  EXPECT_EQ(elected[32], 1u);
}

TEST(EmulatedWarp, TheActiveMaskIsWhoIsThere) {
  const auto out = PerThread(R"(
  %few = icmp ult i32 %lane, 4
  br i1 %few, label %then, label %else
then:
  %a = call i32 @llvm.nvvm.activemask()
  br label %done
else:
  %b = call i32 @llvm.nvvm.activemask()
  br label %done
done:
  %r = phi i32 [%a, %then], [%b, %else])");
  EXPECT_EQ(out[0], 15u);
  EXPECT_EQ(out[5], 0xfffffff0u);
}

TEST(EmulatedWarp, BarriersReduce) {
  EXPECT_EQ(
      PerThread(
          "%c = icmp ult i32 %tid, 40\n  %r = call i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 %c)")[63],
      40u);
  const auto all = PerThread(
      "%c = icmp ult i32 %tid, 63\n  %v = call i1 @llvm.nvvm.barrier.cta.red.and.aligned.all(i32 1, i1 %c)\n  %r = "
      "zext i1 %v to i32");
  EXPECT_EQ(all[0], 0u);
}

// Warp 0 produces, warp 1 consumes: arrive does not wait, sync does.
TEST(EmulatedWarp, ArriveAndSyncOnANamedBarrier) {
  constexpr char kText[] = R"(
@box = internal addrspace(3) global [32 x i32] undef, align 16
define ptx_kernel void @kernel(ptr addrspace(1) %out) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %slot = getelementptr i32, ptr addrspace(3) @box, i32 %lane
  %producer = icmp ult i32 %tid, 32
  br i1 %producer, label %produce, label %consume
produce:
  %v = mul i32 %lane, 3
  store i32 %v, ptr addrspace(3) %slot
  call void @llvm.nvvm.barrier.cta.arrive.aligned.count(i32 3, i32 64)
  ret void
consume:
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 3, i32 64)
  %w = load i32, ptr addrspace(3) %slot
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %lane
  store i32 %w, ptr addrspace(1) %to
  ret void
})";
  for (uint64_t seed = 0; seed < 5; ++seed) {
    std::vector<uint32_t> out(32);
    EmulatedLaunch launch;
    launch.num_threads = 64;
    launch.seed = seed;
    launch.arguments = {AddressOf(out)};
    ASSERT_EQ(RunText(kText, launch), absl::OkStatus());
    for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], 3 * i);
  }
}

TEST(EmulatedWarp, AnAlignedBarrierWantsItsWarpTogether) {
  EmulatedLaunch launch;
  constexpr char kText[] = R"(
define ptx_kernel void @kernel() {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp ult i32 %tid, 16
  br i1 %c, label %then, label %else
then:
  call void @llvm.nvvm.barrier.cta.syncALIGNED.all(i32 0)
  ret void
else:
  call void @llvm.nvvm.barrier.cta.syncALIGNED.all(i32 0)
  ret void
})";
  for (const bool aligned : {false, true}) {
    std::string text = kText;
    for (size_t at; (at = text.find("ALIGNED")) != std::string::npos;) text.replace(at, 7, aligned ? ".aligned" : "");
    EXPECT_EQ(RunText(text, launch).code(), aligned ? absl::StatusCode::kAborted : absl::StatusCode::kOk);
  }
}

TEST(EmulatedModule, CallsConstantsStructsAndTraps) {
  constexpr char kText[] = R"(
@table = internal addrspace(4) constant [4 x i32] [i32 10, i32 20, i32 30, i32 40]
define internal i32 @twice(i32 %x) noinline {
  %r = mul i32 %x, 2
  ret i32 %r
}
define ptx_kernel void @kernel(ptr addrspace(1) %out, i8 %small, half %h, i64 %big, ptr byval([16 x i32]) %bytes) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %i = and i32 %lane, 3
  %p = getelementptr [4 x i32], ptr addrspace(4) @table, i32 0, i32 %i
  %v = load i32, ptr addrspace(4) %p
  %w = call i32 @twice(i32 %v)
  %s = sext i8 %small to i32
  %sum = add i32 %w, %s
  %f = fptosi half %h to i32
  %sum2 = add i32 %sum, %f
  %b = trunc i64 %big to i32
  %sum3 = add i32 %sum2, %b
  %q = getelementptr i32, ptr %bytes, i32 3
  %last = load i32, ptr %q
  %sum4 = add i32 %sum3, %last
  %local = alloca i32
  store i32 %sum4, ptr %local
  %again = load volatile i32, ptr %local
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %lane
  store i32 %again, ptr addrspace(1) %to
  ret void
})";
  std::vector<uint32_t> out(32);
  std::vector<uint32_t> bytes(16);
  bytes[3] = 100000;
  EmulatedLaunch launch;
  launch.arguments = {AddressOf(out), 0xff, 0x4900, 1000, AddressOf(bytes)};  // -1, 10.0
  ASSERT_EQ(RunText(kText, launch), absl::OkStatus());
  EXPECT_EQ(out[2], 60u - 1 + 10 + 1000 + 100000);
  launch.arguments = {};
  EXPECT_EQ(RunText("define ptx_kernel void @kernel() {\n  call void @llvm.trap()\n  unreachable\n}", launch).code(),
            absl::StatusCode::kAborted);
}

TEST(EmulatedModule, SharedAddressesSurviveThirtyTwoBits) {
  constexpr char kText[] = R"(
@trivet_shared = external addrspace(3) global [0 x i8], align 1024
@fixed = internal addrspace(3) global [4 x i32] undef, align 16
define ptx_kernel void @kernel(ptr addrspace(1) %out) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %p = getelementptr i32, ptr addrspace(3) @trivet_shared, i32 %lane
  %address = ptrtoint ptr addrspace(3) %p to i32
  %q = inttoptr i32 %address to ptr addrspace(3)
  store i32 %lane, ptr addrspace(3) %q
  %generic = addrspacecast ptr addrspace(3) %p to ptr
  %v = load i32, ptr %generic
  %offset = and i32 %address, 1023
  %r = add i32 %v, %offset
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %lane
  store i32 %r, ptr addrspace(1) %to
  store i32 1, ptr addrspace(3) @fixed
  ret void
})";
  std::vector<uint32_t> out(32);
  EmulatedLaunch launch;
  launch.shared_bytes = 128;
  launch.arguments = {AddressOf(out)};
  ASSERT_EQ(RunText(kText, launch), absl::OkStatus());
  EXPECT_EQ(out[5], 5u + 20);
}

TEST(EmulatedModule, ItsOwnGlobalsMayBeUsed) {
  constexpr char kText[] = R"(
@table = internal addrspace(1) global [32 x i32] zeroinitializer, align 16
define ptx_kernel void @kernel(ptr addrspace(1) %out) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %p = getelementptr i32, ptr addrspace(1) @table, i32 %lane
  store i32 %lane, ptr addrspace(1) %p
  %v = load i32, ptr addrspace(1) %p
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %lane
  store i32 %v, ptr addrspace(1) %to
  ret void
})";
  std::vector<uint32_t> out(32);
  EmulatedLaunch launch;
  launch.arguments = {AddressOf(out)};
  launch.allocations = {RangeOf(out)};
  ASSERT_EQ(RunText(kText, launch), absl::OkStatus());
  EXPECT_EQ(out[31], 31u);
}

TEST(EmulatedModule, OtherKernelsDontMatter) {
  constexpr char kText[] = R"(
declare i32 @__nvvm_reflect(ptr)
define ptx_kernel void @other() {
  call void @llvm.nvvm.wgmma.fence.sync.aligned()
  ret void
}
define internal i32 @flush() {
  %r = call i32 @__nvvm_reflect(ptr null)
  ret i32 %r
}
define ptx_kernel void @kernel(ptr addrspace(1) %out) {
  %r = call i32 @flush()
  store i32 %r, ptr addrspace(1) %out
  ret void
})";
  std::vector<int> out(1, -1);
  EmulatedLaunch launch;
  launch.arguments = {AddressOf(out)};
  ASSERT_EQ(RunText(kText, launch), absl::OkStatus());
  EXPECT_EQ(out[0], 0);
}

TEST(EmulatedModule, AFrameThatNoStackHoldsIsAnError) {
  const auto with = [](int bytes) {
    return LoadText(absl::StrCat("define ptx_kernel void @kernel() {\n  %a = alloca [", bytes,
                                 " x i8]\n  store volatile i8 0, ptr %a\n  ret void\n}"))
        .status();
  };
  EXPECT_EQ(with(400'000), absl::OkStatus());
  EXPECT_EQ(with(4'000'000).code(), absl::StatusCode::kResourceExhausted);
}

TEST(EmulatedModule, LaunchesThatNoGpuTakes) {
  auto kernel = LoadText("define ptx_kernel void @kernel(i32 %n) {\n  ret void\n}");
  ASSERT_TRUE(kernel.ok());
  EmulatedLaunch launch;
  EXPECT_EQ((*kernel)->Launch(launch).code(), absl::StatusCode::kInvalidArgument);  // no argument
  launch.arguments = {1};
  EXPECT_EQ((*kernel)->Launch(launch), absl::OkStatus());
  launch.num_threads = 48;
  EXPECT_EQ((*kernel)->Launch(launch).code(), absl::StatusCode::kInvalidArgument);
  launch.num_threads = 64;
  launch.shared_bytes = 232449;
  EXPECT_EQ((*kernel)->Launch(launch).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace trivet::jit
