// Opening the driver, its errors, contexts and captures: on the fake driver.
#include "jit/driver/cuda_driver.h"

#include <dlfcn.h>

#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/fake_cuda/fake_cuda.h"

namespace trivet::jit {
namespace {

using ::testing::HasSubstr;

class CudaDriverTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fake_cuda::Reset();
    absl::StatusOr<std::unique_ptr<CudaDriver>> driver = CudaDriver::Open(FAKE_CUDA_PATH);
    ASSERT_TRUE(driver.ok()) << driver.status();
    driver_ = std::move(*driver);
  }

  std::unique_ptr<CudaDriver> driver_;
};

TEST_F(CudaDriverTest, ReadsTheDevices) {
  ASSERT_EQ(driver_->devices().size(), 1u);
  const DeviceFacts& device = driver_->devices()[0];
  EXPECT_EQ(device.name, "Fake GPU 0");
  EXPECT_EQ(device.compute_capability(), 90);
  EXPECT_EQ(device.num_sms, 132);
  EXPECT_EQ(device.max_shared_bytes_per_cta, 232448);
  EXPECT_EQ(device.max_grid_x, 0x7fffffff);
  EXPECT_EQ(driver_->version(), 12080);
}

TEST_F(CudaDriverTest, SaysWhyThereIsNoDriver) {
  const absl::Status status = CudaDriver::Open("/nowhere/libcuda.so.1").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/nowhere/libcuda.so.1"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("install NVIDIA's driver"));
}

TEST_F(CudaDriverTest, NamesFunctionsThatALibraryLacks) {
  // Any library that is no CUDA driver.
  const absl::Status status = CudaDriver::Open("libm.so.6").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("cuMemAlloc_v2"));
  EXPECT_THAT(std::string(status.message()), ::testing::Not(HasSubstr("cuTensorMapEncodeTiled"))) << "it is optional";
}

TEST_F(CudaDriverTest, SaysWhyThereIsNoDevice) {
  fake_cuda::Fail("cuInit", 100);
  const absl::Status status = CudaDriver::Open(FAKE_CUDA_PATH).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("cuInit: CUDA_ERROR_NO_DEVICE (100)"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("CUDA_VISIBLE_DEVICES"));
}

TEST_F(CudaDriverTest, FindDeviceNamesTheCount) {
  EXPECT_TRUE(driver_->FindDevice(0).ok());
  EXPECT_THAT(std::string(driver_->FindDevice(3).status().message()), HasSubstr("no CUDA device 3; the driver sees 1"));
  EXPECT_FALSE(driver_->FindDevice(-1).ok());
}

TEST_F(CudaDriverTest, ErrorsCarryCallNameTextAdviceAndCode) {
  const absl::Status status = driver_->Check(2, "cuMemAlloc");
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory; free device memory, or use smaller tensors");
  EXPECT_EQ(CudaResultOf(status), 2);
  EXPECT_FALSE(IsDeviceFault(status));
  EXPECT_TRUE(driver_->Check(0, "cuMemAlloc").ok());
}

TEST_F(CudaDriverTest, UnknownErrorsAreStillNumbered) {
  const absl::Status status = driver_->Check(987, "cuThing");
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(status.message(), "cuThing: unknown error (987)");
}

TEST_F(CudaDriverTest, FaultsAreToldApartAlsoBehindAPrefix) {
  const absl::Status status = Prefixed(driver_->Check(700, "cuStreamSynchronize"), "kernel 'add'");
  EXPECT_TRUE(IsDeviceFault(status));
  EXPECT_THAT(std::string(status.message()), ::testing::StartsWith("kernel 'add': cuStreamSynchronize: "));
  EXPECT_FALSE(IsDeviceFault(absl::InternalError("something else")));
  EXPECT_FALSE(IsDeviceFault(absl::OkStatus()));
}

TEST_F(CudaDriverTest, UsesThePrimaryContextWhereNoneIsCurrent) {
  cuda::Context current = nullptr;
  {
    absl::StatusOr<ScopedContext> scope = ScopedContext::Enter(*driver_, 0);
    ASSERT_TRUE(scope.ok()) << scope.status();
    EXPECT_EQ(scope->context(), *driver_->PrimaryContext(0));
    driver_->api().cuCtxGetCurrent(&current);
    EXPECT_EQ(current, scope->context());
  }
  driver_->api().cuCtxGetCurrent(&current);
  EXPECT_EQ(current, nullptr);
}

