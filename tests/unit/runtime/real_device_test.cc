// The same on a real device: that the driver does what the fake one says it does. Skipped where there is none.
#include <dlfcn.h>

#include <cstring>

#include "gmock/gmock.h"
#include "jit/driver/resources.h"
#include "jit/driver/tensor_map.h"
#include "jit/runtime/cross_check.h"
#include "jit/runtime/gpu_kernel.h"
#include "tests/unit/runtime/device_kernel.h"

namespace trivet::jit {
namespace {

using ::testing::HasSubstr;

// kDoubleText as PTX, by hand: one program is one CTA, of which four threads work.
constexpr char kDoublePtx[] = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry double_kernel(.param .u64 from, .param .u64 to, .param .u32 n)
{
  .reg .pred %p<3>;
  .reg .b32 %r<6>;
  .reg .f32 %f<3>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %tid.x;
  setp.ge.u32 %p1, %r3, 4;
  @%p1 ret;
  mad.lo.u32 %r4, %r2, 4, %r3;
  setp.ge.u32 %p2, %r4, %r1;
  @%p2 ret;
  mul.wide.u32 %rd3, %r4, 4;
  add.u64 %rd4, %rd1, %rd3;
  add.u64 %rd5, %rd2, %rd3;
  ld.global.f32 %f1, [%rd4];
  add.f32 %f2, %f1, %f1;
  st.global.f32 [%rd5], %f2;
  ret;
}
)";

class RealDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<std::unique_ptr<CudaDriver>> driver = CudaDriver::Open("libcuda.so.1");
    if (!driver.ok()) GTEST_SKIP() << driver.status().message();
    driver_ = *std::move(driver);
    scope_.emplace(*ScopedContext::Enter(*driver_, 0));
    ASSERT_EQ(driver_->api().cuStreamCreate(&stream_, /*flags=*/1), cuda::kSuccess);
    // Captures belong to who makes graphs, not to us: these two are not in our table.
    void* library = dlopen("libcuda.so.1", RTLD_NOW);
    begin_capture_ = reinterpret_cast<decltype(begin_capture_)>(dlsym(library, "cuStreamBeginCapture_v2"));
    end_capture_ = reinterpret_cast<decltype(end_capture_)>(dlsym(library, "cuStreamEndCapture"));
  }

  CompiledKernel Double() {
    CompiledKernel kernel;
    kernel.kernel_name = "double_kernel";
    kernel.target = "sm_80";
    kernel.num_warps = 1;
    kernel.ptx = kDoublePtx;
    return kernel;
  }
  uint64_t Upload(const std::vector<float>& values) {
    cuda::DevicePtr address = 0;
    EXPECT_EQ(driver_->api().cuMemAlloc(&address, values.size() * sizeof(float)), cuda::kSuccess);
    EXPECT_EQ(driver_->api().cuMemcpyHtoD(address, values.data(), values.size() * sizeof(float)), cuda::kSuccess);
    return address;
  }
  std::vector<float> Download(uint64_t address, size_t count) {
    std::vector<float> values(count);
    EXPECT_EQ(driver_->api().cuStreamSynchronize(stream_), cuda::kSuccess);
    EXPECT_EQ(driver_->api().cuMemcpyDtoH(values.data(), address, count * sizeof(float)), cuda::kSuccess);
    return values;
  }
  absl::Status Launch(const GpuKernel& kernel, uint64_t from, uint64_t to, int32_t n) {
    void* params[] = {&from, &to, &n};
    return kernel.Launch(0, stream_, {(n + 3) / 4}, params);
  }
  bool BeginCapture() { return begin_capture_(stream_, cuda::kCaptureGlobal) == cuda::kSuccess; }
  bool EndCapture() {
    void* graph = nullptr;
    return end_capture_(stream_, &graph) == cuda::kSuccess && graph != nullptr;
  }

  std::unique_ptr<CudaDriver> driver_;
  std::optional<ScopedContext> scope_;
  cuda::Stream stream_ = nullptr;
  cuda::Result (*begin_capture_)(cuda::Stream, cuda::CaptureMode) = nullptr;
  cuda::Result (*end_capture_)(cuda::Stream, void** graph) = nullptr;
};

TEST_F(RealDeviceTest, FactsArePlausible) {
  const DeviceFacts& device = driver_->devices()[0];
  EXPECT_GE(device.compute_capability(), 50);
  EXPECT_EQ(device.warp_size, 32);
  EXPECT_EQ(device.max_threads_per_cta, 1024);
  EXPECT_GE(device.max_shared_bytes_per_cta, device.shared_bytes_per_cta);
  EXPECT_EQ(device.shared_bytes_per_cta, 48 * 1024);
  EXPECT_EQ(device.registers_per_cta, 65536);
  EXPECT_EQ(device.max_grid_x, 0x7fffffff);
  EXPECT_EQ(device.max_grid_y, 65535);
  EXPECT_GE(driver_->version(), 11080);
}

