// Falling back to the interpreter with device tensors: results come back, and nothing else changes.
#include "jit/runtime/mirrored_memory.h"

#include "gmock/gmock.h"
#include "jit/runtime/written_parameters.h"
#include "tests/unit/runtime/device_kernel.h"

namespace trivet::jit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class MirroredMemoryTest : public RuntimeTest {
 protected:
  DeviceLaunch Launch(uint64_t from, uint64_t to, int n) {
    DeviceLaunch launch;
    launch.request.grid = {(n + 3) / 4, 1, 1};
    launch.request.arguments = {{{from}}, {{to}}, {{static_cast<uint64_t>(n)}}};
    return launch;
  }
  static void AddTensors(DeviceLaunch& launch, std::vector<vm::Allocation> tensors) {
    for (vm::Allocation& tensor : tensors) launch.request.memory.Add(std::move(tensor));
    launch.request.memory.Seal();
  }
};

TEST_F(MirroredMemoryTest, WritesResultsBack) {
  const auto kernel = Load(kDoubleText);
  const DeviceArray<float> from(*driver_, {1, 2, 3, 4, 5, 6});
  const DeviceArray<float> to(*driver_, {0, 0, 0, 0, 0, 0});
  DeviceLaunch launch = Launch(from.address(), to.address(), 5);
  AddTensors(launch, {from.AsTensor("from", vm::DType::kF32), to.AsTensor("to", vm::DType::kF32)});
  const absl::StatusOr<vm::LaunchResult> result = LaunchMirrored(*driver_, *kernel, launch);
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_TRUE(result->status.ok()) << result->status;
  EXPECT_THAT(to.values(), ElementsAre(2, 4, 6, 8, 10, 0));
  EXPECT_EQ(fake_cuda::CallCount("cuMemcpyHtoDAsync_v2"), 1) << "what is only read does not go back";
}

TEST_F(MirroredMemoryTest, WorksInPlaceAndThroughInnerPointers) {
  const auto kernel = Load(kDoubleText);
  const DeviceArray<float> both(*driver_, {1, 2, 3, 4, 5, 6});
  DeviceLaunch launch = Launch(both.address() + 4, both.address() + 4, 4);
  AddTensors(launch, {both.AsTensor("from", vm::DType::kF32), both.AsTensor("to", vm::DType::kF32)});
  ASSERT_TRUE(LaunchMirrored(*driver_, *kernel, launch)->status.ok());
  EXPECT_THAT(both.values(), ElementsAre(1, 4, 6, 8, 10, 6));
}

TEST_F(MirroredMemoryTest, FindsTheAllocationsOfBarePointers) {
  const auto kernel = Load(kDoubleText);
  const DeviceArray<float> from(*driver_, {1, 2, 3, 4});
  const DeviceArray<float> to(*driver_, {0, 0, 0, 0});
  const absl::StatusOr<vm::LaunchResult> result =
      LaunchMirrored(*driver_, *kernel, Launch(from.address(), to.address(), 4));
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_TRUE(result->status.ok()) << result->status;
  EXPECT_THAT(to.values(), ElementsAre(2, 4, 6, 8));
}

TEST_F(MirroredMemoryTest, UsesHostMemoryInPlace) {
  const auto kernel = Load(kDoubleText);
  const std::vector<float> from = {1, 2, 3, 4};
  const DeviceArray<float> to(*driver_, {0, 0, 0, 0});
  const auto base = reinterpret_cast<uint64_t>(from.data());
  DeviceLaunch launch = Launch(base, to.address(), 4);
  AddTensors(launch, {{"from", base, 16, base, vm::DType::kF32, {4}, {1}, false}, to.AsTensor("to", vm::DType::kF32)});
  ASSERT_TRUE(LaunchMirrored(*driver_, *kernel, launch)->status.ok());
  EXPECT_THAT(to.values(), ElementsAre(2, 4, 6, 8));
}

