#include "jit/layout/draw.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"

namespace trivet::jit {

std::string DrawLayout(const TileLayout& layout) {
  const size_t elements = static_cast<size_t>(layout.num_elements());
  struct Holder {
    int thread = 0;
    int reg = 0;
    int copies = 0;
  };
  std::vector<Holder> holders(elements);
  for (int thread = 0; thread < kWarpSize * layout.num_warps(); ++thread) {
    for (int reg = 0; reg < layout.num_registers(); ++reg) {
      Holder& holder = holders[layout.Element(reg, thread)];
      if (holder.copies++ == 0) holder = {.thread = thread, .reg = reg, .copies = 1};
    }
  }
  std::vector<std::string> cells;
  size_t width = 0;
  for (const Holder& holder : holders) {
    cells.push_back(absl::StrCat("t", holder.thread, ":", holder.reg));
    if (holder.copies > 1) absl::StrAppend(&cells.back(), "x", holder.copies);
    width = std::max(width, cells.back().size());
  }

  const int rank = layout.rank();
  const size_t columns = rank == 0 ? 1 : static_cast<size_t>(layout.shape()[static_cast<size_t>(rank - 1)]);
  const size_t rows = rank < 2 ? 1 : static_cast<size_t>(layout.shape()[static_cast<size_t>(rank - 2)]);
  std::string out;
  for (size_t i = 0; i < elements; ++i) {
    if (rank > 2 && i % (rows * columns) == 0) {
      absl::StrAppend(&out, "[");
      for (int axis = 0; axis < rank - 2; ++axis) {
        absl::StrAppend(&out, layout.Coordinate(static_cast<uint32_t>(i), axis), ", ");
      }
      absl::StrAppend(&out, ":, :]\n");
    }
    const bool is_last = i % columns == columns - 1;
    absl::StrAppend(&out, cells[i], is_last ? "\n" : std::string(width - cells[i].size() + 1, ' '));
  }
  return out;
}

}  // namespace trivet::jit
