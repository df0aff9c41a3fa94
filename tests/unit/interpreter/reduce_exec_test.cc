// reduce against references that follow the documented order by another description of it: of n elements, the first p,
// where p is the largest power of two below n, are combined with the others.
#include <bit>
#include <functional>
#include <limits>

#include "tests/unit/interpreter/evaluate_text.h"
#include "vm/interpreter/region_patterns.h"

namespace trivet::vm::testing {
namespace {

template <typename T>
T CombineTree(const std::vector<T>& values, size_t begin, size_t end, const std::function<T(T, T)>& combine) {
  const size_t count = end - begin;
  if (count == 1) return values[begin];
  const size_t first = std::bit_ceil(count) / 2;
  return combine(CombineTree(values, begin, begin + first, combine), CombineTree(values, begin + first, end, combine));
}

// Row-major [outer, extent, inner] reduced along the middle.
template <typename T>
std::vector<T> ReferenceReduce(const std::vector<T>& x, int64_t outer, int64_t extent, int64_t inner,
                               const std::function<T(T, T)>& combine) {
  std::vector<T> result;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      std::vector<T> line;
      for (int64_t e = 0; e < extent; ++e) line.push_back(x[static_cast<size_t>((o * extent + e) * inner + i)]);
      result.push_back(CombineTree<T>(line, 0, line.size(), combine));
    }
  }
  return result;
}

struct Extents {
  int64_t outer, extent, inner;
  std::vector<int64_t> shape() const { return {outer, extent, inner}; }
  size_t count() const { return static_cast<size_t>(outer * extent * inner); }
  size_t results() const { return static_cast<size_t>(outer * inner); }
};
const std::vector<Extents> kExtents = {{1, 1, 1},   {2, 1, 3},   {1, 2, 1},   {1, 3, 1},   {3, 5, 1},
                                       {2, 7, 4},   {1, 8, 1},   {4, 8, 2},   {1, 31, 5},  {1, 1024, 1},
                                       {64, 32, 1}, {1, 64, 33}, {3, 100, 1}, {1, 1023, 1}};

// A reduce of one input with a region of these lines, which use %a and %b and give %z.
std::string ReduceText(const Extents& at, const std::string& dtype, const std::string& body) {
  return absl::StrCat("func @f(%x: ", TileText(at.shape(), dtype), ") -> ", TileText({at.outer, at.inner}, dtype),
                      " {\n %r = reduce %x axis=1 : ", TileText({at.outer, at.inner}, dtype), " {\n ^(%a: ", dtype,
                      ", %b: ", dtype, "):\n", body, "\n yield %z\n }\n return %r\n}\n");
}

template <typename T>
void ExpectReduce(const Extents& at, const std::vector<T>& x, const std::string& body,
                  const std::function<T(T, T)>& combine) {
  const std::string dtype = ElementTraits<T>::kText;
  SCOPED_TRACE(absl::StrCat(TileText(at.shape(), dtype), "\n", body));
  const std::vector<T> got = EvaluateTo<T>(at.results(), ReduceText(at, dtype, body), {ToBytes(x)});
  const std::vector<T> want = ReferenceReduce<T>(x, at.outer, at.extent, at.inner, combine);
  for (size_t i = 0; i < want.size(); ++i) {
    if constexpr (std::is_integral_v<T>) {
      ASSERT_EQ(got[i], want[i]) << "element " << i;
    } else {
      ASSERT_TRUE(SameFloat(ToDouble(got[i]), ToDouble(want[i])))
          << "element " << i << ": " << ToDouble(got[i]) << ", not " << ToDouble(want[i]);
    }
  }
}

// --- floats -------------------------------------------------------------------------------------------------------

template <typename T>
class FloatReduceTest : public ::testing::Test {};
using FloatTypes = ::testing::Types<float, double, F16, BF16, F8E4M3, F8E5M2, F8E4B8, F8E5B16, F8E4B15>;
TYPED_TEST_SUITE(FloatReduceTest, FloatTypes);

// As the reference: sums and products of two elements are exact in long double, then rounded once. f32 and f64 here
// rely on the host's own arithmetic, rounding once too.
template <typename T>
T AddOnce(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a + b;
  return FromDouble<T>(ToDouble(a) + ToDouble(b));
}
template <typename T>
T MulOnce(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a * b;
  return FromDouble<T>(ToDouble(a) * ToDouble(b));
}

