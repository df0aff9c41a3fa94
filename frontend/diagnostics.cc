#include "frontend/diagnostics.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace trivet::frontend {

namespace {

// Letters in `text`, which is UTF-8: bytes that don't continue a letter.
size_t LettersIn(absl::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// The most that is shown of a source line.
constexpr size_t kShownColumns = 200;

// `at`, or the next position where a UTF-8 letter begins.
size_t StartOfLetter(absl::string_view line, size_t at) {
  while (at < line.size() && (line[at] & 0xC0) == 0x80) ++at;
  return at;
}

// Insertions, deletions, replacements and swaps of neighbours that make b of a.
size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string Count(size_t n, absl::string_view noun) { return absl::StrCat(n, " ", noun, n == 1 ? "" : "s"); }

std::string DidYouMean(absl::string_view name, const std::vector<std::string>& candidates) {
  // Two slips at most, and no more than a third of the word: short names are close to everything.
  size_t best = std::min<size_t>(2, name.size() / 3) + 1;
  const std::string* found = nullptr;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > 64 || name.size() > 64) continue;
    const size_t distance = EditDistance(name, candidate);
    if (distance >= best) continue;
    best = distance;
    found = &candidate;
  }
  return found == nullptr ? "" : absl::StrCat("did you mean '", *found, "'?");
}

uint32_t Diagnostic::Column() const {
  if (span.column == 0) return 0;
  return static_cast<uint32_t>(LettersIn(
             absl::string_view(source_line).substr(0, std::min<size_t>(span.column - 1, source_line.size())))) +
         (source_line.empty() ? span.column : 1);
}

std::string Diagnostic::ToString() const {
  std::string out;
  if (span.line != 0) {
    out = absl::StrCat(file, ":", span.line, ":", Column(), ": error: ", message);
  } else {
    out = absl::StrCat(file, ": error: ", message);
  }
  if (!source_line.empty()) {
    absl::string_view line = source_line;
    size_t begin = std::min<size_t>(span.column == 0 ? 0 : span.column - 1, line.size());
    size_t width = 1;
    if (span.end_column > span.column && span.end_line == span.line) width = span.end_column - span.column;
    // Of a very long line, what is around the caret.
    absl::string_view cut_before, cut_after;
    if (line.size() > kShownColumns) {
      const size_t first = StartOfLetter(line, begin > kShownColumns / 2 ? begin - kShownColumns / 2 : 0);
      cut_before = first > 0 ? "..." : "";
      line.remove_prefix(first);
      begin -= first;
      if (line.size() > kShownColumns) {
        line = line.substr(0, StartOfLetter(line, kShownColumns));
        cut_after = "...";
      }
    }
    // Tabs are kept so that the caret lines up.
    std::string pad(cut_before.size(), ' ');
    for (char c : line.substr(0, begin)) {
      if ((c & 0xC0) != 0x80) pad += c == '\t' ? '\t' : ' ';
    }
    width = width > 1 ? LettersIn(line.substr(begin, width)) : 1;
    absl::StrAppend(&out, "\n", absl::StrFormat("%5d", span.line), " | ", cut_before, line, cut_after, "\n      | ",
                    pad, "^", std::string(width > 1 ? width - 1 : 0, '~'));
  }
  for (const std::string& note : notes) absl::StrAppend(&out, "\nnote: ", note);
  if (!hint.empty()) absl::StrAppend(&out, "\nhint: ", hint);
  return out;
}

void Diagnostics::Add(Diagnostic diagnostic) {
  const SourceSpan& span = diagnostic.span;
  const bool is_new =
      seen_.insert(absl::StrCat(diagnostic.file, ":", span.line, ":", span.column, ":", diagnostic.message)).second;
  if (is_new && diagnostics_.size() < kMaxErrors) diagnostics_.push_back(std::move(diagnostic));
}

std::string Diagnostics::Rest() const {
  const size_t rest = seen_.size() - diagnostics_.size();
  return rest == 0 ? "" : absl::StrCat("... and ", Count(rest, "more error"));
}

std::string Diagnostics::ToString() const {
  std::string out;
  for (const Diagnostic& d : diagnostics_) {
    if (!out.empty()) out += "\n\n";
    out += d.ToString();
  }
  if (const std::string rest = Rest(); !rest.empty()) absl::StrAppend(&out, "\n\n", rest);
  return out;
}

}  // namespace trivet::frontend
