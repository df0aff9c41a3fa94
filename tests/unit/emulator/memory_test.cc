// Asynchronous copies, masked accesses, atomics, races, alignment.
#include <numeric>

#include "absl/strings/str_cat.h"
#include "emulator_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trivet::jit {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Per lane: copies 16 bytes of %in to shared memory, and stores what is there at `when` to %out.
std::string AsyncCopy(absl::string_view before_read, absl::string_view copy = "") {
  return absl::StrCat(
      R"(
@trivet_shared = external addrspace(3) global [0 x i8], align 1024
define ptx_kernel void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %from = getelementptr <4 x i32>, ptr addrspace(1) %in, i32 %lane
  %to = getelementptr <4 x i32>, ptr addrspace(3) @trivet_shared, i32 %lane
  %result = getelementptr <4 x i32>, ptr addrspace(1) %out, i32 %lane
)",
      copy.empty() ? "call void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3) %to, ptr addrspace(1) %from)"
                   : copy,
      "\n", before_read, R"(
  %value = load <4 x i32>, ptr addrspace(3) %to
  store <4 x i32> %value, ptr addrspace(1) %result
  ret void
})");
}

struct Copied {
  absl::Status status;
  std::vector<uint32_t> out;
};

Copied RunCopy(const std::string& text, bool check_races) {
  std::vector<uint32_t> in(128), out(128);
  std::iota(in.begin(), in.end(), 1000u);
  EmulatedLaunch launch;
  launch.shared_bytes = 512;
  launch.check_races = check_races;
  launch.arguments = {AddressOf(in), AddressOf(out)};
  return {RunText(text, launch), out};
}

TEST(EmulatedAsyncCopy, AppearsAtTheWait) {
  const Copied copied = RunCopy(AsyncCopy("call void @llvm.nvvm.cp.async.wait.all()"), true);
  ASSERT_EQ(copied.status, absl::OkStatus());
  for (uint32_t i = 0; i < 128; ++i) EXPECT_EQ(copied.out[i], 1000 + i);
}

TEST(EmulatedAsyncCopy, GivesOldBytesBeforeTheWait) {
  const Copied copied = RunCopy(AsyncCopy("call void @llvm.nvvm.cp.async.commit.group()"), false);
  ASSERT_EQ(copied.status, absl::OkStatus());
  EXPECT_EQ(copied.out[7], 0xa5a5a5a5u);
}

TEST(EmulatedAsyncCopy, ReadBeforeTheWaitIsARace) {
  const Copied copied = RunCopy(AsyncCopy(""), true);
  EXPECT_EQ(copied.status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(copied.status.message()), AllOf(HasSubstr("it reads byte 0"), HasSubstr("without a wait")));
}

TEST(EmulatedAsyncCopy, WaitsForAllGroupsButTheNewest) {
  constexpr char kGroups[] =
      "call void @llvm.nvvm.cp.async.commit.group()\n  call void @llvm.nvvm.cp.async.commit.group()\n"
      "  call void @llvm.nvvm.cp.async.wait.group(i32 ";
  EXPECT_EQ(RunCopy(AsyncCopy(absl::StrCat(kGroups, "1)")), true).out[0], 1000u);
  EXPECT_EQ(RunCopy(AsyncCopy(absl::StrCat(kGroups, "2)")), false).out[0], 0xa5a5a5a5u);
}

TEST(EmulatedAsyncCopy, FillsWithZeros) {
  const Copied copied = RunCopy(
      AsyncCopy(
          "call void @llvm.nvvm.cp.async.wait.all()",
          "call void @llvm.nvvm.cp.async.cg.shared.global.16.s(ptr addrspace(3) %to, ptr addrspace(1) %from, i32 8)"),
      true);
  ASSERT_EQ(copied.status, absl::OkStatus());
  EXPECT_THAT(copied.out[4], 1004u);
  EXPECT_THAT(copied.out[5], 1005u);
  EXPECT_THAT(copied.out[6], 0u);
  EXPECT_THAT(copied.out[7], 0u);
}