TYPED_TEST(FloatReduceTest, AddsInOrderAndRoundsEachTime) {
  for (const Extents& at : kExtents) {
    ExpectReduce<TypeParam>(at, RandomElements<TypeParam>(at.count(), 1), "%z = addf %a, %b", AddOnce<TypeParam>);
  }
}

TYPED_TEST(FloatReduceTest, UnrecognisedRegionGivesTheSameBits) {
  for (const Extents& at : kExtents) {
    ExpectReduce<TypeParam>(at, RandomElements<TypeParam>(at.count(), 2),
                            "%s = addf %a, %b\n%n = negf %s\n%z = negf %n", AddOnce<TypeParam>);
  }
}

TYPED_TEST(FloatReduceTest, Multiplies) {
  for (const Extents& at : kExtents) {
    ExpectReduce<TypeParam>(at, RandomElements<TypeParam>(at.count(), 3), "%z = mulf %a, %b", MulOnce<TypeParam>);
  }
}

// With NaN, infinities and zeros of both signs among the elements, where the format has them.
template <typename T>
std::vector<T> SpecialElements(size_t count, uint64_t seed) {
  std::vector<T> values = RandomElements<T>(count, seed);
  std::mt19937_64 random(seed);
  const double inf = std::numeric_limits<double>::infinity();
  const double specials[] = {std::numeric_limits<double>::quiet_NaN(), inf, -inf, 0.0, -0.0};
  for (T& value : values) {
    const size_t pick = random() % 16;
    if (pick >= 5) continue;
    if constexpr (NarrowFloatElement<T>) {
      value = T{static_cast<typename T::Bits>(
          EncodeFloat(T::kFormat, specials[pick], Rounding::kNearestEven, Overflow::kInfinity))};
    } else {
      value = static_cast<T>(specials[pick]);
    }
  }
  return values;
}

template <typename T>
T LargerOf(T a, T b, bool propagates) {
  const double x = ToDouble(a), y = ToDouble(b);
  if (std::isnan(x)) return propagates ? a : b;
  if (std::isnan(y)) return propagates ? b : a;
  if (x == y) return std::signbit(x) ? b : a;
  return x > y ? a : b;
}
template <typename T>
T SmallerOf(T a, T b, bool propagates) {
  const double x = ToDouble(a), y = ToDouble(b);
  if (std::isnan(x)) return propagates ? a : b;
  if (std::isnan(y)) return propagates ? b : a;
  if (x == y) return std::signbit(x) ? a : b;
  return x < y ? a : b;
}

TYPED_TEST(FloatReduceTest, MinimaAndMaximaFollowTheNanRule) {
  using T = TypeParam;
  for (const Extents& at : kExtents) {
    const std::vector<T> x = SpecialElements<T>(at.count(), at.count());
    for (const bool propagates : {false, true}) {
      const std::string rule = propagates ? " nan=propagate" : " nan=ignore";
      ExpectReduce<T>(at, x, "%z = maxf %a, %b" + rule, [=](T a, T b) { return LargerOf(a, b, propagates); });
      ExpectReduce<T>(at, x, "%z = minf %a, %b" + rule, [=](T a, T b) { return SmallerOf(a, b, propagates); });
    }
  }
}

TEST(ReduceTest, MaximumOfNothingButNanIsNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> got =
      EvaluateTo<float>(1, ReduceText({1, 4, 1}, "f32", "%z = maxf %a, %b"), {ToBytes<float>({nan, nan, nan, nan})});
  EXPECT_TRUE(std::isnan(got[0]));
}

// An f16 sum loses what is below half a step: 2048 + 1 stays 2048, but 1 + 1 is added first.
TEST(ReduceTest, NarrowSumRoundsAsTheRegionSays) {
  const std::vector<F16> x = {FromDouble<F16>(2048), FromDouble<F16>(1), FromDouble<F16>(1), FromDouble<F16>(1)};
  const std::vector<F16> got = EvaluateTo<F16>(1, ReduceText({1, 4, 1}, "f16", "%z = addf %a, %b"), {ToBytes(x)});
  EXPECT_EQ(ToDouble(got[0]), 2050);
}

// --- integers -----------------------------------------------------------------------------------------------------

template <typename T>
class IntegerReduceTest : public ::testing::Test {};
using IntegerTypes = ::testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(IntegerReduceTest, IntegerTypes);

