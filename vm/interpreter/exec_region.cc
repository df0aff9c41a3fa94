// reduce and scan by running their region, and map_elementwise.
//
// The region is decoded for a few powers of two of lanes. What has to be combined at one time is cut into such pieces;
// each piece's elements are copied to the region's parameters, the region runs, and its yields are copied out. Regions
// with control flow run one lane at a time.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "vm/base/status.h"
#include "vm/interpreter/combine_ops.h"
#include "vm/interpreter/prepare.h"
#include "vm/interpreter/region_ops.h"
#include "vm/interpreter/scratch_layout.h"

namespace trivet::vm {
namespace {

constexpr int64_t kMaxRegionLanes = 512;
// The front of the scratch memory belongs to the region's own code (moves of values, addresses of a load); what has to
// outlive a run of the region stays behind it.
constexpr int64_t kRegionScratchBytes = 128 * kMaxRegionLanes;

// A sequence of elements in a tile: element l of the sequence is element
// base + (l / run) * stride + l % run of the tile.
struct ElementRuns {
  int64_t base = 0;
  int64_t run = 1;
  int64_t stride = 1;
};

// Calls copy(element, lane, length, stride) for each stretch of elements element, element + stride, ... of the tile
// that are lanes lane, lane + 1, ...
template <typename Copy>
void ForEachStretch(const ElementRuns& runs, int64_t first, int64_t count, const Copy& copy) {
  if (runs.run == 1) return copy(runs.base + first * runs.stride, int64_t{0}, count, runs.stride);
  for (int64_t lane = 0; lane < count;) {
    const int64_t within = (first + lane) % runs.run;
    const int64_t length = std::min(runs.run - within, count - lane);
    copy(runs.base + (first + lane) / runs.run * runs.stride + within, lane, length, int64_t{1});
    lane += length;
  }
}

template <typename U>
void GatherOf(const std::byte* tile, const ElementRuns& runs, int64_t first, int64_t count, std::byte* lanes) {
  const U* from = reinterpret_cast<const U*>(tile);
  U* to = reinterpret_cast<U*>(lanes);
  ForEachStretch(runs, first, count, [&](int64_t element, int64_t lane, int64_t length, int64_t stride) {
    for (int64_t i = 0; i < length; ++i) to[lane + i] = from[element + i * stride];
  });
}

template <typename U>
void ScatterOf(const std::byte* lanes, const ElementRuns& runs, int64_t first, int64_t count, std::byte* tile) {
  const U* from = reinterpret_cast<const U*>(lanes);
  U* to = reinterpret_cast<U*>(tile);
  ForEachStretch(runs, first, count, [&](int64_t element, int64_t lane, int64_t length, int64_t stride) {
    for (int64_t i = 0; i < length; ++i) to[element + i * stride] = from[lane + i];
  });
}

// Copies elements [first, first + count) of a sequence in `tile` to consecutive `lanes`.
void Gather(int element_bytes, const std::byte* tile, const ElementRuns& runs, int64_t first, int64_t count,
            std::byte* lanes) {
  switch (element_bytes) {
    case 1:
      return GatherOf<uint8_t>(tile, runs, first, count, lanes);
    case 2:
      return GatherOf<uint16_t>(tile, runs, first, count, lanes);
    case 4:
      return GatherOf<uint32_t>(tile, runs, first, count, lanes);
    default:
      return GatherOf<uint64_t>(tile, runs, first, count, lanes);
  }
}

// The other way round.
void Scatter(int element_bytes, const std::byte* lanes, const ElementRuns& runs, int64_t first, int64_t count,
             std::byte* tile) {
  switch (element_bytes) {
    case 1:
      return ScatterOf<uint8_t>(lanes, runs, first, count, tile);
    case 2:
      return ScatterOf<uint16_t>(lanes, runs, first, count, tile);
    case 4:
      return ScatterOf<uint32_t>(lanes, runs, first, count, tile);
    default:
      return ScatterOf<uint64_t>(lanes, runs, first, count, tile);
  }
}

// A region decoded for the numbers of lanes that an op needs.
class RegionPieces {
 public:
  // Decodes what Run(count) will use.
  absl::Status PrepareFor(PrepareContext& cx, RegionId region, int64_t count) {
    max_lanes_ = cx.IsStraightLine(region) ? kMaxRegionLanes : 1;
    for (int64_t rest = count; rest > 0;) {
      const int64_t lanes = NextPiece(rest);
      std::optional<RegionCode>& code = codes_[IndexOf(lanes)];
      if (!code.has_value()) {
        TRIVET_ASSIGN_OR_RETURN(code, cx.PrepareRegion(region, lanes));
      }
      rest = lanes == max_lanes_ ? rest % max_lanes_ : rest - lanes;
    }
    return absl::OkStatus();
  }

