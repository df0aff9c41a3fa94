// Axis info: how a value varies along each axis of its tile. It decides how wide loads and stores may be, which axis
// the threads of a warp should follow, and how many lanes share a mask.
//
// Along one axis, all other indices fixed, cut the tile into aligned runs:
//
//   contiguity C     within each run of C elements the values go up by one: v[i] == v[run start] + (i mod C)
//   divisibility D   the first value of each run of C elements is a multiple of D
//   constancy K      within each run of K elements all values are equal
//
// All three are powers of two; C and K divide the extent. For pointers "one" is one element of the pointee, and D
// counts bytes. A scalar has one axis of extent 1. Each claim stands alone, holds for all values of the other indices,
// and is modulo 2^width of the type. Example, with %n a multiple of 16 and %x_ptr aligned to 16 bytes:
//
//                                            C    D       K
//   %pid  = program_id axis=0                1    1       1
//   %b    = muli %pid, 128                   1    128     1
//   %o    = arange start=0 end=128           128  2^62    1      the run starts with 0, which everything divides
//   %bs   = splat %b                         1    128     128
//   %offs = addi %bs, %o                     128  128     1
//   %mask = cmpi %offs, %n predicate=lt      1    1       16     16 lanes are all in or all out
//   %x    = splat %x_ptr                     1    16      128
//   %p    = addptr %x, %offs  (f32)          128  16      1      so 16 bytes, 4 lanes, may be loaded at once
//
// For a 2-d tile of pointers base + row * stride + column, axis 1 has C = columns and D = what divides base and stride;
// axis 0 has C = 1 and D = 4, since a claim about axis 0 holds for every column.
//
// Lattice, for one axis: (C, D, K) is at least (1, 1, 1), which says nothing; a join takes the smaller of each, where D
// of a longer run counts for its shorter pieces only as far as they begin at multiples of it (DivisibilityAt). Facts
// come from constants, arange, launch facts, ranges (range_info.h: division rounds towards zero, so runs must not be
// negative), assume ops and the author's hints, which are taken on trust.
//
// Block pointers and descriptors have one axis per axis of the block: C, D as the tile of pointers they stand for would
// have (a descriptor: at offset 0), and K is how many elements share the boundary check along this axis.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "jit/analysis/argument_facts.h"
#include "jit/analysis/range_info.h"
#include "vm/bytecode/module.h"

namespace trivet::jit {

// What is taken on trust beyond hints and assumes.
enum class Trust : uint8_t {
  kNothing,  // all claims hold for all arguments
  // The dividend of a remainder is not negative, and its divisor not zero. `(pid * 64 + arange) % n` then has runs,
  // though the product might wrap. A claim is wrong only where a run begins at a negative multiple of the divisor.
  kRemainders,
  // Also: nothing wraps, and dividends of quotients aren't negative. Good for choosing layouts; no code may rely on it.
  kArithmetic,
};

struct AxisInfo {
  using PerAxis = absl::InlinedVector<int64_t, 4>;

  PerAxis contiguity;
  PerAxis divisibility;
  PerAxis constancy;
  // The value of every element, where it is known. Integers and bools only; extended as the type's sign says.
  std::optional<int64_t> constant;
  // What +1 means in bytes, of pointers and block pointers; 1 for numbers.
  int64_t unit = 1;
  // Block pointers and descriptors only: a power of two that divides each stride in bytes.
  PerAxis stride_divisibility;

  int rank() const { return static_cast<int>(contiguity.size()); }
  // What divides the first value of each aligned run of `run` elements along `axis`; `run` is a power of two.
  int64_t DivisibilityAt(int axis, int64_t run) const;
  // What divides every element.
  int64_t DivisibilityOfAll() const;
  // Of pointers: how many neighbours along `axis` one access may take, as far as addresses go: a power of two. The mask
  // allows as many as its constancy says.
  int64_t ElementsPerAccess(int axis) const;
  // The axis along which elements lie closest: of the largest contiguity, the last one if several have it.
  int FastestAxis() const;
  // "contiguity 1x64, divisibility 4x16, constancy 1x1", and " constant 3".
  std::string ToString() const;

  // Says nothing, about a value of this type.
  static AxisInfo Unknown(const vm::Type& type);
  friend bool operator==(const AxisInfo&, const AxisInfo&) = default;
};

// The largest divisibility that is ever claimed.
inline constexpr int64_t kMaxDivisibility = int64_t{1} << 62;

class AxisInfoAnalysis {
 public:
  // Facts of helper functions' parameters are unknown, unless `facts` has them: inline first. `ranges` must be of this
  // function and these facts.
  static AxisInfoAnalysis Run(const vm::Function& fn, const ArgumentFacts& facts, const RangeAnalysis& ranges,
                              Trust trust = Trust::kNothing);
  static AxisInfoAnalysis Run(const vm::Function& fn, const ArgumentFacts& facts, Trust trust = Trust::kNothing);

  const AxisInfo& Get(ValueId value) const { return infos_[value.index()]; }
  // Of a desc_load, desc_store or desc_reduce: the info of the block it touches, as of a block pointer there.
  AxisInfo OfDescriptorAccess(const vm::Function& fn, const vm::Operation& op) const;
  // The value's info and that of what it is made of:
  // "%p: contiguity 128, divisibility 16, constancy 1; addptr of %x: contiguity 1, ...".
  std::string Why(const vm::Function& fn, ValueId value) const;

 private:
  std::vector<AxisInfo> infos_;
};

}  // namespace trivet::jit
