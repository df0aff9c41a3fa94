// SHA-256 (FIPS 180-4): names of cache entries and checksums of what they hold. Not for secrets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace trivet {

using Sha256Digest = std::array<uint8_t, 32>;

// Hashes bytes that come in pieces.
class Sha256 {
 public:
  void Update(absl::string_view bytes);
  // Adds the length of `part` and then its bytes: so that ("ab", "c") and ("a", "bc") differ.
  void UpdatePart(absl::string_view part);
  // The digest of all bytes so far. Call once, last.
  Sha256Digest Finish();

 private:
  void Compress(const uint8_t* block);

  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> buffer_{};
  size_t buffered_ = 0;
  uint64_t total_bytes_ = 0;
};

Sha256Digest Sha256Of(absl::string_view bytes);

// 64 digits.
std::string ToHex(const Sha256Digest& digest);

}  // namespace trivet
