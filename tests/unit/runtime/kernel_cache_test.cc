// Getting kernels: compiled once, shared by threads, found on disk by the next process.
#include "jit/runtime/kernel_cache.h"

#include <fstream>
#include <thread>

#include "gmock/gmock.h"
#include "jit/runtime/build_id.h"
#include "tests/unit/runtime/runtime_test_support.h"

namespace trivet::jit {
namespace {

class KernelCacheTest : public RuntimeTest {
 protected:
  KernelCacheTest() : disk_(directory_.path(), 0) {}

  // A cache as another process would have it.
  std::unique_ptr<KernelCache> NewCache(std::string version = "1") {
    KernelCache::Settings settings;
    settings.compile = [this](const vm::Module&, const CompileOptions& options) -> absl::StatusOr<CompiledKernel> {
      ++compiles_;
      if (options.num_stages == 13) return absl::UnimplementedError("thirteen stages");
      CompiledKernel kernel = AddKernel();
      kernel.num_warps = options.num_warps;
      return kernel;
    };
    settings.compiler_version = std::move(version);
    settings.disk = &disk_;
    settings.warn = [this](absl::string_view message) { warnings_.emplace_back(message); };
    return std::make_unique<KernelCache>(*driver_, std::move(settings));
  }
  static CompileOptions Options(int num_warps = 4) {
    CompileOptions options;
    options.kernel = "add";
    options.num_warps = num_warps;
    return options;
  }

  const TemporaryDirectory directory_;
  DiskCache disk_;
  const vm::Module module_;
  std::atomic<int> compiles_{0};
  std::vector<std::string> warnings_;
};

TEST_F(KernelCacheTest, CompilesOnce) {
  const auto cache = NewCache();
  const auto first = cache->Get(module_, "bytes", Options());
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ((*first)->label(), "add");
  EXPECT_EQ(*cache->Get(module_, "bytes", Options()), *first);
  EXPECT_EQ(compiles_, 1);
  EXPECT_EQ(cache->counts().memory_hits, 1);
}

TEST_F(KernelCacheTest, EverythingThatMattersIsInTheKey) {
  const auto cache = NewCache();
  const Sha256Digest key = cache->KeyOf("bytes", Options());
  EXPECT_EQ(NewCache()->KeyOf("bytes", Options()), key);
  EXPECT_NE(cache->KeyOf("other", Options()), key);
  EXPECT_NE(NewCache("2")->KeyOf("bytes", Options()), key);
  const auto differs = [&](auto change) {
    CompileOptions options = Options();
    change(options);
    return cache->KeyOf("bytes", options) != key;
  };
  EXPECT_TRUE(differs([](CompileOptions& o) { o.kernel = "sub"; }));
  EXPECT_TRUE(differs([](CompileOptions& o) { o.target = "sm_90a"; }));
  EXPECT_TRUE(differs([](CompileOptions& o) { o.num_warps = 8; }));
  EXPECT_TRUE(differs([](CompileOptions& o) { o.num_stages = 4; }));
  EXPECT_TRUE(differs([](CompileOptions& o) { o.num_ctas = 2; }));
  EXPECT_TRUE(differs([](CompileOptions& o) { o.max_registers = 64; }));
  EXPECT_TRUE(differs([](CompileOptions& o) { o.parameters = {{16, std::nullopt}}; }));
  EXPECT_TRUE(differs([](CompileOptions& o) { o.parameters = {{1, 1}}; }));
}

TEST_F(KernelCacheTest, TheNextProcessFindsItWithMachineCode) {
  {
    const auto cache = NewCache();
    ASSERT_TRUE((*cache->Get(module_, "bytes", Options(8)))->Load(0).ok());
  }
  EXPECT_EQ(fake_cuda::CallCount("cuLinkComplete"), 1);
  fake_cuda::Reset();
  const auto cache = NewCache();
  const auto kernel = cache->Get(module_, "bytes", Options(8));
  ASSERT_TRUE(kernel.ok());
  EXPECT_EQ((*kernel)->compiled().num_warps, 8);
  ASSERT_TRUE((*kernel)->Load(0).ok());
  EXPECT_EQ(compiles_, 1);
  EXPECT_EQ(fake_cuda::CallCount("cuLinkComplete"), 0) << "the cubin came off the disk";
  EXPECT_EQ(cache->counts().disk_hits, 1);
}

TEST_F(KernelCacheTest, ACorruptEntryIsCompiledAnew) {
  ASSERT_TRUE(NewCache()->Get(module_, "bytes", Options()).ok());
  const auto cache = NewCache();
  const std::string path = disk_.PathOf(cache->KeyOf("bytes", Options()));
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(100).put('#');
  ASSERT_TRUE(cache->Get(module_, "bytes", Options()).ok());
  EXPECT_EQ(compiles_, 2);
  EXPECT_EQ(cache->counts().corrupt_entries, 1);
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_THAT(warnings_[0], ::testing::HasSubstr("the checksum does not match"));
  // And what was written in its place is whole.
  ASSERT_TRUE(NewCache()->Get(module_, "bytes", Options()).ok());
  EXPECT_EQ(compiles_, 2);
}

TEST_F(KernelCacheTest, AFailureIsRememberedButNotWritten) {
  CompileOptions options = Options();
  options.num_stages = 13;
  const auto cache = NewCache();
  EXPECT_EQ(cache->Get(module_, "bytes", options).status().message(), "thirteen stages");
  EXPECT_EQ(cache->Get(module_, "bytes", options).status().message(), "thirteen stages");
  EXPECT_EQ(compiles_, 1);
  EXPECT_FALSE(NewCache()->Get(module_, "bytes", options).ok());
  EXPECT_EQ(compiles_, 2);
}

TEST_F(KernelCacheTest, ADiskThatFailsIsNoError) {
  DiskCache broken("/proc/nowhere", 0);
  KernelCache::Settings settings;
  settings.compile = [](const vm::Module&, const CompileOptions&) { return AddKernel(); };
  settings.disk = &broken;
  settings.warn = [this](absl::string_view message) { warnings_.emplace_back(message); };
  KernelCache cache(*driver_, settings);
  const auto kernel = cache.Get(module_, "bytes", Options());
  ASSERT_TRUE(kernel.ok());
  EXPECT_TRUE((*kernel)->Load(0).ok());
  EXPECT_EQ(cache.counts().disk_errors, 2);
  EXPECT_EQ(warnings_.size(), 1u);
}

TEST_F(KernelCacheTest, ThreadsShareOneCompilation) {
  const auto cache = NewCache();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < 10; ++j) EXPECT_TRUE(cache->Get(module_, "bytes", Options(1 << (i + j) % 4)).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(compiles_, 4);
}

TEST(BuildIdTest, IsThere) {
  EXPECT_GE(BuildId().size(), 8u);
  EXPECT_EQ(BuildId(), BuildId());
}

}  // namespace
}  // namespace trivet::jit
