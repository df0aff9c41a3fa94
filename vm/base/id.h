// Id<Tag>: a 32-bit index that only fits the array it was made for.
//
// Functions own their ops, values and regions in dense arrays; code passes ids, never pointers into them.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace trivet {

// An index into the array of `Tag`s of one function or module. The default is "none".
template <typename Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(uint32_t index) : index_(index) {}

  static constexpr Id None() { return Id(); }
  constexpr bool is_none() const { return index_ == kNone; }
  constexpr explicit operator bool() const { return !is_none(); }
  constexpr uint32_t index() const { return index_; }

  friend constexpr auto operator<=>(Id, Id) = default;

  template <typename H>
  friend H AbslHashValue(H h, Id id) {
    return H::combine(std::move(h), id.index_);
  }

 private:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  uint32_t index_ = kNone;
};

struct OpTag;
struct ValueTag;
struct RegionTag;
struct FunctionTag;

using OpId = Id<OpTag>;
using ValueId = Id<ValueTag>;
using RegionId = Id<RegionTag>;
using FunctionId = Id<FunctionTag>;

static_assert(sizeof(OpId) == 4 && std::is_trivially_copyable_v<OpId>);

}  // namespace trivet
