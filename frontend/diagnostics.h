// Errors of the author's program: collected, so that several independent ones show in one run.
//
//   matmul.py:31:21: error: dot: K differs: a is tile<64x32xf16>, b is tile<16x64xf16>
//      31 |     acc = tl.dot(a, b, acc)
//         |           ^~~~~~~~~~~~~~~~~
//   note: in a call from matmul.py:60:9
//   hint: ...
#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "frontend/ast.h"

namespace trivet::frontend {

struct Diagnostic {
  std::string file;
  SourceSpan span;
  std::string message;
  std::string source_line;         // text of span.line
  std::vector<std::string> notes;  // call chain and the like, innermost first
  std::string hint;                // may be empty

  // The column as people count: letters from 1, where `span` counts bytes.
  uint32_t Column() const;
  // The text shown above.
  std::string ToString() const;
};

// "1 argument", "3 arguments".
std::string Count(size_t n, absl::string_view noun);
// "did you mean 'offsets'?" for the candidate that is only a slip or two away from `name`; empty if none is.
std::string DidYouMean(absl::string_view name, const std::vector<std::string>& candidates);

class Diagnostics {
 public:
  // Adds an error unless the same one (place and message) was added before. Beyond kMaxErrors it is only counted.
  void Add(Diagnostic diagnostic);
  bool empty() const { return diagnostics_.empty(); }
  // How many were found, those that are only counted included.
  size_t size() const { return seen_.size(); }
  // The first kMaxErrors, in the order found.
  const std::vector<Diagnostic>& all() const { return diagnostics_; }
  // "... and 7 more errors"; empty if all() is all.
  std::string Rest() const;
  // The text of all(), separated by blank lines, and Rest().
  std::string ToString() const;

  static constexpr size_t kMaxErrors = 20;

 private:
  std::vector<Diagnostic> diagnostics_;
  absl::flat_hash_set<std::string> seen_;  // place and message
};

}  // namespace trivet::frontend
