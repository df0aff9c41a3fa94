// Launches: what the driver is asked for, what is refused before it is asked, and what is said when it fails.
#include "jit/runtime/gpu_kernel.h"

#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "jit/driver/resources.h"
#include "tests/unit/runtime/runtime_test_support.h"

namespace trivet::jit {
namespace {

using ::testing::HasSubstr;

class GpuKernelTest : public RuntimeTest {
 protected:
  absl::Status Launch(const GpuKernel& kernel, const Grid& grid, cuda::Stream stream = nullptr, int device = 0) {
    uint64_t pointer = 0x1234;
    int32_t count = 77;
    void* params[] = {&pointer, &count};
    return kernel.Launch(device, stream, grid, params);
  }
  std::string LaunchMessage(const GpuKernel& kernel, const Grid& grid) {
    return std::string(Launch(kernel, grid).message());
  }
};

TEST_F(GpuKernelTest, LaunchesWhatItWasAsked) {
  const GpuKernel kernel(*driver_, AddKernel(), "add");
  const cuda::Stream stream = NewStream();
  ASSERT_TRUE(Launch(kernel, {4, 5, 6}, stream).ok());
  const std::vector<fake_cuda::Launch> launches = fake_cuda::Launches();
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].kernel, "add_kernel");
  EXPECT_EQ(launches[0].grid, (std::array<unsigned int, 3>{4, 5, 6}));
  EXPECT_EQ(launches[0].block, (std::array<unsigned int, 3>{256, 1, 1}));
  EXPECT_EQ(launches[0].shared_bytes, 4096u);
  EXPECT_EQ(launches[0].stream, stream);
  EXPECT_EQ(launches[0].Param<uint64_t>(0), 0x1234u);
  EXPECT_EQ(launches[0].Param<int32_t>(1), 77);
}

TEST_F(GpuKernelTest, LoadsOnceAndLaunchesOften) {
  const GpuKernel kernel(*driver_, AddKernel(), "add");
  const ScopedContext scope = *ScopedContext::Enter(*driver_, 0);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(Launch(kernel, {1}).ok());
  EXPECT_EQ(fake_cuda::CallCount("cuModuleLoadDataEx"), 1);
  EXPECT_EQ(fake_cuda::CallCount("cuLaunchKernel"), 5);
  // Only the first launch asked anything.
  EXPECT_EQ(fake_cuda::CallCount("cuStreamIsCapturing"), 1);
  EXPECT_LE(fake_cuda::CallCount("cuCtxGetDevice"), 2);
}

TEST_F(GpuKernelTest, ThreadsShareOneLoading) {
  const GpuKernel kernel(*driver_, AddKernel(), "add");
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 20; ++j) EXPECT_TRUE(Launch(kernel, {1}).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fake_cuda::CallCount("cuModuleLoadDataEx"), 1);
  EXPECT_EQ(fake_cuda::Launches().size(), 160u);
}

TEST_F(GpuKernelTest, AnEmptyGridLaunchesAndLoadsNothing) {
  const GpuKernel kernel(*driver_, AddKernel(), "add");
  EXPECT_TRUE(Launch(kernel, {0, 1, 1}).ok());
  EXPECT_TRUE(Launch(kernel, {1, 1, 0}).ok());
  EXPECT_EQ(fake_cuda::CallCount("cuModuleLoadDataEx"), 0);
  EXPECT_TRUE(fake_cuda::Launches().empty());
}

TEST_F(GpuKernelTest, GridLimitsAreNamed) {
  const GpuKernel kernel(*driver_, AddKernel(), "add");
  EXPECT_EQ(LaunchMessage(kernel, {int64_t{1} << 31, 1, 1}),
            "kernel 'add': the grid (2147483648, 1, 1) has 2147483648 programs along axis 0 (x); Fake GPU 0 can have "
            "2147483647");
  EXPECT_THAT(LaunchMessage(kernel, {1, 65536, 1}), HasSubstr("axis 1 (y); Fake GPU 0 can have 65535"));
  EXPECT_THAT(LaunchMessage(kernel, {1, 1, 65536}), HasSubstr("axis 2 (z)"));
  EXPECT_THAT(LaunchMessage(kernel, {1, -2, 1}), HasSubstr("(1, -2, 1) is negative along axis 1 (y)"));
  EXPECT_TRUE(Launch(kernel, {0x7fffffff, 65535, 65535}).ok());
  EXPECT_EQ(fake_cuda::Launches().size(), 1u);
}

