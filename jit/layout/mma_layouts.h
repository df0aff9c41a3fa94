// Layouts of the operands and results of matrix instructions: mma.sync (sm_80 and later; PTX ISA, "Matrix fragments for
// mma.m16n8k16" and its neighbours) and wgmma (sm_90a; "Register fragments for wgmma" and "Shared memory layout").
//
// An instruction of a warp multiplies A [m, k] by B [k, n] and adds C [m, n]. All of its fragments are TileLayouts: the
// bits of (register, lane) are bits of row and column. For m16n8k16 with g = lane / 4 and t = lane % 4:
//
//   A [16, 16]   registers {k 1, m 8, k 8}   lanes {k 2, k 4, m 1, m 2, m 4}
//   B [16, 8]    registers {k 1, k 8}        lanes {k 2, k 4, n 1, n 2, n 4}
//   C [16, 8]    registers {n 1, m 8}        lanes {n 2, n 4, m 1, m 2, m 4}
//
//   C:  column     0       1       2       3      ...  7
//       row 0      t0:0    t0:1    t1:0    t1:1        t3:1        lane t0 holds rows 0 and 8 of columns 0 and 1
//       row 1      t4:0    t4:1    t5:0    t5:1        t7:1
//       row 8      t0:2    t0:3    t1:2    t1:3        t3:3
//
// Larger tiles repeat the instruction: first over warps, then over registers. So the register bits of a thread are
// those of one instruction, in the order of its operands (two f16 or four bytes to a 32-bit operand, lowest first), and
// then the repetitions: along K and then M in A, along K and then N in B, along N and then M in C, the batch last.
// Warps that need the same part of an operand have copies of it: their bases are zero.
#pragma once

#include <cstdint>

#include "jit/layout/linear_layout.h"
#include "jit/layout/tile_layout.h"

namespace trivet::jit {

enum class MmaKind {
  kHalf,    // mma.m16n8k16: f16, bf16
  kTf32,    // mma.m16n8k8: tf32 in 32 bits
  kByte,    // mma.m16n8k32: s8, u8, and e4m3, e5m2 (sm_89)
  kDouble,  // mma.m8n8k4: f64
};

struct MmaSize {
  int m = 0;
  int n = 0;
  int k = 0;
};
MmaSize InstructionSize(MmaKind kind);

// How the warps of a program share the result: m * n * batch of them. The warp's index counts m first.
struct MmaWarps {
  int m = 1;
  int n = 1;
  int batch = 1;
};
// Warps for a result [M, N] or [B, M, N]: over the batch, then so that each warp's part is as square as can be.
MmaWarps SpreadWarps(absl::Span<const int64_t> result_shape, int num_warps, MmaKind kind);

// Layouts of the result [M, N], of A [M, K] and of B [K, N], or [B, M, N] and so on. Each extent must be at least that
// of the instruction. Warps beyond M / m or N / n have copies, also of the result.
TileLayout MmaResult(absl::Span<const int64_t> shape, const MmaWarps& warps, MmaKind kind);
TileLayout MmaOperandA(absl::Span<const int64_t> shape, const MmaWarps& warps, MmaKind kind);
TileLayout MmaOperandB(absl::Span<const int64_t> shape, const MmaWarps& warps, MmaKind kind);

// wgmma: four warps, a warpgroup, multiply A [64, k] by B [k, n], where k is 32 bytes and n a multiple of 8 up to 256,
// here a power of two. B is in shared memory, A there or in registers. The fragment of warp w is that of mma.sync for
// the rows from 16 w.
//
// The result [M, N]; of a warpgroup's registers, each `instruction_n` / 2 are those of one instruction, in order.
// Warpgroups share M and N as `warpgroups` says, each with `instruction_n` neighbouring columns. Requires M >= 64, 8 <=
// instruction_n <= N.
TileLayout WgmmaResult(absl::Span<const int64_t> shape, const MmaWarps& warpgroups, int instruction_n);
// A [M, K] in registers; kind is not kDouble.
TileLayout WgmmaOperandA(absl::Span<const int64_t> shape, const MmaWarps& warpgroups, MmaKind kind);

// An operand of wgmma in shared memory, and what its descriptor says ("Matrix descriptor format").
//
// A row of `row_bytes` bytes along the contiguous axis lies in one piece. Eight rows make an atom, in which the chunks
// of 16 bytes are swizzled: address bits from 7 up are xor-ed onto those from 4 up. Atoms follow each other along the
// other axis, and then comes the next panel of rows. With rows of 128 bytes, chunk c (0 to 7) of row r is at
//
//   panel * (number of rows * 128) + r * 128 + 16 * (c ^ (r % 8))
//
// which is what TMA writes for boxes as wide as a row, with the same swizzle, one box a panel. The operand must begin
// at a multiple of 8 * row_bytes.
struct WgmmaSharedLayout {
  LinearLayout offsets;  // row-major index in the tile's shape -> byte
  int64_t bytes = 0;
  int element_bytes = 2;
  int row_bytes = 128;         // 128, 64, 32, or 16, which is not swizzled
  bool is_transposed = false;  // M or N is contiguous instead of K: the instruction's trans bit
  int mn = 0;                  // extents along M or N, and along K
  int k = 0;

  // Fields of the descriptor: bits 62-63, and bytes, of which bits 16-29 and 32-45 are a 16th.
  int swizzle_code = 0;
  int64_t leading_offset = 16;
  int64_t stride_offset = 0;

  // The descriptor but for the address: OR (address >> 4) into it.
  uint64_t DescriptorBits() const;
  // What to add to the address for an instruction whose part of the operand begins at (mn, k), multiples of its
  // extents.
  int64_t OffsetOf(int64_t mn_index, int64_t k_index) const;
};

// The layout of an operand with `element_bits` of 8, 16 or 32. `shape` is [M, K] for A (k_axis 1) or [K, N] for B
// (k_axis 0). Rows are along `contiguous_axis`, as wide as the tile allows, up to 128 bytes. M or N may be contiguous
// for 16-bit elements only. Requires 32 bytes of K, eight rows, and 16 bytes along a row.
WgmmaSharedLayout WgmmaOperandInShared(absl::Span<const int64_t> shape, int k_axis, int contiguous_axis,
                                       int element_bits);

}  // namespace trivet::jit
