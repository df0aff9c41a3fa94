// Where pointers come from: the kernel parameter they were computed from, or memory and integers.
#pragma once

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "vm/bytecode/module.h"

namespace trivet::vm {

struct Provenance {
  static constexpr int kNothing = -2;  // no pointer reached this value (yet)
  static constexpr int kUnknown = -1;  // several parameters, or none

  int source = kNothing;    // index of the kernel's parameter
  bool is_foreign = false;  // may come from memory or from an integer

  // What a value is that is one or the other.
  Provenance Or(const Provenance& other) const;
  friend bool operator==(const Provenance&, const Provenance&) = default;
};

// For every function that `entry` reaches: by value, the provenance of pointers, block pointers and descriptors.
using ProvenanceMap = absl::flat_hash_map<FunctionId, std::vector<Provenance>>;

// Follows pointers forward from the parameters of `entry` through control flow and calls, until nothing changes.
ProvenanceMap FindProvenance(const Module& module, FunctionId entry);

}  // namespace trivet::vm
