#include "jit/layout/swizzle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "vm/base/check.h"

namespace trivet::jit {
namespace {

constexpr int kWordBits = 2;  // log2 of the bytes in a word of a bank
constexpr int kBankEnd = 7;   // offset bits [kWordBits, kBankEnd) are the bank
constexpr int kMaxAccessBytes = 16;

uint32_t MaskOf(const std::vector<uint32_t>& bases) {
  uint32_t mask = 0;
  for (uint32_t base : bases) mask |= base;
  return mask;
}

// The single bits of a mask, lowest first.
std::vector<uint32_t> BitsOf(uint32_t mask) {
  std::vector<uint32_t> bits;
  for (; mask != 0; mask &= mask - 1) bits.push_back(mask & -mask);
  return bits;
}

// What one instruction of a thread accesses, in bits of the element's index.
struct Access {
  using Instruction = ScratchAccess::Instruction;
  Instruction instruction = Instruction::kVector;
  std::vector<uint32_t> group;  // bits that count the registers of one access
  std::vector<uint32_t> lanes;  // for each bit of the lane, how the address that it passes depends on it; or 0
  uint32_t idle_lanes = 0;      // lanes with one of these bits pass no address
  int bytes = 4;                // at each address
};

// The longest vector that begins with the bits of `vector` and is in registers of one thread.
Access VectorAccess(const TileLayout& layout, const std::vector<uint32_t>& vector, int element_bytes) {
  Access access;
  const uint32_t registers = MaskOf(layout.register_bases());
  for (uint32_t bit : vector) {
    if ((bit & registers) == 0) break;
    access.group.push_back(bit);
  }
  access.lanes = layout.lane_bases();
  access.bytes = element_bytes << access.group.size();
  return access;
}

// An access by ldmatrix or stmatrix, and the vector that it needs; see the head of swizzle.h.
struct MatrixAccess {
  Access access;
  std::vector<uint32_t> vector;
};
std::optional<MatrixAccess> FindMatrixAccess(const TileLayout& layout, bool is_transposed) {
  const std::vector<uint32_t>& lanes = layout.lane_bases();
  std::vector<uint32_t> registers;
  for (uint32_t base : layout.register_bases()) {
    if (base != 0) registers.push_back(base);
  }
  if (registers.empty()) return std::nullopt;
  const std::vector<uint32_t> pair = {registers[0], lanes[0], lanes[1]}, others = {lanes[2], lanes[3], lanes[4]};
  MatrixAccess out;
  out.vector = is_transposed ? others : pair;
  if (std::find(out.vector.begin(), out.vector.end(), 0u) != out.vector.end()) return std::nullopt;
  out.access.instruction = is_transposed ? Access::Instruction::kMatrixTransposed : Access::Instruction::kMatrix;
  out.access.lanes = is_transposed ? pair : others;
  out.access.group = {registers[0]};
  for (size_t i = 1; i <= 2; ++i) {
    if (i < registers.size()) {
      out.access.group.push_back(registers[i]);
      out.access.lanes.push_back(registers[i]);
    } else {
      out.access.idle_lanes |= uint32_t{1} << out.access.lanes.size();
      out.access.lanes.push_back(0);
    }
  }
  out.access.bytes = 16;
  return out;
}

// The lane bits that differ between the addresses of one moment.
uint32_t SimultaneousLanes(const Access& access) {
  const int count = std::min(kLaneBits, kBankEnd - std::countr_zero(static_cast<uint32_t>(access.bytes)));
  uint32_t mask = 0;
  for (int i = 0; i < count; ++i) mask |= access.lanes[static_cast<size_t>(i)];
  return mask;
}

// A choice of the vector bits and of how each side accesses them.
struct Candidate {
  std::vector<uint32_t> vector;  // bits of the element's index that become the lowest bits of the offset
  Access store;
  Access load;
};

// Gives each element bit its place; see the head of swizzle.h. `element_shift` is log2 of the bytes of an element,
// `rounds` the bits that have none.
LinearLayout AssignOffsets(const Candidate& choice, int index_bits, int element_shift, uint32_t rounds) {
  const uint32_t vector = MaskOf(choice.vector);
  const uint32_t rest = static_cast<uint32_t>((uint64_t{1} << index_bits) - 1) & ~vector & ~rounds;
  const uint32_t store = SimultaneousLanes(choice.store) & rest, load = SimultaneousLanes(choice.load) & rest;
  const int vector_end = element_shift + static_cast<int>(choice.vector.size());
  int rows = std::max(0, std::popcount(rest) - (kBankEnd - vector_end));

  std::vector<uint32_t> offset_of(static_cast<size_t>(index_bits));
  const auto place = [&](uint32_t bit, uint32_t offset) {
    offset_of[static_cast<size_t>(std::countr_zero(bit))] = offset;
  };
  int shift = element_shift;
  for (uint32_t bit : choice.vector) place(bit, uint32_t{1} << shift++);

  // Which bits become rows: those of no lane first, then one of each pair, then what there is.
  uint32_t row_bits = 0, partners = 0;
  std::vector<std::pair<uint32_t, uint32_t>> pairs;  // (row, bank)
  std::vector<uint32_t> idle = BitsOf(rest & ~store & ~load);
  for (; rows > 0 && !idle.empty(); --rows, idle.pop_back()) row_bits |= idle.back();
  std::vector<uint32_t> store_only = BitsOf(store & ~load), load_only = BitsOf(load & ~store);
  for (; rows > 0 && !store_only.empty() && !load_only.empty(); --rows) {
    const auto [low, high] = std::minmax(store_only.back(), load_only.back());
    row_bits |= high;
    partners |= low;
    pairs.push_back({high, low});
    store_only.pop_back();
    load_only.pop_back();
  }
  std::vector<uint32_t> others = BitsOf(store & load);
  for (std::vector<uint32_t>* singles : {&store_only, &load_only, &others}) {
    for (; rows > 0 && !singles->empty(); --rows, singles->pop_back()) row_bits |= singles->back();
  }

  // Partners get the highest bank bits: never a bit within a word, where xor would not change the bank.
  shift = vector_end;
  for (uint32_t bit : BitsOf(rest & ~row_bits & ~partners)) place(bit, uint32_t{1} << shift++);
  if (!pairs.empty()) shift = std::max(shift, kWordBits);
  for (uint32_t bit : BitsOf(partners)) place(bit, uint32_t{1} << shift++);
  for (uint32_t bit : BitsOf(row_bits)) place(bit, uint32_t{1} << shift++);
  for (const auto& [row, bank] : pairs) {
    offset_of[static_cast<size_t>(std::countr_zero(row))] |= offset_of[static_cast<size_t>(std::countr_zero(bank))];
  }
  return LinearLayout(std::move(offset_of), shift);
}

// All sums of the given bits, counting up.
std::vector<uint32_t> SumsOf(const std::vector<uint32_t>& bits) {
  std::vector<uint32_t> sums = {0};
  for (uint32_t bit : bits) {
    const size_t half = sums.size();
    for (size_t i = 0; i < half; ++i) sums.push_back(sums[i] | bit);
  }
  return sums;
}

// The accesses of one side. Threads with bits of `idle_threads` take no part.
ScratchAccess MakeAccess(const TileLayout& layout, const Access& access, const LinearLayout& offsets, uint32_t rounds,
                         uint32_t idle_threads) {
  ScratchAccess out;
  out.instruction = access.instruction;
  out.vector_elements = 1 << access.group.size();
  for (const auto* bases : {&access.lanes, &layout.warp_bases()}) {
    for (uint32_t base : *bases) out.thread_offsets.push_back(offsets.Apply(base));
  }
  const uint32_t support = MaskOf(out.thread_offsets);
  const uint32_t repeated = MaskOf(layout.register_bases()) & ~MaskOf(access.group) & ~rounds;
  for (uint32_t round : SumsOf(BitsOf(rounds))) {
    std::vector<ScratchAccess::Group>& groups = out.rounds.emplace_back();
    for (uint32_t first : SumsOf(BitsOf(repeated))) {
      ScratchAccess::Group& group = groups.emplace_back();
      for (uint32_t in_group : SumsOf(access.group)) {
        group.registers.push_back(layout.FindRegister(round | first | in_group));
      }
      const uint32_t offset = offsets.Apply(first);
      group.xored = offset & support;
      group.added = offset & ~support;
    }
  }

  std::vector<int64_t> addresses;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    int64_t address = 0;
    for (size_t i = 0; i < kLaneBits; ++i) {
      if ((lane >> i & 1) != 0) address ^= out.thread_offsets[i];
    }
    addresses.push_back((lane & (idle_threads | access.idle_lanes)) == 0 ? address : -1);
  }
  out.wavefronts = BankWavefronts(addresses, access.bytes);
  return out;
}

// What to minimise: wavefronts first, then instructions; the fewest rounds come with them.
int64_t Cost(const ScratchAccess& side) {
  const int64_t groups = static_cast<int64_t>(side.rounds.size() * side.rounds.front().size());
  return groups * (4 * side.wavefronts + 1);
}

// The vectors worth trying. They begin with bits that are registers on both sides. After them, one side may have some
// more: bits that are lanes of the other side first, since lanes that access neighbours don't conflict.
std::vector<Candidate> VectorCandidates(const TileLayout& from, const TileLayout& to, int element_bytes) {
  const uint32_t common = MaskOf(from.register_bases()) & MaskOf(to.register_bases());
  const size_t most = static_cast<size_t>(std::countr_zero(static_cast<uint32_t>(kMaxAccessBytes / element_bytes)));
  std::vector<Candidate> out;
  const auto add = [&](const TileLayout& wider, const TileLayout& other) {
    const uint32_t extra = MaskOf(wider.register_bases()) & ~common;
    const uint32_t other_lanes = MaskOf(other.lane_bases());
    std::vector<uint32_t> bits = BitsOf(common);
    for (uint32_t mask : {extra & other_lanes, extra & ~other_lanes}) {
      for (uint32_t bit : BitsOf(mask)) bits.push_back(bit);
    }
    if (bits.size() > most) bits.resize(most);
    for (;; bits.pop_back()) {
      out.push_back({.vector = bits,
                     .store = VectorAccess(from, bits, element_bytes),
                     .load = VectorAccess(to, bits, element_bytes)});
      if (bits.empty()) break;
    }
  };
  add(from, to);
  add(to, from);
  return out;
}

// The choices with ldmatrix, stmatrix, or both when they need the same vector.
std::vector<Candidate> MatrixCandidates(const TileLayout& from, const TileLayout& to,
                                        const ConversionOptions& options) {
  std::vector<Candidate> out;
  std::vector<MatrixAccess> stores, loads;
  for (bool is_transposed : {false, true}) {
    // All lanes of stmatrix store: none may have a copy of what another has.
    const bool has_copies = from.FreeThreadBits() % kWarpSize != 0;
    if (options.allow_stmatrix && !has_copies) {
      if (auto access = FindMatrixAccess(from, is_transposed)) stores.push_back(*std::move(access));
    }
    if (options.allow_ldmatrix) {
      if (auto access = FindMatrixAccess(to, is_transposed)) loads.push_back(*std::move(access));
    }
  }
  constexpr int kElementBytes = 2;
  for (const MatrixAccess& load : loads) {
    for (const MatrixAccess& store : stores) {
      if (store.vector != load.vector) continue;
      out.push_back({.vector = load.vector, .store = store.access, .load = load.access});
    }
    out.push_back(
        {.vector = load.vector, .store = VectorAccess(from, load.vector, kElementBytes), .load = load.access});
  }
  for (const MatrixAccess& store : stores) {
    out.push_back(
        {.vector = store.vector, .store = store.access, .load = VectorAccess(to, store.vector, kElementBytes)});
  }
  return out;
}

}  // namespace