TEST(EmulatedMemory, MaskedAccessesAsTheLoweringWritesThem) {
  constexpr char kText[] = R"(
define ptx_kernel void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %from = getelementptr <2 x i32>, ptr addrspace(1) %in, i32 %lane
  %to = getelementptr <2 x i32>, ptr addrspace(1) %out, i32 %lane
  %few = icmp ult i32 %lane, 4
  %even = trunc i32 %lane to i1
  %r = call {i32, i32} asm sideeffect "/*masked_load.v2.b32*/ @$2 ld.global.v2.b32 {$0, $1}, [$3];", "=r,=r,b,l,0,1,~{memory}"(i1 %few, ptr addrspace(1) %from, i32 -1, i32 -2)
  %x = extractvalue {i32, i32} %r, 0
  %y = extractvalue {i32, i32} %r, 1
  call void asm sideeffect "/*masked_store.v2.b32*/ @$0 st.global.v2.b32 [$1], {$2, $3};", "b,l,r,r,~{memory}"(i1 %even, ptr addrspace(1) %to, i32 %x, i32 %y)
  ret void
})";
  std::vector<uint32_t> in(8), out(64, 7);
  std::iota(in.begin(), in.end(), 100u);
  EmulatedLaunch launch;
  launch.arguments = {AddressOf(in), AddressOf(out)};
  launch.allocations = {RangeOf(in), RangeOf(out)};  // lanes that are masked off must not touch anything
  ASSERT_EQ(RunText(kText, launch), absl::OkStatus());
  EXPECT_EQ(out[0], 7u);
  EXPECT_EQ(out[2], 102u);
  EXPECT_EQ(out[3], 103u);
  EXPECT_EQ(out[4], 7u);
  EXPECT_EQ(out[10], ~uint32_t{0});
  EXPECT_EQ(out[11], ~uint32_t{1});
}

TEST(EmulatedMemory, MaskedBytesComeInWiderRegisters) {
  constexpr char kText[] = R"(
define ptx_kernel void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %from = getelementptr i8, ptr addrspace(1) %in, i32 %lane
  %to = getelementptr i8, ptr addrspace(1) %out, i32 %lane
  %x = call i16 asm sideeffect "/*masked_load.v1.b8*/ @$1 ld.global.b8 $0, [$2];", "=h,b,l,0,~{memory}"(i1 true, ptr addrspace(1) %from, i16 0)
  %y = add i16 %x, 256
  call void asm sideeffect "/*masked_store.v1.b8*/ @$0 st.global.b8 [$1], $2;", "b,l,h,~{memory}"(i1 true, ptr addrspace(1) %to, i16 %y)
  ret void
})";
  std::vector<uint8_t> in(32), out(33, 99);
  std::iota(in.begin(), in.end(), uint8_t{230});
  EmulatedLaunch launch;
  launch.arguments = {AddressOf(in), AddressOf(out)};
  ASSERT_EQ(RunText(kText, launch), absl::OkStatus());
  EXPECT_TRUE(std::equal(in.begin(), in.end(), out.begin()));
  EXPECT_EQ(out[32], 99);
}

TEST(EmulatedMemory, Atomics) {
  constexpr char kText[] = R"(
define ptx_kernel void @kernel(ptr addrspace(1) %p) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %f = uitofp i32 %lane to float
  %h = uitofp i32 1 to half
  %p1 = getelementptr i32, ptr addrspace(1) %p, i32 1
  %p2 = getelementptr i32, ptr addrspace(1) %p, i32 2
  %p3 = getelementptr i32, ptr addrspace(1) %p, i32 3
  %p4 = getelementptr i32, ptr addrspace(1) %p, i32 4
  %a0 = atomicrmw add ptr addrspace(1) %p, i32 %lane syncscope("device") acq_rel
  %a1 = atomicrmw fadd ptr addrspace(1) %p1, float %f syncscope("block") monotonic
  %a2 = atomicrmw umax ptr addrspace(1) %p2, i32 %lane seq_cst
  %a3 = atomicrmw fadd ptr addrspace(1) %p3, half %h monotonic
  %a4 = cmpxchg ptr addrspace(1) %p4, i32 0, i32 5 syncscope("device") acq_rel monotonic
  ret void
})";
  std::vector<uint32_t> memory(5);
  EmulatedLaunch launch;
  launch.num_threads = 64;
  launch.grid = {3, 1, 1};
  launch.arguments = {AddressOf(memory)};
  ASSERT_EQ(RunText(kText, launch), absl::OkStatus());
  EXPECT_EQ(memory[0], 3 * 2016u);
  EXPECT_EQ(std::bit_cast<float>(memory[1]), 3 * 2016.0f);
  EXPECT_EQ(memory[2], 63u);
  EXPECT_EQ(memory[3], 0x5a00u);  // 192
  EXPECT_EQ(memory[4], 5u);
}

