// Layouts to test with: many small ones of every kind, and random ones.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "jit/layout/tile_layout.h"

namespace trivet::jit {

// Blocked layouts of `shape` in every order of axes and with vectors of 1 to 16, their repetitions removed.
std::vector<TileLayout> BlockedFamily(const Extents& shape, int num_warps);

// BlockedFamily, and what slicing away an axis of a larger tile, transposing and reshaping leave.
std::vector<TileLayout> SmallFamily(const Extents& shape, int num_warps);

// A layout of `shape` whose index bits are anywhere, with up to two superfluous register bits.
TileLayout RandomLayout(const Extents& shape, int num_warps, std::mt19937& random);

}  // namespace trivet::jit
