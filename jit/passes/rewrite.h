// Tools that passes share: replacing values, copying ops, and asking where a region may go.
#pragma once

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "vm/bytecode/module.h"

namespace trivet::jit {

// Values that stand for others from now on. A pass that walks a function in program order applies them to each op as it
// comes by: uses follow definitions, also those in the yield of a loop.
class Replacements {
 public:
  explicit Replacements(vm::Function& fn) : fn_(fn) {}

  // Uses of `from` become uses of `to`, of the same type. The author's name of `from` goes to `to` if that has none.
  void Set(ValueId from, ValueId to);
  // What stands for `value` now.
  ValueId Of(ValueId value) const;
  // Replaces the operands of an op.
  void Apply(vm::Operation& op) const;
  // Replaces operands in the whole function.
  void ApplyEverywhere() const;
  bool empty() const { return to_.empty(); }

 private:
  vm::Function& fn_;
  absl::flat_hash_map<ValueId, ValueId> to_;
};

using ValueMap = absl::flat_hash_map<ValueId, ValueId>;

// A copy of `id` of `from` in `into` (which may be the same function), with copies of its regions, not linked anywhere.
// Operands that `values` has are replaced; results and parameters of regions get new values, which are added to it.
// Locations and names are kept. Calls keep their index, so both functions must be of one module.
OpId CloneOp(const vm::Function& from, OpId id, vm::Function& into, ValueMap& values);

// True if the region, or one inside it, ends in a break or continue of a loop outside the region.
bool LeavesToLoop(const vm::Function& fn, RegionId region);
// True if something in the region returns from the function.
bool Returns(const vm::Function& fn, RegionId region);
// True if the regions of the op, or the op itself, may do more than compute: touch memory, show something, trap or
// call.
bool HasEffects(const vm::Function& fn, OpId id);
// True if the op is pure, yet may trap: its result may go unused, but it may not run where it did not before.
bool MayTrap(const vm::Operation& op);

// Removes from `region` the ops for which `is_dead` (by op index) holds.
void Unlink(vm::Function& fn, RegionId region, const std::vector<bool>& is_dead);

}  // namespace trivet::jit
