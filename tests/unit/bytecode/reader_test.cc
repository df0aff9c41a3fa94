// The reader against bytes that are wrong: every message with its offset, every truncation, every changed byte.
#include "vm/bytecode/reader.h"

#include <functional>
#include <map>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/data_files.h"
#include "tests/support/op_zoo.h"
#include "tests/support/read_module_property.h"
#include "vm/bytecode/file_format.h"
#include "vm/bytecode/writer.h"

namespace trivet::vm {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Bytes = std::vector<uint8_t>;

std::string ReadError(const Bytes& bytes, const Limits& limits = {}) {
  const absl::StatusOr<Module> module = ReadModule(bytes, limits);
  return module.ok() ? "" : std::string(module.status().message());
}

// --- Files put together by hand, without the writer.
struct HandSection {
  uint32_t kind;
  uint32_t flags;
  Bytes bytes;
};

Bytes Assemble(const std::vector<HandSection>& sections) {
  Bytes file(kHeaderBytes + kDirectoryEntryBytes * sections.size());
  std::copy(kMagic.begin(), kMagic.end(), file.begin());
  StoreLittleEndian(absl::MakeSpan(file), kVersionOffset, 2, 1);
  StoreLittleEndian(absl::MakeSpan(file), kSectionCountOffset, 4, sections.size());
  for (size_t i = 0; i < sections.size(); ++i) {
    file.resize((file.size() + 7) / 8 * 8);
    const size_t entry = kHeaderBytes + kDirectoryEntryBytes * i;
    StoreLittleEndian(absl::MakeSpan(file), entry, 4, sections[i].kind);
    StoreLittleEndian(absl::MakeSpan(file), entry + 4, 4, sections[i].flags);
    StoreLittleEndian(absl::MakeSpan(file), entry + 8, 8, file.size());
    StoreLittleEndian(absl::MakeSpan(file), entry + 16, 8, sections[i].bytes.size());
    file.insert(file.end(), sections[i].bytes.begin(), sections[i].bytes.end());
  }
  SealFile(absl::MakeSpan(file));
  return file;
}

// func @f(f32) { return }, as bytes of each section. In a file of these three they start at 0x68 (strings), 0x70
// (types) and 0x80 (functions).
struct Hand {
  Bytes strings = {1, 1, 'f'};
  Bytes types = {2, 1, 17, 0, 0, 1, 4, 0, 0};  // f32, i32
  Bytes head = {1, 0, 0, 0, 1, 0};             // one function: name 0, no kernel, no results, one parameter of type 0
  Bytes ops = {1, 0xa7, 0x02, 0};              // one op: return of nothing

