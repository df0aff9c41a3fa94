// Limits: how large a module may be. The verifier and the reader refuse what goes beyond, so that bytes from outside
// cost no more memory or stack than is written here.
#pragma once

#include <cstdint>

#include "vm/bytecode/op_info.h"
#include "vm/bytecode/types.h"

namespace trivet::vm {

struct Limits {
  int64_t max_functions = 10'000;
  int64_t max_ops = 4'000'000;                   // in a module
  int64_t max_values = 8'000'000;                // in a module
  int64_t max_nesting = 100;                     // regions within regions; the body is the first
  int64_t max_tile_elements = kMaxTileElements;  // of one value
  int64_t max_value_bytes = int64_t{1} << 38;    // of all values of one function, each counted once
  int64_t max_string_bytes = int64_t{1} << 20;   // one name, message or metadata value
  int64_t max_file_bytes = int64_t{1} << 30;     // a .tvbc file
  int64_t max_problems = 50;                     // reported before the verifier stops looking
  OpLevel max_level = OpLevel::kLowered;         // files hold kPortable only

  // Small enough that a fuzzer runs thousands of modules in a second.
  static constexpr Limits Fuzzing() {
    Limits limits;
    limits.max_functions = 32;
    limits.max_ops = 2'000;
    limits.max_values = 4'000;
    limits.max_nesting = 16;
    limits.max_tile_elements = 4'096;
    limits.max_value_bytes = 1 << 20;
    limits.max_string_bytes = 1 << 10;
    limits.max_file_bytes = 1 << 16;
    return limits;
  }
};

}  // namespace trivet::vm
