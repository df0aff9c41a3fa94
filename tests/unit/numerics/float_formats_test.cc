// Conversions against a slow, independent reference: the sorted table of a format's values, and a search in it.

#include "vm/numerics/float_formats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace trivet::vm {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr Rounding kRoundings[] = {Rounding::kNearestEven, Rounding::kTowardZero, Rounding::kUp, Rounding::kDown,
                                   Rounding::kNearestAway};
constexpr Overflow kOverflows[] = {Overflow::kInfinity, Overflow::kSaturate};

// The meaning of a code, straight from the head of float_formats.h.
double SlowDecode(const FloatFormatInfo& info, uint32_t code) {
  if (info.specials == Specials::kScale) return code == 0xff ? kNan : std::ldexp(1.0, static_cast<int>(code) - 127);
  const uint32_t top = (1u << info.exponent_bits) - 1;
  const uint32_t e = (code >> info.mantissa_bits) & top;
  const uint32_t m = code & ((1u << info.mantissa_bits) - 1);
  const double sign = ((code >> (info.bits - 1)) & 1) != 0 ? -1.0 : 1.0;
  if (info.specials == Specials::kIeee && e == top) return m == 0 ? sign * kInf : kNan;
  if (info.specials == Specials::kNanAllOnes && (code & 0x7f) == 0x7f) return kNan;
  if (info.specials == Specials::kNanMinusZero && code == 0x80) return kNan;
  const double fraction = m / std::ldexp(1.0, info.mantissa_bits);
  return e == 0 ? sign * std::ldexp(fraction, 1 - info.bias)
                : sign * std::ldexp(1 + fraction, static_cast<int>(e) - info.bias);
}

// Magnitudes of the format in ascending order: index == code. `next` is the value that would follow the largest.
struct Table {
  std::vector<double> magnitudes;
  double next;
};
Table MakeTable(const FloatFormatInfo& info) {
  Table table;
  for (uint32_t code = 0; code <= info.max_finite_code; ++code) table.magnitudes.push_back(SlowDecode(info, code));
  const size_t n = table.magnitudes.size();
  table.next =
      info.specials == Specials::kScale ? std::ldexp(1.0, 128) : 2 * table.magnitudes[n - 1] - table.magnitudes[n - 2];
  // The spacing changes at a power of two only, and no format's largest value is one but f8e8m0's.
  return table;
}

// EncodeFloat by search. NaN results are reported as the format's NaN code without payload.
uint32_t SlowEncode(const FloatFormatInfo& info, const Table& table, double value, Rounding rounding,
                    Overflow overflow) {
  const bool is_scale = info.specials == Specials::kScale;
  const bool negative = std::signbit(value) && !is_scale;
  const uint32_t sign = negative ? 1u << (info.bits - 1) : 0;
  const double a = std::fabs(value);
  const uint32_t infinity = info.specials == Specials::kIeee                       ? sign | (info.max_finite_code + 1)
                            : info.specials == Specials::kNone                     ? sign | info.max_finite_code
                            : info.specials == Specials::kNanMinusZero || is_scale ? info.nan_code
                                                                                   : sign | info.nan_code;
  if (std::isnan(value)) {
    return info.bits <= 8 && info.format != FloatFormat::kF8E4B15 ? info.nan_code : sign | info.nan_code;
  }
  if (std::isinf(value)) return overflow == Overflow::kSaturate ? sign | info.max_finite_code : infinity;

  const auto& values = table.magnitudes;
  const auto at_least = std::lower_bound(values.begin(), values.end(), a);
  uint32_t code;
  if (at_least != values.end() && *at_least == a) {
    code = static_cast<uint32_t>(at_least - values.begin());
  } else if (at_least == values.begin()) {
    code = 0;  // f8e8m0 only: below the smallest
  } else {
    const auto high = static_cast<uint32_t>(at_least - values.begin());
    const uint32_t low = high - 1;
    const double high_value = at_least == values.end() ? table.next : *at_least;
    const long double below = static_cast<long double>(a) - values[low];
    const long double above = static_cast<long double>(high_value) - a;
    bool up = false;
    switch (rounding) {
      case Rounding::kNearestEven:
        up = above < below || (above == below && (high & 1) == 0);
        break;
      case Rounding::kNearestAway:
        up = above <= below;
        break;
      case Rounding::kTowardZero:
        up = false;
        break;
      case Rounding::kUp:
        up = !negative;
        break;
      case Rounding::kDown:
        up = negative;
        break;
    }
    code = up ? high : low;
    if (code > info.max_finite_code || a > high_value) {  // past the last value
      const bool outwards = rounding == Rounding::kNearestEven || rounding == Rounding::kNearestAway ||
                            (rounding == Rounding::kUp && !negative) || (rounding == Rounding::kDown && negative);
      if (overflow == Overflow::kInfinity && outwards) return infinity;
      code = info.max_finite_code;
    }
  }
  if (info.specials == Specials::kNanMinusZero && code == 0) return 0;
  return sign | code;
}

