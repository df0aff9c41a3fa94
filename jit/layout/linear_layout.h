// A map between bit strings that is linear over F2, where addition is xor. Pure mathematics: no tiles, no IR, no LLVM.
//
//   input   bits that say "where": of (register, lane, warp), or of an address
//   output  bits that say "which": of a row-major index, or of an address
//
// Linear means Apply(x ^ y) == Apply(x) ^ Apply(y). So the images of the single bits, the bases, fix the map, and Apply
// is the xor of the bases of the bits that are set.
//
// Example 1, a swizzle: bases {1, 2, 5, 10}, four bits in, four bits out. Read the input as 4 * row + column:
//
//   row 0   0  1  2  3       bit 2 selects 5 = 4 + 1: it moves down one row and flips the lowest bit of the column;
//   row 1   5  4  7  6       bit 3 selects 10 = 8 + 2. So row r holds its four columns xor-ed with r, and each column
//   row 2   A  B  8  9       of the picture, read downwards, has four different values of (output mod 4): a column of a
//   row 3   F  E  D  C       tile stored this way lies in four different banks. Its own inverse.
//
// Example 2, composition: if T gives the element of each thread, and O the address of each element, O.After(T) gives
// the address of each thread's element. Inverse goes from addresses to elements.
//
// Example 3, free variables: bases {1, 0, 2, 3}. Bit 1 does nothing, and bit 3 does what bits 0 and 2 do together. Rank
// 2, so half of the four input bits are free: FreeInputs() is 0b1010 (each bit whose base is a sum of bases of lower
// bits), and Kernel() is {0b0010, 0b1101}: what may be added to an input without changing the output. Solve(3) is
// 0b0101, free bits zero.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trivet::jit {

class LinearLayout {
 public:
  // The map from no bits to no bits.
  LinearLayout() = default;
  // bases[i] is what input bit i selects. At most 32 of them, each below 2^out_bits; out_bits is at most 32.
  LinearLayout(std::vector<uint32_t> bases, int out_bits);
  static LinearLayout Identity(int bits);

  int in_bits() const { return static_cast<int>(bases_.size()); }
  int out_bits() const { return out_bits_; }
  const std::vector<uint32_t>& bases() const { return bases_; }

  // Requires where < 2^in_bits().
  uint32_t Apply(uint32_t where) const {
    uint32_t which = 0;
    for (size_t i = 0; where != 0; ++i, where >>= 1) {
      if ((where & 1) != 0) which ^= bases_[i];
    }
    return which;
  }

  // The layout x -> Apply(inner.Apply(x)). Requires inner.out_bits() == in_bits().
  LinearLayout After(const LinearLayout& inner) const;
  // The layout (x, y) -> Apply(x) ^ high.Apply(y), where y is the bits above those of x. Requires equal out_bits().
  LinearLayout Beside(const LinearLayout& high) const;

  // Independent outputs: the image has 2^Rank() members.
  int Rank() const;
  bool IsInjective() const { return Rank() == in_bits(); }
  bool IsSurjective() const { return Rank() == out_bits(); }
  bool IsBijective() const { return IsInjective() && IsSurjective(); }
  // Every base is a single bit and no two are the same: bits are only moved.
  bool IsPermutation() const;

  // Mask of the input bits whose base is a sum of the bases of lower input bits: Rank() + popcount == in_bits().
  uint32_t FreeInputs() const;
  // A basis of {x : Apply(x) == 0}, one member for each free input, whose highest bit it is.
  std::vector<uint32_t> Kernel() const;
  // The x with Apply(x) == which that has zeros in FreeInputs(); nothing when there is none.
  std::optional<uint32_t> Solve(uint32_t which) const;
  // The layout R with Apply(R.Apply(y)) == y for every y, zeros in FreeInputs(); nothing unless surjective.
  std::optional<LinearLayout> RightInverse() const;
  // RightInverse that also undoes from the left; nothing unless bijective.
  std::optional<LinearLayout> Inverse() const;

  // "4 -> 4 bits {1, 2, 5, 10}".
  std::string ToString() const;
  friend bool operator==(const LinearLayout&, const LinearLayout&) = default;

 private:
  // One row of the elimination: the xor of the bases of the bits in `inputs` is `value`; no two rows have the same
  // highest bit of `value`.
  struct Row {
    uint32_t value;
    uint32_t inputs;
  };
  struct Elimination {
    std::vector<Row> rows;         // one for each input that is not free, in order
    std::vector<uint32_t> kernel;  // see Kernel
  };
  Elimination Eliminate() const;
  // Reduces `row` by `rows`; its value becomes zero iff it is in their span.
  static Row Reduce(const std::vector<Row>& rows, Row row);

  std::vector<uint32_t> bases_;
  int out_bits_ = 0;
};

}  // namespace trivet::jit
