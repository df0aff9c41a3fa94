// Pictures of layouts, for tests, logs and docs/layouts.md.
#pragma once

#include <string>

#include "jit/layout/tile_layout.h"

namespace trivet::jit {

// Who holds each element: "t3:1" is register 1 of thread 3 (lane + 32 * warp). Rows of text are rows of the tile, the
// last axis from left to right; a tile of more axes is drawn slice by slice. Of several places of an element the first
// is shown; "x4" says that it is in four.
//
//   t0:0 t0:1 t1:0 t1:1
//   t2:0 t2:1 t3:0 t3:1
std::string DrawLayout(const TileLayout& layout);

}  // namespace trivet::jit