  std::vector<HandSection> Sections() const {
    Bytes functions = head;
    functions.insert(functions.end(), ops.begin(), ops.end());
    return {{1, 1, strings}, {2, 1, types}, {3, 1, functions}};
  }
  Bytes File() const { return Assemble(Sections()); }
  Bytes With(const HandSection& more) const {
    std::vector<HandSection> sections = Sections();
    sections.push_back(more);
    return Assemble(sections);
  }
};

// Bytes `patch` at `offset`, sealed again.
Bytes Patched(Bytes file, size_t offset, int size, uint64_t value) {
  StoreLittleEndian(absl::MakeSpan(file), offset, size, value);
  SealFile(absl::MakeSpan(file));
  return file;
}

Bytes WithOps(Bytes ops) {
  Hand hand;
  hand.ops = std::move(ops);
  return hand.File();
}
Bytes WithTypes(Bytes types) {
  Hand hand;
  hand.types = std::move(types);
  return hand.File();
}
Bytes WithHead(Bytes head) {
  Hand hand;
  hand.head = std::move(head);
  return hand.File();
}

// One file for each way of being wrong. They are kept in tests/bytecode/invalid, with the messages in expected.txt.
std::map<std::string, Bytes> InvalidFiles() {
  const Hand hand;
  const Bytes good = hand.File();
  std::map<std::string, Bytes> files;
  files["empty"] = {};
  files["not_bytecode"] = {'#', '!', '/', 'b', 'i', 'n', '/', 's', 'h'};
  files["short_magic"] = Bytes(good.begin(), good.begin() + 5);
  files["short_header"] = Bytes(good.begin(), good.begin() + 20);
  files["truncated"] = Bytes(good.begin(), good.end() - 1);
  files["trailing_byte"] = good;
  files["trailing_byte"].push_back(0);
  files["damaged"] = good;
  files["damaged"].back() ^= 1;
  files["newer_major"] = Patched(good, kVersionOffset, 2, 2);
  files["directory_too_long"] = Patched(good, kSectionCountOffset, 4, 1000);
  files["reserved_header"] = Patched(good, kSectionCountOffset + 4, 4, 1);
  files["unknown_required_section"] = hand.With({77, kSectionRequired, {1, 2, 3}});
  files["unknown_flags"] = hand.With({77, 6, {1, 2, 3}});
  files["section_twice"] = hand.With({1, 1, {0}});
  files["section_missing"] = Assemble({hand.Sections()[0], hand.Sections()[2]});
  files["section_overlaps"] = Patched(good, kHeaderBytes + kDirectoryEntryBytes + 8, 8, 0x68);
  files["section_unaligned"] = Patched(good, kHeaderBytes + kDirectoryEntryBytes + 8, 8, 0x6c);
  files["section_too_long"] = Patched(good, kHeaderBytes + 2 * kDirectoryEntryBytes + 16, 8, UINT64_MAX);
  files["padding"] = Patched(good, 0x7a, 1, 1);
  files["section_left_over"] = WithOps({1, 0xa7, 0x02, 0, 0});
  files["count_too_large"] = WithTypes({0x7f});
  files["number_overlong"] = WithTypes({0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01});
  files["number_too_large"] = WithTypes({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f});
  files["type_kind"] = WithTypes({1, 9, 17, 0, 0});
  files["type_element"] = WithTypes({1, 1, 99, 0, 0});
  files["type_depth"] = WithTypes({1, 1, 17, 5, 0});
  files["type_rank"] = WithTypes({1, 1, 17, 0, 25});
  files["type_block_of_pointers"] = WithTypes({1, 2, 17, 1, 1, 8});
  files["type_extent_0"] = WithTypes({2, 1, 17, 0, 1, 0, 1, 17, 0, 0});
  files["type_too_large"] = WithTypes({1, 1, 17, 0, 1, 0xff, 0xff, 0xff, 0x7f});
  files["name_number"] = WithHead({1, 1, 0, 0, 1, 0});
  files["function_flags"] = WithHead({1, 0, 2, 0, 1, 0});
  files["parameter_type"] = WithHead({1, 0, 0, 0, 1, 2});
  files["op_unknown"] = WithOps({1, 0xff, 0x03});
  files["op_truncated"] = WithOps({1, 0xa7});
  files["operands_truncated"] = WithOps({1, 0xa7, 0x02});
  files["operand_too_far"] = WithOps({2, 0x36, 2, 0, 0xa7, 0x02, 0});
  files["operand_missing"] = WithOps({2, 0x36, 0, 0, 0xa7, 0x02, 0});
  files["attribute_enum"] = WithOps({2, 0x30, 1, 1, 9, 0, 0xa7, 0x02, 0});
  files["attribute_flag"] = WithOps({2, 0x33, 1, 1, 0, 2, 0, 0xa7, 0x02, 0});
  files["attribute_string"] = WithOps({2, 0xb1, 0x02, 1, 0, 5});
  files["attribute_list"] = WithOps({2, 0xb3, 0x02, 1, 0, 100});
  files["attribute_function"] = WithOps({2, 0xa8, 0x02, 0, 3, 0, 0xa7, 0x02, 0});
  files["types_differ"] = WithOps({2, 0x30, 1, 1, 0, 1, 0xa7, 0x02, 0});
  files["no_terminator"] = WithOps({0});
  files["recursion"] = WithOps({2, 0xa8, 0x02, 1, 1, 0, 0, 0xa7, 0x02, 0});
  Bytes deep = {1};
  for (int i = 0; i < 200; ++i) deep.insert(deep.end(), {0xa2, 0x02, 1, 0, 1});
  files["nested_too_deep"] = WithOps(deep);
  files["debug_file"] = hand.With({4, 0, {0, 0, 3, 0}});
  files["debug_line"] = hand.With({4, 0, {0, 0, 2, 0}});
  files["debug_column"] = hand.With({4, 0, {0, 0, 4, 0x7f}});
  files["debug_name"] = hand.With({4, 0, {0, 1, 1, 'x', 0, 0, 0, 0, 1, 2, 0}});
  files["metadata_order"] = hand.With({5, 0, {2, 1, 'b', 0, 1, 'a', 0}});
  return files;
}

const char kInvalid[] = "tests/bytecode/invalid/";

TEST(ReaderTest, HandMadeFileIsFine) { EXPECT_EQ(ReadError(Hand().File()), ""); }

TEST(ReaderTest, EachInvalidFileHasItsMessage) {
  if (UpdatesGolden()) {
    std::string expected;
    for (const auto& [name, bytes] : InvalidFiles()) {
      WriteDataFile(absl::StrCat(kInvalid, name, ".tvbc"), {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      absl::StrAppend(&expected, name, ": ", ReadError(bytes), "\n");
    }
    WriteDataFile(absl::StrCat(kInvalid, "expected.txt"), expected);
  }
  const std::string expected = ReadDataText(absl::StrCat(kInvalid, "expected.txt"));
  size_t lines = 0;
  for (absl::string_view line : absl::StrSplit(expected, '\n', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> entry = absl::StrSplit(line, absl::MaxSplits(": ", 1));
    SCOPED_TRACE(entry.first);
    EXPECT_THAT(entry.second, StartsWith("byte 0x"));
    EXPECT_EQ(ReadError(ReadDataFile(absl::StrCat(kInvalid, entry.first, ".tvbc"))), entry.second);
    ++lines;
  }
  EXPECT_EQ(lines + 1, ListDataFiles(kInvalid).size());
}

TEST(ReaderTest, MessagesNameOpAndFunction) {
  EXPECT_THAT(
      ReadError(WithOps({1, 0xa7, 0x02})),
      ::testing::MatchesRegex("byte 0x[0-9a-f]+: truncated while reading the number of operands of op 0 in @f"));
}

TEST(ReaderTest, VerifierProblemsHaveTheOffsetOfTheOp) {
  EXPECT_THAT(ReadError(WithOps({2, 0x30, 1, 1, 0, 1, 0xa7, 0x02, 0})),
              ::testing::MatchesRegex("byte 0x[0-9a-f]+: in @f, op 0: addf: types differ: lhs is f32, result is i32"));
}

TEST(ReaderTest, UnverifiedReadsWhatTheVerifierRefuses) {
  const Bytes file = WithOps({2, 0x30, 1, 1, 0, 1, 0xa7, 0x02, 0});
  EXPECT_FALSE(ReadModule(file).ok());
  EXPECT_TRUE(ReadModuleUnverified(file).ok());
}

TEST(ReaderTest, AcceptsNewerMinorVersions) {
  EXPECT_EQ(ReadError(Patched(Hand().File(), kVersionOffset + 2, 2, 7)), "");
}

TEST(ReaderTest, SkipsUnknownOptionalSections) {
  EXPECT_EQ(ReadError(Hand().With({77, 0, {1, 2, 3}})), "");
  EXPECT_EQ(ReadError(Hand().With({static_cast<uint32_t>(SectionKind::kNativeCode), 0, {1, 2, 3}})), "");
}

TEST(ReaderTest, EveryTruncationIsAnErrorWithItsOffset) {
  const Bytes whole = WriteModule(MakeSampleModule());
  for (size_t size = 0; size < whole.size(); ++size) {
    Bytes cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    ASSERT_THAT(ReadError(cut), StartsWith("byte 0x")) << size;
    if (size < kHeaderBytes) continue;
    SealFile(absl::MakeSpan(cut));  // so that the cut is found by the parser, not by size or checksum
    ASSERT_THAT(ReadError(cut), StartsWith("byte 0x")) << size;
  }
}

TEST(ReaderTest, EveryTruncationInsideASectionIsFound) {
  const Hand hand;
  for (size_t section = 0; section < 3; ++section) {
    const size_t full = hand.Sections()[section].bytes.size();
    for (size_t size = 0; size < full; ++size) {
      std::vector<HandSection> sections = hand.Sections();
      sections[section].bytes.resize(size);
      EXPECT_THAT(ReadError(Assemble(sections)), HasSubstr("truncated")) << section << " " << size;
    }
  }
}

TEST(ReaderTest, EveryChangedByteIsFoundByTheChecksum) {
  const Bytes whole = WriteModule(MakeSampleModule());
  for (size_t i = 0; i < whole.size(); ++i) {
    Bytes changed = whole;
    changed[i] ^= 0x10;
    ASSERT_THAT(ReadError(changed), StartsWith("byte 0x")) << i;
  }
}

// With the checksum put right, a changed byte may make another module, but never a crash nor a module that fails to
// make the round trips.
TEST(ReaderTest, EveryChangedByteIsReadOrRefused) {
  const Bytes whole = WriteModule(MakeSampleModule());
  for (size_t i = kVersionOffset; i < whole.size(); ++i) {
    for (uint8_t change : {0x01, 0x02, 0x40, 0x7f, 0x80, 0xff}) {
      Bytes changed = whole;
      changed[i] ^= change;
      SealFile(absl::MakeSpan(changed));
      CheckReadModuleProperty(changed);
    }
  }
}

TEST(ReaderTest, StringsThatRepeatForEverAreRefused) {
  Hand hand;
  hand.strings = {2, 1, 'f', 0x80, 0x80, 0x04};  // the second has 65536 bytes
  hand.strings.resize(hand.strings.size() + 65536, 'x');
  hand.ops = {0x81, 0x80, 0x02};  // 32769 ops: assume-like asserts that all name it
  for (int i = 0; i < 32768; ++i) hand.ops.insert(hand.ops.end(), {0xb0, 0x02, 0, 1, 0, 0});
  hand.ops.insert(hand.ops.end(), {0xa7, 0x02, 0});
  EXPECT_THAT(ReadError(hand.File()), HasSubstr("strings repeat too often"));
}

TEST(ReaderTest, LimitsApply) {
  const Bytes zoo = WriteModule(MakeOpZoo());
  EXPECT_EQ(ReadError(zoo), "");
  Limits limits;
  limits.max_file_bytes = 100;
  EXPECT_THAT(ReadError(zoo, limits), StartsWith("byte 0x0: the file has "));
  limits = Limits();
  limits.max_functions = 10;
  EXPECT_THAT(ReadError(zoo, limits), HasSubstr(" functions, the limit is 10"));
  limits = Limits();
  limits.max_ops = 10;
  EXPECT_THAT(ReadError(zoo, limits), HasSubstr("more than 10 ops"));
  limits = Limits();
  limits.max_values = 10;
  EXPECT_THAT(ReadError(zoo, limits), HasSubstr("more than 10 values"));
  limits = Limits();
  limits.max_nesting = 1;
  EXPECT_THAT(ReadError(zoo, limits), HasSubstr("regions nested more than 1 deep"));
  limits = Limits();
  limits.max_string_bytes = 3;
  EXPECT_THAT(ReadError(zoo, limits), HasSubstr("bytes, the limit is 3, while reading string 0"));
}

}  // namespace
}  // namespace trivet::vm
