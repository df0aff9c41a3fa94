// Runs kernels written as LLVM IR text.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "jit/emulator/emulator.h"

namespace trivet::jit {

// Loads the kernel @kernel of a module in text form. Intrinsics need no declaration.
absl::StatusOr<std::unique_ptr<EmulatedKernel>> LoadText(absl::string_view text);

// Loads and launches.
absl::Status RunText(absl::string_view text, const EmulatedLaunch& launch);

template <typename T>
uint64_t AddressOf(std::vector<T>& values) {
  return reinterpret_cast<uint64_t>(values.data());
}

template <typename T>
MemoryRange RangeOf(std::vector<T>& values) {
  return {AddressOf(values), static_cast<int64_t>(values.size() * sizeof(T))};
}

}  // namespace trivet::jit
