#include "jit/layout/swizzle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "vm/base/check.h"

namespace trivet::jit {
namespace {

constexpr int kWordBits = 2;       // log2 of the bytes in a word of a bank
constexpr int kBankEnd = 7;        // offset bits [kWordBits, kBankEnd) are the bank
constexpr int kMaxAccessBits = 4;  // log2 of the bytes that a thread can access at once

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

// The lane bits whose threads access in the same moment, each accessing 2^access_bits bytes.
uint32_t SimultaneousLanes(const TileLayout& layout, int access_bits) {
  const int count = std::min(kLaneBits, kBankEnd - access_bits);
  uint32_t mask = 0;
  for (int i = 0; i < count; ++i) mask |= layout.lane_bases()[static_cast<size_t>(i)];
  return mask;
}

// A choice of the vector bits, and the offsets that follow.
struct Candidate {
  std::vector<uint32_t> vector;  // bits of the element's index that become the lowest bits of the offset
  uint32_t rounds = 0;           // bits that count the rounds
  int store_bits = 0;            // how many of `vector` one store covers
  int load_bits = 0;
  LinearLayout offsets;
};

int CoveredBits(const std::vector<uint32_t>& vector, uint32_t registers) {
  int covered = 0;
  while (static_cast<size_t>(covered) < vector.size() && (vector[static_cast<size_t>(covered)] & registers) != 0)
    ++covered;
  return covered;
}

// Gives each element bit its place; see the head of swizzle.h. `element_shift` is log2 of the bytes of an element.
LinearLayout AssignOffsets(const Candidate& choice, int index_bits, int element_shift, uint32_t store_lanes,
                           uint32_t load_lanes) {
  const uint32_t vector = MaskOf(choice.vector);
  const uint32_t rest = ((uint64_t{1} << index_bits) - 1) & ~vector & ~choice.rounds;
  const uint32_t store = store_lanes & rest, load = load_lanes & rest;
  const int vector_end = element_shift + static_cast<int>(choice.vector.size());
  const int bank_room = kBankEnd - vector_end;
  int rows = std::max(0, std::popcount(rest) - bank_room);

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

// The accesses of one side. `registers` are the bits of the element's index that the layout has in registers.
SharedAccess MakeAccess(const TileLayout& layout, const Candidate& choice, int vector_bits, int element_bytes,
                        uint32_t idle_threads) {
  SharedAccess access;
  access.vector_elements = 1 << vector_bits;
  for (const auto* bases : {&layout.lane_bases(), &layout.warp_bases()}) {
    for (uint32_t base : *bases) access.thread_offsets.push_back(choice.offsets.Apply(base));
  }
  const uint32_t support = MaskOf(access.thread_offsets);

  const std::vector<uint32_t> vector(choice.vector.begin(), choice.vector.begin() + vector_bits);
  const uint32_t registers = MaskOf(layout.register_bases());
  // All sums of the given bits, counting up.
  const auto sums = [](const std::vector<uint32_t>& bits) {
    std::vector<uint32_t> out = {0};
    for (uint32_t bit : bits) {
      const size_t half = out.size();
      for (size_t i = 0; i < half; ++i) out.push_back(out[i] | bit);
    }
    return out;
  };
  for (uint32_t round : sums(BitsOf(choice.rounds))) {
    std::vector<SharedAccess::Group>& groups = access.rounds.emplace_back();
    for (uint32_t group_element : sums(BitsOf(registers & ~MaskOf(vector) & ~choice.rounds))) {
      SharedAccess::Group& group = groups.emplace_back();
      for (uint32_t in_vector : sums(vector)) {
        group.registers.push_back(layout.FindRegister(round | group_element | in_vector));
      }
      const uint32_t offset = choice.offsets.Apply(group_element);
      group.xored = offset & support;
      group.added = offset & ~support;
    }
  }

  std::vector<int64_t> offsets;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    int64_t offset = 0;
    for (size_t i = 0; i < kLaneBits; ++i) {
      if ((lane >> i & 1) != 0) offset ^= access.thread_offsets[i];
    }
    offsets.push_back((lane & idle_threads) == 0 ? offset : -1);
  }
  access.wavefronts = BankWavefronts(offsets, element_bytes << vector_bits);
  return access;
}

int64_t Wavefronts(const SharedAccess& access) {
  return access.wavefronts * static_cast<int64_t>(access.rounds.front().size());
}

}  // namespace

SharedPlan PlanShared(const TileLayout& from, const TileLayout& to, int element_bits, int64_t max_shared_bytes) {
  const int element_bytes = std::max(1, element_bits / 8);
  const int element_shift = std::countr_zero(static_cast<uint32_t>(element_bytes));
  const int index_bits = std::countr_zero(static_cast<uint64_t>(from.num_elements()));
  const uint32_t from_registers = MaskOf(from.register_bases());
  const uint32_t to_registers = MaskOf(to.register_bases());

  SharedPlan plan;
  plan.element_bytes = element_bytes;
  plan.idle_store_threads = from.FreeThreadBits();
  for (size_t i = 0; i < to.register_bases().size(); ++i) {
    if (to.register_bases()[i] == 0) plan.repeated_registers |= uint32_t{1} << i;
  }

  // Vectors begin with bits that are registers on both sides. After them, one side may have some more: bits that are
  // lanes of the other side first, since lanes that access neighbours don't conflict.
  const std::vector<uint32_t> common = BitsOf(from_registers & to_registers);
  const auto wider = [&](uint32_t registers, const TileLayout& other) {
    std::vector<uint32_t> bits = common;
    const uint32_t extra = registers & ~(from_registers & to_registers);
    const uint32_t other_lanes = MaskOf(other.lane_bases());
    for (uint32_t bit : BitsOf(extra & other_lanes)) bits.push_back(bit);
    for (uint32_t bit : BitsOf(extra & ~other_lanes)) bits.push_back(bit);
    return bits;
  };
  int64_t best_cost = -1;
  for (const std::vector<uint32_t>& bits : {wider(from_registers, to), wider(to_registers, from)}) {
    const int most = std::min<int>(static_cast<int>(bits.size()), kMaxAccessBits - element_shift);
    for (int width = most; width >= 0; --width) {
      Candidate choice;
      choice.vector.assign(bits.begin(), bits.begin() + width);
      choice.store_bits = CoveredBits(choice.vector, from_registers);
      choice.load_bits = CoveredBits(choice.vector, to_registers);
      // Rounds count registers of both sides, the highest first.
      int64_t bytes = from.num_elements() * element_bytes;
      std::vector<uint32_t> countable = BitsOf(from_registers & to_registers & ~MaskOf(choice.vector));
      for (; bytes > max_shared_bytes && !countable.empty(); countable.pop_back(), bytes /= 2) {
        choice.rounds |= countable.back();
      }
      choice.offsets =
          AssignOffsets(choice, index_bits, element_shift, SimultaneousLanes(from, element_shift + choice.store_bits),
                        SimultaneousLanes(to, element_shift + choice.load_bits));
      SharedAccess store = MakeAccess(from, choice, choice.store_bits, element_bytes, plan.idle_store_threads);
      SharedAccess load = MakeAccess(to, choice, choice.load_bits, element_bytes, 0);
      // Wavefronts first, then instructions; the fewest rounds come with them.
      const int64_t rounds = static_cast<int64_t>(store.rounds.size());
      const int64_t cost = rounds * (4 * (Wavefronts(store) + Wavefronts(load)) +
                                     static_cast<int64_t>(store.rounds.front().size() + load.rounds.front().size()));
      if (best_cost >= 0 && cost >= best_cost) continue;
      best_cost = cost;
      plan.bytes = int64_t{1} << choice.offsets.out_bits();
      plan.store = std::move(store);
      plan.load = std::move(load);
      plan.offsets = std::move(choice.offsets);
    }
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
