// The limits of tensor maps, each named when it is broken.
#include "jit/driver/tensor_map.h"

#include <functional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/fake_cuda/fake_cuda.h"

namespace trivet::jit {
namespace {

TensorMapRequest Good() {
  TensorMapRequest request;
  request.type = cuda::kTensorMapF16;
  request.element_bytes = 2;
  request.address = 0x1000;
  request.extents = {1024, 512};
  request.strides_bytes = {2048};
  request.box = {64, 128};
  request.swizzle = cuda::kSwizzle128B;
  return request;
}

TEST(TensorMapTest, EncodesWhatTheDriverIsAskedFor) {
  fake_cuda::Reset();
  const std::unique_ptr<CudaDriver> driver = *CudaDriver::Open(FAKE_CUDA_PATH);
  absl::StatusOr<cuda::TensorMap> map = EncodeTensorMap(*driver, Good());
  ASSERT_TRUE(map.ok()) << map.status();
  EXPECT_EQ(map->opaque[0], 0x1000u);
  EXPECT_EQ(map->opaque[1], uint64_t{cuda::kTensorMapF16} | 2u << 8 | uint64_t{cuda::kSwizzle128B} << 16);
}

TEST(TensorMapTest, NamesTheLimitThatIsBroken) {
  fake_cuda::Reset();
  const std::unique_ptr<CudaDriver> driver = *CudaDriver::Open(FAKE_CUDA_PATH);
  const struct {
    std::function<void(TensorMapRequest&)> damage;
    const char* message;
  } kCases[] = {
      {[](TensorMapRequest& r) { r.extents.clear(); }, "rank 0"},
      {[](TensorMapRequest& r) { r.strides_bytes.clear(); }, "1 strides, not 0"},
      {[](TensorMapRequest& r) { r.box.pop_back(); }, "the tile has rank 1"},
      {[](TensorMapRequest& r) { r.address += 8; }, "no multiple of 16 bytes"},
      {[](TensorMapRequest& r) { r.extents[1] = 0; }, "extent 0 of dimension 1"},
      {[](TensorMapRequest& r) { r.box[1] = 257; }, "257 elements along dimension 1"},
      {[](TensorMapRequest& r) { r.strides_bytes[0] = 2050; }, "2050 bytes"},
      {[](TensorMapRequest& r) { r.box[0] = 4; }, "8 bytes, no multiple of 16"},
      {[](TensorMapRequest& r) { r.box[0] = 128; }, "256 bytes; the swizzle spans 128"},
  };
  for (const auto& test_case : kCases) {
    TensorMapRequest request = Good();
    test_case.damage(request);
    const absl::Status status = EncodeTensorMap(*driver, request).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr(test_case.message));
  }
  EXPECT_EQ(fake_cuda::CallCount("cuTensorMapEncodeTiled"), 0);
}

}  // namespace
}  // namespace trivet::jit
