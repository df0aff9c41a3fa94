#include "jit/emulator/rows.h"

#include <cctype>

namespace trivet::jit {

namespace {

bool Match(absl::string_view pattern, absl::string_view name, std::array<int, 8>& choice, size_t next) {
  while (!pattern.empty()) {
    if (next == choice.size() && (pattern[0] == '{' || pattern[0] == '#')) return false;  // too many for a row
    switch (pattern[0]) {
      case '{': {
        const size_t close = pattern.find('}');
        absl::string_view alternatives = pattern.substr(1, close - 1);
        const absl::string_view rest = pattern.substr(close + 1);
        for (int index = 0;; ++index) {
          const size_t bar = alternatives.find('|');
          const absl::string_view one = alternatives.substr(0, bar);
          if (name.substr(0, one.size()) == one) {
            choice[next] = index;
            if (Match(rest, name.substr(one.size()), choice, next + 1)) return true;
          }
          if (bar == absl::string_view::npos) return false;
          alternatives.remove_prefix(bar + 1);
        }
      }
      case '#': {
        size_t digits = 0;
        int value = 0;
        while (digits < name.size() && digits < 6 && std::isdigit(static_cast<unsigned char>(name[digits]))) {
          value = value * 10 + (name[digits++] - '0');
        }
        if (digits == 0) return false;
        choice[next++] = value;
        name.remove_prefix(digits);
        pattern.remove_prefix(1);
        break;
      }
      case '~':
        for (size_t skip = 0; skip <= name.size(); ++skip) {
          if (Match(pattern.substr(1), name.substr(skip), choice, next)) return true;
        }
        return false;
      default:
        if (name.empty() || name[0] != pattern[0]) return false;
        name.remove_prefix(1);
        pattern.remove_prefix(1);
    }
  }
  return name.empty();
}

}  // namespace

bool MatchesPattern(absl::string_view pattern, absl::string_view name, std::array<int, 8>& choice) {
  choice.fill(0);
  return Match(pattern, name, choice, 0);
}

const Row* FindRow(absl::string_view name, std::array<int, 8>& choice) {
  const std::span<const Row> families[] = {SpecialRegisterRows(), SynchronisationRows(), WarpRows(),  ArithmeticRows(),
                                           ConversionRows(),      MemoryRows(),          MatrixRows()};
  for (const std::span<const Row>& rows : families) {
    for (const Row& row : rows) {
      if (MatchesPattern(row.pattern, name, choice)) return &row;
    }
  }
  return nullptr;
}

}  // namespace trivet::jit
