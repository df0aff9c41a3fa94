// Text to modules: exact round trips of canonical text and of every element, lenient input, and messages with places.
#include "vm/bytecode/parser.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vm/bytecode/builder.h"
#include "vm/bytecode/limits.h"
#include "vm/bytecode/printer.h"
#include "vm/bytecode/verifier.h"

namespace trivet::vm {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string ReadText(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::filesystem::path> TextFiles() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(TRIVET_SOURCE_DIR "/tests/bytecode/text")) {
    if (entry.path().extension() == ".tvt") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// The message for `text`, a whole module.
std::string ErrorOf(absl::string_view text) {
  const absl::StatusOr<Module> module = Parse(text, "t.tvt");
  return module.ok() ? "no error" : std::string(module.status().message());
}

// The message for `body`, which is line 2 of a function with the parameter %x: f32.
std::string ErrorInBody(absl::string_view body) {
  return ErrorOf(absl::StrCat("func @f(%x: f32, %p: ptr<f32>, %t: tile<4x2xf32>) {\n", body, "\n  return\n}\n"));
}

TEST(ParserTest, CanonicalTextSurvives) {
  ASSERT_GE(TextFiles().size(), 5u);
  for (const auto& path : TextFiles()) {
    const std::string text = ReadText(path);
    const absl::StatusOr<Module> module = Parse(text, path.filename().string());
    ASSERT_TRUE(module.ok()) << module.status().message();
    EXPECT_EQ(Print(*module), text) << path;
    const absl::StatusOr<Module> again = Parse(Print(*module));
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_TRUE(SameModule(*module, *again)) << path;
    EXPECT_TRUE(VerifyModule(*module).ok()) << VerifyModule(*module).message();
  }
}

TEST(ParserTest, NamesOfAnyBytesSurvive) {
  const std::string text = "func @\"a.<b>\"(%\"\\x01\\xff\": i32, %\"\\\"\": i32, %\"\\\"\".1: i32) {\n  return\n}\n";
  const absl::StatusOr<Module> module = Parse(text);
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_EQ(module->functions[0].name, "a.<b>");
  EXPECT_EQ(module->functions[0].value(module->functions[0].params()[0]).name, "\x01\xff");
  EXPECT_EQ(Print(*module), text);
}

// The first block of the documentation is a module, in canonical form.
TEST(ParserTest, DocumentedExampleIsCanonical) {
  const std::string docs = ReadText(TRIVET_SOURCE_DIR "/docs/text-form.md");
  const size_t start = docs.find("```\nmodule {");
  ASSERT_NE(start, std::string::npos);
  const std::string example = docs.substr(start + 4, docs.find("```", start + 4) - start - 4);
  const absl::StatusOr<Module> module = Parse(example);
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_TRUE(VerifyModule(*module).ok()) << VerifyModule(*module).message();
  EXPECT_EQ(Print(*module), example);
}

TEST(ParserTest, NamesAreTheAuthors) {
  const absl::StatusOr<Module> module = Parse(ReadText(TRIVET_SOURCE_DIR "/tests/bytecode/text/names.tvt"));
  ASSERT_TRUE(module.ok()) << module.status().message();
  const Function& function = module->functions[0];
  EXPECT_EQ(function.name, "outer.inner");
  std::vector<std::string> names;
  for (ValueId id : function.params()) names.push_back(function.value(id).name);
  EXPECT_THAT(names, testing::ElementsAre("x", "x", "größe", "a.1", "a.1", "_", ""));
}

TEST(ParserTest, ElementsOfNarrowTypesSurvive) {
  for (const DTypeInfo& info : AllDTypes()) {
    if (info.bits > 16) continue;
    for (int64_t bits = 0; bits < int64_t{1} << info.bits; ++bits) {
      const std::string text = PrintElement(info.dtype, bits);
      const absl::StatusOr<int64_t> read = ParseElement(info.dtype, text);
      ASSERT_TRUE(read.ok()) << info.text << " " << text << ": " << read.status().message();
      ASSERT_EQ(*read, bits) << info.text << " " << text;
    }
  }
}

TEST(ParserTest, ElementsOfWideTypesSurvive) {
  uint64_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const uint64_t random = state ^ (state >> 29);
    for (const DTypeInfo& info : AllDTypes()) {
      const auto bits = static_cast<int64_t>(info.bits == 64 ? random : random & ((uint64_t{1} << info.bits) - 1));
      const absl::StatusOr<int64_t> read = ParseElement(info.dtype, PrintElement(info.dtype, bits));
      ASSERT_TRUE(read.ok()) << read.status().message();
      ASSERT_EQ(*read, bits) << info.text << " " << PrintElement(info.dtype, bits);
    }
  }
}

TEST(ParserTest, TypesSurvive) {
  for (const char* text : {"i1", "f8e4b15", "ptr<f32>", "ptr<ptr<bf16>>", "tile<1xi32>", "tile<64x32xf16>",
                           "desc<16x16xf8e4m3>", "tile<4xptr<ptr<i64>>>", "blockptr<8xf32>", "tile<2x2x2x2x2xu8>"}) {
    const absl::StatusOr<Type> type = ParseType(text);
    ASSERT_TRUE(type.ok()) << type.status().message();
    EXPECT_EQ(type->ToString(), text);
  }
  for (const char* text :
       {"", "f31", "none", "tile<f32>", "tile<4x>", "tile<4xf32", "tile<x4xf32>", "ptr<f32>>", "ptr<tile<4xf32>>",
        "tile<99999999999999999999xf32>", "ptr<ptr<ptr<ptr<ptr<f32>>>>>", "desc<4xptr<f32>>", "tile<-4xf32>",
        "tile<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>"}) {
    EXPECT_FALSE(ParseType(text).ok()) << text;
  }
}

TEST(ParserTest, ReadsMoreThanThePrinterWrites) {
  const absl::StatusOr<Module> loose = Parse(R"(
      ; comments and blank lines are skipped; attributes come in any order
      func @f(%a: tile<4xf32>, %p: tile<4xptr<f32>>) -> (f32) { %s = addf %a, %a   ; the type is that of %a
        %v = load %p is_volatile=true cache=none   ; ends here: absent operands may be left out
               : tile<4xf32>
        %m = reduce %v axis=0 : f32 { ^(%x: f32, %y: f32): %z = maxf %x, %y : f32 yield %z }
        %c = constant 1 : f32
        return %m }
  )");
  ASSERT_TRUE(loose.ok()) << loose.status().message();
  EXPECT_EQ(Print(*loose), R"(func @f(%a: tile<4xf32>, %p: tile<4xptr<f32>>) -> f32 {
  %s = addf %a, %a : tile<4xf32>
  %v = load %p, _, _ is_volatile=true : tile<4xf32>
  %m = reduce %v axis=0 : f32 {
  ^(%x: f32, %y: f32):
    %z = maxf %x, %y : f32
    yield %z
  }
  %c = constant 1.0 : f32
  return %m
}
)");
}

