// Which memory a launch may touch, and whose it is.
//
// Arguments register their allocations. CPU memory is used in place. An access outside every allocation is a trap that
// names the tensor it was aimed at, never a signal; see docs/semantics.md#memory for pointers that were read from
// memory.
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

// Bytes [begin, end) of which the kernel may touch each.
struct MemoryRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool is_writable = false;

  // True if [address, address + size) lies inside. Requires size <= 2^63.
  bool Holds(uint64_t address, uint64_t size) const {
    return address >= begin && address <= end && size <= end - address;
  }
};

// The allocations of a launch, by address. Immutable while programs run, so read without locks.
class AllocationRegistry {
 public:
  // Adds an allocation. Overlapping ones are legal (two views of one storage).
  void Add(Allocation allocation);
  // Orders the table for Find. Call once after the last Add.
  void Seal();

  // The range that holds [address, address + size) and permits the access, or nullptr. Storages that overlap make one
  // range; where they differ in writability, the range of the storage that permits it.
  const MemoryRange* FindRange(uint64_t address, int64_t size_bytes, bool for_writing) const;
  // The allocation whose storage holds [address, address + size), or nullptr.
  const Allocation* Find(uint64_t address, int64_t size_bytes) const;
  // The first allocation of whose storage [address, address + size) holds some byte, or nullptr. Requires size > 0.
  const Allocation* FindOverlapping(uint64_t address, int64_t size_bytes) const;
  // True if there is one. Fast.
  bool Overlaps(uint64_t address, int64_t size_bytes) const;
  // The allocation nearest to `address`, for messages; nullptr if there is none.
  const Allocation* FindNearest(uint64_t address) const;
  // The allocation of this name, or nullptr.
  const Allocation* FindByName(absl::string_view name) const;
  const std::vector<Allocation>& allocations() const { return allocations_; }

 private:
  std::vector<Allocation> allocations_;  // by storage_base
  std::vector<MemoryRange> readable_;    // disjoint, by begin
  std::vector<MemoryRange> writable_;    // of the writable storages only
};

// "x_ptr[3, 7]": the element of `allocation`'s view at `address`; with "+ 2 bytes" when that is inside an element. An
// index may lie outside the shape. Views whose strides overlap or run backwards give "x_ptr + 40 bytes".
std::string DescribeAddress(const Allocation& allocation, uint64_t address);

// What the operating system lets this process do at `address`: a range around it, empty if it is not mapped. Slow.
MemoryRange FindProcessMapping(uint64_t address);

}  // namespace trivet::vm
