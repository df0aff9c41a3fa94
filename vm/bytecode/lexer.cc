#include "vm/bytecode/lexer.h"

#include "absl/strings/ascii.h"

namespace trivet::vm {
namespace {

bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }
bool IsHexDigit(char c) { return absl::ascii_isxdigit(static_cast<unsigned char>(c)); }
bool IsWordStart(char c) { return c == '_' || absl::ascii_isalpha(static_cast<unsigned char>(c)); }
bool IsWordPart(char c) { return IsWordStart(c) || IsDigit(c); }

// Types with parameters; written without blanks, so that "64x32xf16" needs no tokens of its own.
bool OpensType(absl::string_view word) {
  return word == "tile" || word == "ptr" || word == "blockptr" || word == "desc";
}

}  // namespace

Token Lexer::Next() {
  Token token;
  token.starts_line = at_ == 0;
  SkipBlanks(&token);
  token.offset = at_;
  token.kind = Scan();
  token.text = text_.substr(token.offset, at_ - token.offset);
  return token;
}

void Lexer::SkipBlanks(Token* token) {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == ';') {
      const size_t end = text_.find('\n', at_);
      at_ = end == absl::string_view::npos ? text_.size() : end;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      if (c == '\n') token->starts_line = true;
      ++at_;
    } else {
      return;
    }
  }
}

TokenKind Lexer::Bad(absl::string_view problem) {
  problem_ = problem;
  return TokenKind::kBad;
}

TokenKind Lexer::Scan() {
  if (at_ >= text_.size()) return TokenKind::kEnd;
  const char c = text_[at_];
  if (IsWordStart(c)) return ScanWord();
  if (IsDigit(c)) return ScanNumber();
  switch (c) {
    case '%':
    case '@':
      return ScanName();
    case '"':
      return ScanString();
    case '-':
      if (Peek(1) != '>') return ScanNumber();
      at_ += 2;
      return TokenKind::kPunctuation;
    case '(':
    case ')':
    case '{':
    case '}':
    case '[':
    case ']':
    case ',':
    case ':':
    case '=':
    case '^':
      ++at_;
      return TokenKind::kPunctuation;
    default:
      ++at_;
      return Bad("this character has no meaning here");
  }
}

TokenKind Lexer::ScanWord() {
  const size_t start = at_;
  while (IsWordPart(Peek()) || (Peek() == '.' && IsWordStart(Peek(1)))) ++at_;
  if (Peek() != '<' || !OpensType(text_.substr(start, at_ - start))) return TokenKind::kWord;
  int open = 0;
  for (; at_ < text_.size() && (IsWordPart(text_[at_]) || text_[at_] == '<' || text_[at_] == '>'); ++at_) {
    if (text_[at_] == '<') ++open;
    if (text_[at_] == '>' && --open == 0) {
      ++at_;
      return TokenKind::kType;
    }
  }
  return Bad("a type without its closing '>'");
}

// -inf too; inf without the sign is a word.
TokenKind Lexer::ScanNumber() {
  if (Peek() == '-') ++at_;
  if (IsWordStart(Peek())) {
    const size_t start = at_;
    while (IsWordPart(Peek())) ++at_;
    return text_.substr(start, at_ - start) == "inf" ? TokenKind::kNumber : Bad("not a number");
  }
  if (Peek() == '0' && Peek(1) == 'x') {
    at_ += 2;
    if (!IsHexDigit(Peek())) return Bad("not a number");
    while (IsHexDigit(Peek())) ++at_;
  } else {
    if (!IsDigit(Peek())) return Bad("not a number");
    while (IsDigit(Peek())) ++at_;
    if (Peek() == '.') {
      ++at_;
      while (IsDigit(Peek())) ++at_;
    }
    if (Peek() == 'e' || Peek() == 'E') {
      ++at_;
      if (Peek() == '+' || Peek() == '-') ++at_;
      if (!IsDigit(Peek())) return Bad("not a number");
      while (IsDigit(Peek())) ++at_;
    }
  }
  if (!IsWordPart(Peek()) && Peek() != '.') return TokenKind::kNumber;
  while (IsWordPart(Peek()) || Peek() == '.') ++at_;
  return Bad("not a number");
}

TokenKind Lexer::ScanString() {
  ++at_;
  while (at_ < text_.size() && text_[at_] != '\n') {
    const char c = text_[at_++];
    if (c == '"') return TokenKind::kString;
    if (c == '\\' && Peek() != '\n' && at_ < text_.size()) ++at_;
  }
  return Bad("a string without its closing '\"'");
}

// %x.1 is the second value named x; @a.b is a symbol with a dot.
TokenKind Lexer::ScanName() {
  const bool is_value = text_[at_++] == '%';
  const TokenKind kind = is_value ? TokenKind::kValue : TokenKind::kSymbol;
  if (Peek() == '"') {
    if (ScanString() == TokenKind::kBad) return TokenKind::kBad;
  } else if (is_value && IsDigit(Peek())) {
    while (IsDigit(Peek())) ++at_;
    return IsWordPart(Peek()) ? Bad("a value's name starts with a letter or is a number") : kind;
  } else if (IsWordStart(Peek())) {
    while (IsWordPart(Peek()) || (!is_value && Peek() == '.' && IsWordStart(Peek(1)))) ++at_;
  } else {
    return Bad(is_value ? "'%' without a name" : "'@' without a name");
  }
  if (is_value && Peek() == '.') {
    ++at_;
    if (!IsDigit(Peek())) return Bad("a '.' in a value's name is followed by a number");
    while (IsDigit(Peek())) ++at_;
  }
  return kind;
}

}  // namespace trivet::vm
