// Operators of compile-time values are Python's. The expected texts are what Python's repr() gives.
#include "frontend/constants.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"

namespace trivet::frontend {
namespace {

Constant I(int64_t value) { return Constant(Int{value}); }
Constant F(double value) { return Constant(value); }
Constant B(bool value) { return Constant(value); }
Constant S(const char* text) { return Constant(std::string(text)); }
Constant None() { return Constant(NoneValue{}); }

// The result as Python shows it, or "error: ...".
std::string Eval(const Constant& a, absl::string_view op, const Constant& b) {
  ConstantResult r = EvaluateBinary(op, a, b);
  return r.value ? ToString(*r.value) : absl::StrCat("error: ", r.error);
}
std::string Eval(absl::string_view op, const Constant& a) {
  ConstantResult r = EvaluateUnary(op, a);
  return r.value ? ToString(*r.value) : absl::StrCat("error: ", r.error);
}

TEST(Constants, DivisionRoundsDownAndTheRemainderHasTheDivisorsSign) {
  EXPECT_EQ(Eval(I(7), "//", I(2)), "3");
  EXPECT_EQ(Eval(I(-7), "//", I(2)), "-4");
  EXPECT_EQ(Eval(I(7), "//", I(-2)), "-4");
  EXPECT_EQ(Eval(I(-7), "//", I(-2)), "3");
  EXPECT_EQ(Eval(I(-8), "//", I(2)), "-4");
  EXPECT_EQ(Eval(I(7), "%", I(3)), "1");
  EXPECT_EQ(Eval(I(-7), "%", I(3)), "2");
  EXPECT_EQ(Eval(I(7), "%", I(-3)), "-2");
  EXPECT_EQ(Eval(I(-7), "%", I(-3)), "-1");
  EXPECT_EQ(Eval(I(-6), "%", I(3)), "0");
}

TEST(Constants, DivisionAndRemainderFitTogether) {
  std::mt19937_64 random(1);
  std::uniform_int_distribution<int64_t> any(-1000, 1000);
  for (int i = 0; i < 10'000; ++i) {
    const Int a = any(random), b = any(random);
    if (b == 0) continue;
    const Int q = *AsInt(*EvaluateBinary("//", Constant(a), Constant(b)).value);
    const Int r = *AsInt(*EvaluateBinary("%", Constant(a), Constant(b)).value);
    EXPECT_EQ(IntToString(q * b + r), IntToString(a));
    EXPECT_TRUE(r == 0 || (r < 0) == (b < 0));
    EXPECT_TRUE((r < 0 ? -r : r) < (b < 0 ? -b : b));
  }
}

TEST(Constants, DivisionByZero) {
  for (const char* op : {"//", "%"}) EXPECT_EQ(Eval(I(1), op, I(0)), "error: integer division or modulo by zero");
  EXPECT_EQ(Eval(I(1), "/", I(0)), "error: division by zero");
  for (const char* op : {"/", "//", "%"}) EXPECT_EQ(Eval(F(1), op, F(0)), "error: float division by zero");
}

TEST(Constants, TrueDivisionGivesAFloat) {
  EXPECT_EQ(Eval(I(6), "/", I(3)), "2.0");
  EXPECT_EQ(Eval(I(1), "/", I(3)), "0.3333333333333333");
  EXPECT_EQ(Eval(I(-7), "/", I(2)), "-3.5");
}

TEST(Constants, FloatDivision) {
  EXPECT_EQ(Eval(F(7.5), "//", I(2)), "3.0");
  EXPECT_EQ(Eval(F(-7.5), "//", I(2)), "-4.0");
  EXPECT_EQ(Eval(F(1), "//", F(0.1)), "9.0");  // 0.1 is a little more than a tenth
  EXPECT_EQ(Eval(F(1), "%", F(0.1)), "0.09999999999999995");
  EXPECT_EQ(Eval(F(-1), "%", F(3)), "2.0");
  EXPECT_EQ(Eval(F(1), "%", F(-3)), "-2.0");
  EXPECT_EQ(Eval(F(4), "%", F(-2)), "-0.0");
  EXPECT_EQ(Eval(F(-0.0), "//", F(2)), "-0.0");
  EXPECT_EQ(Eval(F(5), "%", F(HUGE_VAL)), "5.0");
}

TEST(Constants, Shifts) {
  EXPECT_EQ(Eval(I(3), "<<", I(4)), "48");
  EXPECT_EQ(Eval(I(-3), "<<", I(4)), "-48");
  EXPECT_EQ(Eval(I(-7), ">>", I(1)), "-4");
  EXPECT_EQ(Eval(I(-1), ">>", I(500)), "-1");
  EXPECT_EQ(Eval(I(9), ">>", I(500)), "0");
  EXPECT_EQ(Eval(I(0), "<<", I(500)), "0");
  EXPECT_EQ(Eval(I(1), "<<", I(64)), "18446744073709551616");
  EXPECT_EQ(Eval(I(1), "<<", I(-1)), "error: negative shift count");
  EXPECT_EQ(Eval(I(1), ">>", I(-1)), "error: negative shift count");
  EXPECT_EQ(Eval(I(1), "<<", I(500)), "error: integer constant too large");
}

TEST(Constants, Powers) {
  EXPECT_EQ(Eval(I(2), "**", I(10)), "1024");
  EXPECT_EQ(Eval(I(-3), "**", I(3)), "-27");
  EXPECT_EQ(Eval(I(0), "**", I(0)), "1");
  EXPECT_EQ(Eval(I(0), "**", I(7)), "0");
  EXPECT_EQ(Eval(I(2), "**", I(-1)), "0.5");
  EXPECT_EQ(Eval(I(1), "**", I(1'000'000'000)), "1");
  EXPECT_EQ(Eval(I(-1), "**", I(1'000'000'001)), "-1");
  EXPECT_EQ(Eval(I(-1), "**", I(1'000'000'000)), "1");
  EXPECT_EQ(Eval(I(10), "**", I(1'000'000'000)), "error: integer constant too large");
  EXPECT_EQ(Eval(F(2), "**", F(0.5)), "1.4142135623730951");
  EXPECT_EQ(Eval(I(0), "**", I(-1)), "error: zero to a negative power");
  EXPECT_EQ(Eval(F(0), "**", I(-1)), "error: zero to a negative power");
  EXPECT_EQ(Eval(F(-8), "**", F(0.5)), "error: a power that is not a real number");
  EXPECT_EQ(Eval(F(10), "**", I(400)), "error: float result too large");
}

TEST(Constants, WideIntegersStayExactAndTooWideOnesAreRefused) {
  const Constant big(Int{1} << 63);
  EXPECT_EQ(Eval(big, "*", I(2)), "18446744073709551616");
  EXPECT_EQ(Eval(big, "-", I(1)), "9223372036854775807");
  EXPECT_EQ(Eval(Constant(Int{1} << 90), "*", Constant(Int{1} << 30)), "error: integer constant too large");
  EXPECT_EQ(Eval(Constant(Int{1} << 96), "+", I(1)), "error: integer constant too large");
}

TEST(Constants, BooleansAreIntegers) {
  EXPECT_EQ(Eval(B(true), "+", B(true)), "2");
  EXPECT_EQ(Eval(B(true), "&", B(false)), "False");
  EXPECT_EQ(Eval(B(true), "|", B(false)), "True");
  EXPECT_EQ(Eval(B(true), "^", I(1)), "0");
  EXPECT_EQ(Eval("-", B(true)), "-1");
  EXPECT_EQ(Eval("~", B(true)), "-2");
  EXPECT_EQ(Eval("not", B(true)), "False");
}

TEST(Constants, Unary) {
  EXPECT_EQ(Eval("~", I(5)), "-6");
  EXPECT_EQ(Eval("-", F(0)), "-0.0");
  EXPECT_EQ(Eval("not", S("")), "True");
  EXPECT_EQ(Eval("not", None()), "True");
  EXPECT_EQ(Eval("~", F(1)), "error: bad operand type for unary ~: 'float'");
  EXPECT_EQ(Eval("-", S("a")), "error: bad operand type for unary -: 'str'");
}

TEST(Constants, Comparisons) {
  EXPECT_EQ(Eval(I(1), "<", F(1.5)), "True");
  EXPECT_EQ(Eval(B(true), "==", I(1)), "True");
  EXPECT_EQ(Eval(S("a"), "<", S("b")), "True");
  EXPECT_EQ(Eval(S("a"), "==", I(1)), "False");
  EXPECT_EQ(Eval(None(), "==", None()), "True");
  EXPECT_EQ(Eval(None(), "is", None()), "True");
  EXPECT_EQ(Eval(B(true), "is", I(1)), "False");
  EXPECT_EQ(Eval(I(1), "is not", None()), "True");
  EXPECT_EQ(Eval(S("b"), "in", S("abc")), "True");
  EXPECT_EQ(Eval(S("d"), "not in", S("abc")), "True");
  EXPECT_EQ(Eval(F(NAN), "==", F(NAN)), "False");
  EXPECT_EQ(Eval(None(), "<", I(1)), "error: unsupported operand types for <: 'NoneType' and 'int'");
}

TEST(Constants, Text) {
  EXPECT_EQ(Eval(S("ab"), "+", S("c")), "'abc'");
  EXPECT_EQ(Eval(I(0), "+", S("a")), "error: unsupported operand types for +: 'int' and 'str'");
}

TEST(Constants, ShownAsPythonShowsThem) {
  EXPECT_EQ(ToString(F(1)), "1.0");
  EXPECT_EQ(ToString(F(0.1)), "0.1");
  EXPECT_EQ(ToString(F(1.0 / 3)), "0.3333333333333333");
  EXPECT_EQ(ToString(F(-HUGE_VAL)), "-inf");
  EXPECT_EQ(ToString(F(NAN)), "nan");
  EXPECT_EQ(ToString(None()), "None");
  EXPECT_EQ(ToString(Constant(vm::Type::Scalar(vm::DType::kF8E4M3))), "fp8e4nv");
}

TEST(Constants, IntegersFromText) {
  EXPECT_EQ(IntToString(*IntFromString("-170141183460469231731687303715884105")),
            "-170141183460469231731687303715884105");
  EXPECT_EQ(IntToString(*IntFromString("+0")), "0");
  for (const char* bad : {"", "-", "1x", "0x10", " 1", "99999999999999999999999999999999999999"}) {
    EXPECT_FALSE(IntFromString(bad).has_value()) << bad;
  }
}

TEST(Constants, KeysTellTypesApart) {
  EXPECT_NE(KeyOf(I(1)), KeyOf(B(true)));
  EXPECT_NE(KeyOf(I(1)), KeyOf(F(1)));
  EXPECT_NE(KeyOf(I(1)), KeyOf(S("1")));
  EXPECT_NE(KeyOf(F(0.0)), KeyOf(F(-0.0)));
}

TEST(Constants, TruthIsPythons) {
  EXPECT_FALSE(IsTrue(I(0)));
  EXPECT_FALSE(IsTrue(F(-0.0)));
  EXPECT_TRUE(IsTrue(F(NAN)));
  EXPECT_TRUE(IsTrue(S("0")));
  EXPECT_TRUE(IsTrue(Constant(vm::Type::Scalar(vm::DType::kI1))));
}

TEST(Constants, TritonsSpellingOfTypes) {
  const vm::Type f32 = vm::Type::Scalar(vm::DType::kF32);
  EXPECT_EQ(TritonName(f32), "fp32");
  EXPECT_EQ(TritonName(f32.PointerTo().PointerTo()), "pointer<pointer<fp32>>");
  EXPECT_EQ(TritonName(vm::Type::Tile({4, 8}, vm::DType::kI1)), "<[4, 8], int1>");
  EXPECT_EQ(TritonName(vm::Type()), "void");
}

}  // namespace
}  // namespace trivet::frontend
