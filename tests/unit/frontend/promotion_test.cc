// Types that operands meet in, against a table written by hand from the language's documented rules.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "frontend/emitter.h"

namespace trivet::frontend {
namespace {

using vm::DType;

// Row and column: the operands' types. "-": they don't go together.
const char* const kTable[] = {
    // clang-format off
    "type    | i1      i8      i16     i32     i64     u8      u16     u32     u64     f8e4m3  f8e5m2  f8e4b8  f8e5b16 f8e4b15 f16     bf16    f32     f64",
    "i1      | i1      i8      i16     i32     i64     u8      u16     u32     u64     -       -       -       -       -       f16     f32     f32     f64",
    "i8      | i8      i8      i16     i32     i64     u8      u16     u32     u64     -       -       -       -       -       f16     f32     f32     f64",
    "i16     | i16     i16     i16     i32     i64     i16     u16     u32     u64     -       -       -       -       -       f16     f32     f32     f64",
    "i32     | i32     i32     i32     i32     i64     i32     i32     u32     u64     -       -       -       -       -       f16     f32     f32     f64",
    "i64     | i64     i64     i64     i64     i64     i64     i64     i64     u64     -       -       -       -       -       f16     f32     f32     f64",
    "u8      | u8      u8      i16     i32     i64     u8      u16     u32     u64     -       -       -       -       -       f16     f32     f32     f64",
    "u16     | u16     u16     u16     i32     i64     u16     u16     u32     u64     -       -       -       -       -       f16     f32     f32     f64",
    "u32     | u32     u32     u32     u32     i64     u32     u32     u32     u64     -       -       -       -       -       f16     f32     f32     f64",
    "u64     | u64     u64     u64     u64     u64     u64     u64     u64     u64     -       -       -       -       -       f16     f32     f32     f64",
    "f8e4m3  | -       -       -       -       -       -       -       -       -       f8e4m3  f16     f16     f16     f16     f16     f32     f32     f64",
    "f8e5m2  | -       -       -       -       -       -       -       -       -       f16     f8e5m2  f16     f16     f16     f16     f32     f32     f64",
    "f8e4b8  | -       -       -       -       -       -       -       -       -       f16     f16     f8e4b8  f16     f16     f16     f32     f32     f64",
    "f8e5b16 | -       -       -       -       -       -       -       -       -       f16     f16     f16     f8e5b16 f16     f16     f32     f32     f64",
    "f8e4b15 | -       -       -       -       -       -       -       -       -       f16     f16     f16     f16     f8e4b15 f16     f32     f32     f64",
    "f16     | f16     f16     f16     f16     f16     f16     f16     f16     f16     f16     f16     f16     f16     f16     f16     f16     f32     f64",
    "bf16    | f32     f32     f32     f32     f32     f32     f32     f32     f32     f32     f32     f32     f32     f32     f16     bf16    f32     f64",
    "f32     | f32     f32     f32     f32     f32     f32     f32     f32     f32     f32     f32     f32     f32     f32     f32     f32     f32     f64",
    "f64     | f64     f64     f64     f64     f64     f64     f64     f64     f64     f64     f64     f64     f64     f64     f64     f64     f64     f64",
    // clang-format on
};

struct Case {
  DType a, b, expected;
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  std::vector<std::string> columns;
  for (const char* row : kTable) {
    std::istringstream words(row);
    std::string first, bar, word;
    words >> first >> bar;
    for (size_t i = 0; words >> word; ++i) {
      if (first == "type") {
        columns.push_back(word);
      } else {
        cases.push_back({vm::DTypeFromText(first), vm::DTypeFromText(columns[i]),
                         word == "-" ? DType::kNone : vm::DTypeFromText(word)});
      }
    }
  }
  return cases;
}

std::string Text(DType t) { return t == DType::kNone ? "-" : vm::InfoOf(t).text; }

TEST(Promotion, TableHasEveryPair) { EXPECT_EQ(Cases().size(), vm::AllDTypes().size() * vm::AllDTypes().size()); }

TEST(Promotion, TwoTiles) {
  for (const Case& c : Cases()) {
    const Promotion p = Promote(c.a, false, c.b, false, false);
    EXPECT_EQ(Text(p.dtype), Text(c.expected)) << Text(c.a) << " + " << Text(c.b);
    EXPECT_EQ(p.error.empty(), p.dtype != DType::kNone);
  }
}

TEST(Promotion, DivisionComputesHalvesInF32AndRefusesMixedSigns) {
  for (const Case& c : Cases()) {
    DType expected = c.expected;
    if (expected == DType::kF16 && (c.a == DType::kF16 || c.b == DType::kF16)) expected = DType::kF32;
    if (expected == DType::kBF16) expected = DType::kF32;
    if (vm::IsInteger(c.a) && vm::IsInteger(c.b) && vm::IsSignedInteger(c.a) != vm::IsSignedInteger(c.b))
      expected = DType::kNone;
    EXPECT_EQ(Text(Promote(c.a, false, c.b, false, true).dtype), Text(expected)) << Text(c.a) << " / " << Text(c.b);
  }
}

TEST(Promotion, IsSymmetric) {
  for (const Case& c : Cases()) {
    EXPECT_EQ(Promote(c.a, false, c.b, false, false).dtype, Promote(c.b, false, c.a, false, false).dtype)
        << Text(c.a) << " and " << Text(c.b);
  }
}

TEST(Promotion, NumberTakesTheTypeOfATileOfItsKindOrAHigherOne) {
  const auto kind = [](DType t) { return vm::IsBool(t) ? 0 : vm::IsInteger(t) ? 1 : 2; };
  for (DType number : {DType::kI1, DType::kI32, DType::kU32, DType::kI64, DType::kU64, DType::kF32, DType::kF64}) {
    for (const vm::DTypeInfo& tile : vm::AllDTypes()) {
      const DType found = Promote(number, true, tile.dtype, false, false).dtype;
      EXPECT_EQ(found, Promote(tile.dtype, false, number, true, false).dtype);
      if (kind(number) <= kind(tile.dtype)) {
        EXPECT_EQ(Text(found), tile.text) << "a number of " << Text(number);
      } else {
        // A number of a higher kind pulls the tile to its own type.
        EXPECT_EQ(Text(found), Text(Promote(number, false, tile.dtype, false, false).dtype));
      }
    }
  }
}

TEST(Promotion, NumberInADivisionOfHalves) {
  EXPECT_EQ(Promote(DType::kI32, true, DType::kF16, false, true).dtype, DType::kF32);
  EXPECT_EQ(Promote(DType::kBF16, false, DType::kF32, true, true).dtype, DType::kF32);
  EXPECT_EQ(Promote(DType::kF8E5M2, false, DType::kF32, true, true).dtype, DType::kF8E5M2);
}

TEST(DTypeOfNumber, FirstThatHoldsIt) {
  const Int one = 1;
  EXPECT_EQ(DTypeOfNumber(Constant(true)), DType::kI1);
  EXPECT_EQ(DTypeOfNumber(Constant(Int{0})), DType::kI32);
  EXPECT_EQ(DTypeOfNumber(Constant((one << 31) - 1)), DType::kI32);
  EXPECT_EQ(DTypeOfNumber(Constant(one << 31)), DType::kU32);
  EXPECT_EQ(DTypeOfNumber(Constant(-(one << 31))), DType::kI32);
  EXPECT_EQ(DTypeOfNumber(Constant(-(one << 31) - 1)), DType::kI64);
  EXPECT_EQ(DTypeOfNumber(Constant((one << 32) - 1)), DType::kU32);
  EXPECT_EQ(DTypeOfNumber(Constant(one << 32)), DType::kI64);
  EXPECT_EQ(DTypeOfNumber(Constant((one << 63) - 1)), DType::kI64);
  EXPECT_EQ(DTypeOfNumber(Constant(one << 63)), DType::kU64);
  EXPECT_EQ(DTypeOfNumber(Constant((one << 64) - 1)), DType::kU64);
  EXPECT_EQ(DTypeOfNumber(Constant(one << 64)), DType::kNone);
  EXPECT_EQ(DTypeOfNumber(Constant(-(one << 63) - 1)), DType::kNone);
  EXPECT_EQ(DTypeOfNumber(Constant(0.0)), DType::kF32);
  EXPECT_EQ(DTypeOfNumber(Constant(0.1)), DType::kF32);
  EXPECT_EQ(DTypeOfNumber(Constant(HUGE_VAL)), DType::kF32);
  EXPECT_EQ(DTypeOfNumber(Constant(1e39)), DType::kF64);
  EXPECT_EQ(DTypeOfNumber(Constant(1e-39)), DType::kF64);
  EXPECT_EQ(DTypeOfNumber(Constant(std::string("1"))), DType::kNone);
}

}  // namespace
}  // namespace trivet::frontend