  // Runs the region for elements 0 .. count - 1 of a sequence, piece by piece: fill(code, first) writes the parameters
  // for code.lanes elements from `first` on, drain(code, first) takes the results. False if it trapped.
  template <typename Fill, typename Drain>
  bool Run(ExecContext& cx, int64_t count, const Fill& fill, const Drain& drain) const {
    for (int64_t first = 0; first < count;) {
      const RegionCode& code = *codes_[IndexOf(NextPiece(count - first))];
      fill(code, first);
      RunRegion(cx, code);
      if (cx.stopped()) return false;
      drain(code, first);
      first += code.lanes;
    }
    return true;
  }

 private:
  // The largest power of two that fits.
  int64_t NextPiece(int64_t rest) const {
    return std::min<int64_t>(max_lanes_, static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(rest))));
  }
  static size_t IndexOf(int64_t lanes) { return static_cast<size_t>(std::countr_zero(static_cast<uint64_t>(lanes))); }

  int64_t max_lanes_ = 1;
  std::array<std::optional<RegionCode>, 10> codes_;  // by the logarithm of lanes
};
static_assert(kMaxRegionLanes == 1 << 9);

std::byte* At(ExecContext& cx, uint32_t slot) { return cx.At<std::byte>(slot); }

std::vector<int> ElementBytesOf(const PrepareContext& cx, absl::Span<const ValueId> values) {
  std::vector<int> bytes;
  for (ValueId value : values) bytes.push_back(cx.function().type(value).element_bytes());
  return bytes;
}

// --- reduce: levels of neighbours, see exec_reduce.cc -------------------------------------------------------------

struct ReduceInput {
  int element_bytes;
  std::array<int64_t, 2> buffers;  // offsets in scratch memory; levels use them in turns
};

struct ReducePlan {
  AxisExtents extents;
  std::vector<ReduceInput> inputs;
  RegionPieces pieces;
};

// One level of a reduction: rows of `extent` elements become rows of `next_extent`.
struct ReduceLevel {
  int64_t extent;

  int64_t half() const { return extent / 2; }
  int64_t next_extent() const { return (extent + 1) / 2; }
  bool carries() const { return extent % 2 != 0; }
  // Without an odd one at the end, the pairs of all rows are one sequence.
  int64_t steps(int64_t outer) const { return carries() ? outer : 1; }
  int64_t pairs_per_step(int64_t outer) const { return carries() ? half() : outer * half(); }
};

// Where input `input` is before level `level`, and after it.
const std::byte* LevelSource(ExecContext& cx, const Instr& at, const ReducePlan& plan, size_t input, int level) {
  if (level == 0) return cx.Operand<std::byte>(at, static_cast<int>(input));
  return cx.scratch + plan.inputs[input].buffers[static_cast<size_t>((level - 1) % 2)];
}
std::byte* LevelTarget(ExecContext& cx, const ReducePlan& plan, size_t input, int level) {
  return cx.scratch + plan.inputs[input].buffers[static_cast<size_t>(level % 2)];
}

// Combines the pairs of one step, which begin with row `from_row` and go to rows from `to_row` on.
bool CombineStep(ExecContext& cx, const Instr& at, const ReducePlan& plan, int level, int64_t from_row, int64_t to_row,
                 int64_t pairs) {
  const int64_t inner = plan.extents.inner;
  const ElementRuns first{.base = from_row * inner, .run = inner, .stride = 2 * inner};
  const ElementRuns second{.base = first.base + inner, .run = inner, .stride = 2 * inner};
  const size_t num_inputs = plan.inputs.size();
  return plan.pieces.Run(
      cx, pairs * inner,
      [&](const RegionCode& code, int64_t lane) {
        for (size_t i = 0; i < num_inputs; ++i) {
          const std::byte* source = LevelSource(cx, at, plan, i, level);
          const int bytes = plan.inputs[i].element_bytes;
          Gather(bytes, source, first, lane, code.lanes, At(cx, code.param_slots[i]));
          Gather(bytes, source, second, lane, code.lanes, At(cx, code.param_slots[num_inputs + i]));
        }
      },
      [&](const RegionCode& code, int64_t lane) {
        for (size_t i = 0; i < num_inputs; ++i) {
          const int bytes = plan.inputs[i].element_bytes;
          std::memcpy(LevelTarget(cx, plan, i, level) + (to_row * inner + lane) * bytes, At(cx, code.yield_slots[i]),
                      static_cast<size_t>(code.lanes * bytes));
        }
      });
}

