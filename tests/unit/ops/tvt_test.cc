// Runs the op cases of tests/ops on the interpreter. case_file.h says how they are written.
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/support/case_file.h"
#include "tests/support/case_values.h"
#include "tests/unit/ops/case_runner.h"
#include "vm/base/status.h"
#include "vm/bytecode/builder.h"
#include "vm/bytecode/parser.h"
#include "vm/bytecode/printer.h"
#include "vm/bytecode/verifier.h"
#include "vm/interpreter/execute.h"

namespace trivet::vm {
namespace {

namespace fs = std::filesystem;

class OpCasesTest : public testing::TestWithParam<fs::path> {};

TEST_P(OpCasesTest, RunAsWritten) {
  const std::string file = GetParam().filename().string();
  const absl::StatusOr<std::vector<OpCase>> cases = ReadCaseFile(GetParam());
  ASSERT_TRUE(cases.ok()) << file << ": " << cases.status().message();
  EXPECT_FALSE(cases->empty());
  for (const OpCase& op_case : *cases) {
    SCOPED_TRACE(absl::StrCat("case ", op_case.name));
    EXPECT_FALSE(op_case.runs.empty());
    const absl::StatusOr<Module> module = Parse(op_case.text, file);
    ASSERT_TRUE(module.ok()) << module.status().message();
    const absl::StatusOr<Module> again = Parse(Print(*module), file);
    EXPECT_TRUE(again.ok() && SameModule(*module, *again)) << "the text form does not survive a round trip";
    const absl::Status legal = VerifyModule(*module);
    EXPECT_TRUE(legal.ok()) << file << ": " << legal.message();
    if (!legal.ok()) continue;
    const absl::StatusOr<std::shared_ptr<const Executable>> executable = Executable::Load(*module);
    EXPECT_TRUE(executable.ok()) << executable.status().message();
    if (!executable.ok()) continue;
    for (const CaseRun& run : op_case.runs) {
      SCOPED_TRACE(absl::StrCat(file, ":", run.line));
      const absl::Status status = CaseRunner(op_case, **executable).Run(run);
      EXPECT_TRUE(status.ok()) << "the case is wrong: " << status.message();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, OpCasesTest, testing::ValuesIn(CaseFiles()),
                         [](const auto& file) { return file.param.stem().string(); });

// A new op needs a case.
TEST(OpCasesCoverageTest, EveryOpOccurs) {
  std::set<Op> seen;
  for (const fs::path& path : CaseFiles()) {
    const absl::StatusOr<std::vector<OpCase>> cases = ReadCaseFile(path);
    ASSERT_TRUE(cases.ok()) << path << ": " << cases.status().message();
    for (const OpCase& op_case : *cases) {
      const absl::StatusOr<Module> module = Parse(op_case.text, path.filename().string());
      ASSERT_TRUE(module.ok()) << module.status().message();
      for (const Function& function : module->functions) {
        function.ForEachOp([&](OpId op) { seen.insert(function.op(op).opcode); });
      }
    }
  }
  for (const OpInfo& info : AllOps()) EXPECT_TRUE(seen.count(info.op) == 1) << "no case in tests/ops has " << info.text;
}

}  // namespace
}  // namespace trivet::vm
