// The cache on disk: entries that are whole, found again, checked and bounded.
#include "jit/runtime/disk_cache.h"

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "gmock/gmock.h"
#include "jit/runtime/kernel_file.h"
#include "tests/unit/runtime/runtime_test_support.h"

namespace trivet::jit {
namespace {

Sha256Digest Key(int i) { return Sha256Of(absl::StrCat("key ", i)); }

size_t NumFiles(const std::string& directory) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(directory), {}));
}

void Age(const DiskCache& cache, const Sha256Digest& key, int hours) {
  std::filesystem::last_write_time(cache.PathOf(key),
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(hours));
}

TEST(DiskCacheTest, FindsWhatWasPut) {
  const TemporaryDirectory directory;
  DiskCache cache(directory.path() + "/deep/inside", 0);
  EXPECT_TRUE(absl::IsNotFound(cache.Find(Key(1)).status()));
  const std::string bytes("with \0 zeros", 12);
  ASSERT_TRUE(cache.Put(Key(1), bytes).ok());
  EXPECT_EQ(*cache.Find(Key(1)), bytes);
  ASSERT_TRUE(cache.Put(Key(1), "replaced").ok());
  EXPECT_EQ(*cache.Find(Key(1)), "replaced");
  EXPECT_EQ(NumFiles(cache.directory()), 1u) << "nothing temporary stays";
  cache.Remove(Key(1));
  EXPECT_TRUE(absl::IsNotFound(cache.Find(Key(1)).status()));
}

TEST(DiskCacheTest, SaysWhatTheFileSystemSays) {
  DiskCache cache("/proc/nowhere", 0);
  const absl::Status status = cache.Put(Key(1), "x");
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), ::testing::StartsWith("cache: making /proc/nowhere: "));
}

TEST(DiskCacheTest, WithoutADirectoryItKeepsNothing) {
  DiskCache cache("", 0);
  EXPECT_TRUE(cache.Put(Key(1), "x").ok());
  EXPECT_TRUE(absl::IsNotFound(cache.Find(Key(1)).status()));
}

TEST(DiskCacheTest, RemovesWhatWasUsedLeastRecently) {
  const TemporaryDirectory directory;
  DiskCache cache(directory.path(), 1000);
  const std::string bytes(200, 'x');
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(cache.Put(Key(i), bytes).ok());
    Age(cache, Key(i), 10 - i);
  }
  ASSERT_TRUE(cache.Find(Key(0)).ok());  // used just now
  ASSERT_TRUE(cache.Put(Key(5), bytes).ok());
  cache.Trim();
  EXPECT_TRUE(cache.Find(Key(0)).ok());
  EXPECT_FALSE(cache.Find(Key(1)).ok());
  EXPECT_FALSE(cache.Find(Key(2)).ok());
  EXPECT_FALSE(cache.Find(Key(3)).ok());
  EXPECT_TRUE(cache.Find(Key(4)).ok());
  EXPECT_TRUE(cache.Find(Key(5)).ok());
}

TEST(DiskCacheTest, PutKeepsTheBound) {
  const TemporaryDirectory directory;
  DiskCache cache(directory.path(), 16 * 1000);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(cache.Put(Key(i), std::string(1000, 'x')).ok());
  EXPECT_LE(NumFiles(directory.path()), 18u);
  EXPECT_GE(NumFiles(directory.path()), 10u);
}

TEST(DiskCacheTest, CleansUpAfterWritersThatDied) {
  const TemporaryDirectory directory;
  DiskCache cache(directory.path(), 1000);
  const std::string old_path = directory.path() + "/abc.kernel.1.2.tmp";
  std::ofstream(old_path) << "half";
  std::filesystem::last_write_time(old_path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
  const std::string new_path = directory.path() + "/abd.kernel.1.3.tmp";
  std::ofstream(new_path) << "half";
  cache.Trim();
  EXPECT_FALSE(std::filesystem::exists(old_path));
  EXPECT_TRUE(std::filesystem::exists(new_path)) << "its writer may live";
}

TEST(DiskCacheTest, ReadersSeeWholeEntriesWhileProcessesWrite) {
  const TemporaryDirectory directory;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  DiskCache cache(directory.path(), 0);
  if (child == 0) {
    for (int i = 0; i < 200; ++i) {
      if (!cache.Put(Key(1), std::string(10000, static_cast<char>('a' + i % 20))).ok()) _exit(1);
    }
    _exit(0);
  }
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(cache.Put(Key(1), std::string(10000, static_cast<char>('A' + i % 20))).ok());
    const absl::StatusOr<std::string> bytes = cache.Find(Key(1));
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    ASSERT_EQ(*bytes, std::string(10000, bytes->front()));
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(DiskCacheTest, DirectoryComesFromTheEnvironment) {
  setenv("TRIVET_CACHE_DIR", "/a", 1);
  EXPECT_EQ(DiskCache::DefaultDirectory(), "/a/kernels");
  unsetenv("TRIVET_CACHE_DIR");
  setenv("XDG_CACHE_HOME", "/b", 1);
  EXPECT_EQ(DiskCache::DefaultDirectory(), "/b/trivet/kernels");
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "/c", 1);
  EXPECT_EQ(DiskCache::DefaultDirectory(), "/c/.cache/trivet/kernels");
  setenv("TRIVET_CACHE_MAX_BYTES", "5000", 1);
  EXPECT_EQ(DiskCache::DefaultMaxBytes(), 5000);
  unsetenv("TRIVET_CACHE_MAX_BYTES");
  EXPECT_EQ(DiskCache::DefaultMaxBytes(), int64_t{1} << 30);
}

CompiledKernel FullKernel() {
  CompiledKernel kernel = AddKernel();
  kernel.num_ctas = 2;
  kernel.tile = "func @add() {}";
  kernel.llir = "define void @add()";
  kernel.cubin = std::string(
      "\x7f"
      "ELF\0\1",
      6);
  kernel.cubin_capability = 90;
  return kernel;
}

TEST(KernelFileTest, RoundTrips) {
  const CompiledKernel kernel = FullKernel();
  absl::StatusOr<CompiledKernel> read = ParseKernel(SerializeKernel(kernel));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->kernel_name, kernel.kernel_name);
  EXPECT_EQ(read->num_warps, 8);
  EXPECT_EQ(read->num_ctas, 2);
  EXPECT_EQ(read->shared_bytes, 4096);
  EXPECT_EQ(read->tile, kernel.tile);
  EXPECT_EQ(read->llir, kernel.llir);
  EXPECT_EQ(read->ptx, kernel.ptx);
  EXPECT_EQ(read->cubin, kernel.cubin);
  EXPECT_EQ(read->cubin_capability, 90);
  EXPECT_EQ(SerializeKernel(*read), SerializeKernel(kernel));
}

TEST(KernelFileTest, EveryDamagedByteIsSeen) {
  const std::string good = SerializeKernel(FullKernel());
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x20);
    ASSERT_TRUE(absl::IsDataLoss(ParseKernel(bad).status())) << i;
  }
  for (size_t size = 0; size < good.size(); ++size) {
    ASSERT_TRUE(absl::IsDataLoss(ParseKernel(good.substr(0, size)).status())) << size;
  }
  EXPECT_TRUE(absl::IsDataLoss(ParseKernel(good + "x").status()));
}

}  // namespace
}  // namespace trivet::jit