SharedPlan PlanShared(const TileLayout& from, const TileLayout& to, int element_bits,
                      const ConversionOptions& options) {
  const int element_bytes = std::max(1, element_bits / 8);
  const int element_shift = std::countr_zero(static_cast<uint32_t>(element_bytes));
  const int index_bits = std::countr_zero(static_cast<uint64_t>(from.num_elements()));

  SharedPlan plan;
  plan.element_bytes = element_bytes;
  plan.idle_store_threads = from.FreeThreadBits();
  for (size_t i = 0; i < to.register_bases().size(); ++i) {
    if (to.register_bases()[i] == 0) plan.repeated_registers |= uint32_t{1} << i;
  }

  // The first of equal cost is taken: with matrix accesses, the halves of an operand arrive in one register.
  std::vector<Candidate> candidates;
  if (element_bits == 16) candidates = MatrixCandidates(from, to, options);
  for (Candidate& candidate : VectorCandidates(from, to, element_bytes)) candidates.push_back(std::move(candidate));
  int64_t best_cost = -1;
  for (const Candidate& choice : candidates) {
    // Rounds count registers of both sides that no access needs, the highest first.
    const uint32_t in_access = MaskOf(choice.vector) | MaskOf(choice.store.group) | MaskOf(choice.load.group);
    int64_t bytes = from.num_elements() * element_bytes;
    std::vector<uint32_t> countable = BitsOf(MaskOf(from.register_bases()) & MaskOf(to.register_bases()) & ~in_access);
    uint32_t rounds = 0;
    for (; bytes > options.max_shared_bytes && !countable.empty(); countable.pop_back(), bytes /= 2) {
      rounds |= countable.back();
    }
    LinearLayout offsets = AssignOffsets(choice, index_bits, element_shift, rounds);
    ScratchAccess store = MakeAccess(from, choice.store, offsets, rounds, plan.idle_store_threads);
    ScratchAccess load = MakeAccess(to, choice.load, offsets, rounds, 0);
    const int64_t cost = Cost(store) + Cost(load);
    if (best_cost >= 0 && cost >= best_cost) continue;
    best_cost = cost;
    plan.bytes = int64_t{1} << offsets.out_bits();
    plan.store = std::move(store);
    plan.load = std::move(load);
    plan.offsets = std::move(offsets);
  }
  return plan;
}

int BankWavefronts(const std::vector<int64_t>& offsets, int bytes) {
  TRIVET_CHECK(offsets.size() == kWarpSize && bytes <= 16);
  const size_t lanes_at_once = bytes == 16 ? 8 : bytes == 8 ? 16 : 32;
  int wavefronts = 0;
  for (size_t first = 0; first < kWarpSize; first += lanes_at_once) {
    std::array<std::vector<int64_t>, 32> words;  // of each bank
    for (size_t lane = first; lane < first + lanes_at_once; ++lane) {
      if (offsets[lane] < 0) continue;
      for (int64_t byte = offsets[lane]; byte < offsets[lane] + bytes; byte += 4) {
        words[static_cast<size_t>(byte / 4 % 32)].push_back(byte / 4);
      }
    }
    size_t most = 0;
    for (std::vector<int64_t>& bank : words) {
      std::sort(bank.begin(), bank.end());
      bank.erase(std::unique(bank.begin(), bank.end()), bank.end());
      most = std::max(most, bank.size());
    }
    wavefronts += static_cast<int>(most);
  }
  return wavefronts;
}

}  // namespace trivet::jit
