// Loads and stores in global memory, as wide as layout, alignment and mask allow.
#pragma once

#include "jit/lowering/nvptx/inline_ptx.h"

namespace trivet::jit {

// How many neighbouring registers of the layout one access may take: they are neighbours along an axis whose addresses
// are consecutive and aligned (`pointer`), and share their mask (`mask` may be null). At most 16 bytes.
int AccessElements(const TileLayout& layout, const AxisInfo& pointer, const AxisInfo* mask, int element_bytes);

// Loads `type`'s elements at `pointers`, `vector` registers at a time. `masks` and `other` may be empty; without
// `other` masked-off elements are 0.
Registers LoadGlobal(LoweringContext& cx, const vm::Type& type, const Registers& pointers, const Registers& masks,
                     const Registers& other, int vector, const CacheHints& hints);

// `masks` may be empty.
void StoreGlobal(LoweringContext& cx, const vm::Type& type, const Registers& pointers, const Registers& values,
                 const Registers& masks, int vector, const CacheHints& hints);

}  // namespace trivet::jit