TEST_F(GpuKernelTest, ADeviceThatIsNotThere) {
  const GpuKernel kernel(*driver_, AddKernel(), "add");
  EXPECT_THAT(std::string(Launch(kernel, {1}, nullptr, 3).message()), HasSubstr("no CUDA device 3"));
  EXPECT_FALSE(Launch(kernel, {1}, nullptr, -1).ok());
}

TEST_F(GpuKernelTest, EachContextHasItsOwnFunction) {
  const GpuKernel kernel(*driver_, AddKernel(), "add");
  ASSERT_TRUE(Launch(kernel, {1}).ok());  // in the primary context
  const cuda::Context own = fake_cuda::CreateContext(0);
  driver_->api().cuCtxPushCurrent(own);
  EXPECT_TRUE(Launch(kernel, {1}).ok()) << "a function of another context would be refused";
  EXPECT_TRUE(Launch(kernel, {1}).ok());
  cuda::Context popped = nullptr;
  driver_->api().cuCtxPopCurrent(&popped);
  EXPECT_TRUE(Launch(kernel, {1}).ok());
  EXPECT_EQ(fake_cuda::CallCount("cuModuleLoadDataEx"), 2);
}

TEST_F(GpuKernelTest, RefusesToLoadDuringACapture) {
  const GpuKernel kernel(*driver_, AddKernel(), "add");
  const cuda::Stream stream = NewStream();
  fake_cuda::BeginCapture(stream, cuda::kCaptureGlobal);
  const absl::Status status = Launch(kernel, {1}, stream);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("kernel 'add' would have to be loaded on device 0 while a CUDA "
                                                       "graph is captured; launch it once"));
  EXPECT_TRUE(fake_cuda::EndCapture(stream)) << "the capture itself goes on";
}

TEST_F(GpuKernelTest, IsCapturedOnceLoaded) {
  const GpuKernel kernel(*driver_, AddKernel(), "add");
  const cuda::Stream stream = NewStream();
  ASSERT_TRUE(kernel.Load(0).ok());
  fake_cuda::BeginCapture(stream, cuda::kCaptureGlobal);
  EXPECT_TRUE(Launch(kernel, {1}, stream).ok());
  EXPECT_TRUE(fake_cuda::EndCapture(stream));
  EXPECT_TRUE(fake_cuda::Launches()[0].is_captured);
}

TEST_F(GpuKernelTest, ModulesOutliveTheKernel) {
  { ASSERT_TRUE(GpuKernel(*driver_, AddKernel(), "add").Load(0).ok()); }
  EXPECT_EQ(fake_cuda::CallCount("cuModuleUnload"), 0) << "a captured graph may hold it";
}

TEST_F(GpuKernelTest, ClustersMultiplyTheGrid) {
  CompiledKernel compiled = AddKernel();
  compiled.num_ctas = 2;
  const GpuKernel kernel(*driver_, compiled, "add");
  ASSERT_TRUE(Launch(kernel, {3, 2, 1}).ok());
  const fake_cuda::Launch launch = fake_cuda::Launches().at(0);
  EXPECT_EQ(launch.grid, (std::array<unsigned int, 3>{6, 2, 1}));
  EXPECT_EQ(launch.cluster, (std::array<unsigned int, 3>{2, 1, 1}));
  EXPECT_FALSE(Launch(kernel, {0x7fffffff, 1, 1}).ok()) << "there is no room for twice as many CTAs";
}

TEST_F(GpuKernelTest, OutOfResourcesIsRemembered) {
  fake_cuda::SetKernelFacts("add_kernel", {.registers = 255, .max_threads_per_cta = 128});
  const GpuKernel kernel(*driver_, AddKernel(), "add");
  for (int i = 0; i < 3; ++i) {
    const std::optional<OutOfResources> what = FindOutOfResources(Launch(kernel, {1}));
    ASSERT_TRUE(what.has_value());
    EXPECT_EQ(what->resource, "registers");
  }
  EXPECT_EQ(fake_cuda::CallCount("cuModuleLoadDataEx"), 1);
}

