// Random kernels on integers, masks and pointers: legal, free of traps and of memory accesses, with loops and branches.
// For properties that must hold of every value of any program: what analyses claim, what passes keep.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "vm/bytecode/module.h"

namespace trivet::vm {

// What the arguments of a random kernel keep to.
struct RandomArgument {
  int64_t divisibility = 1;  // of the integer, or the address in bytes
  bool is_one = false;
  bool is_positive = false;
};

struct RandomIntegerProgram {
  Module module;  // one kernel, @k
  std::vector<RandomArgument> arguments;

  // The bits of arguments that keep to the facts: awkward values as often as plain ones.
  std::vector<uint64_t> MakeArguments(std::mt19937_64& random) const;
};

// About `num_ops` ops. The same state of `random` gives the same program. With `stores`, the last parameter is an
// output buffer of i64 with kRandomOutputElements elements, to which values are written, one element each.
inline constexpr int64_t kRandomOutputElements = 64;
RandomIntegerProgram MakeRandomIntegerProgram(std::mt19937_64& random, int num_ops, bool stores = false);

}  // namespace trivet::vm