TEST(ParserTest, ShowsThePlace) {
  EXPECT_EQ(ErrorInBody("  %r = addf %x, %x : }"),
            "t.tvt:2:22: error: expected a type, found '}'\n"
            "    2 |   %r = addf %x, %x : }\n"
            "      |                      ^");
}

TEST(ParserTest, SaysWhatIsWrongWithAnOp) {
  EXPECT_THAT(ErrorInBody("%r = frobnicate %x : f32"),
              StartsWith("t.tvt:2:6: error: expected an op, found 'frobnicate'"));
  EXPECT_THAT(ErrorInBody("%r = addf %x : f32"), HasSubstr("addf needs operand 'rhs', but has 1 operands"));
  EXPECT_THAT(ErrorInBody("%r = negf %x, %x : f32"), HasSubstr("negf takes 1 operands, but has 2"));
  EXPECT_THAT(ErrorInBody("%r = addf %x, %y : f32"),
              StartsWith("t.tvt:2:15: error: value %y is not defined before this use"));
  EXPECT_THAT(ErrorInBody("%r = addf %x, _ : f32"), HasSubstr("operand 2 of addf cannot be absent"));
  EXPECT_THAT(ErrorInBody("%r, %s = addf %x, %x : f32, f32"),
              HasSubstr("addf has 1 results, but 2 names stand before it"));
  EXPECT_THAT(ErrorInBody("addf %x, %x : f32"), HasSubstr("addf has 1 results, but 0 names stand before it"));
  EXPECT_THAT(ErrorInBody("%r = load %p"), HasSubstr("expected ':' and the types of the results, found 'return'"));
  EXPECT_THAT(ErrorInBody("%r = load %p : f32, f32"), HasSubstr("2 types for 1 results"));
  EXPECT_THAT(ErrorInBody("%x = negf %x : f32"), StartsWith("t.tvt:2:1: error: value %x is defined twice"));
  EXPECT_THAT(ErrorInBody("%r = call %x callee=@g : f32"), StartsWith("t.tvt:2:21: error: there is no function 'g'"));
}

