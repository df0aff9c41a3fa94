#include "tests/unit/layout/run_conversion.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace trivet::jit {
namespace {

// values[thread][register]: an index of an element, or kNothing.
using Values = std::vector<std::vector<int64_t>>;
constexpr int64_t kNothing = -1;

size_t At(int64_t i) { return static_cast<size_t>(i); }

Values ValuesOf(const TileLayout& layout) {
  Values values(At(kWarpSize * layout.num_warps()), std::vector<int64_t>(At(layout.num_registers())));
  for (size_t t = 0; t < values.size(); ++t) {
    for (int r = 0; r < layout.num_registers(); ++r) values[t][At(r)] = layout.Element(r, static_cast<int>(t));
  }
  return values;
}

std::string RunShuffles(const ShufflePlan& plan, int element_bits, const Values& from, Values* to) {
  const size_t indices = plan.source_registers.size();
  if (plan.lane_xors.size() != indices) return "lane_xors and source_registers differ in size";
  const auto swap = [&](const ShufflePlan::Conditional& c, size_t thread, std::vector<int64_t>* x) {
    if ((thread >> c.thread_bit & 1) == 0) return;
    for (size_t k = 0; k < indices; ++k) {
      if (k < (k ^ c.register_bits)) std::swap(x->at(k), x->at(k ^ c.register_bits));
    }
  };
  Values sent(from.size()), received(from.size());
  for (size_t t = 0; t < from.size(); ++t) {
    for (int source : plan.source_registers) {
      uint32_t s = static_cast<uint32_t>(source);
      for (const auto& c : plan.selections) s ^= (t >> c.thread_bit & 1) != 0 ? c.register_bits : 0;
      sent[t].push_back(from[t].at(s));
    }
    for (const auto& c : plan.sender_swaps) swap(c, t, &sent[t]);
  }
  for (size_t t = 0; t < from.size(); ++t) {
    for (size_t k = 0; k < indices; ++k) {
      const uint32_t lane = plan.lane_map.Apply(static_cast<uint32_t>(t)) ^ plan.lane_xors[k];
      if (lane >= kWarpSize) return absl::StrCat("there is no lane ", lane);
      const size_t sender = t / kWarpSize * kWarpSize + lane;
      if (plan.StaysInLane(static_cast<int>(k)) && sender != t) return "StaysInLane is wrong";
      if (plan.IsButterfly() && lane != (t % kWarpSize ^ plan.lane_xors[k])) return "IsButterfly is wrong";
      received[t].push_back(sent[sender][k]);
    }
    for (const auto& c : plan.receiver_swaps) swap(c, t, &received[t]);
    if (plan.results.size() != (*to)[t].size()) return "results has the wrong size";
    for (size_t r = 0; r < plan.results.size(); ++r) (*to)[t][r] = received[t].at(At(plan.results[r]));
  }
  for (uint32_t bit : plan.pack_bits) {
    if (!std::has_single_bit(bit) || bit >= indices) return "pack_bits: no such index bit";
    for (const auto* swaps : {&plan.sender_swaps, &plan.receiver_swaps}) {
      for (const auto& c : *swaps) {
        if ((c.register_bits & bit) != 0) return "pack_bits: packed values would be swapped";
      }
    }
    for (size_t k = 0; k < indices; ++k) {
      if (plan.lane_xors[k] != plan.lane_xors[k ^ bit]) return "pack_bits: packed values go to different lanes";
    }
  }
  if ((std::max(element_bits, 8) << plan.pack_bits.size()) > 64) return "pack_bits: too many";
  return "";
}

// Byte that `thread` passes for `group`.
uint32_t ByteOf(const ScratchAccess& access, const ScratchAccess::Group& group, size_t thread) {
  uint32_t offset = group.xored;
  for (size_t i = 0; i < access.thread_offsets.size(); ++i) {
    offset ^= (thread >> i & 1) != 0 ? access.thread_offsets[i] : 0;
  }
  return offset + group.added;
}

// That `reg` of `thread` is moved from or to `byte`.
struct Move {
  size_t thread;
  int reg;
  uint32_t byte;
};

// All that one instruction of a warp moves. For ldmatrix and stmatrix: lane 8 i + r passes the address of row r of
// matrix i, and lane l has elements 2 (l % 4) and the next one of row l / 4 in its register i; transposed, row and
// element change places.
std::vector<Move> MovesOf(const ScratchAccess& access, const ScratchAccess::Group& group, size_t warp,
                          int element_bytes) {
  const size_t first = warp * kWarpSize;
  std::vector<Move> moves;
  for (size_t lane = 0; lane < kWarpSize; ++lane) {
    for (size_t i = 0; i < group.registers.size(); ++i) {
      if (access.instruction == ScratchAccess::Instruction::kVector) {
        const uint32_t byte =
            ByteOf(access, group, first + lane) + static_cast<uint32_t>(i) * static_cast<uint32_t>(element_bytes);
        moves.push_back({.thread = first + lane, .reg = group.registers[i], .byte = byte});
        continue;
      }
      size_t row = lane / 4, element = lane % 4 * 2 + i % 2;
      if (access.instruction == ScratchAccess::Instruction::kMatrixTransposed) std::swap(row, element);
      const uint32_t byte = ByteOf(access, group, first + i / 2 * 8 + row) + 2 * static_cast<uint32_t>(element);
      moves.push_back({.thread = first + lane, .reg = group.registers[i], .byte = byte});
    }
  }
  return moves;
}

std::string CheckAccess(const ScratchAccess& access, const SharedPlan& plan, size_t threads, uint32_t idle_threads) {
  if (access.thread_offsets.size() != At(std::countr_zero(threads))) return "thread_offsets has the wrong size";
  uint32_t support = 0;
  for (uint32_t offset : access.thread_offsets) support |= offset;
  const bool is_vector = access.instruction == ScratchAccess::Instruction::kVector;
  const int bytes = is_vector ? access.vector_elements * plan.element_bytes : 16;
  if (bytes > 16) return "more than 16 bytes at once";
  if (!is_vector && plan.element_bytes != 2) return "a matrix of elements that are not 16 bits wide";
  if (!is_vector && access.vector_elements > 8) return "more than four matrices";
  if (!is_vector && idle_threads % kWarpSize != 0) return "some lanes take no part in a matrix access";
  const size_t lanes = is_vector ? kWarpSize : At(access.vector_elements / 2 * 8);  // that pass an address
  for (const auto& groups : access.rounds) {
    if (groups.size() != access.rounds[0].size()) return "the rounds differ in size";
    for (const ScratchAccess::Group& group : groups) {
      if (group.registers.size() != At(access.vector_elements)) return "a group has the wrong size";
      if (((support | group.xored) & group.added) != 0) return "`added` has bits of the rest";
      for (size_t warp = 0; warp < threads / kWarpSize; ++warp) {
        if ((warp & idle_threads >> kLaneBits) != 0) continue;
        std::vector<int64_t> offsets(kWarpSize, -1);
        for (size_t lane = 0; lane < lanes; ++lane) {
          const size_t t = warp * kWarpSize + lane;
          const int64_t offset = ByteOf(access, group, t);
          if (offset % bytes != 0) return "a misaligned vector";
          if (offset + bytes > plan.bytes) return "beyond the scratch memory";
          if ((t & idle_threads) == 0) offsets[lane] = offset;
        }
        if (BankWavefronts(offsets, bytes) != access.wavefronts) return "`wavefronts` is wrong";
      }
    }
  }
  return "";
}

std::string RunShared(const SharedPlan& plan, const Values& from, Values* to) {
  if (std::string error = CheckAccess(plan.store, plan, from.size(), plan.idle_store_threads); !error.empty()) {
    return absl::StrCat("store: ", error);
  }
  if (std::string error = CheckAccess(plan.load, plan, from.size(), 0); !error.empty()) {
    return absl::StrCat("load: ", error);
  }
  if (plan.store.rounds.size() != plan.load.rounds.size()) return "the sides differ in rounds";
  struct Cell {
    int64_t element = kNothing;
    size_t warp = 0;
  };
  const size_t warps = from.size() / kWarpSize;
  for (size_t round = 0; round < plan.store.rounds.size(); ++round) {
    std::vector<Cell> memory(At(plan.bytes));  // an element is at its first byte
    for (size_t warp = 0; warp < warps; ++warp) {
      for (const ScratchAccess::Group& group : plan.store.rounds[round]) {
        for (const Move& move : MovesOf(plan.store, group, warp, plan.element_bytes)) {
          if ((move.thread & plan.idle_store_threads) != 0) continue;
          const int64_t element = from[move.thread].at(At(move.reg));
          if (memory[move.byte].element != kNothing) return "stored twice";
          memory[move.byte] = {.element = element, .warp = warp};
          if (plan.store.rounds.size() == 1 && plan.offsets.Apply(static_cast<uint32_t>(element)) != move.byte) {
            return "`offsets` is wrong";
          }
        }
      }
    }
    for (size_t warp = 0; warp < warps; ++warp) {
      for (const ScratchAccess::Group& group : plan.load.rounds[round]) {
        for (const Move& move : MovesOf(plan.load, group, warp, plan.element_bytes)) {
          const Cell cell = memory[move.byte];
          if (cell.element == kNothing) return "loaded what nobody stored";
          if (plan.within_warp && cell.warp != warp) return "`within_warp` is wrong";
          if ((static_cast<uint32_t>(move.reg) & plan.repeated_registers) != 0) return "a repeated register is loaded";
          (*to)[move.thread].at(At(move.reg)) = cell.element;
        }
      }
    }
  }
  for (std::vector<int64_t>& registers : *to) {
    for (size_t r = 0; r < registers.size(); ++r) registers[r] = registers[r & ~plan.repeated_registers];
  }
  return "";
}

}  // namespace

