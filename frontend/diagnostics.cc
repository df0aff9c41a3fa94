#include "frontend/diagnostics.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace trivet::frontend {

std::string Diagnostic::ToString() const {
  std::string out;
  if (span.line != 0) {
    out = absl::StrCat(file, ":", span.line, ":", span.column, ": error: ", message);
  } else {
    out = absl::StrCat(file, ": error: ", message);
  }
  if (!source_line.empty()) {
    // Tabs are kept so that the caret lines up.
    std::string pad;
    for (uint32_t i = 0; i + 1 < span.column && i < source_line.size(); ++i) {
      pad += source_line[i] == '\t' ? '\t' : ' ';
    }
    size_t width = 1;
    if (span.end_line == span.line && span.end_column > span.column) {
      width = std::min<size_t>(span.end_column - span.column, source_line.size() - std::min(source_line.size(), pad.size()));
    }
    absl::StrAppend(&out, "\n", absl::StrFormat("%5d", span.line), " | ", source_line, "\n      | ", pad, "^",
                    std::string(width > 1 ? width - 1 : 0, '~'));
  }
  for (const std::string& note : notes) absl::StrAppend(&out, "\nnote: ", note);
  if (!hint.empty()) absl::StrAppend(&out, "\nhint: ", hint);
  return out;
}

void Diagnostics::Add(Diagnostic diagnostic) {
  if (diagnostics_.size() >= kMaxErrors) return;
  for (const Diagnostic& d : diagnostics_) {
    if (d.file == diagnostic.file && d.span.line == diagnostic.span.line && d.span.column == diagnostic.span.column &&
        d.message == diagnostic.message) {
      return;
    }
  }
  diagnostics_.push_back(std::move(diagnostic));
}

std::string Diagnostics::ToString() const {
  std::string out;
  for (const Diagnostic& d : diagnostics_) {
    if (!out.empty()) out += "\n\n";
    out += d.ToString();
  }
  return out;
}

}  // namespace trivet::frontend
