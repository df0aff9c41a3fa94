#include "vm/interpreter/frame.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "vm/bytecode/parser.h"

namespace trivet::vm {
namespace {

FrameLayout LayOut(const Module& module, bool keep_values = false) {
  FrameRequest request;
  request.function = &module.functions[0];
  request.root = module.functions[0].body;
  request.keep_values = keep_values;
  absl::StatusOr<FrameLayout> layout = LayOutFrame(request);
  EXPECT_TRUE(layout.ok());
  return *layout;
}

uint32_t SlotOfNamed(const Module& module, const FrameLayout& layout, absl::string_view name) {
  const Function& fn = module.functions[0];
  for (uint32_t i = 0; i < fn.num_values(); ++i) {
    if (fn.value(ValueId(i)).name == name) return layout.SlotOf(ValueId(i));
  }
  ADD_FAILURE() << name;
  return kNoSlot;
}

constexpr char kLoop[] = R"(
func @f(%n: i32, %x: tile<16x16xf32>) -> tile<16x16xf32> {
  %0 = constant 0 : i32
  %1 = constant 1 : i32
  %start = addf %x, %x
  %result = for %0, %n, %1, %start : tile<16x16xf32> {
  ^(%i: i32, %acc: tile<16x16xf32>):
    %next = dot %x, %x, %acc : tile<16x16xf32>
    yield %next
  }
  return %result
}
)";

TEST(FrameTest, AnAccumulatorIsOneSlotFromBeginningToEnd) {
  const Module module = *Parse(kLoop);
  const FrameLayout layout = LayOut(module);
  const uint32_t slot = SlotOfNamed(module, layout, "acc");
  EXPECT_EQ(SlotOfNamed(module, layout, "start"), slot);
  EXPECT_EQ(SlotOfNamed(module, layout, "next"), slot);
  EXPECT_EQ(SlotOfNamed(module, layout, "result"), slot);
  EXPECT_EQ(layout.result_slots[0], slot);
  EXPECT_NE(SlotOfNamed(module, layout, "x"), slot);
}

TEST(FrameTest, KeptValuesShareNothing) {
  const Module module = *Parse(kLoop);
  const FrameLayout layout = LayOut(module, true);
  EXPECT_NE(SlotOfNamed(module, layout, "start"), SlotOfNamed(module, layout, "acc"));
  EXPECT_NE(SlotOfNamed(module, layout, "next"), SlotOfNamed(module, layout, "acc"));
}

// All parallel copies among five slots: the sequence has the effect of doing them at once.
TEST(FrameTest, SequencedMovesDoAsMovesAtOnce) {
  constexpr size_t kSlots = 5;
  std::array<size_t, kSlots> from{};
  for (;;) {
    std::vector<Move> moves;
    for (size_t to = 0; to < kSlots; ++to) {
      moves.push_back({static_cast<uint32_t>(8 * to), static_cast<uint32_t>(8 * from[to]), 8});
    }
    size_t scratch_bytes = 0;
    const std::vector<Move> sequence = SequenceMoves(moves, &scratch_bytes);
    alignas(64) std::array<uint64_t, kSlots> frame{0, 1, 2, 3, 4};
    alignas(64) std::array<uint64_t, 1> scratch{};
    ExecContext cx;
    cx.frame = reinterpret_cast<std::byte*>(frame.data());
    cx.scratch = reinterpret_cast<std::byte*>(scratch.data());
    ASSERT_LE(scratch_bytes, 8u);
    RunMoves(cx, sequence);
    for (size_t to = 0; to < kSlots; ++to) ASSERT_EQ(frame[to], from[to]);
    size_t digit = 0;
    while (digit < kSlots && ++from[digit] == kSlots) from[digit++] = 0;
    if (digit == kSlots) break;
  }
}

}  // namespace
}  // namespace trivet::vm
