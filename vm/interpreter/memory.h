// Which memory a launch may touch, and whose it is.
//
// Arguments register their allocations. CPU memory is used in place. An access outside every allocation is a trap that
// names the tensor it was aimed at, never a signal; see docs/semantics.md#memory for pointers that were read from memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "vm/bytecode/types.h"

namespace trivet::vm {

// One tensor argument: the storage that backs it and the view the user passed.
struct Allocation {
  std::string name;              // the parameter, "x_ptr"
  uint64_t storage_base = 0;     // first byte of the storage
  int64_t storage_bytes = 0;     // may be larger than the view
  uint64_t view_base = 0;        // address of element [0, 0, ...]
  DType dtype = DType::kNone;    // element type of the view
  std::vector<int64_t> shape;    // of the view, in elements
  std::vector<int64_t> strides;  // of the view, in elements
  bool is_writable = true;
};

// The allocations of a launch, by address. Immutable while programs run, so read without locks.
class AllocationRegistry {
 public:
  // Adds an allocation. Overlapping ones are legal (two views of one storage).
  void Add(Allocation allocation);
  // Orders the table for Find. Call once after the last Add.
  void Seal();

  // The allocation whose storage holds [address, address + size), or nullptr.
  const Allocation* Find(uint64_t address, int64_t size_bytes) const;
  // The allocation nearest to `address`, for messages; nullptr if there is none.
  const Allocation* FindNearest(uint64_t address) const;
  const std::vector<Allocation>& allocations() const { return allocations_; }

 private:
  std::vector<Allocation> allocations_;  // by storage_base
};

// "x_ptr[3, 7]": the element of `allocation`'s view at `address`, or "x_ptr + 5 elements past the end" and the like.
std::string DescribeAddress(const Allocation& allocation, uint64_t address);

}  // namespace trivet::vm