// A lock in shared memory: the lanes that wait must let the holder run.
TEST(EmulatedMemory, ALockLetsItsHolderRun) {
  constexpr char kText[] = R"(
@lock = internal addrspace(3) global i32 undef, align 4
define ptx_kernel void @kernel(ptr addrspace(1) %p) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = icmp eq i32 %tid, 0
  br i1 %first, label %init, label %start
init:
  store i32 0, ptr addrspace(3) @lock
  br label %start
start:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %take
take:
  %got = cmpxchg ptr addrspace(3) @lock, i32 0, i32 1 acquire monotonic
  %ok = extractvalue {i32, i1} %got, 1
  br i1 %ok, label %critical, label %take
critical:
  %old = load i32, ptr addrspace(1) %p
  call void @llvm.nvvm.nanosleep(i32 100)
  %new = add i32 %old, 1
  store i32 %new, ptr addrspace(1) %p
  store atomic i32 0, ptr addrspace(3) @lock release, align 4
  ret void
})";
  for (uint64_t seed = 0; seed < 5; ++seed) {
    std::vector<int> count(1);
    EmulatedLaunch launch;
    launch.num_threads = 64;
    launch.seed = seed;
    launch.arguments = {AddressOf(count)};
    ASSERT_EQ(RunText(kText, launch), absl::OkStatus());
    EXPECT_EQ(count[0], 64);
  }
}

TEST(EmulatedMemory, AWaitWithoutEndIsAnError) {
  constexpr char kText[] = R"(
define ptx_kernel void @kernel(ptr addrspace(1) %p) {
  br label %wait
wait:
  %v = load atomic i32, ptr addrspace(1) %p acquire, align 4
  %done = icmp eq i32 %v, 1
  br i1 %done, label %end, label %wait
end:
  ret void
})";
  std::vector<int> flag(1);
  EmulatedLaunch launch;
  launch.arguments = {AddressOf(flag)};
  launch.max_synchronisations = 10'000;
  EXPECT_EQ(RunText(kText, launch).code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(EmulatedMemory, AMisalignedVectorIsAnError) {
  constexpr char kText[] = R"(
define ptx_kernel void @kernel(ptr addrspace(1) %p) {
  %q = getelementptr i8, ptr addrspace(1) %p, i32 4
  %v = load <4 x i32>, ptr addrspace(1) %q, align 16
  ret void
})";
  std::vector<uint32_t> data(64);
  EmulatedLaunch launch;
  launch.arguments = {(AddressOf(data) + 15) / 16 * 16};
  const absl::Status status = RunText(kText, launch);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("no multiple of 16"));
}

// --- What is a race and what is not -----------------------------------------------------------------------------

// Threads store to and load from shared memory around a point; shared byte offsets are in bytes.
std::string Accesses(absl::string_view store_offset, absl::string_view value, absl::string_view between,
                     absl::string_view load_offset) {
  return absl::StrCat(R"(
@trivet_shared = external addrspace(3) global [0 x i8], align 1024
define ptx_kernel void @kernel() {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = udiv i32 %tid, 32
  %so = )",
                      store_offset, "\n  %v = ", value, "\n  %lo = ", load_offset, R"(
  %s = getelementptr i8, ptr addrspace(3) @trivet_shared, i32 %so
  %l = getelementptr i8, ptr addrspace(3) @trivet_shared, i32 %lo
  store i8 %v, ptr addrspace(3) %s
)",
                      between, R"(
  %r = load volatile i8, ptr addrspace(3) %l
  ret void
})");
}

absl::StatusCode Outcome(const std::string& text) {
  EmulatedLaunch launch;
  launch.num_threads = 64;
  launch.shared_bytes = 64;
  return RunText(text, launch).code();
}

constexpr char kOwn[] = "add i32 %tid, 0";
constexpr char kNeighbour[] = "xor i32 %tid, 1";
constexpr char kOtherWarp[] = "xor i32 %tid, 32";
constexpr char kTid8[] = "trunc i32 %tid to i8";
constexpr char kWarpSync[] = "call void @llvm.nvvm.bar.warp.sync(i32 -1)";
constexpr char kCtaSync[] = "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)";

TEST(EmulatedRaces, NeighbouringBytesAreNone) {
  EXPECT_EQ(Outcome(Accesses(kOwn, kTid8, "", kOwn)), absl::StatusCode::kOk);
}

