// Loading kernels, and what is said when they don't fit: on the fake driver.
#include "jit/driver/cuda_module.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "jit/driver/resources.h"
#include "tests/support/fake_cuda/fake_cuda.h"

namespace trivet::jit {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kPtx[] = R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry add_kernel(
  .param .u64 .ptr .global .align 1 add_kernel_param_0,
  .param .u32 add_kernel_param_1)
{ ret; }
)";

class CudaModuleTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fake_cuda::Reset();
    driver_ = *CudaDriver::Open(FAKE_CUDA_PATH);
    scope_.emplace(*ScopedContext::Enter(*driver_, 0));
  }

  absl::StatusOr<LoadedFunction> Load(const LoadRequest& request) {
    return LoadFunction(*driver_, driver_->devices()[0], request);
  }
  LoadRequest Request() {
    LoadRequest request;
    request.image = kPtx;
    request.kernel = "add_kernel";
    request.label = "add";
    request.threads_per_cta = 128;
    return request;
  }

  std::unique_ptr<CudaDriver> driver_;
  std::optional<ScopedContext> scope_;
};

TEST_F(CudaModuleTest, LoadsPtxAndReportsWhatItTook) {
  fake_cuda::SetKernelFacts("add_kernel", {.registers = 40, .local_bytes = 16, .static_shared_bytes = 64});
  absl::StatusOr<LoadedFunction> loaded = Load(Request());
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_NE(loaded->function, nullptr);
  EXPECT_EQ(loaded->registers, 40);
  EXPECT_EQ(loaded->local_bytes, 16);
  EXPECT_EQ(loaded->static_shared_bytes, 64);
  EXPECT_EQ(loaded->binary_version, 90);
  EXPECT_EQ(fake_cuda::CallCount("cuFuncLoad"), 1) << "its code must be there before a capture";
  EXPECT_EQ(fake_cuda::CallCount("cuFuncSetAttribute"), 0) << "48 KiB need no asking";
  EXPECT_EQ(*CtasPerSm(*driver_, *loaded, 128, 0), 16);
}

TEST_F(CudaModuleTest, OptsIntoMoreSharedMemory) {
  LoadRequest request = Request();
  request.dynamic_shared_bytes = 200 * 1024;
  absl::StatusOr<LoadedFunction> loaded = Load(request);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  int bytes = 0;
  driver_->api().cuFuncGetAttribute(&bytes, cuda::kMaxDynamicSharedBytes, loaded->function);
  EXPECT_EQ(bytes, 200 * 1024);
}

TEST_F(CudaModuleTest, TooMuchSharedMemoryNeedsNoLoading) {
  LoadRequest request = Request();
  request.dynamic_shared_bytes = 300000;
  const absl::Status status = Load(request).status();
  EXPECT_EQ(status.message(),
            "out of resource: shared memory: kernel 'add' needs 300000 bytes, and Fake GPU 0 has 232448 bytes; use "
            "smaller tiles or fewer stages");
  const std::optional<OutOfResources> what = FindOutOfResources(status);
  ASSERT_TRUE(what.has_value());
  EXPECT_EQ(what->resource, "shared memory");
  EXPECT_EQ(what->required, 300000);
  EXPECT_EQ(what->limit, 232448);
  EXPECT_EQ(fake_cuda::CallCount("cuModuleLoadDataEx"), 0);
}

TEST_F(CudaModuleTest, StaticSharedMemoryCountsToo) {
  fake_cuda::SetKernelFacts("add_kernel", {.static_shared_bytes = 1000});
  LoadRequest request = Request();
  request.dynamic_shared_bytes = 232000;
  EXPECT_EQ(FindOutOfResources(Load(request).status())->required, 233000);
  EXPECT_EQ(fake_cuda::CallCount("cuModuleUnload"), 1) << "nothing can hold what was never launched";
}

TEST_F(CudaModuleTest, TooManyThreads) {
  LoadRequest request = Request();
  request.threads_per_cta = 2048;
  const std::optional<OutOfResources> what = FindOutOfResources(Load(request).status());
  ASSERT_TRUE(what.has_value());
  EXPECT_EQ(what->resource, "threads");
  EXPECT_EQ(what->limit, 1024);
}

TEST_F(CudaModuleTest, TooManyRegisters) {
  fake_cuda::SetKernelFacts("add_kernel", {.registers = 255, .max_threads_per_cta = 256});
  LoadRequest request = Request();
  request.threads_per_cta = 512;
  const std::optional<OutOfResources> what = FindOutOfResources(Load(request).status());
  ASSERT_TRUE(what.has_value());
  EXPECT_EQ(what->resource, "registers");
  EXPECT_EQ(what->required, 255 * 512);
  EXPECT_EQ(what->limit, 65536);
}

TEST_F(CudaModuleTest, BadPtxComesWithTheLog) {
  LoadRequest request = Request();
  request.image = "nonsense";
  const absl::Status status = Load(request).status();
  EXPECT_THAT(std::string(status.message()),
              StartsWith("loading kernel 'add' on device 0 (Fake GPU 0): cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("Missing .version directive"));
  EXPECT_EQ(CudaResultOf(status), 218);
}

TEST_F(CudaModuleTest, AKernelThatIsNotThere) {
  LoadRequest request = Request();
  request.kernel = "sub_kernel";
  EXPECT_THAT(std::string(Load(request).status().message()), HasSubstr("cuModuleGetFunction: CUDA_ERROR_NOT_FOUND"));
}

TEST_F(CudaModuleTest, AssemblesACubinThatLoadsWithoutCompiler) {
  absl::StatusOr<std::string> cubin = AssemblePtx(*driver_, kPtx, "add");
  ASSERT_TRUE(cubin.ok()) << cubin.status();
  EXPECT_TRUE(IsCubin(*cubin));
  EXPECT_FALSE(IsCubin(kPtx));
  LoadRequest request = Request();
  request.image = *cubin;
  EXPECT_TRUE(Load(request).ok());
  EXPECT_EQ(fake_cuda::CallCount("cuLinkDestroy"), 1);
}

TEST_F(CudaModuleTest, AssemblingBadPtxComesWithTheLogAndLeaksNothing) {
  const absl::Status status = AssemblePtx(*driver_, "nonsense", "add").status();
  EXPECT_THAT(std::string(status.message()), StartsWith("assembling kernel 'add': cuLinkAddData"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("Missing .version directive"));
  EXPECT_EQ(fake_cuda::CallCount("cuLinkDestroy"), 1);
}

TEST_F(CudaModuleTest, LoadingDoesNotDisturbACaptureElsewhere) {
  cuda::Stream stream = nullptr;
  ASSERT_EQ(driver_->api().cuStreamCreate(&stream, 0), cuda::kSuccess);
  fake_cuda::BeginCapture(stream, cuda::kCaptureGlobal);
  EXPECT_TRUE(Load(Request()).ok());
  EXPECT_TRUE(AssemblePtx(*driver_, kPtx, "add").ok());
  EXPECT_TRUE(fake_cuda::EndCapture(stream));
}

}  // namespace
}  // namespace trivet::jit
