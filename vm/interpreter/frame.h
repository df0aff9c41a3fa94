// Where the values of a function lie in memory: one offset a value, fixed when decoding.
//
// A frame is laid out from liveness. Ops are numbered in program order; op p reads at time 2p and writes at 2p + 1. A
// value lives from its definition to its last use, or to the end of the loop around its uses if it was defined before
// that loop. Since control is structured, two values may share memory when their times don't meet.
//
// Values connected by a copy (what a loop carries, what an if yields, an accumulator and its successor) are given one
// slot where their times permit, which removes the copy.
//
//   %acc = ...                  lives to the loop's begin
//   for (%a = %acc) {           from the loop's begin to the dot
//     %b = dot %x, %y, %a       from the dot to the yield
//     yield %b
//   } -> %r                     from the loop's end                 all four are one slot, nothing is copied
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "vm/bytecode/module.h"
#include "vm/interpreter/exec_context.h"

namespace trivet::vm {

// The largest frame, and the largest sum of frames of a launch, in bytes.
inline constexpr uint64_t kMaxFrameBytes = uint64_t{1} << 30;

struct FrameRequest {
  const Function* function = nullptr;
  RegionId root;             // the body, or the region of a reduce, scan or map_elementwise
  int64_t lanes = 1;         // elements of each value, times its own
  uint64_t begin = 0;        // first free offset
  bool pin_params = false;   // parameters keep their slots to the end
  bool keep_values = false;  // no slot is used twice, so that every value can be read later
};

struct FrameLayout {
  // Values first_value, first_value + 1, ...: all that root defines, and hardly any else.
  uint32_t first_value = 0;
  std::vector<ValueId> same_as;                  // by value: the value whose slot it has, itself for most
  std::vector<uint32_t> slots;                   // by value; kNoSlot for constants and for values outside root
  std::vector<uint32_t> result_slots;            // where `return`, or the yield of a region, puts its values
  absl::flat_hash_map<OpId, uint32_t> counters;  // of each for: 8 bytes for the iterations that remain
  uint64_t end = 0;

  bool Covers(ValueId value) const { return value.index() - first_value < slots.size(); }
  ValueId SameAs(ValueId value) const { return Covers(value) ? same_as[value.index() - first_value] : value; }
  // kNoSlot for constants and for values outside root.
  uint32_t SlotOf(ValueId value) const {
    const ValueId same = SameAs(value);
    return Covers(same) ? slots[same.index() - first_value] : kNoSlot;
  }
};

// True for ops whose value never changes while an executable lives: they are computed once an arena.
inline bool IsArenaConstant(Op op) { return op == Op::kConstant || op == Op::kArange; }

// True if the result has the bits of operand 0, in its order, so that both can be one slot.
bool IsSameBits(Op op);

// Lays out the values of root and of the regions of its control flow. Errors: ResourceExhausted.
absl::StatusOr<FrameLayout> LayOutFrame(const FrameRequest& request);

// Bytes that a value of `type` takes in a frame, for `lanes` elements at a time.
inline uint64_t SlotBytes(const Type& type, int64_t lanes) { return static_cast<uint64_t>(type.value_bytes() * lanes); }
// Where it may start.
inline uint64_t SlotAlignment(const Type& type, int64_t lanes) {
  return type.is_tile() || lanes > 1 ? kSlotAlignment : 8;
}

// A copy inside a frame.
struct Move {
  uint32_t to = 0;
  uint32_t from = 0;
  uint32_t size_bytes = 0;
};
// As Move::to or Move::from: the worker's scratch memory.
inline constexpr uint32_t kScratchSlot = kNoSlot - 1;

// An order of copies with the effect of doing all `moves` at once. Slots are the same or disjoint, never overlapping in
// part, and no two moves have one `to`. Cycles pass through scratch memory, of which `scratch_bytes` are then needed.
std::vector<Move> SequenceMoves(std::vector<Move> moves, size_t* scratch_bytes);

// Does sequenced moves.
void RunMoves(const ExecContext& cx, const std::vector<Move>& moves);

}  // namespace trivet::vm
