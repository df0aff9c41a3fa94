// Atomic read-modify-write of one element of memory.
#pragma once

#include <cstdint>

#include "vm/bytecode/op_info.h"
#include "vm/bytecode/types.h"

namespace trivet::vm {

struct AtomicCombiner {
  // *address = kind(*address, *value), at once. Puts what was there before into *old unless that is null. True if the
  // bits in memory are others now. `address` must be a multiple of element_bytes, and may be accessed.
  bool (*combine)(uint64_t address, const void* value, void* old) = nullptr;
  int element_bytes = 0;
};

// The combiner for elements of type `dtype`: an integer of 8 or more bits or a float of 16 or more. Floats are combined
// as `addf`, `minf` and `maxf` that ignore NaN; bitwise kinds take integers only.
AtomicCombiner CombinerOf(AtomicOp kind, DType dtype);

}  // namespace trivet::vm
