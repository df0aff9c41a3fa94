// How to get a tile from one layout into another: a plan, as plain data, that lowering turns into instructions and that
// the tests carry out on the CPU.
//
// `from` and `to` say where each element is and where it shall be. The cheapest of four ways is chosen:
//
//   kNone        they are the same
//   kRegisters   each thread has already what it needs: the result's registers are a choice of its registers
//   kShuffles    each warp has already what it needs: lanes exchange registers
//   kShared      store to shared memory, barrier, load
//
// A plan says nothing of types: a value is element_bits wide, and a lowering may move it as an integer of that width.
// docs/layouts.md derives the plans, with examples.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jit/layout/linear_layout.h"
#include "jit/layout/tile_layout.h"

namespace trivet::jit {

enum class ConversionKind { kNone, kRegisters, kShuffles, kShared };

// kShuffles, carried out by every thread of the warp together. With t = lane + 32 * warp, in this order:
//
//   1. select    x[k] = source register s(k, t), where s = source_registers[k] ^ (the register bits of each selection
//   whose thread
//                bit is set in t)
//   2. exchange  for each of sender_swaps: in threads with the thread bit set, x[k] and x[k ^ index_bits] change
//   places, all k
//   3. shuffle   y[k] = x[k] of the lane  lane_map.Apply(t) ^ lane_xors[k]  of the same warp
//   4. exchange  for each of receiver_swaps, in y
//   5. rename    result register r = y[results[r]]
//
//
// Example: lane bit 0 and register bit 0 change places; two registers, two lanes, elements a b c d. One swap on each
// side, {thread bit 0, index bit 0}; lane_map the identity; lane_xors {0, 1}.
//
//            from     after 2   after 3   after 4: to
//   lane     0  1     0  1      0  1      0  1
//   [0]      a  c     a  d      a  d      a  b
//   [1]      b  d     b  c      c  b      c  d
struct ShufflePlan {
  // In threads with bit `thread_bit` of lane + 32 * warp set, `register_bits` is xor-ed into the index.
  struct Conditional {
    int thread_bit = 0;
    uint32_t register_bits = 0;
  };

  std::vector<int> source_registers;
  std::vector<Conditional> selections;  // 2^size - 1 selects for each k
  std::vector<Conditional> sender_swaps;
  LinearLayout lane_map;            // bits of lane + 32 * warp -> lane
  std::vector<uint32_t> lane_xors;  // as many as source_registers
  std::vector<Conditional> receiver_swaps;
  std::vector<int> results;  // one for each register of the result

  // Index bits in which nothing above makes a difference but a rename: the values x[k] and x[k ^ pack_bits[0]] may
  // travel in one word from step 2 to step 4. As many as fill 32 bits (one for 16-bit elements, two for 8 bits) if
  // there are.
  std::vector<uint32_t> pack_bits;

  // lane_map is the identity on the lane and ignores the warp: every shuffle is a butterfly (shfl.bfly by
  // lane_xors[k]).
  bool IsButterfly() const;
  // Step 3 moves nothing for this k.
  bool StaysInLane(int k) const { return lane_xors[static_cast<size_t>(k)] == 0 && IsButterfly(); }
};

// One side of kShared. The thread t = lane + 32 * warp accesses, for each group, vector_elements elements at the byte
//
//   ((xor of thread_offsets[i] over the bits i set in t) ^ group.xored) + group.added
//
// of the scratch memory, a multiple of the vector's size. `added` has no bit in common with the rest, so it may be the
// immediate offset of an address; few different `xored` remain, often only 0.
//
// With kMatrix and kMatrixTransposed that byte is the one that the thread passes to ldmatrix or stmatrix (PTX ISA;
// shape m8n8, b16; of 1, 2 or 4 matrices, vector_elements / 2; transposed: .trans), and a group is what the instruction
// moves: registers 2 i and 2 i + 1 are the lower and upper half of its i-th 32-bit operand. The threads of a warp take
// part together.
struct ScratchAccess {
  enum class Instruction { kVector, kMatrix, kMatrixTransposed };
  struct Group {
    std::vector<int> registers;  // vector_elements of them, the one at the lowest address first
    uint32_t xored = 0;
    uint32_t added = 0;
  };

  Instruction instruction = Instruction::kVector;
  int vector_elements = 1;
  std::vector<uint32_t> thread_offsets;
  std::vector<std::vector<Group>> rounds;  // groups of each round; as many in each
  int wavefronts = 0;                      // of one warp for one group; see BankWavefronts
};

// kShared, carried out in rounds. In each round r:
//
//   barrier (not before the first, unless others use the same memory)
//   store.rounds[r], by threads with (t & idle_store_threads) == 0 only: the others have copies
//   barrier
//   load.rounds[r]
//
// Then register r of the result is what was loaded into register r & ~repeated_registers.
struct SharedPlan {
  int element_bytes = 4;  // 1-bit elements are stored as bytes
  int64_t bytes = 0;      // scratch memory, for all rounds together
  // No warp reads what another wrote, so the barriers may be bar.warp.sync. (Not the one that guards against other
  // users.)
  bool within_warp = false;
  uint32_t idle_store_threads = 0;
  uint32_t repeated_registers = 0;
  ScratchAccess store;
  ScratchAccess load;
  // Element -> byte within the scratch memory: a swizzle of the row-major order. Bits of the element that count the
  // rounds map to 0.
  LinearLayout offsets;
};

struct ConversionPlan {
  ConversionKind kind = ConversionKind::kNone;
  std::vector<int> registers;  // kRegisters: for each register of the result, the source register
  ShufflePlan shuffles;        // kShuffles
  SharedPlan shared;           // kShared

  std::string ToString() const;
};

struct ConversionOptions {
  int64_t max_shared_bytes = 64 * 1024;  // more rounds are made above this, where that is possible
  bool allow_shuffles = true;
  bool allow_ldmatrix = false;  // sm_75 and later; see ScratchAccess
  bool allow_stmatrix = false;  // sm_90 and later
};

// The plan for tiles with elements of `element_bits` (1, 8, 16, 32 or 64). Requires equal shapes and numbers of warps.
ConversionPlan PlanConversion(const TileLayout& from, const TileLayout& to, int element_bits,
                              const ConversionOptions& options = {});

// Shared memory that the plan needs; 0 unless it is kShared.
inline int64_t SharedBytes(const ConversionPlan& plan) {
  return plan.kind == ConversionKind::kShared ? plan.shared.bytes : 0;
}

// Wavefronts of one access of a warp to shared memory: `offsets[lane]` is where the lane begins its `bytes` (a power of
// two up to 16, which the offset is a multiple of), or -1 if it takes no part. There are 32 banks of 4 bytes. A warp's
// access of 8 bytes a lane goes in halves, of 16 bytes in quarters; in each, lanes that want the same word share it,
// and different words of one bank wait for each other. The least is max(1, bytes / 4) when all lanes want something
// different.
int BankWavefronts(const std::vector<int64_t>& offsets, int bytes);

}  // namespace trivet::jit
