// Text (.tvt) to modules; the other direction is printer.h, and docs/text-form.md describes the form.
//
// The parser checks what text can get wrong: spelling, numbers of operands, names that are defined once and before
// their uses. Whether the module is legal is the verifier's question: callers that run it call VerifyModule first.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "vm/bytecode/module.h"

namespace trivet::vm {

// The module that `text` spells. `file_name` is for messages. Errors are InvalidArgument:
//
//   add.tvt:3:22: error: expected a type, found '}'
//       3 |   %r = addf %a, %b : }
//         |                      ^
absl::StatusOr<Module> Parse(absl::string_view text, absl::string_view file_name = "<text>");

// The type that `text` spells, without blanks: "tile<64x32xf16>". Its element count is not checked.
absl::StatusOr<Type> ParseType(absl::string_view text);

// The bits of `literal` as an element of `dtype`, the inverse of PrintElement: "1.5", "-inf", "nan", "255", "true"; or
// "0x7fc1", taken as the bits themselves. Errors: not such a literal, or an integer out of the type's range.
absl::StatusOr<int64_t> ParseElement(DType dtype, absl::string_view literal);

}  // namespace trivet::vm
