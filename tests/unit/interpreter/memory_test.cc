#include "vm/interpreter/memory.h"

#include <numeric>

#include "gmock/gmock.h"
#include "tests/unit/interpreter/launch_text.h"

namespace trivet::vm {
namespace {

using ::testing::HasSubstr;
using testing::TextKernel;

// out[i] = x[i] + y[i] for blocks of 16, masked by n.
constexpr char kAdd[] = R"(
kernel @add(%x_ptr: ptr<f32>, %y_ptr: ptr<f32>, %out_ptr: ptr<f32>, %n: i32) {
  %pid = program_id axis=0 : i32
  %16 = constant 16 : i32
  %start = muli %pid, %16
  %starts = splat %start : tile<16xi32>
  %range = arange start=0 end=16 : tile<16xi32>
  %offsets = addi %starts, %range
  %ns = splat %n : tile<16xi32>
  %mask = cmpi %offsets, %ns predicate=lt : tile<16xi1>
  %xs = splat %x_ptr : tile<16xptr<f32>>
  %xp = addptr %xs, %offsets
  %x = load %xp, %mask : tile<16xf32> loc("add.py":7:9)
  %ys = splat %y_ptr : tile<16xptr<f32>>
  %yp = addptr %ys, %offsets
  %y = load %yp, %mask : tile<16xf32>
  %sum = addf %x, %y
  %outs = splat %out_ptr : tile<16xptr<f32>>
  %outp = addptr %outs, %offsets
  store %outp, %sum, %mask
  return
}
)";

struct AddCase {
  std::vector<float> x = std::vector<float>(1000);
  std::vector<float> y = std::vector<float>(1000, 0.5f);
  std::vector<float> out = std::vector<float>(1000, -1.0f);
  AddCase() { std::iota(x.begin(), x.end(), 0.0f); }
  void Add(TextKernel& kernel, uint64_t n, bool out_is_writable = true) {
    kernel.Array("x_ptr", x, DType::kF32).Array("y_ptr", y, DType::kF32);
    kernel.Array("out_ptr", out, DType::kF32, out_is_writable).Word(n);
  }
};

TEST(MemoryTest, AddsVectorsAndLeavesMaskedLanesAlone) {
  for (Schedule schedule : {Schedule::kInOrder, Schedule::kThreads, Schedule::kRandom, Schedule::kRoundRobin}) {
    AddCase data;
    TextKernel kernel(kAdd);
    data.Add(kernel, 995);
    const LaunchResult result = kernel.Run(63, schedule);
    ASSERT_TRUE(result.status.ok()) << result.status.message();
    for (size_t i = 0; i < 1000; ++i) EXPECT_EQ(data.out[i], i < 995 ? static_cast<float>(i) + 0.5f : -1.0f);
  }
}

TEST(MemoryTest, NamesTensorIndexPlaceAndProgramOutOfBounds) {
  AddCase data;
  TextKernel kernel(kAdd);
  data.Add(kernel, 1008);
  const LaunchResult result = kernel.Run(63);
  ASSERT_TRUE(result.trap.has_value());
  EXPECT_EQ(result.trap->kind, TrapKind::kOutOfBounds);
  EXPECT_EQ(result.trap->location, "add.py:7:9");
  EXPECT_EQ(result.trap->message,
            "add.py:7:9 in @add: load is out of bounds: x_ptr[1000] is outside shape [1000] (element 8), in program "
            "(62, 0, 0) of @add");
}

TEST(MemoryTest, NullPointersAndReadOnlyMemoryTrap) {
  AddCase data;
  TextKernel null_kernel(kAdd);
  null_kernel.Word(0).Word(0).Word(0).Word(16);
  EXPECT_THAT(std::string(null_kernel.Run(1).status.message()), HasSubstr("load through a null pointer: x_ptr"));

  TextKernel read_only(kAdd);
  data.Add(read_only, 16, false);
  const LaunchResult result = read_only.Run(1);
  ASSERT_TRUE(result.trap.has_value());
  EXPECT_EQ(result.trap->kind, TrapKind::kReadOnly);
  EXPECT_THAT(result.trap->message, HasSubstr("store to read-only memory: out_ptr[0]"));
  EXPECT_EQ(data.out[0], -1.0f);
}

TEST(MemoryTest, PointersReadFromMemoryReachTheProcess) {
  // Not registered: found through a table of pointers.
  std::vector<float> hidden{1, 2, 3};
  std::vector<uint64_t> table{reinterpret_cast<uint64_t>(hidden.data()), 0x10000};
  std::vector<float> out{0};
  constexpr char kIndirect[] = R"(
kernel @k(%table: ptr<ptr<f32>>, %out: ptr<f32>, %which: i32) {
  %2 = constant 2 : i32
  %entry = addptr %table, %which
  %p = load %entry : ptr<f32>
  %q = addptr %p, %2
  %x = load %q : f32
  store %out, %x
  return
}
)";
  TextKernel kernel(kIndirect);
  kernel.Array("table", table, DType::kU64).Array("out", out, DType::kF32).Word(0);
  EXPECT_TRUE(kernel.Run(1).status.ok());
  EXPECT_EQ(out[0], 3.0f);
  kernel.request.arguments[2].words[0] = 1;
  EXPECT_THAT(std::string(kernel.Run(1).status.message()),
              HasSubstr("pointer points to address 0x10008, which is no memory of this launch"));
}