// Values around every code, and random ones of every magnitude, as `Source`s.
template <typename Source>
std::vector<Source> Samples(const FloatFormatInfo& info, const Table& table) {
  std::vector<Source> samples = {0,
                                 static_cast<Source>(kInf),
                                 static_cast<Source>(kNan),
                                 std::numeric_limits<Source>::denorm_min(),
                                 std::numeric_limits<Source>::min(),
                                 std::numeric_limits<Source>::max()};
  auto add_around = [&](double value) {
    const auto x = static_cast<Source>(value);
    samples.push_back(x);
    samples.push_back(std::nextafter(x, Source{0}));
    samples.push_back(std::nextafter(x, static_cast<Source>(kInf)));
  };
  const size_t stride = info.bits > 8 ? 7 : 1;
  for (size_t i = 0; i < table.magnitudes.size(); i += stride) {
    add_around(table.magnitudes[i]);
    const double next = i + 1 < table.magnitudes.size() ? table.magnitudes[i + 1] : table.next;
    add_around((table.magnitudes[i] + next) / 2);
  }
  add_around(table.magnitudes.back());
  add_around((table.magnitudes.back() + table.next) / 2);
  add_around(table.next);
  std::mt19937_64 random(info.bits * 1000 + info.bias);
  for (int i = 0; i < 20'000; ++i) {
    if constexpr (sizeof(Source) == 4) {
      samples.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
    } else {
      samples.push_back(std::bit_cast<double>(random()));
      // Most random doubles are far outside; these are inside.
      samples.push_back(
          std::ldexp(1.0 + std::ldexp(static_cast<double>(random() >> 12), -52), static_cast<int>(random() % 64) - 40));
    }
  }
  const size_t count = samples.size();
  for (size_t i = 0; i < count; ++i) samples.push_back(-samples[i]);
  return samples;
}

bool IsNanCode(const FloatFormatInfo& info, uint32_t code) { return std::isnan(SlowDecode(info, code)); }

template <typename T>
class FloatFormatsTest : public testing::Test {};
using NarrowTypes = testing::Types<F16, BF16, F8E4M3, F8E5M2, F8E4B8, F8E5B16, F8E4B15, F4E2M1, F8E8M0>;
TYPED_TEST_SUITE(FloatFormatsTest, NarrowTypes);

// All codes: both decoders, both bulk forms and Widen agree with the definition, and codes survive the round trip.
TYPED_TEST(FloatFormatsTest, DecodesAndRoundTripsEveryCode) {
  using T = TypeParam;
  const FloatFormatInfo& info = T::kInfo;
  std::vector<T> codes;
  for (uint32_t code = 0; code < (1u << info.bits); ++code) codes.push_back(T{static_cast<typename T::Bits>(code)});
  std::vector<float> f32(codes.size());
  std::vector<double> f64(codes.size());
  WidenToF32<T>(codes, f32);
  WidenToF64<T>(codes, f64);
  std::vector<T> back32(codes.size()), back64(codes.size());
  RoundFromF32<T>(f32, back32);
  RoundFromF64<T>(f64, back64);
  for (uint32_t code = 0; code < codes.size(); ++code) {
    const double want = SlowDecode(info, code);
    SCOPED_TRACE(info.name + std::string(" ") + std::to_string(code));
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(DecodeFloat(T::kFormat, code)));
      EXPECT_TRUE(std::isnan(f32[code]) && std::isnan(f64[code]) && std::isnan(Widen(codes[code])));
      EXPECT_TRUE(IsNanCode(info, back32[code].bits) && IsNanCode(info, back64[code].bits));
      // Quiet, and bulk has the same bits as inline.
      EXPECT_NE(std::bit_cast<uint32_t>(f32[code]) & 0x0040'0000u, 0u);
      EXPECT_EQ(std::bit_cast<uint32_t>(f32[code]), std::bit_cast<uint32_t>(Widen(codes[code])));
      continue;
    }
    EXPECT_EQ(std::bit_cast<uint64_t>(DecodeFloat(T::kFormat, code)), std::bit_cast<uint64_t>(want));
    EXPECT_EQ(std::bit_cast<uint64_t>(static_cast<double>(f32[code])), std::bit_cast<uint64_t>(want));
    EXPECT_EQ(std::bit_cast<uint64_t>(f64[code]), std::bit_cast<uint64_t>(want));
    EXPECT_EQ(std::bit_cast<uint32_t>(Widen(codes[code])), std::bit_cast<uint32_t>(f32[code]));
    if (std::isinf(want) && info.default_overflow == Overflow::kSaturate) continue;
    if (T::kFormat == FloatFormat::kF8E4B15 && (code & 0x7f) == 0x7f) continue;  // 1.875 saturates to 1.75
    EXPECT_EQ(back32[code].bits, code);
    EXPECT_EQ(back64[code].bits, code);
  }
}

