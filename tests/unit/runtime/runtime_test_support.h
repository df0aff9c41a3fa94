// What the tests of jit/runtime share.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "jit/driver/cuda_driver.h"
#include "jit/runtime/compile.h"
#include "tests/support/fake_cuda/fake_cuda.h"

namespace trivet::jit {

// PTX of a kernel with a pointer and an integer as parameters.
inline std::string PtxOf(const std::string& kernel) {
  return absl::StrCat(".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry ", kernel,
                      "(.param .u64 p0, .param .u32 p1) { ret; }\n");
}

inline CompiledKernel AddKernel() {
  CompiledKernel kernel;
  kernel.kernel_name = "add_kernel";
  kernel.target = "sm_90a";
  kernel.num_warps = 8;
  kernel.shared_bytes = 4096;
  kernel.ptx = PtxOf("add_kernel");
  return kernel;
}

// A directory that goes away with the test.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string path = (std::filesystem::temp_directory_path() / "trivet-test-XXXXXX").string();
    EXPECT_NE(mkdtemp(path.data()), nullptr);
    path_ = path;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Each test has a driver of its own, opened on the fake one, which has forgotten all that was.
class RuntimeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fake_cuda::Reset();
    driver_ = *CudaDriver::Open(FAKE_CUDA_PATH);
  }
  cuda::Stream NewStream() {
    const ScopedContext scope = *ScopedContext::Enter(*driver_, 0);
    cuda::Stream stream = nullptr;
    EXPECT_EQ(driver_->api().cuStreamCreate(&stream, 0), cuda::kSuccess);
    return stream;
  }

  std::unique_ptr<CudaDriver> driver_;
};

}  // namespace trivet::jit