TEST_F(MirroredMemoryTest, ATrapLeavesTheDeviceAsItWas) {
  const auto kernel = Load(kDoubleText);
  const DeviceArray<float> from(*driver_, {1, 2, 3, 4});
  const DeviceArray<float> to(*driver_, {0, 0, 0, 0, 0, 0, 0, 0});
  DeviceLaunch launch = Launch(from.address(), to.address(), 8);  // `from` has four elements only
  launch.request.options.schedule = vm::Schedule::kInOrder;
  AddTensors(launch, {from.AsTensor("from", vm::DType::kF32), to.AsTensor("to", vm::DType::kF32)});
  const absl::StatusOr<vm::LaunchResult> result = LaunchMirrored(*driver_, *kernel, launch);
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_TRUE(result->trap.has_value());
  EXPECT_THAT(result->trap->message, HasSubstr("from[4]"));
  EXPECT_THAT(to.values(), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0));
}

TEST_F(MirroredMemoryTest, OnlyChangedPagesGoBack) {
  const auto kernel = Load(kDoubleText);
  const DeviceArray<float> from(*driver_, {1, 2, 3, 4});
  const DeviceArray<float> to(*driver_, std::vector<float>(3000, 0.0f));
  DeviceLaunch launch = Launch(from.address(), to.address() + 4 * 2000, 4);
  AddTensors(launch, {from.AsTensor("from", vm::DType::kF32), to.AsTensor("to", vm::DType::kF32)});
  MirroredMemory memory = *MirroredMemory::Copy(*driver_, kernel->module(), launch);
  ASSERT_TRUE(vm::Launch(*kernel, memory.request()).status.ok());
  to.data()[0] = 7;  // another stream
  ASSERT_TRUE(memory.WriteBack().ok());
  EXPECT_EQ(to.data()[2000], 2);
  EXPECT_EQ(to.data()[2003], 8);
  EXPECT_EQ(to.data()[0], 7);
}

TEST_F(MirroredMemoryTest, KeepsTheAlignmentOfAddresses) {
  const auto kernel = Load(kDoubleText);
  const DeviceArray<float> both(*driver_, std::vector<float>(64, 1.0f));
  DeviceLaunch launch = Launch(both.address() + 36, both.address() + 100, 4);
  AddTensors(launch, {both.AsTensor("both", vm::DType::kF32)});
  const MirroredMemory memory = *MirroredMemory::Copy(*driver_, kernel->module(), launch);
  EXPECT_EQ(memory.request().arguments[0].words[0] % 4096, (both.address() + 36) % 4096);
  EXPECT_NE(memory.request().arguments[0].words[0], both.address() + 36);
  EXPECT_EQ(memory.request().arguments[2].words[0], 4u) << "numbers stay";
}

TEST_F(MirroredMemoryTest, RefusesACapture) {
  const auto kernel = Load(kDoubleText);
  DeviceLaunch launch = Launch(0, 0, 0);
  launch.stream = NewStream();
  fake_cuda::BeginCapture(launch.stream, cuda::kCaptureGlobal);
  const absl::Status status = LaunchMirrored(*driver_, *kernel, launch).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("kernel 'double' would run on the interpreter"));
  EXPECT_TRUE(fake_cuda::EndCapture(launch.stream));
}

TEST_F(MirroredMemoryTest, ReportsFaultsOfEarlierKernels) {
  const auto kernel = Load(kDoubleText);
  fake_cuda::FaultAtNextSynchronisation(700);
  const absl::Status status = LaunchMirrored(*driver_, *kernel, Launch(0, 0, 0)).status();
  EXPECT_TRUE(IsDeviceFault(status)) << status;
}

TEST_F(MirroredMemoryTest, CountsArguments) {
  const auto kernel = Load(kDoubleText);
  DeviceLaunch launch = Launch(0, 0, 0);
  launch.request.arguments.pop_back();
  EXPECT_THAT(std::string(LaunchMirrored(*driver_, *kernel, launch).status().message()),
              HasSubstr("takes 3 arguments, not 2"));
}

// Adds one to what each entry of a table points to, and keeps the sum of a counter.
constexpr char kTableText[] = R"(
kernel @bump(%table: ptr<i64>, %n: i32) {
  %i = program_id axis=0 : i32
  %entry = addptr %table, %i
  %address = load %entry : i64
  %p = int_to_ptr %address : ptr<i32>
  %v = load %p : i32
  %one = constant 1 : i32
  %w = addi %v, %one
  store %p, %w
  return
}
)";

