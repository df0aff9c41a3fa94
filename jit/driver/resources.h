// OutOfResources: a kernel that needs more of something than a device has, as a status that a caller can take apart.
//
// Callers retry with fewer stages or warps, or fall back; Python raises Triton's OutOfResources with the same three
// parts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace trivet::jit {

struct OutOfResources {
  std::string resource;  // "shared memory", "threads", "registers": Triton's words
  int64_t required = 0;
  int64_t limit = 0;
};

// ResourceExhausted: "out of resource: shared memory: kernel 'matmul' needs 245760 bytes, and NVIDIA A100 has 166912
// ...". `subject` is who needs it ("kernel 'matmul'"), `owner` who has it, `advice` how to need less.
absl::Status OutOfResourcesError(const OutOfResources& what, absl::string_view subject, absl::string_view owner,
                                 absl::string_view advice);

// What ran out, if `status` was made by OutOfResourcesError.
std::optional<OutOfResources> FindOutOfResources(const absl::Status& status);

}  // namespace trivet::jit
