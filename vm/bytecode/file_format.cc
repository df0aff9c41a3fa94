#include "vm/bytecode/file_format.h"

namespace trivet::vm {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // Castagnoli's, bits reversed

constexpr std::array<uint32_t, 256> MakeCrcTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    table[byte] = crc;
  }
  return table;
}
constexpr std::array<uint32_t, 256> kCrcTable = MakeCrcTable();

}  // namespace

uint32_t Crc32c(absl::Span<const uint8_t> bytes, uint32_t crc) {
  crc = ~crc;
  for (uint8_t byte : bytes) crc = (crc >> 8) ^ kCrcTable[(crc ^ byte) & 0xff];
  return ~crc;
}

uint32_t FileCrc(absl::Span<const uint8_t> file) {
  constexpr std::array<uint8_t, 4> kZeros{};
  uint32_t crc = Crc32c(file.subspan(0, kCrcOffset));
  crc = Crc32c(kZeros, crc);
  return Crc32c(file.subspan(kCrcOffset + kZeros.size()), crc);
}

void SealFile(absl::Span<uint8_t> file) {
  StoreLittleEndian(file, kFileSizeOffset, 8, file.size());
  StoreLittleEndian(file, kCrcOffset, 4, FileCrc(file));
}

uint64_t LoadLittleEndian(absl::Span<const uint8_t> bytes, size_t offset, int size) {
  uint64_t value = 0;
  for (int i = size - 1; i >= 0; --i) value = (value << 8) | bytes[offset + static_cast<size_t>(i)];
  return value;
}

void StoreLittleEndian(absl::Span<uint8_t> bytes, size_t offset, int size, uint64_t value) {
  for (int i = 0; i < size; ++i, value >>= 8) bytes[offset + static_cast<size_t>(i)] = static_cast<uint8_t>(value);
}

}  // namespace trivet::vm
