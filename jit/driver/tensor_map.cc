#include "jit/driver/tensor_map.h"

#include "absl/strings/str_cat.h"
#include "vm/base/status.h"

namespace trivet::jit {
namespace {

// The limits of cuTensorMapEncodeTiled (CUDA driver API, Tensor Map Object Management), which itself only says
// "invalid argument".
absl::Status CheckLimits(const TensorMapRequest& request) {
  const size_t rank = request.extents.size();
  const auto refuse = [](auto... parts) { return absl::InvalidArgumentError(absl::StrCat("tensor map: ", parts...)); };
  if (rank < 1 || rank > 5) return refuse("rank ", rank, " is not in 1..5");
  if (request.strides_bytes.size() != rank - 1) {
    return refuse("a tensor of rank ", rank, " has ", rank - 1, " strides, not ", request.strides_bytes.size());
  }
  if (request.box.size() != rank) return refuse("the tile has rank ", request.box.size(), ", the tensor ", rank);
  if (request.address % 16 != 0) return refuse("the tensor's address is no multiple of 16 bytes");
  for (size_t i = 0; i < rank; ++i) {
    if (request.extents[i] < 1 || request.extents[i] > (uint64_t{1} << 32)) {
      return refuse("extent ", request.extents[i], " of dimension ", i, " is not in 1..2^32");
    }
    if (request.box[i] < 1 || request.box[i] > 256) {
      return refuse("a tile of ", request.box[i], " elements along dimension ", i, " is not in 1..256");
    }
  }
  for (size_t i = 0; i + 1 < rank; ++i) {
    const uint64_t stride = request.strides_bytes[i];
    if (stride % 16 != 0 || stride >= (uint64_t{1} << 40)) {
      return refuse("the stride of dimension ", i + 1, ", ", stride, " bytes, is no multiple of 16 below 2^40");
    }
  }
  const uint64_t row_bytes = uint64_t{request.box[0]} * static_cast<uint64_t>(request.element_bytes);
  if (row_bytes % 16 != 0) return refuse("a row of the tile has ", row_bytes, " bytes, no multiple of 16");
  const uint64_t span = request.swizzle == cuda::kSwizzleNone ? row_bytes : uint64_t{16} << request.swizzle;
  if (row_bytes > span) return refuse("a row of the tile has ", row_bytes, " bytes; the swizzle spans ", span);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<cuda::TensorMap> EncodeTensorMap(const CudaDriver& driver, const TensorMapRequest& request) {
  if (driver.api().cuTensorMapEncodeTiled == nullptr) {
    return absl::UnimplementedError("the CUDA driver has no tensor maps; they need version 12.0");
  }
  TRIVET_RETURN_IF_ERROR(CheckLimits(request));
  cuda::TensorMap map;
  const std::vector<uint32_t> element_strides(request.extents.size(), 1);
  TRIVET_RETURN_IF_ERROR(
      TRIVET_CUDA_CALL(driver, cuTensorMapEncodeTiled, &map, request.type,
                       static_cast<uint32_t>(request.extents.size()), reinterpret_cast<void*>(request.address),
                       request.extents.data(), request.strides_bytes.data(), request.box.data(), element_strides.data(),
                       cuda::kInterleaveNone, request.swizzle, cuda::kL2Promotion256B, request.fill));
  return map;
}

}  // namespace trivet::jit
