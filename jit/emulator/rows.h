// The table of what the host does in the place of an instruction: name pattern, host function.
//
// A name is that of an intrinsic without "llvm.nvvm.", an intrinsic of LLVM's own with "llvm.", or the comment that a
// piece of inline PTX starts with ("/*masked_load.v4.b32*/"). A pattern is a name in which
//
//   {rn|rz|rm|rp}  matches one of the alternatives (one may be empty); its index becomes the next choice
//   #              matches a decimal number, which becomes the next choice
//   ~              matches anything, up to what follows; no choice
//
// so "add.{rn|rz|rm|rp}{|.ftz}{|.sat}.f" is 16 names and one function, which reads site.choice[0..2].
//
// To add an instruction: a row in the file of its family, and its function beside it.
#pragma once

#include <array>
#include <span>

#include "absl/strings/string_view.h"
#include "jit/emulator/call.h"

namespace trivet::jit {

using HostFunction = void (*)(const Call&);

struct Row {
  const char* pattern;
  HostFunction function;
};

// Each family in its own file, rows_*.cc.
std::span<const Row> SpecialRegisterRows();
std::span<const Row> SynchronisationRows();  // barriers, fences, traps
std::span<const Row> WarpRows();             // shuffles, votes, matches, reductions
std::span<const Row> ArithmeticRows();
std::span<const Row> ConversionRows();
std::span<const Row> MemoryRows();  // asynchronous copies, masked loads and stores, prefetches
std::span<const Row> MatrixRows();  // mma, ldmatrix, stmatrix

// The row for `name`, with its choices, or null.
const Row* FindRow(absl::string_view name, std::array<int, 8>& choice);

// Whether `name` matches; fills `choice` from the left.
bool MatchesPattern(absl::string_view pattern, absl::string_view name, std::array<int, 8>& choice);

}  // namespace trivet::jit