TYPED_TEST(IntegerReduceTest, CommonCombines) {
  using T = TypeParam;
  using Wide = unsigned __int128;
  for (const Extents& at : {Extents{1, 1024, 1}, Extents{3, 7, 5}, Extents{4, 16, 8}, Extents{2, 1, 2}}) {
    const std::vector<T> x = RandomElements<T>(at.count(), 4);
    ExpectReduce<T>(at, x, "%z = addi %a, %b", [](T a, T b) { return static_cast<T>(Wide(a) + Wide(b)); });
    ExpectReduce<T>(at, x, "%z = muli %a, %b", [](T a, T b) { return static_cast<T>(Wide(a) * Wide(b)); });
    ExpectReduce<T>(at, x, "%z = mini %a, %b", [](T a, T b) { return a < b ? a : b; });
    ExpectReduce<T>(at, x, "%z = maxi %a, %b", [](T a, T b) { return a > b ? a : b; });
    ExpectReduce<T>(at, x, "%z = andi %a, %b", [](T a, T b) { return static_cast<T>(a & b); });
    ExpectReduce<T>(at, x, "%z = ori %a, %b", [](T a, T b) { return static_cast<T>(a | b); });
    ExpectReduce<T>(at, x, "%z = xori %a, %b", [](T a, T b) { return static_cast<T>(a ^ b); });
  }
}

TEST(ReduceTest, Booleans) {
  const std::vector<uint8_t> x = {1, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1};
  const Extents at{3, 4, 1};
  const auto reduce = [&](const std::string& body) {
    return EvaluateTo<uint8_t>(3, ReduceText(at, "i1", body), {ToBytes(x)});
  };
  EXPECT_EQ(reduce("%z = andi %a, %b"), (std::vector<uint8_t>{0, 0, 1}));
  EXPECT_EQ(reduce("%z = ori %a, %b"), (std::vector<uint8_t>{1, 0, 1}));
  EXPECT_EQ(reduce("%z = xori %a, %b"), (std::vector<uint8_t>{1, 0, 0}));
}

TEST(ReduceTest, OfAVectorIsAScalar) {
  const std::string text = R"(func @f(%x: tile<6xi32>) -> i32 {
    %r = reduce %x axis=0 : i32 {
    ^(%a: i32, %b: i32):
      %z = addi %a, %b : i32
      yield %z
    }
    return %r
  })";
  EXPECT_EQ(EvaluateTo<int32_t>(1, text, {ToBytes<int32_t>({1, 2, 3, 4, 5, 6})})[0], 21);
}

// --- argmax and argmin ----------------------------------------------------------------------------------------------

std::string ArgText(const Extents& at, const std::string& dtype, const std::string& compare, bool left) {
  const std::string op = dtype[0] == 'f' || dtype[0] == 'b' ? "cmpf" : "cmpi";
  std::string first = absl::StrCat("%w = ", op, " %v1, %v2 predicate=", compare, " : i1\n");
  if (left) {
    absl::StrAppend(&first, "%e = ", op, " %v1, %v2 predicate=eq : i1\n%l = cmpi %i1, %i2 predicate=lt : i1\n",
                    "%t = andi %e, %l\n%c = ori %w, %t\n");
  }
  const std::string winner = left ? "%c" : "%w";
  const std::string value = TileText({at.outer, at.inner}, dtype);
  const std::string index = TileText({at.outer, at.inner}, "i32");
  return absl::StrCat("func @f(%x: ", TileText(at.shape(), dtype), ", %i: ", TileText(at.shape(), "i32"), ") -> (",
                      value, ", ", index, ") {\n%r, %s = reduce %x, %i axis=1 : ", value, ", ", index,
                      " {\n^(%v1: ", dtype, ", %i1: i32, %v2: ", dtype, ", %i2: i32):\n", first, "%v = select ", winner,
                      ", %v1, %v2 : ", dtype, "\n%k = select ", winner,
                      ", %i1, %i2 : i32\nyield %v, %k\n}\nreturn %r, %s\n}\n");
}

// The pair that the language's combine function leaves, by recursion over the documented order.
template <typename T>
struct Indexed {
  T value;
  int32_t index;
};

