// Functions that compiled kernels call by symbol: compiler-rt's conversions, and libdevice in terms of
// the reference's mathematics.
#pragma once

#include <span>

#include "absl/strings/string_view.h"

namespace trivet::jit {

struct HostSymbol {
  const char* name;
  void* address;
};

// All symbols; a few names occur twice, with the same meaning.
std::span<const HostSymbol> HostSymbols();

// Null when there is none.
const HostSymbol* FindHostSymbol(absl::string_view name);

}  // namespace trivet::jit
