// Whatever the bytes, reading ends in a module or an error with an offset; a module that reads is legal, survives both
// round trips, and runs to an end, a trap or its step limit.
//
//   cmake --preset fuzz && cmake --build build/fuzz --target read_module_fuzzer
//   build/fuzz/fuzz/read_module_fuzzer -max_total_time=60 CORPUS tests/bytecode/golden/1.0 tests/bytecode/invalid
//
// Bytes alone would seldom get past the checksum and the directory. So the mutator changes the contents of one section,
// puts the file together again and seals it; now and then it starts over from an op of the zoo. An input that breaks
// the property goes to regressions/read_module, which a unit test runs (fuzz_regressions_test.cc).
#include <algorithm>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "tests/fuzz/support/run_bounded.h"
#include "tests/support/op_zoo.h"
#include "tests/support/read_module_property.h"
#include "vm/bytecode/file_format.h"
#include "vm/bytecode/reader.h"
#include "vm/bytecode/verifier.h"
#include "vm/bytecode/writer.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace trivet::vm {
namespace {

using Bytes = std::vector<uint8_t>;

// The sample, and each function of the zoo that is legal alone.
const std::vector<Bytes>& Seeds() {
  static const auto* const seeds = [] {
    auto* all = new std::vector<Bytes>();
    all->push_back(WriteModule(MakeSampleModule()));
    const Module zoo = MakeOpZoo();
    for (const Function& function : zoo.functions) {
      Module module;
      module.files = zoo.files;
      module.functions.push_back(function);
      if (VerifyModule(module).ok()) all->push_back(WriteModule(module));
    }
    return all;
  }();
  return *seeds;
}

struct Section {
  Bytes entry;  // of the directory
  Bytes contents;
};

// The sections of a file; empty if the directory makes no sense.
std::vector<Section> SectionsOf(absl::Span<const uint8_t> file) {
  if (file.size() < kHeaderBytes) return {};
  const uint64_t count = LoadLittleEndian(file, kSectionCountOffset, 4);
  if (count > (file.size() - kHeaderBytes) / kDirectoryEntryBytes) return {};
  std::vector<Section> sections;
  for (size_t i = 0; i < count; ++i) {
    const auto entry = file.subspan(kHeaderBytes + i * kDirectoryEntryBytes, kDirectoryEntryBytes);
    const uint64_t offset = LoadLittleEndian(entry, 8, 8);
    const uint64_t size = LoadLittleEndian(entry, 16, 8);
    if (offset > file.size() || size > file.size() - offset) return {};
    const auto contents = file.subspan(offset, size);
    sections.push_back({Bytes(entry.begin(), entry.end()), Bytes(contents.begin(), contents.end())});
  }
  return sections;
}

Bytes Assemble(absl::Span<const uint8_t> header, const std::vector<Section>& sections) {
  Bytes file(header.begin(), header.end());
  file.resize(kHeaderBytes + sections.size() * kDirectoryEntryBytes);
  for (size_t i = 0; i < sections.size(); ++i) {
    file.resize((file.size() + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment);
    const size_t entry = kHeaderBytes + i * kDirectoryEntryBytes;
    std::copy(sections[i].entry.begin(), sections[i].entry.end(), file.begin() + static_cast<ptrdiff_t>(entry));
    StoreLittleEndian(absl::MakeSpan(file), entry + 8, 8, file.size());
    StoreLittleEndian(absl::MakeSpan(file), entry + 16, 8, sections[i].contents.size());
    file.insert(file.end(), sections[i].contents.begin(), sections[i].contents.end());
  }
  SealFile(absl::MakeSpan(file));
  return file;
}

Bytes Mutated(Bytes bytes, size_t max_size) {
  const size_t size = bytes.size();
  bytes.resize(std::max(max_size, size));
  bytes.resize(LLVMFuzzerMutate(bytes.data(), size, bytes.size()));
  return bytes;
}

Bytes MutateFile(const Bytes& file, size_t max_size, std::minstd_rand& random) {
  if (random() % 50 == 0) return Seeds()[random() % Seeds().size()];
  std::vector<Section> sections = SectionsOf(file);
  if (sections.empty() || random() % 20 == 0) {
    Bytes changed = Mutated(file, max_size);
    if (changed.size() >= kHeaderBytes) SealFile(absl::MakeSpan(changed));
    return changed;
  }
  // Mostly the code; types and debug information too.
  Section& section = sections[std::min<size_t>(random() % 6, sections.size() - 1)];
  section.contents = Mutated(section.contents, section.contents.size() + 16);
  return Assemble(absl::MakeConstSpan(file).subspan(0, kHeaderBytes), sections);
}

}  // namespace
}  // namespace trivet::vm

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  std::minstd_rand random(seed);
  const std::vector<uint8_t> changed = trivet::vm::MutateFile({data, data + size}, max_size, random);
  if (changed.empty() || changed.size() > max_size) return size;
  std::memcpy(data, changed.data(), changed.size());
  return changed.size();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (!trivet::vm::CheckReadModuleProperty({data, size})) return 0;
  // Tiles of up to 4096 elements make a step cost much, so few steps. A tier may decline a module: that is no find.
  (void)trivet::vm::RunBounded(*trivet::vm::ReadModule({data, size}, trivet::vm::Limits::Fuzzing()), /*max_steps=*/500);
  return 0;
}