TEST_F(CudaDriverTest, UsesTheCurrentContextOfTheDevice) {
  const cuda::Context own = fake_cuda::CreateContext(0);
  driver_->api().cuCtxPushCurrent(own);
  {
    absl::StatusOr<ScopedContext> scope = ScopedContext::Enter(*driver_, 0);
    ASSERT_TRUE(scope.ok());
    EXPECT_EQ(scope->context(), own);
  }
  cuda::Context popped = nullptr;
  driver_->api().cuCtxPopCurrent(&popped);
  EXPECT_EQ(popped, own) << "it was not taken off";
}

TEST_F(CudaDriverTest, LeavesAContextOfAnotherDeviceAlone) {
  const cuda::Context other = fake_cuda::CreateContext(7);
  driver_->api().cuCtxPushCurrent(other);
  {
    absl::StatusOr<ScopedContext> scope = ScopedContext::Enter(*driver_, 0);
    ASSERT_TRUE(scope.ok());
    EXPECT_EQ(scope->context(), *driver_->PrimaryContext(0));
  }
  cuda::Context popped = nullptr;
  driver_->api().cuCtxPopCurrent(&popped);
  EXPECT_EQ(popped, other);
}

TEST_F(CudaDriverTest, RetainsThePrimaryContextOnce) {
  ASSERT_TRUE(driver_->PrimaryContext(0).ok());
  ASSERT_TRUE(driver_->PrimaryContext(0).ok());
  EXPECT_EQ(fake_cuda::CallCount("cuDevicePrimaryCtxRetain"), 1);
}

TEST_F(CudaDriverTest, SeesCaptures) {
  const ScopedContext scope = *ScopedContext::Enter(*driver_, 0);
  cuda::Stream stream = nullptr;
  ASSERT_EQ(driver_->api().cuStreamCreate(&stream, 0), cuda::kSuccess);
  EXPECT_FALSE(*driver_->IsCapturing(stream));
  EXPECT_FALSE(*driver_->IsCapturing(nullptr));
  fake_cuda::BeginCapture(stream, cuda::kCaptureGlobal);
  EXPECT_TRUE(*driver_->IsCapturing(stream));
  EXPECT_TRUE(*driver_->IsCapturing(nullptr)) << "the default stream waits for all others";
  EXPECT_TRUE(fake_cuda::EndCapture(stream)) << "asking does not disturb it";
}

TEST_F(CudaDriverTest, RelaxedCaptureIsOfThisThreadAndEnds) {
  const ScopedContext scope = *ScopedContext::Enter(*driver_, 0);
  cuda::Stream stream = nullptr;
  ASSERT_EQ(driver_->api().cuStreamCreate(&stream, 0), cuda::kSuccess);
  fake_cuda::BeginCapture(stream, cuda::kCaptureGlobal);
  cuda::DevicePtr address = 0;
  {
    const RelaxedCapture relaxed(*driver_);
    EXPECT_EQ(driver_->api().cuMemAlloc(&address, 16), cuda::kSuccess);
    EXPECT_EQ(driver_->api().cuMemFree(address), cuda::kSuccess);
  }
  EXPECT_EQ(driver_->api().cuMemAlloc(&address, 16), cuda::kStreamCaptureUnsupported);
  EXPECT_FALSE(fake_cuda::EndCapture(stream));
}

TEST(CudaDriverGetTest, OpensWhatTheEnvironmentNamesOnce) {
  setenv("TRIVET_CUDA_DRIVER", FAKE_CUDA_PATH, 1);
  absl::StatusOr<const CudaDriver*> first = CudaDriver::Get();
  ASSERT_TRUE(first.ok()) << first.status();
  setenv("TRIVET_CUDA_DRIVER", "/nowhere", 1);
  EXPECT_EQ(*CudaDriver::Get(), *first);
}

}  // namespace
}  // namespace trivet::jit
