// Files of the source tree that tests read, and may write anew.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace trivet {

// The bytes of `path`, relative to the root of the source tree; stops the test program if it can't be read.
std::vector<uint8_t> ReadDataFile(const std::string& path);
std::string ReadDataText(const std::string& path);

// Names of the files in a folder of the source tree, sorted. Empty if there is no such folder.
std::vector<std::string> ListDataFiles(const std::string& folder);

// True if TRIVET_UPDATE_GOLDEN is set: tests write what they would have expected, for a person to look at.
bool UpdatesGolden();
void WriteDataFile(const std::string& path, absl::string_view bytes);

}  // namespace trivet
