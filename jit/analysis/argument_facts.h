// What a launch promises about the arguments of a kernel, one row a parameter. Code compiled under such promises is
// only launched with arguments that keep them: they are part of the cache key (docs: "shape key").
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace trivet::jit {

struct ArgumentFact {
  // A power of two that divides the integer, or the address in bytes. 1: nothing is known.
  int64_t divisibility = 1;
  // The integer itself, where code is compiled for it alone (Triton does so for 1).
  std::optional<int64_t> constant;
  // The integer is at least 1. Extents and strides are; without it `x % n` may divide by zero and `-x` may be positive.
  bool is_positive = false;
};

// Missing rows promise nothing.
struct ArgumentFacts {
  std::vector<ArgumentFact> parameters;

  ArgumentFact Of(size_t parameter) const {
    return parameter < parameters.size() ? parameters[parameter] : ArgumentFact{};
  }
};

}  // namespace trivet::jit
