// The layout of a .tvbc file, as far as reader, writer and tools share it. docs/bytecode.md tells the whole.
//
//   byte  0   magic            8 bytes
//         8   major, minor     u16, u16
//        12   CRC32C           u32, of the whole file with these four bytes zero
//        16   size of the file u64
//        24   sections         u32, how many
//        28   zero             u32
//        32   directory        24 bytes a section: kind u32, flags u32, offset u64, size u64
//             sections         in the order of the directory, each at a multiple of 8, zeros between
//
// All fixed-width numbers are little-endian; those inside sections are LEB128.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace trivet::vm {

// As in PNG, a line feed and an end-of-file mark betray transfers that took the file for text.
inline constexpr std::array<uint8_t, 8> kMagic = {0x89, 'T', 'V', 'B', 'C', '\n', 0x1a, '\n'};

inline constexpr size_t kVersionOffset = 8;
inline constexpr size_t kCrcOffset = 12;
inline constexpr size_t kFileSizeOffset = 16;
inline constexpr size_t kSectionCountOffset = 24;
inline constexpr size_t kHeaderBytes = 32;
inline constexpr size_t kDirectoryEntryBytes = 24;
inline constexpr size_t kSectionAlignment = 8;

// Kinds of sections. Frozen once released.
enum class SectionKind : uint32_t {
  kStrings = 1,     // names of functions, string attributes
  kTypes = 2,       // every type that occurs
  kFunctions = 3,   // signatures and code
  kDebugInfo = 4,   // files, locations, names of values; may be dropped from a file
  kMetadata = 5,    // launch options and notes
  kNativeCode = 6,  // reserved: compiled code by architecture; skipped by this version
};

// Flag of a section: a reader that does not know its kind refuses the file. Other flags are zero.
inline constexpr uint32_t kSectionRequired = 1;

// CRC-32C (Castagnoli, as in RFC 3720) of `bytes`, continuing from `crc`.
uint32_t Crc32c(absl::Span<const uint8_t> bytes, uint32_t crc = 0);

// The checksum that belongs into the header of this file. Requires at least kHeaderBytes.
uint32_t FileCrc(absl::Span<const uint8_t> file);

// Writes size and checksum into the header, after all else is in place. Requires at least kHeaderBytes.
void SealFile(absl::Span<uint8_t> file);

// Little-endian numbers at `offset`. Require that they lie within.
uint64_t LoadLittleEndian(absl::Span<const uint8_t> bytes, size_t offset, int size);
void StoreLittleEndian(absl::Span<uint8_t> bytes, size_t offset, int size, uint64_t value);

}  // namespace trivet::vm