TEST(EmulatedRaces, AWarpBarrierOrdersAWarp) {
  EXPECT_EQ(Outcome(Accesses(kOwn, kTid8, "", kNeighbour)), absl::StatusCode::kAborted);
  EXPECT_EQ(Outcome(Accesses(kOwn, kTid8, kWarpSync, kNeighbour)), absl::StatusCode::kOk);
}

TEST(EmulatedRaces, AWarpBarrierDoesNotOrderWarps) {
  EXPECT_EQ(Outcome(Accesses(kOwn, kTid8, kWarpSync, kOtherWarp)), absl::StatusCode::kAborted);
  EXPECT_EQ(Outcome(Accesses(kOwn, kTid8, kCtaSync, kOtherWarp)), absl::StatusCode::kOk);
}

TEST(EmulatedRaces, AShuffleOrdersNothing) {
  EXPECT_EQ(Outcome(Accesses(kOwn, kTid8, "%x = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 0, i32 1, i32 31)",
                             kNeighbour)),
            absl::StatusCode::kAborted);
}

TEST(EmulatedRaces, TheSameValueTwiceIsNone) {
  EXPECT_EQ(Outcome(Accesses("and i32 %tid, 31", "trunc i32 7 to i8", kCtaSync, kOwn)), absl::StatusCode::kOk);
  EXPECT_EQ(Outcome(Accesses("and i32 %tid, 31", "trunc i32 %w to i8", kCtaSync, kOwn)), absl::StatusCode::kAborted);
}

TEST(EmulatedRaces, ABarrierOfOneWarpOrdersOnlyThatWarp) {
  constexpr char kNamed[] =
      "%id = add i32 %w, 1\n  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 %id, i32 32)";
  EXPECT_EQ(Outcome(Accesses(kOwn, kTid8, kNamed, kNeighbour)), absl::StatusCode::kOk);
  EXPECT_EQ(Outcome(Accesses(kOwn, kTid8, kNamed, kOtherWarp)), absl::StatusCode::kAborted);
}

TEST(EmulatedRaces, WritingAfterAReadWithoutABarrier) {
  constexpr char kText[] = R"(
@trivet_shared = external addrspace(3) global [0 x i8], align 1024
define ptx_kernel void @kernel() {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %other = xor i32 %tid, 32
  %s = getelementptr i8, ptr addrspace(3) @trivet_shared, i32 %tid
  %l = getelementptr i8, ptr addrspace(3) @trivet_shared, i32 %other
  %v = trunc i32 %tid to i8
  store i8 %v, ptr addrspace(3) %s
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %r = load volatile i8, ptr addrspace(3) %l
  store i8 99, ptr addrspace(3) %s
  ret void
})";
  EmulatedLaunch launch;
  launch.num_threads = 64;
  launch.shared_bytes = 64;
  const absl::Status status = RunText(kText, launch);
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("load by thread 32"), HasSubstr("which thread 0 (warp 0, lane 0) wrote")));
}

TEST(EmulatedRaces, ASecondProgramStartsAfresh) {
  EmulatedLaunch launch;
  launch.num_threads = 64;
  launch.shared_bytes = 64;
  launch.grid = {3, 2, 1};
  EXPECT_EQ(RunText(Accesses(kOwn, kTid8, kCtaSync, kOtherWarp), launch), absl::OkStatus());
}

TEST(EmulatedRaces, AtomicsAreNoneAmongThemselves) {
  constexpr char kText[] = R"(
@counter = internal addrspace(3) global i32 undef, align 4
define ptx_kernel void @kernel(ptr addrspace(1) %out) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %zero = icmp eq i32 %tid, 0
  br i1 %zero, label %init, label %work
init:
  store i32 0, ptr addrspace(3) @counter
  br label %work
work:
  SYNC
  %old = atomicrmw add ptr addrspace(3) @counter, i32 1 monotonic
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %sum = load i32, ptr addrspace(3) @counter
  store i32 %sum, ptr addrspace(1) %out
  ret void
})";
  const std::string text = kText;
  for (const bool with_barrier : {true, false}) {
    std::string one = text;
    one.replace(one.find("SYNC"), 4, with_barrier ? kCtaSync : "");
    std::vector<int> out(1);
    EmulatedLaunch launch;
    launch.num_threads = 128;
    launch.arguments = {AddressOf(out)};
    EXPECT_EQ(RunText(one, launch).code(), with_barrier ? absl::StatusCode::kOk : absl::StatusCode::kAborted);
    if (with_barrier) {
      EXPECT_EQ(out[0], 128);
    }
  }
}

}  // namespace
}  // namespace trivet::jit
