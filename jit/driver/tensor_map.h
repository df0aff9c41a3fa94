// Tensor maps: the descriptor of a tensor in global memory that TMA (sm_90 and later) copies tiles by.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "jit/driver/cuda_driver.h"

namespace trivet::jit {

// A tensor of 1 to 5 dimensions and the tile that one copy moves, in the driver's order: the contiguous dimension
// first.
struct TensorMapRequest {
  cuda::TensorMapType type = cuda::kTensorMapU8;
  int element_bytes = 1;
  uint64_t address = 0;                 // of element 0; a multiple of 16
  std::vector<uint64_t> extents;        // in elements, each at least 1
  std::vector<uint64_t> strides_bytes;  // of dimensions 1, 2, ..: multiples of 16, below 2^40
  std::vector<uint32_t> box;            // in elements, each from 1 to 256; box[0] * element_bytes a multiple of 16
  cuda::TensorMapSwizzle swizzle = cuda::kSwizzleNone;  // bounds box[0] * element_bytes to 32, 64 or 128 bytes
  cuda::TensorMapFill fill = cuda::kFillZero;
};

// Encodes `request`. A map is a plain value; kernels take it as a __grid_constant__ parameter. Errors: Unimplemented
// where the driver has no tensor maps; InvalidArgument naming the first limit above that `request` breaks.
absl::StatusOr<cuda::TensorMap> EncodeTensorMap(const CudaDriver& driver, const TensorMapRequest& request);

}  // namespace trivet::jit
