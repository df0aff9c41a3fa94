#include "vm/bytecode/text_form.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace trivet::vm {
namespace {

// RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
bool IsUtf8(absl::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    if (length == 0 || text.size() - i < length) return false;
    for (size_t k = 1; k < length; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) & 0xc0) != 0x80) return false;
    }
    if (length >= 3) {
      const auto next = static_cast<unsigned char>(text[i + 1]);
      if ((lead == 0xe0 && next < 0xa0) || (lead == 0xed && next >= 0xa0)) return false;
      if ((lead == 0xf0 && next < 0x90) || (lead == 0xf4 && next >= 0x90)) return false;
    }
    i += length;
  }
  return true;
}

}  // namespace

bool IsTextIdentifier(absl::string_view text) {
  if (text.empty() || absl::ascii_isdigit(static_cast<unsigned char>(text[0]))) return false;
  for (char c : text) {
    if (c != '_' && !absl::ascii_isalnum(static_cast<unsigned char>(c))) return false;
  }
  return true;
}

bool IsTextSymbol(absl::string_view text) {
  while (true) {
    const size_t dot = text.find('.');
    if (!IsTextIdentifier(text.substr(0, dot))) return false;
    if (dot == absl::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

std::string QuoteText(absl::string_view text) {
  return absl::StrCat("\"", IsUtf8(text) ? absl::Utf8SafeCHexEscape(text) : absl::CHexEscape(text), "\"");
}

std::string PrintableText(absl::string_view text) {
  const bool is_utf8 = IsUtf8(text);
  std::string printable;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = byte >= 0x80 ? is_utf8 : c == '\n' || c == '\t' || !absl::ascii_iscntrl(byte);
    if (is_plain) {
      printable += c;
    } else {
      absl::StrAppend(&printable, "\\x", absl::Hex(byte, absl::kZeroPad2));
    }
  }
  return printable;
}

absl::string_view RegionSeparator(Op op) { return op == Op::kWhile ? "do" : "else"; }

bool IsAlwaysPrinted(const AttrInfo& attr) {
  const absl::string_view name = attr.name;
  return attr.kind == AttrKind::kFunction || name == "axis" || name == "predicate" || name == "kind";
}

}  // namespace trivet::vm