template <typename T>
void ExpectArg(const Extents& at, bool is_max, bool left) {
  const std::string dtype = ElementTraits<T>::kText;
  SCOPED_TRACE(absl::StrCat(TileText(at.shape(), dtype), is_max ? " max" : " min", left ? " left" : " fast"));
  std::vector<T> x = RandomElements<T>(at.count(), at.count());
  std::vector<int32_t> indices;
  for (size_t i = 0; i < x.size(); ++i) {
    if constexpr (std::is_integral_v<T>) {
      x[i] = static_cast<T>(x[i] % 4);  // many ties
    } else {
      x[i] = i % 11 == 3 ? FromDouble<T>(std::nan("")) : FromDouble<T>(std::round(ToDouble(x[i])));
    }
    indices.push_back(static_cast<int32_t>(i) / static_cast<int32_t>(at.inner) % static_cast<int32_t>(at.extent));
  }
  const std::vector<Bytes> got =
      Evaluate(ArgText(at, dtype, is_max ? "gt" : "lt", left), {ToBytes(x), ToBytes(indices)});
  ASSERT_EQ(got.size(), 2u);
  const std::vector<T> values = FromBytes<T>(got[0]);
  const std::vector<int32_t> where = FromBytes<int32_t>(got[1]);

  std::vector<Indexed<T>> pairs;
  for (size_t i = 0; i < x.size(); ++i) pairs.push_back({x[i], indices[i]});
  const auto want = ReferenceReduce<Indexed<T>>(pairs, at.outer, at.extent, at.inner, [&](Indexed<T> a, Indexed<T> b) {
    const auto value = [](T v) {
      if constexpr (std::is_integral_v<T>)
        return static_cast<double>(v);
      else
        return ToDouble(v);
    };
    const double v1 = value(a.value), v2 = value(b.value);
    const bool wins = is_max ? v1 > v2 : v1 < v2;
    return wins || (left && v1 == v2 && a.index < b.index) ? a : b;
  });
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(where[i], want[i].index) << i;
    EXPECT_EQ(std::memcmp(&values[i], &want[i].value, sizeof(T)), 0) << i;
  }
}

TEST(ReduceTest, ArgMaxAndArgMin) {
  for (const bool is_max : {false, true}) {
    for (const bool left : {false, true}) {
      for (const Extents& at :
           {Extents{1, 1, 1}, Extents{1, 1024, 1}, Extents{3, 7, 5}, Extents{16, 32, 1}, Extents{1, 9, 16}}) {
        ExpectArg<float>(at, is_max, left);
        ExpectArg<double>(at, is_max, left);
        ExpectArg<F16>(at, is_max, left);
        ExpectArg<F8E5M2>(at, is_max, left);
        ExpectArg<int32_t>(at, is_max, left);
        ExpectArg<int64_t>(at, is_max, left);
        ExpectArg<uint8_t>(at, is_max, left);
      }
    }
  }
}

// --- other regions --------------------------------------------------------------------------------------------------

// x -> a x + b composed from left to right: associative, not commutative. Two inputs, and widths that differ.
TEST(ReduceTest, KeepsTheOrderOfOperands) {
  const auto text = [](int64_t n) {
    return absl::StrCat("func @f(%x: tile<", n, "xi64>, %y: tile<", n, R"(xu8>) -> (i64, u8) {
      %r, %s = reduce %x, %y axis=0 : i64, u8 {
      ^(%a1: i64, %b1: u8, %a2: i64, %b2: u8):
        %two = constant 2 : i64
        %w = cast %b1 : i64
        %m = addi %a1, %two
        %n = subi %m, %two
        %a = muli %n, %a2
        %k = cast %a2 : u8
        %l = muli %b1, %k
        %b = addi %l, %b2
        yield %a, %b
      }
      return %r, %s
    })");
  };
  for (const int64_t n : {1, 2, 3, 6, 17, 64, 1000, 4096}) {
    const std::vector<int64_t> a = RandomElements<int64_t>(static_cast<size_t>(n), 5);
    const std::vector<uint8_t> b = RandomElements<uint8_t>(static_cast<size_t>(n), 6);
    const std::vector<Bytes> got = Evaluate(text(n), {ToBytes(a), ToBytes(b)});
    ASSERT_EQ(got.size(), 2u);
    uint64_t product = 1;
    uint8_t offset = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      product *= static_cast<uint64_t>(a[i]);
      offset = static_cast<uint8_t>(offset * static_cast<uint8_t>(a[i]) + b[i]);
    }
    EXPECT_EQ(FromBytes<uint64_t>(got[0])[0], product) << n;
    EXPECT_EQ(FromBytes<uint8_t>(got[1])[0], offset) << n;
  }
}

