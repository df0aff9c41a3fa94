#include "tests/support/data_files.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "vm/base/check.h"

namespace trivet {
namespace {

std::filesystem::path InTree(const std::string& path) { return std::filesystem::path(TRIVET_SOURCE_DIR) / path; }

}  // namespace

std::string ReadDataText(const std::string& path) {
  std::ifstream file(InTree(path), std::ios::binary);
  TRIVET_CHECK(file.good(), absl::StrCat("can't read ", path));
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::vector<uint8_t> ReadDataFile(const std::string& path) {
  const std::string text = ReadDataText(path);
  return std::vector<uint8_t>(text.begin(), text.end());
}

std::vector<std::string> ListDataFiles(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(InTree(folder), error)) {
    if (entry.is_regular_file()) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool UpdatesGolden() { return std::getenv("TRIVET_UPDATE_GOLDEN") != nullptr; }

void WriteDataFile(const std::string& path, absl::string_view bytes) {
  std::filesystem::create_directories(InTree(path).parent_path());
  std::ofstream(InTree(path), std::ios::binary) << std::string(bytes);
}

}  // namespace trivet
