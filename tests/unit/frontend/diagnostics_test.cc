#include "frontend/diagnostics.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace trivet::frontend {
namespace {

Diagnostic Make(SourceSpan span, std::string line) {
  Diagnostic d;
  d.file = "k.py";
  d.span = span;
  d.message = "wrong";
  d.source_line = std::move(line);
  return d;
}

TEST(Diagnostic, UnderlinesItsSpan) {
  EXPECT_EQ(Make({7, 9, 7, 14}, "    a = b + c").ToString(),
            "k.py:7:9: error: wrong\n"
            "    7 |     a = b + c\n"
            "      |         ^~~~~");
}

TEST(Diagnostic, NotesAndHintFollow) {
  Diagnostic d = Make({12, 1, 12, 2}, "f()");
  d.notes = {"called from a.py:1:2 in g()", "called from a.py:9:2 in h()"};
  d.hint = "do better";
  EXPECT_EQ(d.ToString(),
            "k.py:12:1: error: wrong\n"
            "   12 | f()\n"
            "      | ^\n"
            "note: called from a.py:1:2 in g()\n"
            "note: called from a.py:9:2 in h()\n"
            "hint: do better");
}

TEST(Diagnostic, KeepsTabsSoThatTheCaretLinesUp) {
  EXPECT_EQ(Make({3, 4, 3, 5}, "\t\ta").ToString(),
            "k.py:3:4: error: wrong\n"
            "    3 | \t\ta\n"
            "      | \t\t ^");
}

TEST(Diagnostic, CountsLettersAndNotBytes) {
  // The span counts bytes, as CPython's does: each of the two letters before it has two.
  EXPECT_EQ(Make({1, 9, 1, 12}, "äö = x + ü1").ToString(),
            "k.py:1:7: error: wrong\n"
            "    1 | äö = x + ü1\n"
            "      |       ^~~");
  EXPECT_EQ(Make({1, 12, 1, 15}, "äö = x + ü1").Column(), 10u);
}

TEST(Diagnostic, OfSeveralLinesPointsAtTheFirst) {
  EXPECT_EQ(Make({5, 5, 8, 2}, "    f(a,").ToString(),
            "k.py:5:5: error: wrong\n"
            "    5 |     f(a,\n"
            "      |     ^");
}

TEST(Diagnostic, WithoutALineOrAPlace) {
  EXPECT_EQ(Make({5, 5, 5, 9}, "").ToString(), "k.py:5:5: error: wrong");
  EXPECT_EQ(Make({}, "").ToString(), "k.py: error: wrong");
}

TEST(Diagnostic, ASpanBeyondTheLineIsHarmless) {
  EXPECT_EQ(Make({5, 90, 5, 99}, "ab").ToString(),
            "k.py:5:3: error: wrong\n"
            "    5 | ab\n"
            "      |   ^");
}

TEST(Diagnostics, TheSameOneOnce) {
  Diagnostics all;
  all.Add(Make({5, 5, 5, 9}, "x"));
  all.Add(Make({5, 5, 5, 9}, "x"));
  all.Add(Make({6, 5, 6, 9}, "y"));
  EXPECT_EQ(all.size(), 2u);
  EXPECT_EQ(all.ToString(), absl::StrCat(all.all()[0].ToString(), "\n\n", all.all()[1].ToString()));
}

TEST(Diagnostics, ShowsTheFirstAndCountsTheRest) {
  Diagnostics all;
  for (uint32_t line = 1; line <= Diagnostics::kMaxErrors; ++line) all.Add(Make({line, 1, line, 2}, "x"));
  EXPECT_EQ(all.Rest(), "");
  for (uint32_t line = 1; line < 100; ++line) all.Add(Make({line, 1, line, 2}, "x"));
  EXPECT_EQ(all.size(), 99u);
  EXPECT_EQ(all.all().size(), Diagnostics::kMaxErrors);
  EXPECT_EQ(all.Rest(), "... and 79 more errors");
}

TEST(Count, OneAndMany) {
  EXPECT_EQ(Count(1, "argument"), "1 argument");
  EXPECT_EQ(Count(0, "argument"), "0 arguments");
  EXPECT_EQ(Count(2, "value"), "2 values");
}

TEST(DidYouMean, SlipsOfTyping) {
  const std::vector<std::string> names = {"offsets", "mask", "n", "x_ptr", "y_ptr"};
  EXPECT_EQ(DidYouMean("ofsets", names), "did you mean 'offsets'?");
  EXPECT_EQ(DidYouMean("offstes", names), "did you mean 'offsets'?");
  EXPECT_EQ(DidYouMean("masks", names), "did you mean 'mask'?");
  EXPECT_EQ(DidYouMean("x_pt", names), "did you mean 'x_ptr'?");
  EXPECT_EQ(DidYouMean("m", names), "");
  EXPECT_EQ(DidYouMean("output", names), "");
  EXPECT_EQ(DidYouMean("", names), "");
}

}  // namespace
}  // namespace trivet::frontend
