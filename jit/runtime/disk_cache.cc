#include "jit/runtime/disk_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "vm/base/options.h"

namespace trivet::jit {
namespace {

namespace fs = std::filesystem;

constexpr absl::string_view kSuffix = ".kernel";
constexpr absl::string_view kTemporarySuffix = ".tmp";
// A file that is still being written after an hour is not.
constexpr std::chrono::hours kTemporaryLifetime{1};

absl::Status FileError(absl::string_view what, absl::string_view path, int error) {
  const std::string message = absl::StrCat("cache: ", what, " ", path, ": ", std::strerror(error));
  return error == ENOENT ? absl::NotFoundError(message) : absl::UnavailableError(message);
}

// An open file that closes itself.
class File {
 public:
  File(const std::string& path, int flags) : descriptor_(open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

bool WriteAll(int descriptor, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

bool ReadAll(int descriptor, std::string& bytes) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return false;
  bytes.resize(static_cast<size_t>(status.st_size));
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = read(descriptor, bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) break;  // shorter than it was: the checksum will tell
    done += static_cast<size_t>(got);
  }
  bytes.resize(done);
  return true;
}

// The folder that all of Trivet's results on disk are in; empty if there is no place for one.
std::string CacheFolder() {
  if (std::string own = vm::OptionText(vm::Option::kCacheDir); !own.empty()) return own;
  const char* caches = std::getenv("XDG_CACHE_HOME");
  if (caches != nullptr && *caches != '\0') return absl::StrCat(caches, "/trivet");
  const char* home = std::getenv("HOME");
  return home != nullptr && *home != '\0' ? absl::StrCat(home, "/.cache/trivet") : "";
}

}  // namespace

std::string DiskCache::DefaultDirectory() {
  const std::string folder = CacheFolder();
  return folder.empty() ? "" : absl::StrCat(folder, "/kernels");
}

int64_t DiskCache::DefaultMaxBytes() {
  return vm::IntegerOption(vm::Option::kCacheMaxBytes).value_or(int64_t{1} << 30);
}

DiskCache::DiskCache(std::string directory, int64_t max_bytes)
    : directory_(std::move(directory)), max_bytes_(max_bytes) {}

std::string DiskCache::PathOf(const Sha256Digest& key) const {
  return absl::StrCat(directory_, "/", ToHex(key), kSuffix);
}

absl::StatusOr<std::string> DiskCache::Find(const Sha256Digest& key) const {
  if (directory_.empty()) return absl::NotFoundError("cache: there is no directory for it");
  const std::string path = PathOf(key);
  const File file(path, O_RDONLY);
  std::string bytes;
  if (!file.is_open() || !ReadAll(file.descriptor(), bytes)) return FileError("reading", path, errno);
  // The time of the last change is the time of the last use. Not being allowed to set it is no reason to recompile.
  (void)futimens(file.descriptor(), nullptr);
  return bytes;
}

absl::Status DiskCache::Put(const Sha256Digest& key, absl::string_view bytes) {
  if (directory_.empty()) return absl::OkStatus();
  std::error_code error;
  fs::create_directories(directory_, error);
  if (error) return FileError("making", directory_, error.value());
  static std::atomic<uint64_t> count{0};
  const std::string path = PathOf(key);
  const std::string temporary = absl::StrCat(path, ".", getpid(), ".", count.fetch_add(1), kTemporarySuffix);
  {
    const File file(temporary, O_WRONLY | O_CREAT | O_EXCL);
    if (!file.is_open()) return FileError("writing", temporary, errno);
    if (!WriteAll(file.descriptor(), bytes)) {
      const absl::Status status = FileError("writing", temporary, errno);
      unlink(temporary.c_str());
      return status;
    }
  }
  if (rename(temporary.c_str(), path.c_str()) != 0) {
    const absl::Status status = FileError("renaming", temporary, errno);
    unlink(temporary.c_str());
    return status;
  }
  const auto size = static_cast<int64_t>(bytes.size());
  if (max_bytes_ > 0 && bytes_until_trim_.fetch_sub(size) < size) {
    bytes_until_trim_ = max_bytes_ / 16;
    Trim();
  }
  return absl::OkStatus();
}

void DiskCache::Remove(const Sha256Digest& key) const { unlink(PathOf(key).c_str()); }

void DiskCache::Trim() const {
  if (max_bytes_ <= 0) return;
  struct Entry {
    fs::file_time_type used;
    int64_t bytes;
    std::string path;
  };
  std::vector<Entry> entries;
  int64_t total = 0;
  std::error_code error;
  const fs::file_time_type now = fs::file_time_type::clock::now();
  // Other processes remove files meanwhile: whatever has gone is left out.
  for (fs::directory_iterator it(directory_, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;
    const std::string path = it->path().string();
    const fs::file_time_type used = it->last_write_time(gone);
    const auto bytes = gone ? 0 : static_cast<int64_t>(it->file_size(gone));
    if (gone) continue;
    if (absl::EndsWith(path, kTemporarySuffix)) {
      if (now - used > kTemporaryLifetime) unlink(path.c_str());
    } else if (absl::EndsWith(path, kSuffix)) {
      entries.push_back({used, bytes, path});
      total += bytes;
    }
  }
  if (total <= max_bytes_) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (total <= max_bytes_ / 4 * 3) break;
    unlink(entry.path.c_str());
    total -= entry.bytes;
  }
}

}  // namespace trivet::jit