TEST(MemoryTest, OtherAndBooleans) {
  std::vector<uint8_t> flags{0, 2, 255, 1};
  std::vector<uint8_t> out(8, 9);
  TextKernel kernel(R"(
kernel @k(%flags: ptr<i1>, %out: ptr<i1>) {
  %range = arange start=0 end=8 : tile<8xi32>
  %4 = constant 4 : tile<8xi32>
  %mask = cmpi %range, %4 predicate=lt : tile<8xi1>
  %true = constant true : tile<8xi1>
  %fs = splat %flags : tile<8xptr<i1>>
  %fp = addptr %fs, %range
  %f = load %fp, %mask, %true : tile<8xi1>
  %os = splat %out : tile<8xptr<i1>>
  %op = addptr %os, %range
  store %op, %f
  return
}
)");
  kernel.Array("flags", flags, DType::kI1).Array("out", out, DType::kI1);
  EXPECT_TRUE(kernel.Run(1).status.ok());
  EXPECT_EQ(out, (std::vector<uint8_t>{0, 1, 1, 1, 1, 1, 1, 1}));
}

TEST(MemoryTest, BlockPointersPadAndSkipOutsideTheTensor) {
  std::vector<float> x(15);
  std::iota(x.begin(), x.end(), 1.0f);
  std::vector<float> out(16, -1);
  TextKernel kernel(R"(
kernel @k(%x: ptr<f32>, %out: ptr<f32>) {
  %3 = constant 3 : i64
  %5 = constant 5 : i64
  %1 = constant 1 : i64
  %4 = constant 4 : i64
  %i0 = constant 0 : i32
  %i1 = constant 1 : i32
  %m1 = constant -1 : i32
  %b = make_block_ptr %x, %3, %5, %5, %1, %i0, %i0 order=[1, 0] : blockptr<4x4xf32>
  %moved = advance %b, %m1, %i1 : blockptr<4x4xf32>
  %t = block_load %moved boundary_check=[0, 1] padding=zero : tile<4x4xf32>
  %o = make_block_ptr %out, %4, %4, %4, %1, %i0, %i1 order=[1, 0] : blockptr<4x4xf32>
  block_store %o, %t boundary_check=[0, 1]
  return
}
)");
  kernel.Array("x", x, DType::kF32).Array("out", out, DType::kF32);
  const LaunchResult result = kernel.Run(1);
  ASSERT_TRUE(result.status.ok()) << result.status.message();
  EXPECT_EQ(out, (std::vector<float>{-1, 0, 0, 0, -1, 2, 3, 4, -1, 7, 8, 9, -1, 12, 13, 14}));
}

TEST(MemoryTest, DescriptorsPadGatherAndScatter) {
  std::vector<float> x(12);
  std::iota(x.begin(), x.end(), 0.0f);
  std::vector<float> out(12, -1);
  TextKernel kernel(R"(
kernel @k(%x: desc<1x4xf32>, %out: desc<1x4xf32>, %rows: ptr<i32>) {
  %range = arange start=0 end=4 : tile<4xi32>
  %ps = splat %rows : tile<4xptr<i32>>
  %p = addptr %ps, %range
  %r = load %p : tile<4xi32>
  %m1 = constant -1 : i32
  %t = desc_gather %x, %r, %m1 : tile<4x4xf32>
  %0 = constant 0 : i32
  desc_scatter %out, %t, %r, %0
  return
}
)");
  std::vector<int32_t> rows{2, 5, 0, -1};
  for (auto [name, data] : {std::pair{"x", &x}, std::pair{"out", &out}}) {
    kernel.Array(name, *data, DType::kF32);
    const uint64_t base = kernel.request.arguments.back().words[0];
    kernel.request.arguments.back().words = {base, 1, 3, 4, 4, 1};
  }
  kernel.Array("rows", rows, DType::kI32);
  const LaunchResult result = kernel.Run(1);
  ASSERT_TRUE(result.status.ok()) << result.status.message();
  EXPECT_EQ(out, (std::vector<float>{0, 0, 1, 2, -1, -1, -1, -1, 0, 8, 9, 10}));
}

TEST(AllocationRegistryTest, OverlappingStoragesAreOneRange) {
  AllocationRegistry registry;
  registry.Add({"a", 1000, 100, 1000, DType::kI8, {100}, {1}, true});
  registry.Add({"b", 1050, 100, 1050, DType::kI8, {100}, {1}, false});
  registry.Add({"c", 2000, 8, 2000, DType::kF32, {2}, {1}, true});
  registry.Seal();
  EXPECT_NE(registry.FindRange(1000, 150, false), nullptr);
  EXPECT_EQ(registry.FindRange(1000, 151, false), nullptr);
  EXPECT_EQ(registry.FindRange(1090, 20, true), nullptr);
  EXPECT_NE(registry.FindRange(1090, 10, true), nullptr);
  EXPECT_EQ(registry.Find(1120, 4)->name, "b");
  EXPECT_EQ(registry.FindNearest(1900)->name, "c");
  EXPECT_EQ(registry.FindRange(0, 1, false), nullptr);
}

TEST(AllocationRegistryTest, DescribesAddressesByIndex) {
  const Allocation matrix{"m", 1000, 400, 1000, DType::kF32, {10, 10}, {10, 1}, true};
  EXPECT_EQ(DescribeAddress(matrix, 1000 + 4 * 37), "m[3, 7]");
  EXPECT_EQ(DescribeAddress(matrix, 1400), "m[10, 0]");
  EXPECT_EQ(DescribeAddress(matrix, 996), "m[-1, 9]");
  EXPECT_EQ(DescribeAddress(matrix, 1002), "m[0, 0] + 2 bytes");
  const Allocation transposed{"t", 1000, 400, 1000, DType::kF32, {10, 10}, {1, 10}, true};
  EXPECT_EQ(DescribeAddress(transposed, 1000 + 4 * 37), "t[7, 3]");
}

}  // namespace
}  // namespace trivet::vm
