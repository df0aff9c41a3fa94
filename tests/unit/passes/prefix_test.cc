// After each prefix of the default pipeline, and after each pass alone, a function computes what it did before: op
// cases as they are written, random programs to the bit.
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "jit/passes/pass_manager.h"
#include "tests/support/case_values.h"
#include "tests/support/random_integer_program.h"
#include "tests/unit/ops/case_runner.h"
#include "vm/bytecode/parser.h"
#include "vm/bytecode/printer.h"
#include "vm/bytecode/verifier.h"

namespace trivet::jit {
namespace {

// What runs, and under which name it is reported.
struct Variant {
  std::string name;
  PassPipeline pipeline;
  PassOptions options;
};

// Each pass alone, and each prefix of the default pipeline.
std::vector<Variant> Variants() {
  std::vector<Variant> variants;
  for (const PassInfo& pass : AllPasses()) variants.push_back({pass.name, *PassPipeline::FromNames(pass.name), {}});
  const PassPipeline all = PassPipeline::Default();
  for (int count = 2; count <= static_cast<int>(all.passes().size()); ++count) {
    Variant variant{absl::StrCat("the first ", count, " passes"), all, {}};
    variant.options.stop_at = count;
    variants.push_back(std::move(variant));
  }
  return variants;
}

class PassPrefixTest : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(PassPrefixTest, OpCasesStillHold) {
  const auto cases = vm::ReadCaseFile(GetParam());
  ASSERT_TRUE(cases.ok()) << cases.status().message();
  const std::vector<Variant> variants = Variants();
  for (const vm::OpCase& op_case : *cases) {
    const absl::StatusOr<vm::Module> module = vm::Parse(op_case.text);
    ASSERT_TRUE(module.ok()) << module.status().message();
    for (const Variant& variant : variants) {
      SCOPED_TRACE(absl::StrCat("case ", op_case.name, " after ", variant.name));
      vm::Module changed = *module;
      const auto report = variant.pipeline.Run(changed, variant.options);
      ASSERT_TRUE(report.ok()) << report.status().message();
      if (vm::SameModule(changed, *module)) continue;
      const auto executable = vm::Executable::Load(changed);
      ASSERT_TRUE(executable.ok()) << executable.status().message();
      for (const vm::CaseRun& run : op_case.runs) {
        SCOPED_TRACE(absl::StrCat("line ", run.line));
        const absl::Status status = vm::CaseRunner(op_case, **executable).Run(run);
        EXPECT_TRUE(status.ok()) << status.message();
      }
      if (HasFailure()) FAIL() << vm::Print(changed, {.locations = false});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, PassPrefixTest, testing::ValuesIn(vm::CaseFiles()),
                         [](const auto& file) { return file.param.stem().string(); });

// What a random program leaves in its output.
std::vector<int64_t> OutputOf(const vm::Module& module, std::vector<uint64_t> arguments) {
  const auto executable = vm::Executable::Load(module);
  EXPECT_TRUE(executable.ok()) << executable.status().message();
  std::vector<int64_t> output(vm::kRandomOutputElements, -1);
  vm::LaunchRequest request;
  request.grid = {2, 1, 1};
  request.options.schedule = vm::Schedule::kInOrder;
  arguments.back() = reinterpret_cast<uint64_t>(output.data());
  for (uint64_t word : arguments) request.arguments.push_back({{word}});
  vm::Allocation allocation;
  allocation.name = "out";
  allocation.storage_base = allocation.view_base = arguments.back();
  allocation.storage_bytes = static_cast<int64_t>(output.size() * sizeof(int64_t));
  allocation.dtype = vm::DType::kI64;
  allocation.shape = {static_cast<int64_t>(output.size())};
  allocation.strides = {1};
  request.memory.Add(std::move(allocation));
  request.memory.Seal();
  const vm::LaunchResult result = vm::Launch(**executable, request);
  EXPECT_TRUE(result.status.ok()) << result.status.message();
  return output;
}

// Under the facts that the arguments keep.
TEST(PassPropertyTest, RandomProgramsKeepEveryBit) {
  const std::vector<Variant> variants = Variants();
  std::map<std::string, int64_t> counters;  // of the whole pipeline, over all programs
  for (uint64_t seed = 0; seed < 250; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    std::mt19937_64 random(seed);
    const vm::RandomIntegerProgram program = vm::MakeRandomIntegerProgram(random, 60, /*stores=*/true);
    ASSERT_TRUE(vm::VerifyModule(program.module).ok());
    ArgumentFacts facts;
    for (const vm::RandomArgument& argument : program.arguments) {
      ArgumentFact fact;
      fact.divisibility = argument.divisibility;
      fact.is_positive = argument.is_positive;
      if (argument.is_one) fact.constant = 1;
      facts.parameters.push_back(fact);
    }
    std::vector<std::vector<uint64_t>> arguments;
    std::vector<std::vector<int64_t>> expected;
    for (int run = 0; run < 3; ++run) {
      arguments.push_back(program.MakeArguments(random));
      expected.push_back(OutputOf(program.module, arguments.back()));
    }
    for (const Variant& variant : variants) {
      PassOptions options = variant.options;
      options.facts = facts;
      vm::Module changed = program.module;
      const auto report = variant.pipeline.Run(changed, options);
      ASSERT_TRUE(report.ok()) << variant.name << ": " << report.status().message();
      if (&variant == &variants.back()) {
        for (const auto& [counter, n] : report->counters) counters[counter] += n;
      }
      for (size_t run = 0; run < arguments.size(); ++run) {
        ASSERT_EQ(OutputOf(changed, arguments[run]), expected[run]) << "after " << variant.name << "\n"
                                                                    << vm::Print(program.module) << "\n"
                                                                    << vm::Print(changed);
      }
    }
  }
  // Calls and masks are the op cases' part.
  for (const char* counter :
       {"canonicalise.simplified", "canonicalise.branches", "canonicalise.loops", "cse.merged", "carry-scalars.values",
        "combine-addressing.moved", "licm.hoisted", "unroll.loops", "dce.removed"}) {
    EXPECT_GT(counters[counter], 20) << counter;
  }
}

}  // namespace
}  // namespace trivet::jit
