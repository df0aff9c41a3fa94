// Which pointers of a function come from a parameter that is only read through (tl.const): by data flow, forward.
//
// A pointer is read-only if one that it was computed from is. Ops are looked at when someone asks; what passes through
// the regions of ifs and loops is told by Follow, since their ops come after what is inside.
#pragma once

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "vm/bytecode/module.h"

namespace trivet::frontend {

class ReadOnlyPointers {
 public:
  // The value is a pointer that came with `parameter`.
  void Mark(ValueId id, const std::string& parameter) { parameter_of_.emplace(id, parameter); }
  // The parameter that the pointer came with; nullptr if it may be written through.
  const std::string* Find(const vm::Function& function, ValueId id);
  // to[i] is from[i] in another region.
  void Follow(const vm::Function& function, absl::Span<const ValueId> from, absl::Span<const ValueId> to);

 private:
  absl::flat_hash_map<ValueId, std::string> parameter_of_;
  size_t seen_ops_ = 0;
};

}  // namespace trivet::frontend
