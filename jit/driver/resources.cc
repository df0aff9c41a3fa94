#include "jit/driver/resources.h"

#include <vector>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace trivet::jit {
namespace {

constexpr absl::string_view kPayload = "trivet/out_of_resources";  // "required|limit|resource"

}  // namespace

absl::Status OutOfResourcesError(const OutOfResources& what, absl::string_view subject, absl::string_view owner,
                                 absl::string_view advice) {
  const absl::string_view unit = what.resource == "shared memory" ? " bytes" : "";
  absl::Status status = absl::ResourceExhaustedError(absl::StrCat("out of resource: ", what.resource, ": ", subject,
                                                                  " needs ", what.required, unit, ", and ", owner,
                                                                  " has ", what.limit, unit, "; ", advice));
  status.SetPayload(kPayload, absl::Cord(absl::StrCat(what.required, "|", what.limit, "|", what.resource)));
  return status;
}

std::optional<OutOfResources> FindOutOfResources(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kPayload);
  if (!payload.has_value()) return std::nullopt;
  const std::string text(*payload);
  const std::vector<std::string> parts = absl::StrSplit(text, '|');
  OutOfResources result;
  if (parts.size() != 3 || !absl::SimpleAtoi(parts[0], &result.required) ||
      !absl::SimpleAtoi(parts[1], &result.limit)) {
    return std::nullopt;
  }
  result.resource = parts[2];
  return result;
}

}  // namespace trivet::jit
