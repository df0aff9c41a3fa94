// Where in shared memory the elements of a tile go on their way from one layout to another.
//
// The aim: both the stores of `from` and the loads of `to` are as wide as they can be and have no bank conflicts. For
// layouts that only move bits (TileLayout) this is a matter of giving each bit of the element's index a place in the
// byte offset:
//
//   offset bits   6 5 4 3 2 | 1 0         2..6 are the bank, 0 and 1 the byte in a word, those from 7 on the row of all
//   32 banks
//
//   1. the vector: the lowest bits are elements that a thread has in registers on both sides, or else on one side
//   2. the lanes that access in the same moment (5, 4 or 3 bits, for up to 4, 8 or 16 bytes each) must differ in the
//   bank bits. A
//      lane bit of `from` and one of `to` may use the same bank bit: one of them, s, gets the bank bit itself, the
//      other one, t, gets a row bit and is xor-ed onto the bank bit. So O(s) = bank, O(t) = row + bank; neither side
//      sees both change at once in a harmful way, as only one of them is a lane bit there.
//   3. all others go to row bits first, then to what is left.
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
