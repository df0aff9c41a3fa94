// A call that the kernel makes and the host answers: what the rewrite makes of an llvm.nvvm intrinsic or of inline PTX.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace trivet::jit {

class Cta;
struct Row;

// The type of an operand or result, as far as a host function needs it. Values wider than 64 bits take several slots.
struct SlotType {
  int bits;
  int address_space;  // of a pointer; -1 for anything else
  int slots() const { return (bits + 63) / 64; }
};

// One call instruction of the kernel. Made once, when the kernel is loaded.
struct CallSite {
  std::string name;      // "shfl.sync.bfly.i32", or "/*masked_load.v4.b32*/"
  std::string location;  // "file.py:12:3" of the source, or empty
  const Row* row;
  std::array<int, 8> choice;  // what the pattern's alternatives and numbers matched, see rows.h
  std::vector<SlotType> operands;
  std::vector<SlotType> results;
};

// One execution of a call by one thread. in[i] has operand i in its low bits, out[i] takes result i (all of them when
// the call returns a struct); upper bits are zero in `in` and ignored in `out`.
struct Call {
  Cta& cta;
  const CallSite& site;
  const uint64_t* in;
  uint64_t* out;
};

// Bits of a slot as a T: an integer, float, double, or a trivial struct of at most 8 bytes.
template <typename T>
T FromSlot(uint64_t slot) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, &slot, sizeof(T));
  return value;
}

template <typename T>
uint64_t ToSlot(T value) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
  uint64_t slot = 0;
  std::memcpy(&slot, &value, sizeof(T));
  return slot;
}

}  // namespace trivet::jit
