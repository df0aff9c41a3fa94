// docs/layouts.md: each picture is what DrawLayout draws for the layout named above it, and the numbers in the text are
// right.

#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "jit/layout/draw.h"
#include "jit/layout/mma_layouts.h"

namespace trivet::jit {
namespace {

std::vector<std::string> Lines(std::istream& in) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

template <typename Numbers>
Numbers Parse(const std::string& text) {
  Numbers out;
  static const std::regex number("[0-9]+");
  for (std::sregex_iterator it(text.begin(), text.end(), number), end; it != end; ++it) {
    out.push_back(static_cast<typename Numbers::value_type>(std::stoul(it->str())));
  }
  return out;
}

// Nothing unless `text` is what ToString gives.
std::optional<TileLayout> ParseLayout(const std::string& text) {
  static const std::regex form(R"(([0-9x]*) registers \{(.*)\} lanes \{(.*)\} warps \{(.*)\})");
  std::smatch match;
  if (!std::regex_match(text, match, form)) return std::nullopt;
  return TileLayout(Parse<Extents>(match[1]), Parse<std::vector<uint32_t>>(match[2]),
                    Parse<std::vector<uint32_t>>(match[3]), Parse<std::vector<uint32_t>>(match[4]));
}

TEST(LayoutsDoc, PicturesAreTrue) {
  std::ifstream file(TRIVET_SOURCE_DIR "/docs/layouts.md");
  const std::vector<std::string> lines = Lines(file);
  int pictures = 0;
  for (size_t i = 1; i < lines.size(); ++i) {
    if (lines[i - 1] != "```") continue;
    const std::optional<TileLayout> layout = ParseLayout(lines[i]);
    if (!layout) continue;
    ++pictures;
    SCOPED_TRACE(lines[i]);
    std::istringstream drawing(DrawLayout(*layout));
    for (const std::string& expected : Lines(drawing)) {
      ++i;
      ASSERT_LT(i, lines.size());
      if (lines[i] == "...") break;
      EXPECT_EQ(lines[i], expected);
    }
    ++i;
    EXPECT_EQ(lines.at(i), "```");
  }
  EXPECT_EQ(pictures, 7);
}

TEST(LayoutsDoc, NumbersOfTheText) {
  EXPECT_EQ(LinearLayout({1, 2, 5, 10}, 4).Apply(0b1001), 11u);
  const TileLayout result({16, 8}, {1, 64}, {2, 4, 8, 16, 32}, {});
  EXPECT_EQ(result, MmaResult({16, 8}, {}, MmaKind::kHalf));
  EXPECT_EQ(result.Element(3, 6), 77u);
  const TileLayout blocked = TileLayout::Blocked({8, 8}, {.order = {1, 0}, .vector_elements = 2, .num_warps = 1});
  EXPECT_EQ(blocked.ToString(), "8x8 registers {1} lanes {2, 4, 8, 16, 32} warps {}");
  EXPECT_EQ(blocked.Transposed({1, 0}).ToString(), "8x8 registers {8} lanes {16, 32, 1, 2, 4} warps {}");
  EXPECT_EQ(blocked.WithoutAxis(1).ToString(), "8 registers {} lanes {0, 0, 1, 2, 4} warps {}");
  EXPECT_EQ(MmaOperandA({16, 16}, {}, MmaKind::kHalf).ToString(),
            "16x16 registers {1, 128, 8} lanes {2, 4, 16, 32, 64} warps {}");
  EXPECT_EQ(MmaOperandB({16, 8}, {}, MmaKind::kHalf).ToString(),
            "16x8 registers {8, 64} lanes {16, 32, 1, 2, 4} warps {}");
  EXPECT_EQ(WgmmaOperandInShared({8, 64}, 1, 1, 16).offsets.bases(),
            (std::vector<uint32_t>{2, 4, 8, 16, 32, 64, 144, 288, 576}));
}

}  // namespace
}  // namespace trivet::jit
