// Functions that compiled kernels call by symbol: compiler-rt's conversions, and libdevice in terms of libm.
#pragma once

#include <span>

#include "absl/strings/string_view.h"

namespace trivet::jit {

struct HostSymbol {
  const char* name;
  void* address;
};

// All symbols, sorted by nothing in particular.
std::span<const HostSymbol> HostSymbols();

// Null when there is none.
const HostSymbol* FindHostSymbol(absl::string_view name);

}  // namespace trivet::jit
