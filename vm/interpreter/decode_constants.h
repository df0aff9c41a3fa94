// Constants and aranges of a kernel: computed once an arena and never written, so they lie behind the frames, each
// once.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "absl/status/statusor.h"
#include "vm/bytecode/module.h"
#include "vm/interpreter/frame.h"

namespace trivet::vm {

// A constant or arange: computed once an arena.
struct ArenaConstant {
  uint32_t slot = 0;
  int64_t count = 0;
  int element_bytes = 0;
  bool is_arange = false;
  uint64_t bits = 0;  // of each element; of an arange, the first
};

// Gives constants their slots. Where the frames end is known last: until then a slot is *tagged*, an offset into the
// constants with a bit that no offset into the frames has.
class ConstantPool {
 public:
  explicit ConstantPool(const Module& module) : module_(module) {}

  // By value of the function: the constant or arange that defines it, or none.
  const std::vector<OpId>& In(FunctionId id);
  // The tagged slot of `lanes` copies of a constant. Errors: ResourceExhausted.
  absl::StatusOr<uint32_t> SlotOf(const Function& fn, OpId id, int64_t lanes);

  uint64_t size_bytes() const { return size_bytes_; }
  std::vector<ArenaConstant>& constants() { return constants_; }

  // `slot`, without a tag: for constants that begin at offset `base`.
  static uint32_t Untag(uint32_t slot, uint64_t base) {
    const bool is_tagged = slot >= kTag && slot < kScratchSlot;
    return is_tagged ? (slot & ~kTag) + static_cast<uint32_t>(base) : slot;
  }

 private:
  static constexpr uint32_t kTag = 0x80000000u;
  static_assert(kMaxFrameBytes <= kTag);

  const Module& module_;
  absl::node_hash_map<FunctionId, std::vector<OpId>> ops_;  // its values keep their places: In gives references
  absl::flat_hash_map<std::tuple<uint64_t, int64_t, int, bool>, uint32_t> slots_;  // tagged
  std::vector<ArenaConstant> constants_;
  uint64_t size_bytes_ = 0;
};

}  // namespace trivet::vm
