// scan and map_elementwise against naive loops.
#include <functional>

#include "tests/unit/interpreter/evaluate_text.h"

namespace trivet::vm::testing {
namespace {

struct Case {
  int64_t outer, extent, inner;
  bool is_reversed;
  size_t count() const { return static_cast<size_t>(outer * extent * inner); }
};
std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const bool reversed : {false, true}) {
    for (const auto& [outer, extent, inner] : std::vector<std::array<int64_t, 3>>{
             {1, 1, 1}, {1, 9, 1}, {4, 1, 2}, {3, 5, 7}, {2, 33, 16}, {1, 1024, 1}, {700, 3, 1}}) {
      cases.push_back({outer, extent, inner, reversed});
    }
  }
  return cases;
}

std::string ScanText(const Case& at, const std::string& dtype, const std::string& body) {
  const std::string tile = TileText({at.outer, at.extent, at.inner}, dtype);
  return absl::StrCat("func @f(%x: ", tile, ") -> ", tile,
                      " {\n%r = scan %x axis=1 reverse=", at.is_reversed ? "true" : "false", " : ", tile,
                      " {\n^(%a: ", dtype, ", %b: ", dtype, "):\n", body, "\nyield %z\n}\nreturn %r\n}\n");
}

template <typename T>
std::vector<T> ReferenceScan(const Case& at, const std::vector<T>& x, const std::function<T(T, T)>& combine) {
  std::vector<T> result = x;
  for (int64_t o = 0; o < at.outer; ++o) {
    for (int64_t i = 0; i < at.inner; ++i) {
      for (int64_t e = 1; e < at.extent; ++e) {
        const int64_t here = at.is_reversed ? at.extent - 1 - e : e;
        const int64_t before = at.is_reversed ? here + 1 : here - 1;
        const auto index = [&](int64_t row) { return static_cast<size_t>((o * at.extent + row) * at.inner + i); };
        result[index(here)] = combine(result[index(before)], x[index(here)]);
      }
    }
  }
  return result;
}

template <typename T>
void ExpectScan(const std::string& body, const std::function<T(T, T)>& combine) {
  for (const Case& at : Cases()) {
    const std::vector<T> x = RandomElements<T>(at.count(), at.count());
    const std::vector<T> got = EvaluateTo<T>(x.size(), ScanText(at, ElementTraits<T>::kText, body), {ToBytes(x)});
    const std::vector<T> want = ReferenceScan<T>(at, x, combine);
    for (size_t i = 0; i < want.size(); ++i) {
      if constexpr (std::is_integral_v<T>) {
        ASSERT_EQ(got[i], want[i]) << body << " at " << i << " of " << at.extent;
      } else {
        ASSERT_TRUE(SameFloat(ToDouble(got[i]), ToDouble(want[i]))) << body << " at " << i << " of " << at.extent;
      }
    }
  }
}

template <typename T>
void ExpectFloatScans() {
  const auto rounded = [](double exact) { return FromDouble<T>(exact); };
  ExpectScan<T>("%z = addf %a, %b", [=](T a, T b) { return rounded(ToDouble(a) + ToDouble(b)); });
  ExpectScan<T>("%z = mulf %a, %b", [=](T a, T b) { return rounded(ToDouble(a) * ToDouble(b)); });
  ExpectScan<T>("%z = maxf %a, %b", [](T a, T b) { return ToDouble(a) > ToDouble(b) ? a : b; });
  ExpectScan<T>("%z = minf %a, %b", [](T a, T b) { return ToDouble(a) < ToDouble(b) ? a : b; });
  // Not recognised; the same sum.
  ExpectScan<T>("%s = addf %a, %b\n%n = negf %s\n%z = negf %n",
                [=](T a, T b) { return rounded(ToDouble(a) + ToDouble(b)); });
}

TEST(ScanTest, Floats) {
  ExpectFloatScans<float>();
  ExpectFloatScans<double>();
  ExpectFloatScans<F16>();
  ExpectFloatScans<BF16>();
  ExpectFloatScans<F8E4M3>();
  ExpectFloatScans<F8E5M2>();
}

template <typename T>
void ExpectIntegerScans() {
  using Wide = unsigned __int128;
  ExpectScan<T>("%z = addi %a, %b", [](T a, T b) { return static_cast<T>(Wide(a) + Wide(b)); });
  ExpectScan<T>("%z = muli %a, %b", [](T a, T b) { return static_cast<T>(Wide(a) * Wide(b)); });
  ExpectScan<T>("%z = maxi %a, %b", [](T a, T b) { return a > b ? a : b; });
  ExpectScan<T>("%z = xori %a, %b", [](T a, T b) { return static_cast<T>(a ^ b); });
  // First operand, second operand: tells whether the order is kept.
  ExpectScan<T>("%d = subi %a, %b\n%z = subi %d, %b",
                [](T a, T b) { return static_cast<T>(Wide(a) - Wide(b) - Wide(b)); });
}

TEST(ScanTest, Integers) {
  ExpectIntegerScans<int8_t>();
  ExpectIntegerScans<uint16_t>();
  ExpectIntegerScans<int32_t>();
  ExpectIntegerScans<uint64_t>();
}

