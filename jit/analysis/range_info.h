// Ranges: between which numbers an integer value, or every element of a tile, lies.
//
// A range is closed, [lo, hi], in the numbers that the value's type holds; u64 values above 2^63 - 1 have no other
// range than the full one. Whatever may wrap gives the full range of the type:
//
//   %pid = program_id axis=0         [0, 2^31 - 1]
//   %o   = arange start=0 end=128    [0, 127]
//   %b   = muli %pid, 128            [-2^31, 2^31 - 1]   it may wrap; the grid is not known here
//   %r   = remi %o, 16               [0, 15]
//   for %i from 0 to %n by 4         %i: [0, hi(%n) - 1]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jit/analysis/argument_facts.h"
#include "vm/bytecode/module.h"

namespace trivet::jit {

struct Range {
  int64_t lo;
  int64_t hi;

  // What a value of this element type can be; i1 is [0, 1]. Of u64: [-2^63, 2^63 - 1], its bits seen as signed, which
  // says nothing.
  static Range Full(vm::DType dtype);
  bool Contains(int64_t value) const { return lo <= value && value <= hi; }
  bool is_constant() const { return lo == hi; }
  // "[0, 127]".
  std::string ToString() const;
  friend bool operator==(const Range&, const Range&) = default;
};

class RangeAnalysis {
 public:
  // Linear in the size of the function, times the nesting of loops.
  static RangeAnalysis Run(const vm::Function& fn, const ArgumentFacts& facts = {});

  // The range of an integer or bool value. Of others: what says nothing.
  Range Get(ValueId value) const { return ranges_[value.index()]; }
  // Signed: it is not negative. Unsigned: always.
  bool IsNonNegative(ValueId value) const { return is_unsigned_[value.index()] || Get(value).lo >= 0; }
  // It is not zero in any element.
  bool IsNonZero(ValueId value) const { return !Get(value).Contains(0); }
  // A condition or mask that holds (or fails) in every element.
  bool IsAlwaysTrue(ValueId value) const { return Get(value) == Range{1, 1}; }
  bool IsAlwaysFalse(ValueId value) const { return Get(value) == Range{0, 0}; }
  // "%mask is [1, 1]: %offs is [0, 127], %n is [128, 128]".
  std::string Why(const vm::Function& fn, ValueId value) const;

 private:
  std::vector<Range> ranges_;
  std::vector<bool> is_unsigned_;
};

}  // namespace trivet::jit
