#include "vm/base/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/escaping.h"

namespace trivet {
namespace {

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2).
constexpr uint32_t kRoundConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t LoadBigEndian(const uint8_t* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | uint32_t{bytes[3]};
}

template <typename T>
void StoreBigEndian(T value, uint8_t* bytes) {
  for (size_t i = 0; i < sizeof value; ++i) bytes[i] = static_cast<uint8_t>(value >> (8 * (sizeof value - 1 - i)));
}

}  // namespace

void Sha256::Compress(const uint8_t* block) {
  uint32_t w[64];
  for (int i = 0; i < 16; ++i) w[i] = LoadBigEndian(block + 4 * i);
  for (int i = 16; i < 64; ++i) {
    const uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (int i = 0; i < 64; ++i) {
    const uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRoundConstants[i] + w[i];
    const uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1;
    d = c, c = b, b = a, a = t1 + t2;
  }
  const uint32_t working[8] = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) state_[i] += working[i];
}

void Sha256::Update(absl::string_view bytes) {
  total_bytes_ += bytes.size();
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  size_t size = bytes.size();
  while (size > 0) {
    if (buffered_ == 0 && size >= buffer_.size()) {
      Compress(data);
      data += buffer_.size();
      size -= buffer_.size();
      continue;
    }
    const size_t taken = std::min(size, buffer_.size() - buffered_);
    std::memcpy(buffer_.data() + buffered_, data, taken);
    buffered_ += taken;
    data += taken;
    size -= taken;
    if (buffered_ == buffer_.size()) {
      Compress(buffer_.data());
      buffered_ = 0;
    }
  }
}

void Sha256::UpdatePart(absl::string_view part) {
  uint8_t length[8];
  StoreBigEndian(uint64_t{part.size()}, length);
  Update({reinterpret_cast<const char*>(length), sizeof length});
  Update(part);
}

Sha256Digest Sha256::Finish() {
  uint8_t length_bits[8];
  StoreBigEndian(total_bytes_ * 8, length_bits);
  Update(absl::string_view("\x80", 1));
  while (buffered_ != buffer_.size() - sizeof length_bits) Update(absl::string_view("\0", 1));
  Update({reinterpret_cast<const char*>(length_bits), sizeof length_bits});
  Sha256Digest digest;
  for (size_t i = 0; i < state_.size(); ++i) StoreBigEndian(state_[i], digest.data() + 4 * i);
  return digest;
}

Sha256Digest Sha256Of(absl::string_view bytes) {
  Sha256 hash;
  hash.Update(bytes);
  return hash.Finish();
}

std::string ToHex(const Sha256Digest& digest) {
  return absl::BytesToHexString({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

}  // namespace trivet