std::string RunConversion(const ConversionPlan& plan, const TileLayout& from, const TileLayout& to, int element_bits) {
  const Values before = ValuesOf(from);
  const Values wanted = ValuesOf(to);
  Values after(wanted.size(), std::vector<int64_t>(wanted[0].size(), kNothing));
  std::string error;
  switch (plan.kind) {
    case ConversionKind::kNone:
      after = before;
      break;
    case ConversionKind::kRegisters:
      for (size_t t = 0; t < after.size(); ++t) {
        for (size_t r = 0; r < after[t].size(); ++r) after[t][r] = before[t].at(At(plan.registers.at(r)));
      }
      break;
    case ConversionKind::kShuffles:
      error = RunShuffles(plan.shuffles, element_bits, before, &after);
      break;
    case ConversionKind::kShared:
      error = RunShared(plan.shared, before, &after);
      break;
  }
  if (!error.empty()) return error;
  for (size_t t = 0; t < after.size(); ++t) {
    for (size_t r = 0; r < after[t].size(); ++r) {
      if (after[t][r] == wanted[t][r]) continue;
      return absl::StrCat("thread ", t, " register ", r, " has element ", after[t][r], " instead of ", wanted[t][r]);
    }
  }
  return "";
}

int TotalWavefronts(const ScratchAccess& access) {
  int total = 0;
  for (const auto& groups : access.rounds) total += access.wavefronts * static_cast<int>(groups.size());
  return total;
}

}  // namespace trivet::jit