// h[i] = a[i] h[i - 1] + b[i] as a scan of pairs, the recurrence of state-space models; exact in i32.
TEST(ScanTest, LinearRecurrence) {
  for (const bool reversed : {false, true}) {
    const std::string text =
        absl::StrCat(R"(func @f(%x: tile<3x50xi32>, %y: tile<3x50xi32>) -> (tile<3x50xi32>, tile<3x50xi32>) {
      %r, %s = scan %x, %y axis=1 reverse=)",
                     reversed ? "true" : "false", R"( : tile<3x50xi32>, tile<3x50xi32> {
      ^(%a1: i32, %b1: i32, %a2: i32, %b2: i32):
        %a = muli %a1, %a2
        %m = muli %a2, %b1
        %b = addi %m, %b2
        yield %a, %b
      }
      return %r, %s
    })");
    const std::vector<int32_t> a = RandomElements<int32_t>(150, 1);
    const std::vector<int32_t> b = RandomElements<int32_t>(150, 2);
    const std::vector<Bytes> got = Evaluate(text, {ToBytes(a), ToBytes(b)});
    ASSERT_EQ(got.size(), 2u);
    const std::vector<uint32_t> states = FromBytes<uint32_t>(got[1]);
    for (size_t row = 0; row < 3; ++row) {
      uint32_t state = 0;
      for (size_t step = 0; step < 50; ++step) {
        const size_t at = row * 50 + (reversed ? 49 - step : step);
        state = static_cast<uint32_t>(a[at]) * state + static_cast<uint32_t>(b[at]);
        EXPECT_EQ(states[at], state) << at;
      }
    }
  }
}

TEST(ScanTest, RegionWithControlFlow) {
  ExpectScan<int32_t>("%c = cmpi %a, %b predicate=gt : i1\n%z = if %c : i32 {\nyield %a\n} else {\nyield %b\n}",
                      [](int32_t a, int32_t b) { return a > b ? a : b; });
}

// --- map_elementwise
// --------------------------------------------------------------------------------------------------

TEST(MapElementwiseTest, OneElementAtATime) {
  const std::string text = R"(func @f(%x: tile<5x7xf32>, %y: tile<5x7xi32>) -> tile<5x7xf32> {
    %r = map_elementwise %x, %y pack=1 : tile<5x7xf32> {
    ^(%a: f32, %b: i32):
      %c = cast %b : f32
      %z = addf %a, %c
      yield %z
    }
    return %r
  })";
  const std::vector<float> x = RandomElements<float>(35, 1);
  std::vector<int32_t> y(35);
  for (int32_t i = 0; i < 35; ++i) y[static_cast<size_t>(i)] = i * i;
  const std::vector<float> got = EvaluateTo<float>(35, text, {ToBytes(x), ToBytes(y)});
  for (size_t i = 0; i < 35; ++i) EXPECT_EQ(got[i], x[i] + static_cast<float>(y[i]));
}

// Two neighbours at a time, two inputs, two results of other widths: parameters are x0, x1, y0, y1.
TEST(MapElementwiseTest, Pack) {
  const std::string text = R"(func @f(%x: tile<1000xi32>, %y: tile<1000xi16>) -> (tile<1000xi64>, tile<1000xi8>) {
    %r, %s = map_elementwise %x, %y pack=2 : tile<1000xi64>, tile<1000xi8> {
    ^(%x0: i32, %x1: i32, %y0: i16, %y1: i16):
      %d = subi %x0, %x1
      %e = cast %d : i64
      %g = cast %x0 : i64
      %p = cast %y0 : i8
      %q = cast %y1 : i8
      yield %e, %g, %q, %p
    }
    return %r, %s
  })";
  const std::vector<int32_t> x = RandomElements<int32_t>(1000, 1);
  const std::vector<int16_t> y = RandomElements<int16_t>(1000, 2);
  const std::vector<Bytes> got = Evaluate(text, {ToBytes(x), ToBytes(y)});
  ASSERT_EQ(got.size(), 2u);
  const std::vector<int64_t> r = FromBytes<int64_t>(got[0]);
  const std::vector<int8_t> s = FromBytes<int8_t>(got[1]);
  for (size_t i = 0; i < 1000; i += 2) {
    EXPECT_EQ(r[i], static_cast<int32_t>(static_cast<uint32_t>(x[i]) - static_cast<uint32_t>(x[i + 1])));
    EXPECT_EQ(r[i + 1], x[i]);
    EXPECT_EQ(s[i], static_cast<int8_t>(y[i + 1]));
    EXPECT_EQ(s[i + 1], static_cast<int8_t>(y[i]));
  }
}

TEST(MapElementwiseTest, ControlFlow) {
  // Steps of Collatz's sequence down to 1: a loop of another length for each element.
  const std::string text = R"(func @f(%x: tile<20xi32>) -> tile<20xi32> {
    %r = map_elementwise %x pack=1 : tile<20xi32> {
    ^(%a: i32):
      %0 = constant 0 : i32
      %1 = constant 1 : i32
      %2 = constant 2 : i32
      %3 = constant 3 : i32
      %last, %steps = while %a, %0 : i32, i32 {
      ^(%v: i32, %n: i32):
        %go = cmpi %v, %1 predicate=gt : i1
        condition %go, %v, %n
      } do {
      ^(%v2: i32, %n2: i32):
        %half = divi %v2, %2
        %odd = remi %v2, %2
        %three = muli %v2, %3
        %up = addi %three, %1
        %is = cmpi %odd, %1 predicate=eq : i1
        %next = select %is, %up, %half : i32
        %more = addi %n2, %1
        yield %next, %more
      }
      yield %steps
    }
    return %r
  })";
  std::vector<int32_t> x, want;
  for (int32_t start = 1; start <= 20; ++start) {
    x.push_back(start);
    int32_t steps = 0;
    for (int32_t v = start; v > 1; ++steps) v = v % 2 == 1 ? 3 * v + 1 : v / 2;
    want.push_back(steps);
  }
  EXPECT_EQ(EvaluateTo<int32_t>(20, text, {ToBytes(x)}), want);
}

}  // namespace
}  // namespace trivet::vm::testing