TEST(ReduceTest, RegionWithControlFlow) {
  // The larger, by an if.
  const std::string body = R"(
    %c = cmpi %a, %b predicate=gt : i1
    %z = if %c : i32 {
      yield %a
    } else {
      yield %b
    })";
  for (const Extents& at : {Extents{1, 13, 1}, Extents{3, 4, 5}}) {
    ExpectReduce<int32_t>(at, RandomElements<int32_t>(at.count(), 7), body,
                          [](int32_t a, int32_t b) { return a > b ? a : b; });
  }
}

TEST(ReduceTest, RegionWithAHelper) {
  const Extents at{2, 100, 3};
  const std::vector<float> x = RandomElements<float>(at.count(), 8);
  const std::string helper = "func @sum(%p: f32, %q: f32) -> f32 {\n %s = addf %p, %q\n return %s\n}\n";
  const std::string text = helper + ReduceText(at, "f32", "%z = call %a, %b callee=@sum : f32");
  const std::vector<float> got = EvaluateTo<float>(at.results(), text, {ToBytes(x)});
  EXPECT_EQ(got, ReferenceReduce<float>(x, at.outer, at.extent, at.inner, [](float a, float b) { return a + b; }));
}

// --- recognition ----------------------------------------------------------------------------------------------------

CombineKind KindOf(const std::string& text) {
  absl::StatusOr<Module> module = Parse(text);
  EXPECT_TRUE(module.ok()) << module.status().message();
  if (!module.ok()) return CombineKind::kUnknown;
  const Function& function = module->function(module->FindFunction("f"));
  CombineKind kind = CombineKind::kUnknown;
  function.ForEachOp([&](OpId id) {
    const Operation& op = function.op(id);
    if (op.opcode == Op::kReduce) kind = RecogniseCombine(*module, function, op.regions[0]);
  });
  return kind;
}

TEST(RegionPatternsTest, RecognisesTheLanguageLibrary) {
  const Extents at{1, 4, 1};
  EXPECT_EQ(KindOf(ReduceText(at, "f32", "%z = addf %a, %b")), CombineKind::kAdd);
  EXPECT_EQ(KindOf(ReduceText(at, "f32", "%z = addf %b, %a")), CombineKind::kAdd);
  EXPECT_EQ(KindOf(ReduceText(at, "f32", "%z = maxf %a, %b nan=propagate")), CombineKind::kMaxPropagateNan);
  EXPECT_EQ(KindOf(ReduceText(at, "u8", "%z = xori %a, %b")), CombineKind::kXor);
  EXPECT_EQ(KindOf(ArgText(at, "f32", "gt", true)), CombineKind::kArgMaxLeft);
  EXPECT_EQ(KindOf(ArgText(at, "i32", "lt", true)), CombineKind::kArgMinLeft);
  EXPECT_EQ(KindOf(ArgText(at, "f16", "gt", false)), CombineKind::kArgMaxFast);
  EXPECT_EQ(KindOf(ArgText(at, "f64", "lt", false)), CombineKind::kArgMinFast);
}

TEST(RegionPatternsTest, LooksIntoHelpers) {
  const std::string helpers = R"(
    func @inner(%p: f32, %q: f32) -> f32 {
      %s = minf %q, %p : f32
      return %s
    }
    func @outer(%p: f32, %q: f32) -> f32 {
      %s = call %p, %q callee=@inner : f32
      return %s
    }
  )";
  EXPECT_EQ(KindOf(helpers + ReduceText({1, 4, 1}, "f32", "%z = call %a, %b callee=@outer : f32")), CombineKind::kMin);
}

TEST(RegionPatternsTest, LeavesOthersAlone) {
  const Extents at{1, 4, 1};
  EXPECT_EQ(KindOf(ReduceText(at, "f32", "%z = addf %a, %a")), CombineKind::kUnknown);
  EXPECT_EQ(KindOf(ReduceText(at, "f32", "%z = subf %a, %b")), CombineKind::kUnknown);
  EXPECT_EQ(KindOf(ReduceText(at, "f32", "%z = addf %a, %b rounding=rtz")), CombineKind::kUnknown);
  EXPECT_EQ(KindOf(ReduceText(at, "f32", "%z = negf %b")), CombineKind::kUnknown);
  EXPECT_EQ(KindOf(ReduceText(at, "i1", "%z = addi %a, %b")), CombineKind::kUnknown);
  EXPECT_EQ(KindOf(ArgText(at, "f32", "ge", true)), CombineKind::kUnknown);
}

}  // namespace
}  // namespace trivet::vm::testing