TEST(ParserTest, SaysWhatIsWrongWithAnAttribute) {
  EXPECT_THAT(ErrorInBody("%r = program_id axes=0 : i32"), HasSubstr("program_id has no attribute 'axes'"));
  EXPECT_THAT(ErrorInBody("%r = program_id axis=0 axis=1 : i32"), HasSubstr("attribute 'axis' is given twice"));
  EXPECT_THAT(ErrorInBody("%r = program_id axis : i32"),
              HasSubstr("expected '=' after the attribute's name, found ':'"));
  EXPECT_THAT(ErrorInBody("%r = program_id axis=x : i32"),
              HasSubstr("expected an integer for attribute 'axis', found 'x'"));
  EXPECT_THAT(ErrorInBody("%r = load %p cache=l1 : f32"),
              HasSubstr("expected one of none, ca, cg, cv, wb, cs, wt for attribute 'cache', found 'l1'"));
  EXPECT_THAT(ErrorInBody("%r = load %p is_volatile=yes : f32"),
              HasSubstr("expected true or false for attribute 'is_volatile'"));
  EXPECT_THAT(ErrorInBody("%r = trans %t order=[1, : tile<2x4xf32>"), HasSubstr("expected an integer, found ':'"));
  EXPECT_THAT(ErrorInBody("print prefix=x"), HasSubstr("expected a text in quotes for attribute 'prefix', found 'x'"));
  EXPECT_THAT(ErrorInBody("%r = cmpf %x, %x predicate=99999999999999999999 : i1"), HasSubstr("expected one of eq"));
}

TEST(ParserTest, SaysWhatIsWrongWithALiteral) {
  EXPECT_THAT(ErrorInBody("%r = constant 300 : i8"), StartsWith("t.tvt:2:15: error: 300 is out of range for i8"));
  EXPECT_THAT(ErrorInBody("%r = constant -129 : i8"), HasSubstr("-129 is out of range for i8"));
  EXPECT_THAT(ErrorInBody("%r = constant -1 : u32"), HasSubstr("-1 is out of range for u32"));
  EXPECT_THAT(ErrorInBody("%r = constant 2 : i1"), HasSubstr("2 is out of range for i1"));
  EXPECT_THAT(ErrorInBody("%r = constant 1.5 : i32"), HasSubstr("'1.5' is not a literal of type i32"));
  EXPECT_THAT(ErrorInBody("%r = constant true : f32"), HasSubstr("'true' is not a literal of type f32"));
  EXPECT_THAT(ErrorInBody("%r = constant infinity : f32"), HasSubstr("'infinity' is not a literal of type f32"));
  EXPECT_THAT(ErrorInBody("%r = constant 0x12345678901234567 : i64"), HasSubstr("has more than 64 bits"));
  EXPECT_THAT(ErrorInBody("%r = constant 1.5.2 : f32"), HasSubstr("not a number: '1.5.2'"));
  EXPECT_THAT(ErrorInBody("%r = constant 12abc : i32"), HasSubstr("not a number: '12abc'"));
  EXPECT_THAT(ErrorInBody("%r = constant : i32"), HasSubstr("expected a literal, found ':'"));
}

