// Accesses that a kernel may not make though the process could: partly outside a tensor, and misaligned.
#include <algorithm>
#include <cstring>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "tests/unit/interpreter/launch_text.h"

namespace trivet::vm {
namespace {

using ::testing::HasSubstr;
using testing::TextKernel;

// What is done with %p, a pointer to i32. The elements lie at %p, %p + 4, ..., at least seven unless it is one.
struct Access {
  const char* name;
  const char* body;
  bool is_one;
};

void PrintTo(const Access& access, std::ostream* out) { *out << access.name; }

constexpr Access kAccesses[] = {
    {"Load", "%x = load %p : i32", true},
    {"Store", "store %p, %c9", true},
    {"AtomicRmw", "%x = atomic_rmw %p, %c9 kind=xchg : i32", true},
    {"AtomicCas", "%x = atomic_cas %p, %c0, %c9 : i32", true},
    {"LoadTile", "%x = load %contiguous : tile<8xi32>", false},
    {"StoreTile", "store %contiguous, %nines", false},
    {"LoadMasked", "%x = load %contiguous, %mask : tile<8xi32>", false},
    {"StoreMasked", "store %contiguous, %nines, %mask", false},
    {"LoadEachByItself", "%x = load %backward : tile<8xi32>", false},
    {"StoreEachByItself", "store %backward, %nines", false},
    {"AtomicTile", "%x = atomic_rmw %contiguous, %nines kind=xchg : tile<8xi32>", false},
    {"AtomicCasTile", "%x = atomic_cas %contiguous, %zeros, %nines : tile<8xi32>", false},
    {"BlockLoad", "%x = block_load %block boundary_check=[0, 1] : tile<2x4xi32>", false},
    {"BlockStore", "block_store %block, %square boundary_check=[0, 1]", false},
    {"BlockLoadUnchecked", "%x = block_load %block : tile<2x4xi32>", false},
    {"DescLoad", "%x = desc_load %desc, %c0, %c0 : tile<2x4xi32>", false},
    {"DescStore", "desc_store %desc, %square, %c0, %c0", false},
    {"DescReduce", "desc_reduce %desc, %square, %c0, %c0 kind=or", false},
    {"DescGather", "%x = desc_gather %row, %rows, %c0 : tile<8x4xi32>", false},
    {"DescScatter", "desc_scatter %row, %wide, %rows, %c0", false},
};

// %origin is where %p comes from: an i64 or a pointer.
std::string KernelFor(const Access& access, absl::string_view param, absl::string_view pointer) {
  constexpr char kText[] = R"(
kernel @k(%origin: $param) {
  %p = $pointer : ptr<i32>
  %c0 = constant 0 : i32
  %c9 = constant 9 : i32
  %c2 = constant 2 : i32
  %c4 = constant 4 : i32
  %c7 = constant 7 : i32
  %l1 = constant 1 : i64
  %l2 = constant 2 : i64
  %l4 = constant 4 : i64
  %range = arange start=0 end=8 : tile<8xi32>
  %zeros = constant 0 : tile<8xi32>
  %nines = constant 9 : tile<8xi32>
  %square = constant 9 : tile<2x4xi32>
  %wide = constant 9 : tile<8x4xi32>
  %seven = constant 7 : tile<8xi32>
  %ps = splat %p : tile<8xptr<i32>>
  %contiguous = addptr %ps, %range
  %from_end = subi %seven, %range
  %backward = addptr %ps, %from_end
  %mask = cmpi %range, %seven predicate=lt : tile<8xi1>
  %two = constant 2 : tile<8xi32>
  %rows = remi %range, %two
  %block = make_block_ptr %p, %l2, %l4, %l4, %l1, %c0, %c0 order=[1, 0] : blockptr<2x4xi32>
  %desc = make_desc %p, %c2, %c4, %l4, %l1 : desc<2x4xi32>
  %row = make_desc %p, %c2, %c4, %l4, %l1 : desc<1x4xi32>
  $body
  return
}
)";
  return absl::StrReplaceAll(kText, {{"$param", param}, {"$pointer", pointer}, {"$body", access.body}});
}

constexpr int64_t kBytes = 256;

// 256 bytes, of which a tensor "t" of i8 is registered.
struct Arena {
  alignas(64) uint8_t bytes[kBytes] = {};