void ExecReduceByRegion(ExecContext& cx, const Instr& at) {
  const ReducePlan& plan = at.payload<ReducePlan>();
  const auto& [outer, extent, inner] = plan.extents;
  int level = 0;
  for (ReduceLevel rows{extent}; rows.extent > 1; rows = {rows.next_extent()}, ++level) {
    for (int64_t step = 0; step < rows.steps(outer); ++step) {
      const int64_t from_row = step * rows.extent;
      const int64_t to_row = step * rows.next_extent();
      if (!CombineStep(cx, at, plan, level, from_row, to_row, rows.pairs_per_step(outer))) return;
      if (!rows.carries()) continue;
      for (size_t i = 0; i < plan.inputs.size(); ++i) {
        const int64_t row_bytes = inner * plan.inputs[i].element_bytes;
        std::memcpy(LevelTarget(cx, plan, i, level) + (to_row + rows.half()) * row_bytes,
                    LevelSource(cx, at, plan, i, level) + (from_row + rows.extent - 1) * row_bytes,
                    static_cast<size_t>(row_bytes));
      }
    }
  }
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    std::memcpy(cx.Result<std::byte>(at, static_cast<int>(i)), LevelSource(cx, at, plan, i, level),
                static_cast<size_t>(outer * inner * plan.inputs[i].element_bytes));
  }
}

// --- scan: row after row, see exec_scan.cc ------------------------------------------------------------------------

struct ScanPlan {
  AxisExtents extents;
  bool is_reversed = false;
  std::vector<int> element_bytes;
  RegionPieces pieces;
};

void ExecScanByRegion(ExecContext& cx, const Instr& at) {
  const ScanPlan& plan = at.payload<ScanPlan>();
  const auto& [outer, extent, inner] = plan.extents;
  const size_t num_inputs = plan.element_bytes.size();
  // Row `row` of every outer index.
  const auto rows_at = [&](int64_t row) {
    return ElementRuns{.base = row * inner, .run = inner, .stride = extent * inner};
  };
  const int64_t direction = plan.is_reversed ? -1 : 1;
  const int64_t begin = plan.is_reversed ? extent - 1 : 0;
  for (size_t i = 0; i < num_inputs; ++i) {
    const int64_t row_bytes = inner * plan.element_bytes[i];
    for (int64_t o = 0; o < outer; ++o) {
      const int64_t offset = (o * extent + begin) * row_bytes;
      std::memcpy(cx.Result<std::byte>(at, static_cast<int>(i)) + offset,
                  cx.Operand<std::byte>(at, static_cast<int>(i)) + offset, static_cast<size_t>(row_bytes));
    }
  }
  for (int64_t step = 1; step < extent; ++step) {
    const ElementRuns here = rows_at(begin + direction * step);
    const ElementRuns before = rows_at(begin + direction * (step - 1));
    const bool is_done = plan.pieces.Run(
        cx, outer * inner,
        [&](const RegionCode& code, int64_t lane) {
          for (size_t i = 0; i < num_inputs; ++i) {
            const int bytes = plan.element_bytes[i];
            const int input = static_cast<int>(i);
            Gather(bytes, cx.Result<std::byte>(at, input), before, lane, code.lanes, At(cx, code.param_slots[i]));
            Gather(bytes, cx.Operand<std::byte>(at, input), here, lane, code.lanes,
                   At(cx, code.param_slots[num_inputs + i]));
          }
        },
        [&](const RegionCode& code, int64_t lane) {
          for (size_t i = 0; i < num_inputs; ++i) {
            Scatter(plan.element_bytes[i], At(cx, code.yield_slots[i]), here, lane, code.lanes,
                    cx.Result<std::byte>(at, static_cast<int>(i)));
          }
        });
    if (!is_done) return;
  }
}