TEST(ParserTest, SaysWhatIsWrongWithAModule) {
  EXPECT_THAT(ErrorOf("add"), StartsWith("t.tvt:1:1: error: expected 'kernel' or 'func', found 'add'"));
  EXPECT_THAT(ErrorOf("func @f() {\n  return\n"),
              StartsWith("t.tvt:3:1: error: expected '}', found the end of the text"));
  EXPECT_THAT(ErrorOf("func @f() {\n return\n}\nfunc @f() {\n return\n}\n"),
              StartsWith("t.tvt:4:6: error: function 'f' is defined twice"));
  EXPECT_THAT(ErrorOf("module {a = \"1\", a = \"2\"}"), HasSubstr("key 'a' is given twice"));
  EXPECT_THAT(ErrorOf("module {a = \"1}"), HasSubstr("a string without its closing '\"'"));
  EXPECT_THAT(ErrorOf("func @f(%x: tile<4xf32) {"), HasSubstr("a type without its closing '>'"));
  EXPECT_THAT(ErrorOf("func @f(%x: i33) {"), HasSubstr("expected a type, found 'i33'"));
  EXPECT_THAT(ErrorOf("func @f(%: i32) {"), HasSubstr("'%' without a name"));
  EXPECT_THAT(ErrorOf("func @f() $ {"), HasSubstr("this character has no meaning here: '$'"));
  EXPECT_THAT(ErrorOf("func @f() loc(\"a\":-1:2) {"), HasSubstr("expected a line number, found '-1'"));
}

TEST(ParserTest, SaysWhatIsWrongWithARegion) {
  EXPECT_THAT(ErrorInBody("%b = constant true : i1\nif %b {\n yield\n}"),
              HasSubstr("expected 'else' and another region of if"));
  EXPECT_THAT(ErrorInBody("%b = constant true : i1\nif %b else {\n yield\n}"), HasSubstr("if has no attribute 'else'"));
  EXPECT_THAT(ErrorInBody("%r = reduce %t axis=0 : tile<2xf32>"),
              HasSubstr("expected '{' and a region of reduce, found 'return'"));
}

TEST(ParserTest, RefusesDeepNesting) {
  const auto nested = [](int64_t depth) {
    std::string text = "func @f(%b: i1) {\n";
    for (int64_t i = 1; i < depth; ++i) absl::StrAppend(&text, "if %b {\n");
    for (int64_t i = 1; i < depth; ++i) absl::StrAppend(&text, "yield\n} else {\nyield\n}\n");
    return absl::StrCat(text, "return\n}\n");
  };
  const int64_t limit = Limits().max_nesting;
  EXPECT_EQ(ErrorOf(nested(limit)), "no error");
  EXPECT_THAT(ErrorOf(nested(limit + 1)), HasSubstr(absl::StrCat("regions are nested more than ", limit, " deep")));
  EXPECT_THAT(ErrorOf(nested(1'000'000)), HasSubstr("nested more than"));
}

TEST(ParserTest, ShowsPartOfALongLine) {
  const std::string error = ErrorInBody(absl::StrCat(std::string(100'000, ' '), "oops", std::string(100'000, ' ')));
  EXPECT_THAT(error, StartsWith("t.tvt:2:100001: error: expected an op, found 'oops'"));
  EXPECT_LT(error.size(), 500u);
}

TEST(ParserTest, CutTextIsAnErrorNeverMore) {
  for (const auto& path : TextFiles()) {
    const std::string text = ReadText(path);
    for (size_t length = 1; length + 2 < text.size(); ++length) {
      const absl::StatusOr<Module> module = Parse(absl::string_view(text).substr(0, length));
      EXPECT_THAT(module.ok() ? ": error: " : std::string(module.status().message()), HasSubstr(": error: "));
    }
  }
}

}  // namespace
}  // namespace trivet::vm
