// Where in shared memory the elements of a tile go on their way from one layout to another.
//
// The aim: both the stores of `from` and the loads of `to` are as wide as they can be and have no bank conflicts. For
// layouts that only move bits (TileLayout) this is a matter of giving each bit of the element's index a place among the
// bits of the byte offset. Bits 0 and 1 are the byte in a word, 2 to 6 the bank, those from 7 on the row of 32 banks.
//
//   1. The vector gets the lowest places: bits that are registers on both sides, or else on one side.
//   2. The lanes that access in the same moment (5, 4 or 3 bits, for up to 4, 8 or 16 bytes each) must differ in the
//      bank. A lane bit s of one side and a lane bit t of the other may share a place there: O(s) = bank bit, and
//      O(t) = row bit + the same bank bit. On each side only one of them is a lane bit, so each sees the bank change.
//   3. All others are rows, or fill what is left.
//
// Example: f32, 32x32, from lanes along a row (bits 0-4) to lanes along a column (bits 5-9): O(bit i) = 4 << i for the
// former, and O(bit 5 + i) = 128 << i | 4 << i for the latter: word (row, column ^ row), the well-known xor swizzle.
//
// ldmatrix and stmatrix fit into the same scheme. They move rows of eight 16-bit elements, so the vector is these
// eight; in memory it is one piece, and in registers it lies across lanes:
//
//                   vector (along a row)               rows of a matrix            several matrices
//   plain           a register bit, lane bits 0, 1     lane bits 2, 3, 4           two more register bits
//   transposed      lane bits 2, 3, 4                  a register bit, lane bits 0, 1
//
// The rows are what must lie in different banks; eight lanes pass their addresses in one moment.
#pragma once

#include "jit/layout/conversion.h"
#include "jit/layout/tile_layout.h"

namespace trivet::jit {

// All of a SharedPlan but within_warp. As PlanConversion for the arguments.
SharedPlan PlanShared(const TileLayout& from, const TileLayout& to, int element_bits, const ConversionOptions& options);

}  // namespace trivet::jit
