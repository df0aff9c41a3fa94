// The reader of op cases itself: a mistake in it could make every case pass.
#include "tests/support/case_file.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trivet::vm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CaseFileTest, FillsInTypesAndJoinsLines) {
  const auto cases = ReadCases(R"(; about the file
; case both  T = f16 i32  U = i16 f32
func @f(%T: tile<4xT>, %x: U) -> tile<2x4xT> {
; an ordinary comment, T
; memory p: T = [1, 2]
; run: @f([1*4], 2)
;     ~= [3*8] ulp(2)
; run if T in i32: @g(p+1) grid(2, 3) leaves p = [0, 1], q = 7 traps "a \"b\"" prints "c"
; case other
; run: @h() == 1, [2, 3]
)");
  ASSERT_TRUE(cases.ok()) << cases.status().message();
  ASSERT_EQ(cases->size(), 3u);
  const OpCase& half = (*cases)[0];
  EXPECT_EQ(half.name, "both T=f16 U=i16");
  EXPECT_THAT(half.text, HasSubstr("\n\nfunc @f(%f16: tile<4xf16>, %x: i16) -> tile<2x4xf16> {\n"));
  ASSERT_EQ(half.memory.size(), 1u);
  EXPECT_EQ(half.memory[0].element, Type::Scalar(DType::kF16));
  ASSERT_EQ(half.runs.size(), 1u) << "the second is for i32 only";
  EXPECT_EQ(half.runs[0].line, 6);
  EXPECT_THAT(half.runs[0].arguments, ElementsAre("[1*4]", "2"));
  EXPECT_THAT(*half.runs[0].results, ElementsAre("[3*8]"));
  EXPECT_EQ(half.runs[0].ulp, 2);
  ASSERT_EQ((*cases)[1].runs.size(), 2u);
  const CaseRun& second = (*cases)[1].runs[1];
  EXPECT_THAT(second.grid, ElementsAre(2, 3, 1));
  EXPECT_THAT(second.leaves, ElementsAre(testing::Pair("p", "[0, 1]"), testing::Pair("q", "7")));
  EXPECT_EQ(second.traps, "a \"b\"");
  EXPECT_EQ(second.prints, "c");
  EXPECT_THAT(*(*cases)[2].runs[0].results, ElementsAre("1", "[2, 3]"));
}

TEST(CaseFileTest, RefusesWhatItDoesNotUnderstand) {
  for (const char* text :
       {"; case f\n; run: @f()\n", "; case f\n; run @f() == 1\n", "; case f\n; run: @f( == 1\n",
        "; case f\n; run: @f() ~= 1\n", "; case f\n; run: @f() is 1\n", "; case f T = i8 i16 U = i8\n",
        "; case f\n; run: @f() traps nothing\n", "; case f\n; memory p = [1]\n"}) {
    EXPECT_FALSE(ReadCases(text).ok()) << text;
  }
}

TEST(CaseFileTest, ReadsElements) {
  const Type i32 = Type::Scalar(DType::kI32);
  const Type f16 = Type::Scalar(DType::kF16);
  EXPECT_THAT(*ReadElements("[[1, 2], [0x7, -1]]", i32, 4, {}), ElementsAre(1, 2, 7, 0xffffffff));
  EXPECT_THAT(*ReadElements("[0..2, 5*2, _]", i32, 6, {}), ElementsAre(0, 1, 2, 5, 5, std::nullopt));
  EXPECT_THAT(*ReadElements("-0.0", f16, 2, {}), ElementsAre(0x8000, 0x8000));
  EXPECT_THAT(*ReadElements("[p+2, p]", Type::Pointer(DType::kF16), 2, {{"p", 100}}), ElementsAre(104, 100));
  EXPECT_FALSE(ReadElements("[1, 2]", i32, 3, {}).ok());
  EXPECT_FALSE(ReadElements("[1]", i32, 3, {}).ok()) << "only a value without brackets is for all elements";
  EXPECT_FALSE(ReadElements("1.5", i32, 1, {}).ok());
  EXPECT_FALSE(ReadElements("q", Type::Pointer(DType::kF16), 1, {{"p", 100}}).ok());
}

}  // namespace
}  // namespace trivet::vm
