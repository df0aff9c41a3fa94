// What printer and parser have to agree on, beyond the op table.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "vm/bytecode/op_info.h"

namespace trivet::vm {

// [A-Za-z_][A-Za-z0-9_]*: spelt as it is after "%", and as the key of an attribute.
bool IsTextIdentifier(absl::string_view text);
// As IsTextIdentifier, with dots between: spelt as it is after "@".
bool IsTextSymbol(absl::string_view text);

// `text` in double quotes, with C escapes. Text that is not UTF-8 has all its bytes beyond ASCII escaped.
std::string QuoteText(absl::string_view text);
// A message for people in which names from a file may occur: control characters other than line feeds and tabs are
// escaped, and where the whole is not UTF-8, all bytes beyond ASCII.
std::string PrintableText(absl::string_view text);

// The word between one region of `op` and the next: "else", "do".
absl::string_view RegionSeparator(Op op);

// An attribute that says what the op does is printed even where it is 0 (axis, predicate, kind, callee); the others
// modify, and are left out at 0, false, empty or an enumeration's first value.
bool IsAlwaysPrinted(const AttrInfo& attr);

}  // namespace trivet::vm
