// The pass manager: where it stops, what it dumps, and what it says about a pass that breaks the rules.
#include "jit/passes/pass_manager.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vm/bytecode/parser.h"
#include "vm/bytecode/printer.h"

namespace trivet::jit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kText[] = R"(func @f(%x: i32) -> i32 {
  %a = muli %x, %x
  %b = muli %x, %x
  %c = addi %a, %b
  return %c
}
)";

vm::Module Parsed(absl::string_view text = kText) { return *vm::Parse(text); }

std::vector<std::string> NamesOf(const PipelineReport& report) {
  std::vector<std::string> names;
  for (const PassRun& run : report.runs) names.push_back(run.pass);
  return names;
}

TEST(PassManagerTest, StopsWhereItIsTold) {
  const PassPipeline pipeline = *PassPipeline::FromNames("cse, dce,cse,licm");
  vm::Module module = Parsed();
  EXPECT_THAT(NamesOf(*pipeline.Run(module)), ElementsAre("cse", "dce", "cse", "licm"));
  PassOptions options;
  options.stop_after = "cse";
  EXPECT_THAT(NamesOf(*pipeline.Run(module, options)), ElementsAre("cse", "dce", "cse")) << "after the last one";
  options.stop_at = 1;
  EXPECT_THAT(NamesOf(*pipeline.Run(module, options)), ElementsAre("cse"));
  options.stop_at = 0;
  module = Parsed();
  EXPECT_TRUE(pipeline.Run(module, options)->runs.empty());
  EXPECT_TRUE(vm::SameModule(module, Parsed()));
}

TEST(PassManagerTest, DumpsAreLegalTextAndSayWhenNothingChanged) {
  std::vector<std::string> dumps;
  PassOptions options;
  options.dump_after = {"all"};
  options.dump = [&](absl::string_view text) { dumps.emplace_back(text); };
  vm::Module module = Parsed();
  const auto report = PassPipeline::FromNames("cse,cse")->Run(module, options);
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(dumps.size(), 2u);
  EXPECT_THAT(dumps[0], testing::StartsWith("; after cse (pass 1 of 2)\n"));
  const auto again = vm::Parse(dumps[0]);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_TRUE(vm::SameModule(*again, module));
  EXPECT_EQ(dumps[1], "; after cse (pass 2 of 2): no change\n");
  EXPECT_EQ(report->counters.at("cse.merged"), 1);
}

TEST(PassManagerTest, UnknownNamesAreErrorsThatListTheOthers) {
  EXPECT_THAT(std::string(PassPipeline::FromNames("cse,frob").status().message()),
              HasSubstr("'frob'; there are: inline, "));
  vm::Module module = Parsed();
  PassOptions options;
  options.stop_after = "frob";
  EXPECT_FALSE(PassPipeline::Default().Run(module, options).ok());
}

// Everything that the passes keep analyses for runs again once the function has changed.
TEST(PassManagerTest, AnalysesAreDroppedAfterAChange) {
  const vm::Module module = Parsed();
  PassContext cx(module, FunctionId(0), {}, nullptr, nullptr);
  const RangeAnalysis* const before = &cx.ranges();
  EXPECT_EQ(before, &cx.ranges());
  EXPECT_EQ(cx.ranges().Get(ValueId(0)), Range::Full(vm::DType::kI32));
  cx.DropAnalyses();
  EXPECT_EQ(cx.ranges().Get(ValueId(0)), Range::Full(vm::DType::kI32));
}

TEST(PassManagerTest, RemarksNameThePlace) {
  vm::Module module = Parsed(R"(func @find(%n: i32) -> i32 {
  %0 = constant 0 : i32
  %1 = constant 1 : i32
  for %0, %n, %1 {
  ^(%i: i32):
    return %i
  }
  return %n
}
func @f(%n: i32) -> i32 {
  %r = call %n callee=@find : i32 loc("find.py":7:3)
  return %r
}
)");
  PassOptions options;
  options.collect_remarks = true;
  const auto report = PassPipeline::FromNames("inline")->Run(module, options);
  ASSERT_EQ(report->remarks.size(), 1u);
  EXPECT_EQ(report->remarks[0].ToString(module),
            "find.py:7:3: inline: in @f: call of @find stays: it returns from inside a loop");
}

TEST(KeepOnlyReachableTest, CallsAreRenumbered) {
  vm::Module module = Parsed(R"(func @unused(%n: i32) {
  return
}
func @used(%n: i32) {
  return
}
kernel @other(%n: i32) {
  return
}
kernel @k(%n: i32) {
  call %n callee=@used
  return
}
)");
  KeepOnlyReachable(module, module.FindFunction("k"));
  EXPECT_EQ(vm::Print(module),
            "func @used(%n: i32) {\n  return\n}\n\nkernel @k(%n: i32) {\n  call %n callee=@used\n  return\n}\n");
}

}  // namespace
}  // namespace trivet::jit
