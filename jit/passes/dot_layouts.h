// Which instruction serves a matrix product, and in which layouts it wants its operands and gives its result.
#pragma once

#include <optional>

#include "jit/layout/mma_layouts.h"
#include "vm/bytecode/module.h"

namespace trivet::jit {

struct DotLayouts {
  MmaKind kind = MmaKind::kHalf;
  TileLayout a;       // [M, K], or [B, M, K]
  TileLayout b;       // [K, N]
  TileLayout result;  // [M, N]; of the accumulator too
};

// Layouts for mma.sync (PTX ISA, "mma"; sm_80 and later), or nothing when no instruction serves these types or the tile
// is smaller than the instruction: then products are summed by fma, which takes any layout.
std::optional<DotLayouts> MmaLayouts(const vm::Function& function, const vm::Operation& dot, int num_warps,
                                     int compute_capability);

}  // namespace trivet::jit
