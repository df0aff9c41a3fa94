// The writer: round trips, determinism, and files that earlier versions wrote.
#include "vm/bytecode/writer.h"

#include <algorithm>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/data_files.h"
#include "tests/support/op_zoo.h"
#include "vm/bytecode/builder.h"
#include "vm/bytecode/file_format.h"
#include "vm/bytecode/printer.h"
#include "vm/bytecode/reader.h"
#include "vm/bytecode/version.h"

namespace trivet::vm {
namespace {

Module MustRead(absl::Span<const uint8_t> bytes) {
  absl::StatusOr<Module> module = ReadModule(bytes);
  EXPECT_TRUE(module.ok()) << module.status().message();
  return module.ok() ? *std::move(module) : Module();
}

TEST(WriterTest, RoundTripOfEveryOp) {
  const Module zoo = MakeOpZoo();
  const std::vector<uint8_t> bytes = WriteModule(zoo);
  const Module read = MustRead(bytes);
  EXPECT_TRUE(SameModule(zoo, read));
  EXPECT_EQ(WriteModule(read), bytes);
}

TEST(WriterTest, RoundTripOfExtremeNumbers) {
  Module module;
  Function& f = module.functions.emplace_back();
  f.name = "f";
  f.body = f.AddRegion();
  Builder builder(&f, f.body);
  const Type i64 = Type::Scalar(DType::kI64);
  for (int64_t value :
       {INT64_MIN, INT64_MAX, int64_t{-1}, int64_t{0}, int64_t{63}, int64_t{64}, int64_t{-64}, int64_t{-65}}) {
    builder.Constant(i64, value);
    builder.Create(Op::kPrint, {}, {}, {std::string("\0x", 2), int64_t{0}, std::vector<int64_t>{}});
  }
  const ValueId x = builder.ConstantF(Type::Tile({1}, DType::kF64), -0.0);
  for (int64_t value : {int64_t{1}, INT64_MAX}) {
    builder.Create1(Op::kHint, {x}, f.type(x), {int64_t{0}, std::vector<int64_t>{value}});
  }
  builder.set_location({module.InternFile("f.py"), UINT32_MAX, UINT32_MAX});
  builder.Create(Op::kBarrier, {}, {});
  builder.set_location({module.InternFile("g.py"), 1, 0});
  builder.Create(Op::kBarrier, {}, {});
  builder.set_location({});
  builder.Create(Op::kReturn, {}, {});
  EXPECT_TRUE(SameModule(module, MustRead(WriteModule(module))));
}

TEST(WriterTest, BytesDoNotDependOnNumbering) {
  Module plain = MakeSampleModule();
  Module padded;
  for (const Function& function : plain.functions) {
    Function copy = function;
    Operation unlinked;
    unlinked.opcode = Op::kBarrier;
    copy.AddOp(unlinked);  // as a pass leaves it behind
    copy.AddValue(Type::Tile({1024}, DType::kBF16), "unused");
    copy.AddRegion();
    padded.functions.push_back(std::move(copy));
  }
  padded.files = plain.files;
  EXPECT_EQ(WriteModule(padded), WriteModule(plain));
}

TEST(WriterTest, DebugInfoCanBeLeftOut) {
  Module module = MakeOpZoo();
  const std::vector<uint8_t> with = WriteModule(module);
  const std::vector<uint8_t> without = WriteModule(module, {.debug_info = false});
  EXPECT_LT(without.size(), with.size());
  EXPECT_FALSE(SameModule(module, MustRead(without)));
  StripDebugInfo(&module);
  EXPECT_EQ(WriteModule(module), without);
  EXPECT_TRUE(SameModule(module, MustRead(without)));
}

// The example of docs/bytecode.md.
TEST(WriterTest, BytesOfTheDocumentedExample) {
  Module module;
  Function& f = module.functions.emplace_back();
  f.name = "f";
  f.body = f.AddRegion();
  f.result_types = {Type::Scalar(DType::kF32)};
  Builder builder(&f, f.body);
  builder.Create(Op::kReturn, {builder.ConstantF(f.result_types[0], 1.5)}, {});
  const std::vector<uint8_t> bytes = WriteModule(module);
  const std::vector<uint8_t> region = {0x00, 0x02, 0x01, 0x80, 0x80, 0x80, 0xfe, 0x03, 0x00, 0xa7, 0x02, 0x01, 0x01};
  EXPECT_TRUE(std::equal(region.rbegin(), region.rend(), bytes.rbegin()));  // it is the last in the file
}

TEST(WriterTest, ReadsAnEmptyModule) { EXPECT_TRUE(SameModule(Module(), MustRead(WriteModule(Module())))); }

// RFC 3720, B.4 has 32 zeros; the digits are the check value that catalogues of CRCs give.
TEST(FileFormatTest, CrcMatchesKnownValues) {
  const std::string digits = "123456789";
  EXPECT_EQ(Crc32c({reinterpret_cast<const uint8_t*>(digits.data()), digits.size()}), 0xe3069283u);
  EXPECT_EQ(Crc32c(std::vector<uint8_t>(32, 0)), 0x8a9136aau);
}

// --- tests/bytecode/golden/<version>: files that version wrote, read for ever; beside each its text, printed today.
struct GoldenModule {
  std::string name;
  Module module;
};
std::vector<GoldenModule> CurrentModules() { return {{"zoo", MakeOpZoo()}, {"sample", MakeSampleModule()}}; }

const char kGolden10[] = "tests/bytecode/golden/1.0/";

// While 1.0 is the current version, its files are what we write. Later versions get a folder and a list of their own.
TEST(GoldenTest, FilesOfTheCurrentVersion) {
  static_assert(kFormatMajor == 1 && kFormatMinor == 0, "a new version: freeze golden/1.0, and add golden/<version>");
  for (const GoldenModule& golden : CurrentModules()) {
    const std::vector<uint8_t> bytes = WriteModule(golden.module);
    const std::string path = kGolden10 + golden.name + ".tvbc";
    if (UpdatesGolden()) WriteDataFile(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    EXPECT_EQ(ReadDataFile(path), bytes) << path << " differs from what is written now";
  }
}

TEST(GoldenTest, OldFilesAreReadForEver) {
  for (const std::string& name : ListDataFiles(kGolden10)) {
    if (name.find(".tvbc") == std::string::npos) continue;
    SCOPED_TRACE(name);
    const Module module = MustRead(ReadDataFile(kGolden10 + name));
    EXPECT_FALSE(module.functions.empty());
    const std::string text_path = kGolden10 + name.substr(0, name.size() - 5) + ".tvt";
    if (UpdatesGolden()) WriteDataFile(text_path, Print(module));
    EXPECT_EQ(Print(module), ReadDataText(text_path));
  }
}

}  // namespace
}  // namespace trivet::vm
