#include "tests/unit/layout/run_conversion.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <set>
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

std::string CheckAccess(const SharedAccess& access, const SharedPlan& plan, size_t threads, uint32_t idle_threads) {
  if (access.thread_offsets.size() != At(std::countr_zero(threads))) return "thread_offsets has the wrong size";
  uint32_t support = 0;
  for (uint32_t offset : access.thread_offsets) support |= offset;
  std::set<int> wavefronts;
  const int bytes = access.vector_elements * plan.element_bytes;
  if (bytes > 16) return "more than 16 bytes at once";
  for (const auto& groups : access.rounds) {
    if (groups.size() != access.rounds[0].size()) return "the rounds differ in size";
    for (const SharedAccess::Group& group : groups) {
      if (group.registers.size() != At(access.vector_elements)) return "a group has the wrong size";
      if (((support | group.xored) & group.added) != 0) return "`added` has bits of the rest";
      for (size_t warp = 0; warp < threads / kWarpSize; ++warp) {
        if ((warp & idle_threads >> kLaneBits) != 0) continue;
        std::vector<int64_t> offsets;
        for (size_t lane = 0; lane < kWarpSize; ++lane) {
          const size_t t = warp * kWarpSize + lane;
          uint32_t offset = group.xored;
          for (size_t i = 0; i < access.thread_offsets.size(); ++i) {
            offset ^= (t >> i & 1) != 0 ? access.thread_offsets[i] : 0;
          }
          offset += group.added;
          if (offset % static_cast<uint32_t>(bytes) != 0) return "a misaligned vector";
          if (offset + bytes > plan.bytes) return "beyond the scratch memory";
          offsets.push_back((t & idle_threads) == 0 ? int64_t{offset} : -1);
        }
        wavefronts.insert(BankWavefronts(offsets, bytes));
      }
    }
  }
  if (wavefronts != std::set<int>{access.wavefronts}) return "`wavefronts` is wrong";
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
  const auto offset_of = [](const SharedAccess& access, const SharedAccess::Group& group, size_t thread) {
    uint32_t offset = group.xored;
    for (size_t i = 0; i < access.thread_offsets.size(); ++i) {
      offset ^= (thread >> i & 1) != 0 ? access.thread_offsets[i] : 0;
    }
    return offset + group.added;
  };
  for (size_t round = 0; round < plan.store.rounds.size(); ++round) {
    std::vector<Cell> memory(At(plan.bytes));  // an element is at its first byte
    for (size_t t = 0; t < from.size(); ++t) {
      if ((t & plan.idle_store_threads) != 0) continue;
      for (const SharedAccess::Group& group : plan.store.rounds[round]) {
        uint32_t offset = offset_of(plan.store, group, t);
        for (int r : group.registers) {
          const int64_t element = from[t].at(At(r));
          if (memory[offset].element != kNothing) return "stored twice";
          memory[offset] = {.element = element, .warp = t / kWarpSize};
          if (plan.store.rounds.size() == 1 && plan.offsets.Apply(static_cast<uint32_t>(element)) != offset) {
            return "`offsets` is wrong";
          }
          offset += static_cast<uint32_t>(plan.element_bytes);
        }
      }
    }
    for (size_t t = 0; t < from.size(); ++t) {
      for (const SharedAccess::Group& group : plan.load.rounds[round]) {
        uint32_t offset = offset_of(plan.load, group, t);
        for (int r : group.registers) {
          const Cell cell = memory[offset];
          if (cell.element == kNothing) return "loaded what nobody stored";
          if (plan.within_warp && cell.warp != t / kWarpSize) return "`within_warp` is wrong";
          if ((static_cast<uint32_t>(r) & plan.repeated_registers) != 0) return "a repeated register is loaded";
          (*to)[t].at(At(r)) = cell.element;
          offset += static_cast<uint32_t>(plan.element_bytes);
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

int TotalWavefronts(const SharedAccess& access) {
  int total = 0;
  for (const auto& groups : access.rounds) total += access.wavefronts * static_cast<int>(groups.size());
  return total;
}

}  // namespace trivet::jit
