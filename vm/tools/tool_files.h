// Files for the command-line tools. "-" is standard input or output.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "vm/bytecode/text_form.h"

namespace trivet::vm {

// The whole file. Errors name it and say what the system said.
inline absl::StatusOr<std::string> ReadToolFile(const std::string& path) {
  const bool is_stdin = path == "-";
  std::FILE* file = is_stdin ? stdin : std::fopen(path.c_str(), "rb");
  if (file == nullptr) return absl::NotFoundError(absl::StrCat("can't open ", path, ": ", std::strerror(errno)));
  std::string content;
  char buffer[1 << 16];
  size_t count;
  while ((count = std::fread(buffer, 1, sizeof buffer, file)) > 0) content.append(buffer, count);
  const bool failed = std::ferror(file) != 0;
  const int error = errno;
  if (!is_stdin) std::fclose(file);
  if (failed) return absl::UnavailableError(absl::StrCat("can't read ", path, ": ", std::strerror(error)));
  return content;
}

// Replaces the file's content.
inline absl::Status WriteToolFile(const std::string& path, absl::string_view content) {
  const bool is_stdout = path == "-";
  std::FILE* file = is_stdout ? stdout : std::fopen(path.c_str(), "wb");
  if (file == nullptr) return absl::NotFoundError(absl::StrCat("can't open ", path, ": ", std::strerror(errno)));
  const bool wrote = std::fwrite(content.data(), 1, content.size(), file) == content.size();
  const bool closed = (is_stdout ? std::fflush(file) : std::fclose(file)) == 0;
  if (wrote && closed) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("can't write ", path, ": ", std::strerror(errno)));
}

// Says what is wrong on standard error: 1 for the input, 2 for the command line. Gives `code` back.
inline int ToolError(absl::string_view tool, absl::string_view message, int code) {
  const std::string line = absl::StrCat(tool, ": ", PrintableText(message), "\n");
  std::fwrite(line.data(), 1, line.size(), stderr);
  return code;
}

}  // namespace trivet::vm
