#include "jit/layout/conversion.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "jit/layout/swizzle.h"
#include "vm/base/check.h"

namespace trivet::jit {
namespace {

// Where one bit of the element's index comes from.
struct Place {
  enum class Kind { kRegister, kLane, kWarp };
  Kind kind = Kind::kRegister;
  int bit = 0;
};

// places[i] is where bit i of the index is. Every bit is somewhere.
std::vector<Place> PlacesOf(const TileLayout& layout) {
  std::vector<Place> places(static_cast<size_t>(std::countr_zero(static_cast<uint64_t>(layout.num_elements()))));
  const auto note = [&](const std::vector<uint32_t>& bases, Place::Kind kind) {
    for (size_t i = 0; i < bases.size(); ++i) {
      if (bases[i] == 0) continue;
      places[static_cast<size_t>(std::countr_zero(bases[i]))] = {.kind = kind, .bit = static_cast<int>(i)};
    }
  };
  note(layout.register_bases(), Place::Kind::kRegister);
  note(layout.lane_bases(), Place::Kind::kLane);
  note(layout.warp_bases(), Place::Kind::kWarp);
  return places;
}

const Place& PlaceOf(const std::vector<Place>& places, uint32_t base) {
  return places[static_cast<size_t>(std::countr_zero(base))];
}

// Every element that a warp shall have is in that warp already.
bool StaysInWarp(const std::vector<Place>& from_places, const TileLayout& from, const TileLayout& to) {
  const auto in_warp = [&](uint32_t base) {
    return base == 0 || PlaceOf(from_places, base).kind != Place::Kind::kWarp;
  };
  if (!std::all_of(to.register_bases().begin(), to.register_bases().end(), in_warp)) return false;
  if (!std::all_of(to.lane_bases().begin(), to.lane_bases().end(), in_warp)) return false;
  for (size_t i = 0; i < to.warp_bases().size(); ++i) {
    if (to.warp_bases()[i] != from.warp_bases()[i] && (from.warp_bases()[i] != 0 || !in_warp(to.warp_bases()[i]))) {
      return false;
    }
  }
  return true;
}

// How the bits that are in a register and shall be in a lane get there. Their lane needs a partner: a lane bit of the
// sender by which it knows what the receiver wants. That is a lane bit that goes to a register (they change places), or
// one that does not matter.
struct Partner {
  uint32_t element = 0;   // what the sender has in a register bit
  int receiver_lane = 0;  // and shall be in this lane bit
  int sender_lane = 0;    // by means of this
};

std::optional<std::vector<Partner>> PairLanes(const std::vector<Place>& from_places,
                                              const std::vector<Place>& to_places, const TileLayout& from,
                                              const TileLayout& to) {
  std::vector<Partner> pairs;
  uint32_t used = 0;
  const auto is_idle = [&](int lane) { return from.lane_bases()[static_cast<size_t>(lane)] == 0; };
  const auto is_partner = [&](int lane) {
    if ((used >> lane & 1) != 0) return false;
    return is_idle(lane) ||
           PlaceOf(to_places, from.lane_bases()[static_cast<size_t>(lane)]).kind == Place::Kind::kRegister;
  };
  std::vector<Partner> unpaired;
  for (int lane = 0; lane < kLaneBits; ++lane) {
    const uint32_t element = to.lane_bases()[static_cast<size_t>(lane)];
    if (element == 0 || PlaceOf(from_places, element).kind != Place::Kind::kRegister) continue;
    if (is_partner(lane)) {  // no lane moves
      used |= uint32_t{1} << lane;
      pairs.push_back({.element = element, .receiver_lane = lane, .sender_lane = lane});
    } else {
      unpaired.push_back({.element = element, .receiver_lane = lane});
    }
  }
  for (Partner& pair : unpaired) {
    int best = -1;
    for (int lane = 0; lane < kLaneBits; ++lane) {
      if (is_partner(lane) && (best < 0 || (is_idle(lane) && !is_idle(best)))) best = lane;
    }
    if (best < 0) return std::nullopt;  // the receivers' wishes differ, but a sender can't know whose it serves
    used |= uint32_t{1} << best;
    pair.sender_lane = best;
    pairs.push_back(pair);
  }
  return pairs;
}

// Requires StaysInWarp.
std::optional<ShufflePlan> PlanShuffles(const TileLayout& from, const TileLayout& to, int element_bits) {
  const std::vector<Place> from_places = PlacesOf(from);
  const std::vector<Place> to_places = PlacesOf(to);
  const std::optional<std::vector<Partner>> pairs = PairLanes(from_places, to_places, from, to);
  if (!pairs) return std::nullopt;

  ShufflePlan plan;
  // The bits of k: one for each register bit of the result that means something. index_of[i] is that of index bit i of
  // the element.
  std::vector<uint32_t> index_elements;
  std::vector<uint32_t> index_of(from_places.size());
  for (uint32_t base : to.register_bases()) {
    if (base == 0) continue;
    index_of[static_cast<size_t>(std::countr_zero(base))] = uint32_t{1} << index_elements.size();
    index_elements.push_back(base);
  }
  // What each bit of k selects: a source register, and a lane to read from.
  const size_t index_bits = index_elements.size();
  std::vector<uint32_t> register_of_index(index_bits), lane_of_index(index_bits);
  std::vector<uint32_t> lane_of_thread(to.lane_bases().size() + to.warp_bases().size());

  for (size_t i = 0; i < index_bits; ++i) {
    const Place& place = PlaceOf(from_places, index_elements[i]);
    (place.kind == Place::Kind::kRegister ? register_of_index : lane_of_index)[i] = uint32_t{1} << place.bit;
  }
  for (size_t i = 0; i < to.lane_bases().size() + to.warp_bases().size(); ++i) {
    const bool is_lane = i < to.lane_bases().size();
    const uint32_t base = is_lane ? to.lane_bases()[i] : to.warp_bases()[i - kLaneBits];
    if (base == 0) continue;
    const Place& place = PlaceOf(from_places, base);
    if (place.kind == Place::Kind::kLane) {
      lane_of_thread[i] |= uint32_t{1} << place.bit;
    } else if (place.kind == Place::Kind::kRegister && !is_lane) {
      plan.selections.push_back({.thread_bit = static_cast<int>(i), .register_bits = uint32_t{1} << place.bit});
    }
  }
  uint32_t paired_lanes = 0;
  for (const Partner& pair : *pairs) {
    paired_lanes |= uint32_t{1} << pair.sender_lane;
    const uint32_t source = uint32_t{1} << PlaceOf(from_places, pair.element).bit;
    lane_of_thread[static_cast<size_t>(pair.receiver_lane)] |= uint32_t{1} << pair.sender_lane;
    const uint32_t partner = from.lane_bases()[static_cast<size_t>(pair.sender_lane)];
    if (partner == 0) {
      plan.selections.push_back({.thread_bit = pair.sender_lane, .register_bits = source});
      continue;
    }
    const uint32_t index = index_of[static_cast<size_t>(std::countr_zero(partner))];
    register_of_index[static_cast<size_t>(std::countr_zero(index))] |= source;
    plan.sender_swaps.push_back({.thread_bit = pair.sender_lane, .register_bits = index});
    plan.receiver_swaps.push_back({.thread_bit = pair.receiver_lane, .register_bits = index});
  }
  // Any sender will do in the lane bits that don't matter: the receiver itself.
  for (int lane = 0; lane < kLaneBits; ++lane) {
    if (from.lane_bases()[static_cast<size_t>(lane)] == 0 && (paired_lanes >> lane & 1) == 0) {
      lane_of_thread[static_cast<size_t>(lane)] |= uint32_t{1} << lane;
    }
  }

  plan.lane_map = LinearLayout(std::move(lane_of_thread), kLaneBits);
  const LinearLayout registers(register_of_index, static_cast<int>(from.register_bases().size()));
  const LinearLayout lanes(lane_of_index, kLaneBits);
  for (uint32_t k = 0; k < uint32_t{1} << index_bits; ++k) {
    plan.source_registers.push_back(static_cast<int>(registers.Apply(k)));
    plan.lane_xors.push_back(lanes.Apply(k));
  }
  for (int r = 0; r < to.num_registers(); ++r) {
    uint32_t k = 0;
    for (size_t i = 0; i < to.register_bases().size(); ++i) {
      const uint32_t base = to.register_bases()[i];
      if ((r >> i & 1) != 0 && base != 0) k ^= index_of[static_cast<size_t>(std::countr_zero(base))];
    }
    plan.results.push_back(static_cast<int>(k));
  }
  // Register bits that stay register bits, neighbours in the source first.
  std::vector<std::pair<uint32_t, uint32_t>> packable;
  for (size_t i = 0; i < index_bits; ++i) {
    if (lane_of_index[i] == 0) packable.push_back({register_of_index[i], uint32_t{1} << i});
  }
  std::sort(packable.begin(), packable.end());
  for (int bits = std::max(element_bits, 8); bits < 32 && plan.pack_bits.size() < packable.size(); bits *= 2) {
    plan.pack_bits.push_back(packable[plan.pack_bits.size()].second);
  }
  return plan;
}

bool MovesLanes(const ShufflePlan& plan) {
  for (size_t k = 0; k < plan.lane_xors.size(); ++k) {
    if (!plan.StaysInLane(static_cast<int>(k))) return true;
  }
  return false;
}

// Costs are in half wavefronts of shared memory, for one warp: a shuffle is one wavefront, and the units that select
// are twice as fast.
int64_t ShuffleCost(const ShufflePlan& plan, int element_bits) {
  const int64_t indices = static_cast<int64_t>(plan.source_registers.size());
  const int64_t words = element_bits == 64 ? 2 * indices : indices >> plan.pack_bits.size();
  int64_t moving = 0;
  for (int64_t k = 0; k < indices; ++k) moving += plan.StaysInLane(static_cast<int>(k)) ? 0 : 1;
  const int64_t selects = (int64_t{1} << plan.selections.size()) - 1 +
                          static_cast<int64_t>(plan.sender_swaps.size() + plan.receiver_swaps.size());
  const int64_t packing = plan.pack_bits.empty() ? 0 : words + indices;
  return 2 * (moving * words / indices) + selects * words + packing;
}

int64_t SharedCost(const SharedPlan& plan) {
  int64_t cost = 0;
  for (const ScratchAccess* side : {&plan.store, &plan.load}) {
    for (const auto& groups : side->rounds) cost += 2 * side->wavefronts * static_cast<int64_t>(groups.size());
  }
  // Two barriers a round, and nothing to do between them but wait for the memory.
  return cost + static_cast<int64_t>(plan.store.rounds.size()) * (plan.within_warp ? 16 : 40);
}

}  // namespace

bool ShufflePlan::IsButterfly() const {
  for (size_t i = 0; i < lane_map.bases().size(); ++i) {
    if (lane_map.bases()[i] != (i < kLaneBits ? uint32_t{1} << i : 0)) return false;
  }
  return true;
}

ConversionPlan PlanConversion(const TileLayout& from, const TileLayout& to, int element_bits,
                              const ConversionOptions& options) {
  TRIVET_CHECK(from.shape() == to.shape() && from.num_warps() == to.num_warps());
  ConversionPlan plan;
  if (from == to) return plan;
  const bool stays_in_warp = StaysInWarp(PlacesOf(from), from, to);
  std::optional<ShufflePlan> shuffles;
  if (stays_in_warp) shuffles = PlanShuffles(from, to, element_bits);
  if (shuffles && !MovesLanes(*shuffles) && shuffles->selections.empty() && shuffles->sender_swaps.empty()) {
    plan.kind = ConversionKind::kRegisters;
    for (int k : shuffles->results) plan.registers.push_back(shuffles->source_registers[static_cast<size_t>(k)]);
    return plan;
  }
  SharedPlan shared = PlanShared(from, to, element_bits, options);
  shared.within_warp = stays_in_warp && shared.idle_store_threads >> kLaneBits == 0;
  if (shuffles && options.allow_shuffles && ShuffleCost(*shuffles, element_bits) <= SharedCost(shared)) {
    plan.kind = ConversionKind::kShuffles;
    plan.shuffles = *std::move(shuffles);
    return plan;
  }
  plan.kind = ConversionKind::kShared;
  plan.shared = std::move(shared);
  return plan;
}

std::string ConversionPlan::ToString() const {
  switch (kind) {
    case ConversionKind::kNone:
      return "none";
    case ConversionKind::kRegisters:
      return absl::StrCat("registers {", absl::StrJoin(registers, ", "), "}");
    case ConversionKind::kShuffles: {
      const auto conditionals = [](const std::vector<ShufflePlan::Conditional>& list) {
        return absl::StrJoin(list, ", ", [](std::string* out, const ShufflePlan::Conditional& c) {
          absl::StrAppend(out, "thread bit ", c.thread_bit, ": ^", c.register_bits);
        });
      };
      return absl::StrCat("shuffles of {", absl::StrJoin(shuffles.source_registers, ", "), "} select {",
                          conditionals(shuffles.selections), "} swap {", conditionals(shuffles.sender_swaps),
                          "} lanes {", absl::StrJoin(shuffles.lane_map.bases(), ", "), "} ^ {",
                          absl::StrJoin(shuffles.lane_xors, ", "), "} swap {", conditionals(shuffles.receiver_swaps),
                          "} to {", absl::StrJoin(shuffles.results, ", "), "}");
    }
    case ConversionKind::kShared: {
      const auto side = [](const ScratchAccess& access) {
        const char* const names[] = {"", "matrix ", "transposed matrix "};
        return absl::StrCat(names[static_cast<int>(access.instruction)], access.rounds.front().size(), " x ",
                            access.vector_elements, " elements, ", access.wavefronts, " wavefronts each");
      };
      return absl::StrCat("shared ", shared.bytes, " bytes, ", shared.store.rounds.size(), " rounds; store ",
                          side(shared.store), "; load ", side(shared.load), "; offsets ", shared.offsets.ToString());
    }
  }
  return "";
}

}  // namespace trivet::jit
