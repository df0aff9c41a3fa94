#include "tests/support/fake_cuda/fake_image.h"

#include <cstdlib>
#include <cstring>
#include <regex>

namespace trivet::fake_cuda {
namespace {

constexpr char kElf[] =
    "\x7f"
    "ELF fake sm_";

// ".param .u64 x", ".param .align 64 .b8 x[128]"
size_t ParameterBytes(const std::string& text) {
  std::smatch match;
  if (!std::regex_search(text, match,
                         std::regex(R"(\.[a-z]+([0-9]+)\s+(?:\.ptr\s[^,]*?)?([\w$]+)(?:\[([0-9]+)\])?\s*$)")))
    return 8;
  const size_t element = static_cast<size_t>(std::atoi(match[1].str().c_str())) / 8;
  return match[3].matched ? element * static_cast<size_t>(std::atoi(match[3].str().c_str())) : element;
}

}  // namespace

Image ParseImage(const char* text) {
  Image image;
  std::string ptx = text;
  if (ptx.starts_with(kElf)) {
    image.is_cubin = true;
    image.capability = std::atoi(text + std::strlen(kElf));
    ptx = ptx.substr(ptx.find('\n') + 1);
  }
  if (ptx.find(".version") == std::string::npos) {
    image.error = "ptxas application ptx input, line 1; fatal   : Missing .version directive at start of file";
    return image;
  }
  const std::regex entry(R"(\.entry\s+([\w$]+)\s*\(([^)]*)\))");
  for (std::sregex_iterator it(ptx.begin(), ptx.end(), entry), end; it != end; ++it) {
    Entry found{(*it)[1].str(), {}};
    const std::string params = (*it)[2].str();
    const std::regex param(R"(\.param[^,]*)");
    for (std::sregex_iterator p(params.begin(), params.end(), param); p != end; ++p) {
      found.parameter_bytes.push_back(ParameterBytes(p->str()));
    }
    image.entries.push_back(std::move(found));
  }
  return image;
}

std::string MakeCubin(const std::string& ptx, int capability) { return kElf + std::to_string(capability) + "\n" + ptx; }

}  // namespace trivet::fake_cuda
