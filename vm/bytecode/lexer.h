// Tokens of the text form.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace trivet::vm {

enum class TokenKind {
  kEnd,
  kWord,         // load, f32, axis, true, _, async_copy.wait
  kType,         // tile<4xf32> and the like, as one token
  kValue,        // %x, %x.1, %3, %"a b"
  kSymbol,       // @add, @"a b"
  kNumber,       // 12, -1.5e3, 0x7fc1, -inf
  kString,       // "text"
  kPunctuation,  // ( ) { } [ ] , : = ^ ->
  kBad,          // none of these; Lexer::problem() says why
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  absl::string_view text;    // as written
  size_t offset = 0;         // in the whole text
  bool starts_line = false;  // only blanks before it on its line

  bool Is(absl::string_view spelling) const {
    return (kind == TokenKind::kPunctuation || kind == TokenKind::kWord) && text == spelling;
  }
};

// Splits a text into tokens, one at a time. Blanks separate; a comment runs from ";" to the end of the line.
class Lexer {
 public:
  explicit Lexer(absl::string_view text) : text_(text) {}

  Token Next();
  // What is wrong with the last token, if that was kBad.
  absl::string_view problem() const { return problem_; }

 private:
  void SkipBlanks(Token* token);
  TokenKind Scan();
  TokenKind ScanNumber();
  TokenKind ScanString();
  TokenKind ScanWord();
  TokenKind ScanName();
  TokenKind Bad(absl::string_view problem);
  char Peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  absl::string_view text_;
  size_t at_ = 0;
  absl::string_view problem_;
};

}  // namespace trivet::vm
