// assign-layouts: gives each tile a layout, such that every op finds its operands where it wants them.
//
// Before: portable ops; extents are powers of two. After: convert_layout ops stand where layouts differ, cheap values
// (indices, masks, addresses) are computed once for each layout that asks for them, and LayoutTable has the layout of
// each tile. Keeps: what the function computes; the interpreter runs the result.
//
// How. Values that elementwise ops, loops and ifs tie together share one layout (a class). Each memory access and
// matrix product proposes a layout for its class, weighted by the bytes it moves; the heaviest wins. Other classes
// derive theirs from neighbours through shape ops (the result of a reduction has the layout of its operand without the
// axis). Cheap values are in no class: they are cloned for each layout in which they are wanted.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "jit/analysis/axis_info.h"
#include "jit/layout/tile_layout.h"
#include "vm/bytecode/module.h"

namespace trivet::jit {

struct LayoutOptions {
  int num_warps = 4;            // a power of two
  int compute_capability = 90;  // 80, 89, 90, ...
};

// The layouts of a function's tiles.
class LayoutTable {
 public:
  // Index of `layout`, added if new.
  int Intern(const TileLayout& layout);
  const TileLayout& layout(int index) const { return layouts_[static_cast<size_t>(index)]; }
  void Set(ValueId value, int index);
  // Requires Has(value): tiles of a function that AssignLayouts has treated, outside regions of scalars.
  const TileLayout& Of(ValueId value) const { return layout(of_value_[value.index()]); }
  int IndexOf(ValueId value) const { return value.index() < of_value_.size() ? of_value_[value.index()] : -1; }
  bool Has(ValueId value) const { return IndexOf(value) >= 0; }

 private:
  std::vector<TileLayout> layouts_;
  std::vector<int> of_value_;
};

struct LayoutResult {
  LayoutTable layouts;
  // For each value, the value of the function before that it was cloned or converted from (itself for the others):
  // analyses made before still hold for that one.
  std::vector<ValueId> origin;
};

// Rewrites `function`. Unimplemented when a tile's extents are not powers of two.
absl::StatusOr<LayoutResult> AssignLayouts(vm::Function& function, const AxisInfoAnalysis& axis_info,
                                           const LayoutOptions& options);

// How a tile passes between functions, and what is chosen where nothing speaks for another: rows over threads.
TileLayout DefaultLayout(absl::Span<const int64_t> shape, int num_warps);

// The layout in which the access through a tile of pointers (or through a block, with the last axis fastest) is
// coalesced: neighbouring lanes on neighbouring addresses, vectors of up to 16 bytes. `info` may be null.
TileLayout CoalescedLayout(absl::Span<const int64_t> shape, int element_bytes, const AxisInfo* info, int num_warps);

}  // namespace trivet::jit
