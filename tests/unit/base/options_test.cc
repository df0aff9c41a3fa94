// The table of options and reading the environment through it.
#include "vm/base/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "absl/strings/match.h"

namespace trivet::vm {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// A variable set for the length of a scope.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

TEST(Options, RowsAreDistinctAndWhole) {
  std::set<std::string> variables;
  for (const OptionInfo& info : AllOptions()) {
    EXPECT_TRUE(variables.insert(info.variable).second) << info.variable;
    EXPECT_EQ(&InfoOf(info.option), &info);
    EXPECT_TRUE(absl::StartsWith(info.variable, "TRIVET_") || absl::StartsWith(info.variable, "TRITON_"));
    EXPECT_TRUE(absl::EndsWith(info.doc, ".")) << info.variable;
    EXPECT_EQ(*info.choices != '\0', info.type == OptionType::kChoice) << info.variable;
  }
}

TEST(Options, DefaultsAreValid) {
  for (const OptionInfo& info : AllOptions()) {
    unsetenv(info.variable);
    EXPECT_TRUE(info.type != OptionType::kChoice || ChoiceOption(info.option).ok()) << info.variable;
    if (info.type != OptionType::kInteger) continue;
    EXPECT_EQ(IntegerOption(info.option).ok(), *info.default_text != '\0') << info.variable;
  }
}

TEST(Options, AreReadEachTime) {
  EXPECT_EQ(*ChoiceOption(Option::kSchedule), "threads");
  {
    const Variable set("TRIVET_SCHEDULE", "random");
    EXPECT_EQ(*ChoiceOption(Option::kSchedule), "random");
  }
  const Variable empty("TRIVET_SCHEDULE", "");
  EXPECT_EQ(*ChoiceOption(Option::kSchedule), "threads");
}

TEST(Options, WrongValuesNameTheVariable) {
  const Variable schedule("TRIVET_SCHEDULE", "sideways");
  EXPECT_EQ(ChoiceOption(Option::kSchedule).status().message(),
            "TRIVET_SCHEDULE must be threads, in_order, random or round_robin, found 'sideways'");
  const Variable threads("TRIVET_THREADS", "-1");
  EXPECT_EQ(IntegerOption(Option::kThreads).status().message(),
            "TRIVET_THREADS must be an integer that is not negative, found '-1'");
}

TEST(Options, Flags) {
  EXPECT_FALSE(FlagOption(Option::kPlainGlobals));
  for (const char* on : {"1", "true", "Yes", "ON"}) {
    const Variable set("TRIVET_PLAIN_GLOBALS", on);
    EXPECT_TRUE(FlagOption(Option::kPlainGlobals)) << on;
  }
  const Variable off("TRIVET_PLAIN_GLOBALS", "0");
  EXPECT_FALSE(FlagOption(Option::kPlainGlobals));
}

TEST(Options, UnknownVariablesAreFound) {
  const Variable wrong("TRIVET_SCHEDUL", "random");
  const Variable right("TRIVET_SCHEDULE", "random");
  const Variable other("TRITON_WHATEVER", "1");
  EXPECT_THAT(UnknownVariables(), Contains("TRIVET_SCHEDUL"));
  EXPECT_THAT(UnknownVariables(), Not(Contains("TRIVET_SCHEDULE")));
  EXPECT_THAT(UnknownVariables(), Not(Contains("TRITON_WHATEVER")));
}

TEST(Options, TheDocumentListsEveryVariable) {
  const std::string text = OptionsMarkdown();
  for (const OptionInfo& info : AllOptions()) EXPECT_THAT(text, HasSubstr(info.variable));
}

}  // namespace
}  // namespace trivet::vm