template <typename T, typename Source>
void CheckRounding() {
  const FloatFormatInfo& info = T::kInfo;
  const Table table = MakeTable(info);
  const std::vector<Source> samples = Samples<Source>(info, table);
  std::vector<T> bulk(samples.size());
  for (const Rounding rounding : kRoundings) {
    for (const Overflow overflow : kOverflows) {
      if constexpr (sizeof(Source) == 4) {
        RoundFromF32<T>(samples, bulk, rounding, overflow);
      } else {
        RoundFromF64<T>(samples, bulk, rounding, overflow);
      }
      int failures = 0;
      for (size_t i = 0; i < samples.size() && failures < 10; ++i) {
        const uint32_t generic = EncodeFloat(T::kFormat, samples[i], rounding, overflow);
        const uint32_t inlined = Round<T>(samples[i], rounding, overflow).bits;
        const uint32_t want = SlowEncode(info, table, samples[i], rounding, overflow);
        const bool nan_as_wanted = IsNanCode(info, want) && IsNanCode(info, generic) &&
                                   (want >> (info.bits - 1)) == (generic >> (info.bits - 1));
        if ((generic == want || nan_as_wanted) && inlined == generic && bulk[i].bits == generic) continue;
        ++failures;
        ADD_FAILURE() << info.name << ": " << std::hexfloat << samples[i] << " rounding " << static_cast<int>(rounding)
                      << " overflow " << static_cast<int>(overflow) << std::hex << ": want " << want << ", generic "
                      << generic << ", inlined " << inlined << ", bulk " << uint32_t{bulk[i].bits};
      }
    }
  }
}

TYPED_TEST(FloatFormatsTest, RoundsF32AsTheSlowReference) { CheckRounding<TypeParam, float>(); }
TYPED_TEST(FloatFormatsTest, RoundsF64AsTheSlowReference) { CheckRounding<TypeParam, double>(); }

// Every f16 and bf16 to every narrow format: the route through f32 rounds once.
TYPED_TEST(FloatFormatsTest, RoundsEveryF16) {
  using T = TypeParam;
  const Table table = MakeTable(T::kInfo);
  for (uint32_t code = 0; code < 65536; ++code) {
    const float x = Widen(F16{static_cast<uint16_t>(code)});
    if (std::isnan(x)) continue;
    ASSERT_EQ(Round<T>(x).bits, SlowEncode(T::kInfo, table, x, T::kInfo.default_rounding, T::kInfo.default_overflow))
        << T::kInfo.name << " " << x;
  }
}

// Lengths that leave tails to vector code, and operation in place of an own array.
TYPED_TEST(FloatFormatsTest, ConvertsEveryLength) {
  using T = TypeParam;
  for (size_t n = 0; n < 70; ++n) {
    std::vector<float> x(n);
    for (size_t i = 0; i < n; ++i) x[i] = 0.37f * static_cast<float>(i) - 3;
    std::vector<T> codes(n + 1, T{0x5});
    RoundFromF32<T>(x, std::span(codes).first(n));
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(codes[i], Round<T>(x[i]));
    EXPECT_EQ(codes[n].bits, 0x5);
  }
}