  uint64_t At(int64_t offset) const { return reinterpret_cast<uint64_t>(bytes) + static_cast<uint64_t>(offset); }
  void Register(TextKernel& kernel, int64_t begin, int64_t end, bool is_writable = true) const {
    const uint64_t base = At(begin);
    kernel.request.memory.Add({"t", base, end - begin, base, DType::kI8, {end - begin}, {1}, is_writable});
  }
};

class AccessTest : public ::testing::TestWithParam<Access> {};

// The pointer is an integer, so the process's own memory beside the tensor may be used, but no element that is partly
// in the tensor.
TEST_P(AccessTest, AnElementPartlyInATensorIsOutOfBounds) {
  struct Case {
    int64_t begin, end;  // of the tensor
    int64_t first;       // byte that %p points to
    std::string where;
  };
  const Case cases[] = {
      {66, 130, 64, "the 4 bytes at t[-2] are partly outside t, shape [64]"},
      {66, 130, 128, "the 4 bytes at t[62] are partly outside t, shape [64]"},
      {130, 131, 128, "the 4 bytes at t[-2] are partly outside t, shape [1]"},
  };
  for (const Case& c : cases) {
    Arena arena;
    TextKernel kernel(KernelFor(GetParam(), "i64", "int_to_ptr %origin"));
    arena.Register(kernel, c.begin, c.end);
    const LaunchResult result = kernel.Word(arena.At(c.first)).Run(1);
    ASSERT_TRUE(result.trap.has_value());
    EXPECT_EQ(result.trap->kind, TrapKind::kOutOfBounds);
    EXPECT_THAT(result.trap->message, HasSubstr(c.where));
    EXPECT_THAT(std::vector<uint8_t>(arena.bytes + c.first, arena.bytes + c.first + 4), ::testing::Each(0));
  }
}

// The same where only some elements of a run reach over an edge, the others being foreign or inside.
TEST_P(AccessTest, AnElementOfARunPartlyInATensorIsOutOfBounds) {
  if (GetParam().is_one) return;
  for (const auto& [begin, end, first] : {std::array<int64_t, 3>{74, 160, 64}, std::array<int64_t, 3>{60, 86, 64}}) {
    Arena arena;
    TextKernel kernel(KernelFor(GetParam(), "i64", "int_to_ptr %origin"));
    arena.Register(kernel, begin, end);
    const LaunchResult result = kernel.Word(arena.At(first)).Run(1);
    ASSERT_TRUE(result.trap.has_value());
    EXPECT_EQ(result.trap->kind, TrapKind::kOutOfBounds);
    const int64_t edge = begin > first ? 72 : 84;
    EXPECT_THAT(std::vector<uint8_t>(arena.bytes + edge, arena.bytes + edge + 4), ::testing::Each(0));
  }
}

// Whether or not anything is registered there.
TEST_P(AccessTest, AMisalignedElementIsATrap) {
  for (const bool is_foreign : {false, true}) {
    Arena arena;
    TextKernel kernel(is_foreign ? KernelFor(GetParam(), "i64", "int_to_ptr %origin")
                                 : KernelFor(GetParam(), "ptr<i8>", "bitcast %origin"));
    if (!is_foreign) arena.Register(kernel, 60, 200);
    const LaunchResult result = kernel.Word(arena.At(66)).Run(1);
    ASSERT_TRUE(result.trap.has_value());
    EXPECT_EQ(result.trap->kind, TrapKind::kMisaligned);
    EXPECT_THAT(result.trap->message, HasSubstr(" is misaligned: "));
    EXPECT_THAT(result.trap->message, HasSubstr(" is not at a multiple of 4 bytes"));
    EXPECT_THAT(arena.bytes, ::testing::Each(0));
  }
}

// What is legal stays so: inside the tensor up to its last byte, and beside it.
TEST_P(AccessTest, ElementsWhollyInsideOrOutsideATensorAreNoTrap) {
  for (const auto& [begin, end] : {std::array<int64_t, 2>{64, 96}, std::array<int64_t, 2>{96, 128},
                                   std::array<int64_t, 2>{32, 64}, std::array<int64_t, 2>{62, 98}}) {
    Arena arena;
    TextKernel kernel(KernelFor(GetParam(), "i64", "int_to_ptr %origin"));
    arena.Register(kernel, begin, end);
    const LaunchResult result = kernel.Word(arena.At(64)).Run(1);
    EXPECT_TRUE(result.status.ok()) << result.status.message();
  }
}

INSTANTIATE_TEST_SUITE_P(Accesses, AccessTest, ::testing::ValuesIn(kAccesses),
                         [](const auto& tested) { return std::string(tested.param.name); });

// Lanes on both sides of a tensor are not the tensor's: nothing but the lane that points into it is refused.
TEST(MemoryEdgesTest, LanesAroundAReadOnlyTensorDontReachIt) {
  constexpr char kText[] = R"(
kernel @k(%origin: i64, %step: i32) {
  %p = int_to_ptr %origin : ptr<i32>
  %range = arange start=0 end=4 : tile<4xi32>
  %steps = splat %step : tile<4xi32>
  %offsets = muli %range, %steps
  %ps = splat %p : tile<4xptr<i32>>
  %q = addptr %ps, %offsets
  store %q, %range
  return
}
)";
  Arena arena;
  TextKernel kernel(kText);
  arena.Register(kernel, 80, 96, false);  // elements 4 to 7
  kernel.Word(arena.At(64)).Word(8);
  EXPECT_TRUE(kernel.Run(1).status.ok());
  EXPECT_EQ(arena.bytes[64 + 4 * 24], 3);

  kernel.request.arguments[1].words[0] = 3;  // elements 0, 3, 6, 9
  const LaunchResult result = kernel.Run(1);
  ASSERT_TRUE(result.trap.has_value());
  EXPECT_EQ(result.trap->kind, TrapKind::kReadOnly);
  EXPECT_THAT(result.trap->message, HasSubstr("read-only memory: t[8] (element 2)"));
  EXPECT_EQ(arena.bytes[64 + 4 * 6], 0);
}

TEST(MemoryEdgesTest, MisalignedLanesAreNamed) {
  std::vector<int32_t> x(8);
  TextKernel kernel(R"(
kernel @k(%x: ptr<i8>) {
  %range = arange start=0 end=4 : tile<4xi32>
  %five = constant 5 : tile<4xi32>
  %offsets = muli %range, %five
  %ps = splat %x : tile<4xptr<i8>>
  %q = addptr %ps, %offsets
  %p = bitcast %q : tile<4xptr<i32>>
  %y = load %p : tile<4xi32>
  return
}
)");
  kernel.Array("x", x, DType::kI32);
  const LaunchResult result = kernel.Run(1);
  ASSERT_TRUE(result.trap.has_value());
  EXPECT_EQ(result.trap->kind, TrapKind::kMisaligned);
  EXPECT_THAT(result.trap->message,
              HasSubstr("load is misaligned: x[1] + 1 bytes is not at a multiple of 4 bytes (element 1)"));
}

}  // namespace
}  // namespace trivet::vm
