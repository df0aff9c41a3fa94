// What `assume` ops say about single values, found before an analysis runs.
//
// An assume holds where it is reached. Its fact is used for every use of the value only if whoever defines the value
// also reaches the assume: both stand in one region, and nothing between them can leave it or go on forever.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "vm/bytecode/module.h"

namespace trivet::jit {

// value <predicate> bound, or value % modulus == 0 where modulus is not 0.
struct Assumption {
  vm::CmpPredicate predicate = vm::CmpPredicate::kEq;
  int64_t bound = 0;
  int64_t modulus = 0;
};

class Assumptions {
 public:
  explicit Assumptions(const vm::Function& fn);

  // What is assumed of the value. Cheap.
  absl::Span<const Assumption> Of(ValueId value) const { return by_value_[value.index()]; }

 private:
  struct Place {
    RegionId region;
    int exits_before = 0;  // ops before it in its region after which the rest may not run
  };

  void FindPlaces(RegionId region);
  void Add(ValueId condition, const Place& place);
  bool MayNotComplete(OpId id) const;

  const vm::Function& fn_;
  std::vector<Place> places_;   // by value
  std::vector<OpId> defining_;  // by value; none for parameters
  std::vector<absl::InlinedVector<Assumption, 1>> by_value_;
};

// The op that defines each value; none for parameters of regions.
std::vector<OpId> DefiningOps(const vm::Function& fn);

// The integer that the value is in every element, if a `constant` (or a splat, broadcast or reshape of one) makes it.
// Sign- or zero-extended by its type.
std::optional<int64_t> ConstantInteger(const vm::Function& fn, const std::vector<OpId>& defining, ValueId value);

}  // namespace trivet::jit