TEST_F(RealDeviceTest, LaunchesFromPtxAndFromTheCubinOfIt) {
  CompiledKernel with_cubin;
  const GpuKernel kernel(*driver_, Double(), "double", [&](const CompiledKernel& made) { with_cubin = made; });
  const uint64_t from = Upload({1, 2, 3, 4, 5, 6});
  const uint64_t to = Upload(std::vector<float>(6, 0));
  absl::Status status = Launch(kernel, from, to, 5);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(Download(to, 6), ::testing::ElementsAre(2, 4, 6, 8, 10, 0));
  EXPECT_TRUE(IsCubin(with_cubin.cubin));
  EXPECT_GT(kernel.Load(0)->registers, 0);
  EXPECT_EQ(kernel.Load(0)->binary_version, driver_->devices()[0].compute_capability());
  EXPECT_GT(*kernel.CtasPerSm(0), 0);

  with_cubin.ptx = "";  // the cubin must do
  status = Launch(GpuKernel(*driver_, with_cubin, "double"), to, from, 6);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(Download(from, 6), ::testing::ElementsAre(4, 8, 12, 16, 20, 0));
}

TEST_F(RealDeviceTest, BadPtxComesWithTheAssemblersWords) {
  CompiledKernel kernel = Double();
  kernel.ptx.replace(kernel.ptx.find("add.f32"), 7, "frobnic");
  const absl::Status status = GpuKernel(*driver_, kernel, "double").Load(0).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("CUDA_ERROR_INVALID_PTX (218)"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("frobnic"));
}

TEST_F(RealDeviceTest, OptsIntoSharedMemoryAndKnowsTheLimit) {
  CompiledKernel kernel = Double();
  kernel.shared_bytes = driver_->devices()[0].max_shared_bytes_per_cta;
  EXPECT_TRUE(Launch(GpuKernel(*driver_, kernel, "double"), Upload({1}), Upload({0}), 1).ok());
  kernel.shared_bytes += 1;
  EXPECT_TRUE(FindOutOfResources(GpuKernel(*driver_, kernel, "double").Load(0).status()).has_value());
}

TEST_F(RealDeviceTest, CapturesWhatIsLoadedAndRefusesToLoad) {
  const GpuKernel loaded(*driver_, Double(), "double");
  const GpuKernel fresh(*driver_, Double(), "double");
  const uint64_t from = Upload({1});
  ASSERT_TRUE(loaded.Load(0).ok());
  ASSERT_TRUE(BeginCapture());
  EXPECT_TRUE(*driver_->IsCapturing(stream_));
  EXPECT_EQ(Launch(fresh, from, from, 1).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(Launch(loaded, from, from, 1).ok());
  EXPECT_TRUE(EndCapture());
  EXPECT_THAT(Download(from, 1), ::testing::ElementsAre(1)) << "recorded, not run";
}

TEST_F(RealDeviceTest, LoadsBesideACapture) {
  cuda::Stream other = nullptr;
  ASSERT_EQ(driver_->api().cuStreamCreate(&other, 1), cuda::kSuccess);
  const uint64_t from = Upload({1});
  ASSERT_TRUE(BeginCapture());
  const GpuKernel fresh(*driver_, Double(), "double");
  int32_t n = 1;
  uint64_t address = from;
  void* params[] = {&address, &address, &n};
  const absl::Status status = fresh.Launch(0, other, {1}, params);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(EndCapture()) << "what another stream does is no business of the capture";
}

TEST_F(RealDeviceTest, EncodesTensorMaps) {
  if (driver_->devices()[0].compute_capability() < 90) GTEST_SKIP() << "tensor maps need compute capability 9.0";
  TensorMapRequest request;
  request.type = cuda::kTensorMapF32;
  request.element_bytes = 4;
  request.address = Upload(std::vector<float>(64 * 64));
  request.extents = {64, 64};
  request.strides_bytes = {256};
  request.box = {32, 16};
  request.swizzle = cuda::kSwizzle128B;
  EXPECT_TRUE(EncodeTensorMap(*driver_, request).ok());
}

TEST_F(RealDeviceTest, FallsBackAndCrossChecks) {
  const auto executable = Load(kDoubleText);
  const uint64_t from = Upload({1, 2, 3, 4, 5, 6});
  const uint64_t to = Upload(std::vector<float>(6, 0));
  DeviceLaunch launch;
  launch.stream = stream_;
  launch.request.grid = {2, 1, 1};
  launch.request.arguments = {{{from}}, {{to}}, {{5}}};
  launch.request.memory.Add({"from", from, 24, from, vm::DType::kF32, {6}, {1}, true});
  launch.request.memory.Add({"to", to, 24, to, vm::DType::kF32, {6}, {1}, true});
  launch.request.memory.Seal();
  const absl::StatusOr<vm::LaunchResult> result = LaunchMirrored(*driver_, *executable, launch);
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_TRUE(result->status.ok()) << result->status;
  EXPECT_THAT(Download(to, 6), ::testing::ElementsAre(2, 4, 6, 8, 10, 0));

  const GpuKernel kernel(*driver_, Double(), "double");
  const auto report = CrossCheck(*driver_, *executable, launch, [&] { return Launch(kernel, from, to, 5); });
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->is_equal()) << report->ToString();
  EXPECT_EQ(report->num_elements, 6);

  const auto wrong = CrossCheck(*driver_, *executable, launch, [&] { return Launch(kernel, to, to, 4); });
  EXPECT_THAT(wrong->ToString(), HasSubstr("4 of 6 elements of to differ"));
}

}  // namespace
}  // namespace trivet::jit