TEST_F(MirroredMemoryTest, FollowsTablesOfPointers) {
  const auto kernel = Load(kTableText);
  const DeviceArray<int32_t> a(*driver_, {10, 20});
  const DeviceArray<int32_t> b(*driver_, {30, 40});
  const std::vector<int64_t> entries = {static_cast<int64_t>(a.address() + 4), static_cast<int64_t>(b.address()), 7};
  const DeviceArray<int64_t> table(*driver_, entries);
  DeviceLaunch launch;
  launch.request.grid = {2, 1, 1};
  launch.request.arguments = {{{table.address()}}, {{2}}};
  // One of the two is an argument elsewhere, and so known; the other is found.
  AddTensors(launch, {table.AsTensor("table", vm::DType::kI64), b.AsTensor("b", vm::DType::kI32)});
  const absl::StatusOr<vm::LaunchResult> result = LaunchMirrored(*driver_, *kernel, launch);
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_TRUE(result->status.ok()) << result->status;
  EXPECT_THAT(a.values(), ElementsAre(10, 21));
  EXPECT_THAT(b.values(), ElementsAre(31, 40));
  EXPECT_EQ(table.values(), entries) << "the table keeps its device addresses";
}

TEST_F(MirroredMemoryTest, TablesAreRightAgainAfterRestoreAndForComparing) {
  const auto kernel = Load(kTableText);
  const DeviceArray<int32_t> a(*driver_, {10, 20});
  const DeviceArray<int64_t> table(*driver_, {static_cast<int64_t>(a.address())});
  DeviceLaunch launch;
  launch.request.arguments = {{{table.address()}}, {{1}}};
  AddTensors(launch, {table.AsTensor("table", vm::DType::kI64)});
  MirroredMemory memory = *MirroredMemory::Copy(*driver_, kernel->module(), launch);
  for (int i = 0; i < 2; ++i) {
    const vm::LaunchResult result = vm::Launch(*kernel, memory.request());
    ASSERT_TRUE(result.status.ok()) << result.status;
    ASSERT_TRUE(memory.ReadDevice().ok());
    EXPECT_EQ(*static_cast<const int64_t*>(memory.FindCopy(table.address())), table.values()[0]);
    EXPECT_EQ(*static_cast<const int32_t*>(memory.FindCopy(a.address())), 11);
    memory.Restore();
  }
  EXPECT_EQ(a.values()[0], 10);
}

std::vector<bool> Written(const std::string& text, bool* anywhere = nullptr) {
  const auto kernel = Load(text);
  const WrittenParameters written = FindWrittenParameters(kernel->module(), *FindKernel(kernel->module(), {}));
  if (anywhere != nullptr) *anywhere = written.writes_anywhere;
  return written.may_write;
}

TEST(WrittenParametersTest, FollowsPointers) { EXPECT_THAT(Written(kDoubleText), ElementsAre(false, true, false)); }

TEST(WrittenParametersTest, LooksIntoCallsAndAtAtomics) {
  EXPECT_THAT(Written(R"(
kernel @f(%a: ptr<i32>, %b: ptr<i32>, %c: ptr<i32>) {
  call %a callee=@put
  %one = constant 1 : i32
  %old = atomic_rmw %b, %one kind=add : i32
  %v = load %c : i32
  return
}
func @put(%p: ptr<i32>) {
  %one = constant 1 : i32
  store %p, %one
  return
}
)"),
              ElementsAre(true, true, false));
}

TEST(WrittenParametersTest, APointerOutOfMemoryMayPointAnywhere) {
  bool anywhere = false;
  EXPECT_THAT(Written(R"(
kernel @f(%a: ptr<i32>, %table: ptr<ptr<i32>>, %n: i32) {
  %p = load %table : ptr<i32>
  store %p, %n
  return
}
)",
                      &anywhere),
              ElementsAre(true, true, false));
  EXPECT_TRUE(anywhere);
}

}  // namespace
}  // namespace trivet::jit
