// tests/passes/*.tvt: one decision of a pass a test, as bytecode before and after.
//
//   ; test merge-across-branches
//   ; A value from outside is used instead of an equal one inside.
//   ; passes: cse   facts: n:16 m=1 k>0
//   kernel @k(..) { .. }
//   ; gives
//   kernel @k(..) { .. }
//   ; says: text of a remark
//
// Both sides are read as bytecode, so layout and numbering don't count; names do. "; gives the same" expects no change.
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "jit/passes/pass_manager.h"
#include "vm/bytecode/parser.h"
#include "vm/bytecode/printer.h"
#include "vm/bytecode/verifier.h"

namespace trivet::jit {
namespace {

namespace fs = std::filesystem;

struct GoldenTest {
  std::string name;
  std::string passes;
  std::vector<std::string> facts;
  std::string before;
  std::string after;
  bool is_unchanged = false;
  std::vector<std::string> says;
};

std::vector<GoldenTest> ReadTests(const fs::path& path) {
  std::ifstream file(path);
  std::vector<GoldenTest> tests;
  std::string* text = nullptr;
  int blank_lines = 0;
  for (std::string line; std::getline(file, line);) {
    ++blank_lines;
    absl::string_view rest = line;
    if (absl::ConsumePrefix(&rest, "; test ")) {
      tests.emplace_back();
      tests.back().name = std::string(rest);
      text = &tests.back().before;
      // So that messages of the parser have the file's lines.
      text->assign(static_cast<size_t>(blank_lines), '\n');
    } else if (tests.empty()) {
      continue;
    } else if (absl::ConsumePrefix(&rest, "; passes: ")) {
      const std::vector<std::string> parts = absl::StrSplit(rest, "facts:");
      tests.back().passes = std::string(absl::StripAsciiWhitespace(parts[0]));
      if (parts.size() > 1) tests.back().facts = absl::StrSplit(parts[1], ' ', absl::SkipEmpty());
    } else if (line == "; gives the same") {
      tests.back().is_unchanged = true;
    } else if (line == "; gives") {
      text = &tests.back().after;
      text->assign(static_cast<size_t>(blank_lines), '\n');
    } else if (absl::ConsumePrefix(&rest, "; says: ")) {
      tests.back().says.emplace_back(rest);
    } else {
      absl::StrAppend(text, line, "\n");
    }
  }
  return tests;
}

vm::Module Parsed(const std::string& text, const std::string& file) {
  absl::StatusOr<vm::Module> module = vm::Parse(text, file);
  EXPECT_TRUE(module.ok()) << module.status().message();
  if (!module.ok()) return {};
  const absl::Status legal = vm::VerifyModule(*module);
  EXPECT_TRUE(legal.ok()) << file << ": " << legal.message();
  return *std::move(module);
}

ArgumentFacts FactsOf(const vm::Module& module, const std::vector<std::string>& texts) {
  ArgumentFacts facts;
  const vm::Function& fn = module.functions.back();
  facts.parameters.resize(fn.params().size());
  for (const std::string& text : texts) {
    const size_t at = text.find_first_of(":=>");
    int64_t number = 0;
    EXPECT_TRUE(at != std::string::npos && absl::SimpleAtoi(text.substr(at + 1), &number)) << text;
    for (size_t i = 0; i < fn.params().size(); ++i) {
      if (fn.value(fn.params()[i]).name != text.substr(0, at)) continue;
      if (text[at] == ':') facts.parameters[i].divisibility = number;
      if (text[at] == '=') facts.parameters[i].constant = number;
      if (text[at] == '>') facts.parameters[i].is_positive = true;
    }
  }
  return facts;
}

std::vector<fs::path> GoldenFiles() {
  std::set<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(TRIVET_SOURCE_DIR "/tests/passes")) {
    if (entry.path().extension() == ".tvt") paths.insert(entry.path());
  }
  return {paths.begin(), paths.end()};
}

class GoldenPassTest : public testing::TestWithParam<fs::path> {};

TEST_P(GoldenPassTest, GivesWhatIsWritten) {
  const std::string file = GetParam().filename().string();
  const std::vector<GoldenTest> tests = ReadTests(GetParam());
  ASSERT_FALSE(tests.empty());
  for (const GoldenTest& test : tests) {
    SCOPED_TRACE(absl::StrCat(file, ": ", test.name));
    vm::Module module = Parsed(test.before, file);
    ASSERT_FALSE(module.functions.empty());
    const vm::Module expected = test.is_unchanged ? module : Parsed(test.after, file);
    const auto pipeline = PassPipeline::FromNames(test.passes);
    ASSERT_TRUE(pipeline.ok()) << pipeline.status().message();
    PassOptions options;
    options.facts = FactsOf(module, test.facts);
    options.collect_remarks = true;
    const auto report = pipeline->Run(module, options);
    ASSERT_TRUE(report.ok()) << report.status().message();
    // By text: a module's files and locations don't matter here.
    EXPECT_EQ(vm::Print(module, {.locations = false}), vm::Print(expected, {.locations = false}));
    std::string remarks;
    for (const Remark& remark : report->remarks) absl::StrAppend(&remarks, remark.ToString(module), "\n");
    for (const std::string& text : test.says) EXPECT_THAT(remarks, testing::HasSubstr(text));
    EXPECT_EQ(test.is_unchanged, !report->runs.back().changed);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenPassTest, testing::ValuesIn(GoldenFiles()), [](const auto& file) {
  std::string name = file.param.stem().string();
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

// A new pass needs a file.
TEST(GoldenPassCoverageTest, EveryPassHasTests) {
  for (const PassInfo& pass : AllPasses()) {
    EXPECT_TRUE(fs::exists(absl::StrCat(TRIVET_SOURCE_DIR "/tests/passes/", pass.name, ".tvt"))) << pass.name;
  }
}

}  // namespace
}  // namespace trivet::jit