TEST_F(GpuKernelTest, TooMuchSharedMemoryIsKnownBeforeAssembling) {
  CompiledKernel compiled = AddKernel();
  compiled.shared_bytes = 300000;
  const GpuKernel kernel(*driver_, compiled, "add");
  EXPECT_TRUE(FindOutOfResources(Launch(kernel, {1})).has_value());
  EXPECT_EQ(fake_cuda::CallCount("cuLinkCreate_v2"), 0);
}

TEST_F(GpuKernelTest, ALoadingThatFailedIsTriedAgain) {
  fake_cuda::Fail("cuModuleLoadDataEx", 2);
  const GpuKernel kernel(*driver_, AddKernel(), "add");
  EXPECT_EQ(CudaResultOf(Launch(kernel, {1})), 2);
  EXPECT_TRUE(Launch(kernel, {1}).ok());
}

TEST_F(GpuKernelTest, LaunchErrorsSayWhatWasLaunched) {
  const GpuKernel kernel(*driver_, AddKernel(), "add");
  fake_cuda::Fail("cuLaunchKernel", 1);
  EXPECT_THAT(LaunchMessage(kernel, {2, 1, 1}),
              HasSubstr("launching kernel 'add' with grid (2, 1, 1), 256 threads and 4096 bytes of shared memory: "
                        "cuLaunchKernel: CUDA_ERROR_INVALID_VALUE (1)"));
}

TEST_F(GpuKernelTest, FaultsNameTheKernelsLaunchedBefore) {
  const GpuKernel culprit(*driver_, AddKernel(), "culprit");
  const GpuKernel innocent(*driver_, AddKernel(), "innocent");
  ASSERT_TRUE(innocent.Load(0).ok());
  ASSERT_TRUE(Launch(culprit, {1}).ok());
  fake_cuda::Fail("cuLaunchKernel", 700);
  const absl::Status status = Launch(innocent, {1});
  EXPECT_TRUE(IsDeviceFault(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("culprit, innocent (the newest last)"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
}

TEST_F(GpuKernelTest, HandsOverTheCubinOnce) {
  int handed_over = 0;
  const GpuKernel kernel(*driver_, AddKernel(), "add", [&](const CompiledKernel& assembled) {
    ++handed_over;
    EXPECT_TRUE(IsCubin(assembled.cubin));
    EXPECT_EQ(assembled.cubin_capability, 90);
  });
  ASSERT_TRUE(Launch(kernel, {1}).ok());
  EXPECT_TRUE(IsCubin(*kernel.Cubin(0)));
  EXPECT_EQ(handed_over, 1);
}

TEST_F(GpuKernelTest, AKnownCubinNeedsNoAssembler) {
  CompiledKernel compiled = AddKernel();
  compiled.cubin = *GpuKernel(*driver_, compiled, "add").Cubin(0);
  compiled.cubin_capability = 90;
  fake_cuda::Reset();
  const GpuKernel kernel(*driver_, compiled, "add");
  EXPECT_TRUE(Launch(kernel, {1}).ok());
  EXPECT_EQ(fake_cuda::CallCount("cuLinkCreate_v2"), 0);
}

TEST_F(GpuKernelTest, AnotherArchitecturesCubinIsNotUsed) {
  CompiledKernel compiled = AddKernel();
  compiled.cubin =
      "\x7f"
      "ELF fake sm_80\n" +
      compiled.ptx;
  compiled.cubin_capability = 80;
  const GpuKernel kernel(*driver_, compiled, "add");
  EXPECT_TRUE(Launch(kernel, {1}).ok());
  EXPECT_EQ(fake_cuda::CallCount("cuLinkCreate_v2"), 1);
}

TEST_F(GpuKernelTest, ACubinThatTheDriverRefusesIsMadeAnew) {
  CompiledKernel compiled = AddKernel();
  compiled.cubin =
      "\x7f"
      "ELF of a driver to come";
  compiled.cubin_capability = 90;
  const GpuKernel kernel(*driver_, compiled, "add");
  EXPECT_TRUE(Launch(kernel, {1}).ok());
}

TEST_F(GpuKernelTest, TellsWhatItTakes) {
  fake_cuda::SetKernelFacts("add_kernel", {.registers = 48, .local_bytes = 8});
  const GpuKernel kernel(*driver_, AddKernel(), "add");
  EXPECT_EQ(kernel.Load(0)->registers, 48);
  EXPECT_EQ(kernel.Load(0)->local_bytes, 8);
  EXPECT_EQ(*kernel.CtasPerSm(0), 8);
}

}  // namespace
}  // namespace trivet::jit
