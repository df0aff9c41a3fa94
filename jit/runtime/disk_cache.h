// A directory of files, each named by a digest: shared by processes, bounded in size.
//
// Entries appear whole or not at all (written beside and renamed), so readers take no locks; two writers of one entry
// write the same thing. What was used least recently goes first when there is too much.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "vm/base/sha256.h"

namespace trivet::jit {

class DiskCache {
 public:
  // `kernels` in $TRIVET_CACHE_DIR, else in $XDG_CACHE_HOME/trivet, else in ~/.cache/trivet; empty if there is no home.
  static std::string DefaultDirectory();
  // $TRIVET_CACHE_MAX_BYTES, or its default.
  static int64_t DefaultMaxBytes();

  // The directory is made when something is put into it; with an empty name nothing is kept. `max_bytes` of all entries
  // together; 0: no bound.
  DiskCache(std::string directory, int64_t max_bytes);

  const std::string& directory() const { return directory_; }

  // The bytes of an entry, which counts as used now. NotFound if there is none; else what the file system says.
  absl::StatusOr<std::string> Find(const Sha256Digest& key) const;
  // Adds or replaces an entry.
  absl::Status Put(const Sha256Digest& key, absl::string_view bytes);
  // Removes an entry, if it is there: it turned out to be corrupt.
  void Remove(const Sha256Digest& key) const;

  // Removes the entries least recently used until three quarters of the bound are left, and what writers that died
  // left behind. Called by Put now and then.
  void Trim() const;

  // The file that holds, or would hold, an entry.
  std::string PathOf(const Sha256Digest& key) const;

 private:
  const std::string directory_;
  const int64_t max_bytes_;
  std::atomic<int64_t> bytes_until_trim_{0};  // that this process may put before it looks again
};

}  // namespace trivet::jit
