// What the environment can set: the table vm/base/options.def, and reading it.
//
// A variable is read anew by each call; nothing is remembered. A program that changes its environment while other
// threads read it has the race that getenv has.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace trivet::vm {

enum class Option : uint8_t {
#define TRIVET_OPTION(name, variable, type, default_text, choices, doc) k##name,
#include "vm/base/options.def"
#undef TRIVET_OPTION
};

enum class OptionType : uint8_t { kChoice, kInteger, kFlag, kText };

// A row of the table.
struct OptionInfo {
  Option option;
  const char* name;      // "MaxSteps"
  const char* variable;  // "TRIVET_MAX_STEPS"
  OptionType type;
  const char* default_text;
  const char* choices;  // "a|b|c"; "" unless type is kChoice
  const char* doc;
};

std::span<const OptionInfo> AllOptions();
const OptionInfo& InfoOf(Option option);

// The variable's text as it is, or the default where it is absent or empty.
std::string OptionText(Option option);

// The value of a kChoice, kInteger (not negative) or kFlag option. Errors: InvalidArgument naming the variable, what it
// may be and what it is; also for a kInteger without default that isn't set.
absl::StatusOr<std::string> ChoiceOption(Option option);
absl::StatusOr<int64_t> IntegerOption(Option option);
bool FlagOption(Option option);

// Variables in the environment that begin with TRIVET_ and are not in the table, sorted.
std::vector<std::string> UnknownVariables();

// docs/options.md.
std::string OptionsMarkdown();

}  // namespace trivet::vm
