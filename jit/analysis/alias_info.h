// Alias info: from which kernel arguments the address behind a pointer, block pointer or descriptor may come.
//
//   kernel @k(%x: ptr<f32>, %y: ptr<f32>)
//     %p = addptr %x, %offs            bases {x}
//     %q = select %c, %p, %y           bases {x, y}
//     %t = load %table : ptr<f32>      unknown: made from memory; it may point into anything
//
// Two accesses may touch the same memory unless both have known bases and no base in common that may be shared.
// Arguments are separate parameters but may be one tensor (an in-place kernel), so different bases *may* alias as well,
// unless the launch is known to pass disjoint storages (`distinct_arguments`).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vm/bytecode/module.h"

namespace trivet::jit {

// Bases of a pointer: parameters of the function, or "unknown".
struct AliasInfo {
  static constexpr int kMaxParameters = 64;  // parameters beyond have bases that are unknown

  uint64_t parameters = 0;  // bit i: parameter i
  bool is_unknown = false;

  static AliasInfo Unknown() { return {.is_unknown = true}; }
  // The only parameter it comes from; -1 if there are several, or it is unknown.
  int parameter() const;
  friend bool operator==(const AliasInfo&, const AliasInfo&) = default;
};

class AliasAnalysis {
 public:
  static AliasAnalysis Run(const vm::Function& fn);

  // Of a pointer, tile of pointers, block pointer or descriptor. Of other values: what an int_to_ptr of it would have.
  const AliasInfo& Get(ValueId value) const { return infos_[value.index()]; }
  // Whether accesses through the two may touch the same byte.
  bool MayAlias(ValueId a, ValueId b, bool distinct_arguments = false) const;

 private:
  std::vector<AliasInfo> infos_;
};

// The operand through which an op accesses memory (pointer, block pointer or descriptor); none if it does not.
ValueId AccessedThrough(const vm::Operation& op);

}  // namespace trivet::jit
