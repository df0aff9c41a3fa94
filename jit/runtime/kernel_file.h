// A compiled kernel as bytes: what the cache on disk holds.
//
//   "trivetk1"                            8 bytes
//   SHA-256 of all that follows           32 bytes
//   number of fields                      u32, little-endian like all numbers here
//   per field: name, value                each a u64 length and its bytes; numbers as decimal text
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "jit/runtime/compile.h"

namespace trivet::jit {

std::string SerializeKernel(const CompiledKernel& kernel);

// DataLoss, with what is wrong, for bytes that SerializeKernel did not make. Fields that are unknown are skipped.
absl::StatusOr<CompiledKernel> ParseKernel(absl::string_view bytes);

}  // namespace trivet::jit
