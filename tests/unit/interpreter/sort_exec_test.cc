// sort and topk against std::stable_sort.
#include <algorithm>

#include "tests/unit/interpreter/evaluate_text.h"

namespace trivet::vm::testing {
namespace {

// NaN above everything, zeros equal.
template <typename T>
bool IsLess(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return a < b;
  } else {
    const double x = ToDouble(a), y = ToDouble(b);
    if (std::isnan(x)) return false;
    return std::isnan(y) || x < y;
  }
}

// Elements among which many are equal; floats with zeros of both signs, infinities and NaN.
template <typename T>
std::vector<T> Elements(size_t count, uint64_t seed) {
  std::vector<T> values = RandomElements<T>(count, seed);
  std::mt19937_64 random(seed);
  for (T& value : values) {
    if constexpr (NarrowFloatElement<T>) {
      if (random() % 2 == 0) value.bits = static_cast<typename T::Bits>(random());
    } else if constexpr (std::is_floating_point_v<T>) {
      const T specials[] = {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity(),  T{0}, -T{0},
                            -std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::quiet_NaN()};
      if (random() % 3 == 0) value = specials[random() % 6];
    } else {
      if (random() % 2 == 0) value = static_cast<T>(value % 8);
    }
  }
  return values;
}

template <typename T>
void ExpectSorted(int64_t outer, int64_t extent, int64_t inner, int64_t kept, const std::string& op,
                  bool is_descending) {
  const std::string dtype = ElementTraits<T>::kText;
  const std::string result = TileText({outer, kept, inner}, dtype);
  const std::string text = absl::StrCat("func @f(%x: ", TileText({outer, extent, inner}, dtype), ") -> ", result,
                                        " {\n%r = ", op, " : ", result, "\nreturn %r\n}\n");
  SCOPED_TRACE(text);
  const std::vector<T> x = Elements<T>(static_cast<size_t>(outer * extent * inner), 3);
  const std::vector<T> got = EvaluateTo<T>(static_cast<size_t>(outer * kept * inner), text, {ToBytes(x)});
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      std::vector<T> line;
      for (int64_t e = 0; e < extent; ++e) line.push_back(x[static_cast<size_t>((o * extent + e) * inner + i)]);
      std::stable_sort(line.begin(), line.end(), [&](T a, T b) { return is_descending ? IsLess(b, a) : IsLess(a, b); });
      for (int64_t e = 0; e < kept; ++e) {
        const T& element = got[static_cast<size_t>((o * kept + e) * inner + i)];
        ASSERT_EQ(std::memcmp(&element, &line[static_cast<size_t>(e)], sizeof(T)), 0)
            << "line " << o << ", " << i << " at " << e;
      }
    }
  }
}

template <typename T>
class SortTest : public ::testing::Test {};
using Types = ::testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, float, double,
                               F16, BF16, F8E4M3, F8E5M2, F8E4B8, F8E5B16, F8E4B15>;
TYPED_TEST_SUITE(SortTest, Types);

TYPED_TEST(SortTest, SortsBothWaysAlongAnyAxis) {
  for (const bool descending : {false, true}) {
    const std::string op = absl::StrCat("sort %x axis=1 descending=", descending ? "true" : "false");
    for (const auto& [outer, extent, inner] : std::vector<std::array<int64_t, 3>>{
             {1, 1, 1}, {2, 2, 1}, {1, 16, 1}, {1, 17, 3}, {3, 100, 1}, {2, 31, 4}, {1, 1024, 1}}) {
      ExpectSorted<TypeParam>(outer, extent, inner, extent, op, descending);
    }
  }
}

TYPED_TEST(SortTest, TopK) {
  for (const int64_t kept : {1, 2, 5, 64}) {
    ExpectSorted<TypeParam>(3, 64, 1, kept, "topk %x axis=1", true);
    ExpectSorted<TypeParam>(1, 64, 3, kept, "topk %x axis=1", true);
  }
}

TEST(SortBooleansTest, FalseBeforeTrue) {
  const std::string text =
      "func @f(%x: tile<6xi1>) -> tile<6xi1> {\n%r = sort %x axis=0 descending=false\nreturn %r\n}\n";
  EXPECT_EQ(EvaluateTo<uint8_t>(6, text, {ToBytes<uint8_t>({1, 0, 1, 0, 0, 1})}),
            (std::vector<uint8_t>{0, 0, 0, 1, 1, 1}));
}

}  // namespace
}  // namespace trivet::vm::testing