// --- map_elementwise: parameters and yields are `pack` neighbours of the first tile, then of the second, ... --------

struct MapPlan {
  int64_t pack = 1;
  int64_t groups = 0;
  std::vector<int> input_bytes;
  std::vector<int> result_bytes;
  RegionPieces pieces;
};

void ExecMapElementwise(ExecContext& cx, const Instr& at) {
  const MapPlan& plan = at.payload<MapPlan>();
  const auto neighbour = [&](int64_t i) { return ElementRuns{.base = i, .run = 1, .stride = plan.pack}; };
  plan.pieces.Run(
      cx, plan.groups,
      [&](const RegionCode& code, int64_t lane) {
        for (size_t param = 0; param < code.param_slots.size(); ++param) {
          const auto [input, member] = std::lldiv(static_cast<int64_t>(param), plan.pack);
          Gather(plan.input_bytes[static_cast<size_t>(input)], cx.Operand<std::byte>(at, static_cast<int>(input)),
                 neighbour(member), lane, code.lanes, At(cx, code.param_slots[param]));
        }
      },
      [&](const RegionCode& code, int64_t lane) {
        for (size_t value = 0; value < code.yield_slots.size(); ++value) {
          const auto [result, member] = std::lldiv(static_cast<int64_t>(value), plan.pack);
          Scatter(plan.result_bytes[static_cast<size_t>(result)], At(cx, code.yield_slots[value]), neighbour(member),
                  lane, code.lanes, cx.Result<std::byte>(at, static_cast<int>(result)));
        }
      });
}

}  // namespace

absl::StatusOr<PreparedOp> PrepareReduceByRegion(PrepareContext& cx) {
  const Operation& op = cx.op();
  const auto plan = std::make_shared<ReducePlan>();
  plan->extents = AxisExtents::Of(cx.operand_type(0), op.int_attr(ReduceOp::At::axis));
  const auto& [outer, extent, inner] = plan->extents;
  for (ReduceLevel level{extent}; level.extent > 1; level = {level.next_extent()}) {
    TRIVET_RETURN_IF_ERROR(plan->pieces.PrepareFor(cx, op.regions[0], level.pairs_per_step(outer) * inner));
  }
  ScratchLayout layout(nullptr);
  layout.Take<std::byte>(kRegionScratchBytes);
  const int64_t half = (extent + 1) / 2;
  for (int bytes : ElementBytesOf(cx, op.operands)) {
    ReduceInput& input = plan->inputs.emplace_back(ReduceInput{.element_bytes = bytes, .buffers = {}});
    input.buffers[0] = static_cast<int64_t>(layout.size_bytes());
    layout.Take<std::byte>(outer * half * inner * bytes);
    input.buffers[1] = static_cast<int64_t>(layout.size_bytes());
    layout.Take<std::byte>(outer * ((half + 1) / 2) * inner * bytes);
  }
  cx.RequireScratch(layout.size_bytes());
  return PreparedOp{&ExecReduceByRegion, plan};
}

absl::StatusOr<PreparedOp> PrepareScanByRegion(PrepareContext& cx) {
  const Operation& op = cx.op();
  const auto plan = std::make_shared<ScanPlan>();
  plan->extents = AxisExtents::Of(cx.operand_type(0), op.int_attr(ScanOp::At::axis));
  plan->is_reversed = op.bool_attr(ScanOp::At::reverse);
  plan->element_bytes = ElementBytesOf(cx, op.operands);
  if (plan->extents.extent > 1) {
    TRIVET_RETURN_IF_ERROR(plan->pieces.PrepareFor(cx, op.regions[0], plan->extents.outer * plan->extents.inner));
  }
  return PreparedOp{&ExecScanByRegion, plan};
}

absl::StatusOr<PreparedOp> PrepareMapElementwise(PrepareContext& cx) {
  const Operation& op = cx.op();
  const auto plan = std::make_shared<MapPlan>();
  plan->pack = op.int_attr(MapElementwiseOp::At::pack);
  plan->groups = cx.operand_type(0).num_elements() / plan->pack;
  plan->input_bytes = ElementBytesOf(cx, op.operands);
  plan->result_bytes = ElementBytesOf(cx, op.results);
  TRIVET_RETURN_IF_ERROR(plan->pieces.PrepareFor(cx, op.regions[0], plan->groups));
  return PreparedOp{&ExecMapElementwise, plan};
}

}  // namespace trivet::vm
