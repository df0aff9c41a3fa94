#include "tests/unit/interpreter/evaluate_text.h"

namespace trivet::vm::testing {
namespace {

std::string HistogramText(const std::string& shape, const std::string& dtype, int64_t bins, bool has_mask) {
  return absl::StrCat("func @f(%x: tile<", shape, "x", dtype, ">",
                      has_mask ? absl::StrCat(", %m: tile<", shape, "xi1>") : "", ") -> tile<", bins,
                      "xi32> {\n%r = histogram %x, ", has_mask ? "%m" : "_", " : tile<", bins, "xi32>\nreturn %r\n}\n");
}

template <typename T>
void ExpectHistogram(int64_t bins, bool has_mask) {
  std::vector<T> x = RandomElements<T>(300, 1);
  std::vector<uint8_t> mask = RandomElements<uint8_t>(300, 2);
  std::vector<int32_t> want(static_cast<size_t>(bins));
  for (size_t i = 0; i < x.size(); ++i) {
    mask[i] &= 1;
    if (i % 3 != 0) x[i] = static_cast<T>(i % static_cast<size_t>(bins + 2));  // the others lie anywhere
    const bool is_inside = static_cast<__int128>(x[i]) >= 0 && static_cast<__int128>(x[i]) < bins;
    if (is_inside && (!has_mask || mask[i] == 1)) ++want[static_cast<size_t>(x[i])];
  }
  std::vector<Bytes> arguments = {ToBytes(x)};
  if (has_mask) arguments.push_back(ToBytes(mask));
  const std::string text = HistogramText("30x10", ElementTraits<T>::kText, bins, has_mask);
  EXPECT_EQ(EvaluateTo<int32_t>(static_cast<size_t>(bins), text, arguments), want) << text;
}

TEST(HistogramTest, CountsWhatIsInRange) {
  for (const int64_t bins : {1, 16, 100}) {
    for (const bool has_mask : {false, true}) {
      ExpectHistogram<int8_t>(bins, has_mask);
      ExpectHistogram<uint8_t>(bins, has_mask);
      ExpectHistogram<int16_t>(bins, has_mask);
      ExpectHistogram<uint16_t>(bins, has_mask);
      ExpectHistogram<int32_t>(bins, has_mask);
      ExpectHistogram<uint32_t>(bins, has_mask);
      ExpectHistogram<int64_t>(bins, has_mask);
      ExpectHistogram<uint64_t>(bins, has_mask);
    }
  }
}

TEST(HistogramTest, NothingUnderAFalseMask) {
  const std::vector<int32_t> x(8, 1);
  const std::vector<uint8_t> mask(8, 0);
  EXPECT_EQ(EvaluateTo<int32_t>(4, HistogramText("8", "i32", 4, true), {ToBytes(x), ToBytes(mask)}),
            (std::vector<int32_t>{0, 0, 0, 0}));
}

}  // namespace
}  // namespace trivet::vm::testing
