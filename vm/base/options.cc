#include "vm/base/options.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace trivet::vm {
namespace {

constexpr OptionInfo kOptions[] = {
#define TRIVET_OPTION(name, variable, type, default_text, choices, doc) \
  {Option::k##name, #name, variable, OptionType::k##type, default_text, choices, doc},
#include "vm/base/options.def"
#undef TRIVET_OPTION
};

std::string TypeText(const OptionInfo& info) {
  switch (info.type) {
    case OptionType::kChoice:
      return absl::StrJoin(absl::StrSplit(info.choices, '|', absl::SkipEmpty()), ", ",
                           [](std::string* out, absl::string_view choice) { absl::StrAppend(out, "`", choice, "`"); });
    case OptionType::kInteger:
      return "integer";
    case OptionType::kFlag:
      return "flag";
    case OptionType::kText:
      return "text";
  }
  return "";
}

// "a, b or c".
std::string OneOf(const OptionInfo& info) {
  std::vector<absl::string_view> words = absl::StrSplit(info.choices, '|', absl::SkipEmpty());
  const absl::string_view last = words.back();
  words.pop_back();
  return absl::StrCat(absl::StrJoin(words, ", "), " or ", last);
}

}  // namespace

std::span<const OptionInfo> AllOptions() { return kOptions; }

const OptionInfo& InfoOf(Option option) { return kOptions[static_cast<size_t>(option)]; }

std::string OptionText(Option option) {
  const OptionInfo& info = InfoOf(option);
  const char* text = std::getenv(info.variable);
  return text == nullptr || *text == '\0' ? info.default_text : text;
}

absl::StatusOr<std::string> ChoiceOption(Option option) {
  const OptionInfo& info = InfoOf(option);
  std::string text = OptionText(option);
  const std::vector<absl::string_view> choices = absl::StrSplit(info.choices, '|');
  if (std::find(choices.begin(), choices.end(), text) != choices.end()) return text;
  return absl::InvalidArgumentError(absl::StrCat(info.variable, " must be ", OneOf(info), ", found '", text, "'"));
}

absl::StatusOr<int64_t> IntegerOption(Option option) {
  const std::string text = OptionText(option);
  int64_t value = 0;
  if (absl::SimpleAtoi(text, &value) && value >= 0) return value;
  return absl::InvalidArgumentError(
      absl::StrCat(InfoOf(option).variable, " must be an integer that is not negative, found '", text, "'"));
}

bool FlagOption(Option option) {
  const std::string text = absl::AsciiStrToLower(OptionText(option));
  return text == "1" || text == "true" || text == "yes" || text == "on";
}

std::vector<std::string> UnknownVariables() {
  std::vector<std::string> unknown;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const absl::string_view text = *entry;
    const absl::string_view name = text.substr(0, text.find('='));
    if (!absl::StartsWith(name, "TRIVET_")) continue;
    const bool is_known = std::any_of(std::begin(kOptions), std::end(kOptions),
                                      [&](const OptionInfo& info) { return name == info.variable; });
    if (!is_known) unknown.emplace_back(name);
  }
  std::sort(unknown.begin(), unknown.end());
  return unknown;
}

std::string OptionsMarkdown() {
  std::string out =
      "# Options\n\n"
      "Made from vm/base/options.def by `trivet-ops --options`; don't edit.\n\n"
      "Environment variables that Trivet obeys, each read when it is used. An empty variable counts as absent. A flag "
      "is "
      "on for `1`, `true`, `yes` and `on`. `import trivet` warns about a variable that begins with `TRIVET_` and is "
      "not "
      "listed here. In Python, `trivet.knobs.settings()` shows the values.\n\n"
      "| variable | value | default | meaning |\n| --- | --- | --- | --- |\n";
  for (const OptionInfo& info : kOptions) {
    const std::string default_text =
        *info.default_text == '\0' ? std::string() : absl::StrCat("`", info.default_text, "`");
    absl::StrAppend(&out, "| `", info.variable, "` | ", TypeText(info), " | ", default_text, " | ", info.doc, " |\n");
  }
  return out;
}

}  // namespace trivet::vm