// Millions of random bit patterns: bulk f16 (F16C where compiled for) has the portable form's bits, NaN payloads
// included.
TEST(F16Test, BulkAndPortableAreBitIdentical) {
  std::mt19937 random(1);
  std::vector<float> x(1 << 16);
  std::vector<F16> bulk(x.size());
  for (int round = 0; round < 20; ++round) {
    for (size_t i = 0; i < x.size(); ++i) {
      uint32_t bits = random();
      if (round % 2 == 1) bits = (bits & 0x8fff'ffffu) | 0x3000'0000u | ((bits & 7) << 27 & 0x1fff'ffffu);
      x[i] = std::bit_cast<float>(bits);
    }
    for (const Rounding rounding : kRoundings) {
      RoundFromF32<F16>(x, bulk, rounding);
      for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(bulk[i], Round<F16>(x[i], rounding)) << std::hexfloat << x[i];
    }
  }
}

struct Known {
  FloatFormat format;
  double value;
  uint32_t code;
};
// Facts of the formats that must not depend on any of our code.
// clang-format off
constexpr Known kKnown[] = {
    {FloatFormat::kF16, 1.0, 0x3c00},        {FloatFormat::kF16, 65504, 0x7bff},
    {FloatFormat::kF16, 65519.996, 0x7bff},  {FloatFormat::kF16, 65520, 0x7c00},
    {FloatFormat::kF16, 0x1p-24, 0x0001},    {FloatFormat::kF16, 0x1p-25, 0x0000},
    {FloatFormat::kF16, -0.0, 0x8000},       {FloatFormat::kF16, 1 + 0x1p-11, 0x3c00},
    {FloatFormat::kF16, 1 + 0x3p-11, 0x3c02},
    {FloatFormat::kF16, 1 + 0x1p-11 + 0x1p-40, 0x3c01},  // through f32 this would be a tie, and even
    {FloatFormat::kBF16, 1.0, 0x3f80},       {FloatFormat::kBF16, 0x1.fffffep127, 0x7f80},
    {FloatFormat::kBF16, 0x1p-133, 0x0001},  {FloatFormat::kBF16, 1 + 0x1p-8, 0x3f80},
    {FloatFormat::kF8E4M3, 448, 0x7e},       {FloatFormat::kF8E4M3, 1e9, 0x7e},
    {FloatFormat::kF8E4M3, -kInf, 0xfe},     {FloatFormat::kF8E4M3, kNan, 0x7f},
    {FloatFormat::kF8E4M3, 0x1p-9, 0x01},    {FloatFormat::kF8E4M3, 1.0, 0x38},
    {FloatFormat::kF8E5M2, 57344, 0x7b},     {FloatFormat::kF8E5M2, kInf, 0x7b},
    {FloatFormat::kF8E5M2, kNan, 0x7f},      {FloatFormat::kF8E5M2, 0x1p-16, 0x01},
    {FloatFormat::kF8E4B8, 240, 0x7f},       {FloatFormat::kF8E4B8, -0.0, 0x00},
    {FloatFormat::kF8E4B8, kNan, 0x80},      {FloatFormat::kF8E4B8, -1e-9, 0x00},
    {FloatFormat::kF8E5B16, 57344, 0x7f},    {FloatFormat::kF8E5B16, 1.0, 0x40},
    {FloatFormat::kF8E4B15, 1.0, 0x78},      {FloatFormat::kF8E4B15, 100, 0x7e},
    {FloatFormat::kF8E4B15, -kNan, 0xfe},    {FloatFormat::kF8E4B15, 1.0625, 0x79},
    {FloatFormat::kF4E2M1, 6, 0x7},          {FloatFormat::kF4E2M1, 0.5, 0x1},
    {FloatFormat::kF4E2M1, 5, 0x6},          {FloatFormat::kF4E2M1, -kNan, 0x7},
    {FloatFormat::kF8E8M0, 1.0, 0x7f},       {FloatFormat::kF8E8M0, 0.0, 0x00},
    {FloatFormat::kF8E8M0, kInf, 0xfe},      {FloatFormat::kF8E8M0, kNan, 0xff},
    {FloatFormat::kF8E8M0, -4.0, 0x81},
};
// clang-format on

TEST(FloatFormatTable, HasTheKnownCodes) {
  for (const Known& known : kKnown) {
    const FloatFormatInfo& info = InfoOf(known.format);
    EXPECT_EQ(EncodeFloat(known.format, known.value, info.default_rounding, info.default_overflow), known.code)
        << info.name << " " << known.value;
  }
}

TEST(NanTest, KeepsSignAndPayloadAndBecomesQuiet) {
  const float signalling = std::bit_cast<float>(0xff80'2001u);
  EXPECT_EQ(Round<F16>(signalling).bits, 0xfe01);
  EXPECT_EQ(Round<BF16>(signalling).bits, 0xffc0);
  EXPECT_EQ(Round<F8E4M3>(signalling).bits, 0x7f);  // but f8, as on GPUs
  EXPECT_EQ(Round<F8E5M2>(signalling).bits, 0x7f);
  EXPECT_EQ(std::bit_cast<uint32_t>(Widen(F16{0x7c01})), 0x7fc0'2000u);
  EXPECT_EQ(std::bit_cast<uint32_t>(Widen(BF16{0x7f81})), 0x7fc1'0000u);
  EXPECT_EQ(std::bit_cast<uint32_t>(RoundToTf32(signalling)), 0xffc0'2000u);
}

TEST(Tf32Test, RoundsToTenBits) {
  EXPECT_EQ(RoundToTf32(1 + 0x1p-11f), 1 + 0x1p-10f);  // a tie, away from zero
  EXPECT_EQ(RoundToTf32(1 + 0x1p-11f, Rounding::kNearestEven), 1.0f);
  EXPECT_EQ(RoundToTf32(1 + 0x1.fp-11f, Rounding::kTowardZero), 1.0f);
  EXPECT_EQ(RoundToTf32(std::numeric_limits<float>::max()), std::numeric_limits<float>::infinity());
  EXPECT_EQ(RoundToTf32(0x1p-136f), 0x1p-136f);  // the smallest tf32
  EXPECT_EQ(RoundToTf32(0x1p-137f, Rounding::kNearestEven), 0.0f);
  std::vector<float> x = {1.00049f, -3.14159f, 1e-39f, 3e38f}, out(4);
  for (const Rounding rounding : kRoundings) {
    RoundToTf32(x, out, rounding);
    for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(out[i], RoundToTf32(x[i], rounding));
  }
}

TEST(F32Test, RoundsF64InEveryMode) {
  std::mt19937_64 random(3);
  std::vector<double> x;
  for (int i = 0; i < 200'000; ++i) {
    x.push_back(
        std::ldexp(1.0 + std::ldexp(static_cast<double>(random() >> 12), -52), static_cast<int>(random() % 320) - 170));
    if (i % 2 == 0) x.back() = -x.back();
  }
  x.insert(x.end(), {0.0, -0.0, kInf, -kInf, 0x1.ffffffp127, 1e300, -1e300, 0x1p-150, 0x1.8p-149});
  std::vector<float> out(x.size());
  for (const Rounding rounding : kRoundings) {
    RoundToF32(x, out, rounding);
    for (size_t i = 0; i < x.size(); ++i) {
      const float nearest = static_cast<float>(x[i]);
      float want = nearest;
      const float kUp = std::numeric_limits<float>::infinity();
      if (rounding == Rounding::kUp && nearest < x[i]) want = std::nextafter(nearest, kUp);
      if (rounding == Rounding::kDown && nearest > x[i]) want = std::nextafter(nearest, -kUp);
      if (rounding == Rounding::kTowardZero && std::fabs(nearest) > std::fabs(x[i]))
        want = std::nextafter(nearest, 0.0f);
      if (rounding == Rounding::kNearestAway) {
        const float further = std::nextafter(nearest, std::copysign(kUp, nearest));
        if (std::isfinite(further) && further - x[i] == x[i] - nearest) want = further;
      }
      ASSERT_EQ(std::bit_cast<uint32_t>(out[i]), std::bit_cast<uint32_t>(want)) << std::hexfloat << x[i];
    }
  }
}

TEST(F4Test, PacksLowHalfFirst) {
  const std::vector<uint8_t> packed = {0x21, 0xf7};
  std::vector<F4E2M1> elements(4);
  UnpackF4(packed, elements);
  EXPECT_EQ(Widen(elements[0]), 0.5f);
  EXPECT_EQ(Widen(elements[1]), 1.0f);
  EXPECT_EQ(Widen(elements[2]), 6.0f);
  EXPECT_EQ(Widen(elements[3]), -6.0f);
  std::vector<uint8_t> again(2);
  PackF4(elements, again);
  EXPECT_EQ(again, packed);
}

}  // namespace
}  // namespace trivet::vm
