// Special values of the math functions: zeros with their signs, infinities, NaN, domain edges, subnormals; exact cases;
// operation in place; and that bulk results don't depend on position or length.

#include <gtest/gtest.h>

#include <bit>
#include <climits>
#include <random>
#include <string>

#include "tests/unit/numerics/math_cases.h"

namespace trivet::vm {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = 3.14159265358979323846;

struct Row {
  MathFunction function;
  double x;
  double want;  // rounded to the type; NaN is any NaN; the sign of zero counts
};
using enum MathFunction;
// clang-format off
constexpr Row kRows[] = {
    {kExp, 0, 1}, {kExp, -0.0, 1}, {kExp, kInf, kInf}, {kExp, -kInf, 0}, {kExp, 1e9, kInf}, {kExp, -1e9, 0},
    {kExp2, 10, 1024}, {kExp2, -149, 0x1p-149}, {kExp2, -0.0, 1}, {kExp2, kInf, kInf}, {kExp2, -kInf, 0},
    {kExp10, 3, 1000}, {kExp10, 10, 1e10}, {kExp10, -0.0, 1}, {kExp10, kInf, kInf}, {kExp10, -kInf, 0},
    {kExpm1, 0, 0}, {kExpm1, -0.0, -0.0}, {kExpm1, kInf, kInf}, {kExpm1, -kInf, -1}, {kExpm1, 0x1p-149, 0x1p-149},
    {kLog, 1, 0}, {kLog, 0, -kInf}, {kLog, -0.0, -kInf}, {kLog, -1, kNan}, {kLog, kInf, kInf}, {kLog, -kInf, kNan},
    {kLog2, 1, 0}, {kLog2, 8, 3}, {kLog2, 0x1p-149, -149}, {kLog2, 0, -kInf}, {kLog2, -2, kNan}, {kLog2, kInf, kInf},
    {kLog10, 1000, 3}, {kLog10, 1, 0}, {kLog10, 0, -kInf}, {kLog10, -2, kNan}, {kLog10, kInf, kInf},
    {kLog1p, 0, 0}, {kLog1p, -0.0, -0.0}, {kLog1p, -1, -kInf}, {kLog1p, -2, kNan}, {kLog1p, kInf, kInf},
    {kSin, 0, 0}, {kSin, -0.0, -0.0}, {kSin, kInf, kNan}, {kSin, -kInf, kNan}, {kSin, 0x1p-149, 0x1p-149},
    {kCos, 0, 1}, {kCos, -0.0, 1}, {kCos, kInf, kNan},
    {kTan, 0, 0}, {kTan, -0.0, -0.0}, {kTan, kInf, kNan},
    {kSinpi, 0, 0}, {kSinpi, -0.0, -0.0}, {kSinpi, 1, 0}, {kSinpi, -1, -0.0}, {kSinpi, 0.5, 1}, {kSinpi, 1.5, -1},
    {kSinpi, 1e30, 0}, {kSinpi, -1e30, -0.0}, {kSinpi, kInf, kNan}, {kSinpi, 8388609, 0},
    {kCospi, 0, 1}, {kCospi, 0.5, 0}, {kCospi, -0.5, 0}, {kCospi, 1, -1}, {kCospi, 1.5, 0}, {kCospi, 1e30, 1},
    {kCospi, 8388609, -1}, {kCospi, kInf, kNan},
    {kAsin, -0.0, -0.0}, {kAsin, 1, kPi / 2}, {kAsin, 2, kNan}, {kAcos, 1, 0}, {kAcos, -1, kPi}, {kAcos, -2, kNan},
    {kAtan, -0.0, -0.0}, {kAtan, kInf, kPi / 2}, {kAtan, -kInf, -kPi / 2},
    {kSinh, -0.0, -0.0}, {kSinh, kInf, kInf}, {kSinh, -kInf, -kInf}, {kSinh, 0x1p-149, 0x1p-149},
    {kCosh, 0, 1}, {kCosh, -kInf, kInf}, {kCosh, 1e5, kInf},
    {kTanh, -0.0, -0.0}, {kTanh, kInf, 1}, {kTanh, -kInf, -1}, {kTanh, 0x1p-149, 0x1p-149}, {kTanh, 50, 1},
    {kAsinh, -0.0, -0.0}, {kAsinh, -kInf, -kInf}, {kAcosh, 1, 0}, {kAcosh, 0.5, kNan}, {kAcosh, kInf, kInf},
    {kAtanh, -0.0, -0.0}, {kAtanh, 1, kInf}, {kAtanh, -1, -kInf}, {kAtanh, 1.5, kNan},
    {kCbrt, -8, -2}, {kCbrt, -0.0, -0.0}, {kCbrt, -kInf, -kInf}, {kRcbrt, -8, -0.5}, {kRcbrt, 0, kInf},
    {kRcbrt, -0.0, -kInf}, {kRcbrt, -kInf, -0.0},
    {kSqrt, -0.0, -0.0}, {kSqrt, -1, kNan}, {kSqrt, kInf, kInf}, {kRsqrt, 0, kInf}, {kRsqrt, -0.0, -kInf},
    {kRsqrt, -1, kNan}, {kRsqrt, kInf, 0}, {kRsqrt, 4, 0.5},
    {kErf, -0.0, -0.0}, {kErf, kInf, 1}, {kErf, -kInf, -1}, {kErfc, kInf, 0}, {kErfc, -kInf, 2}, {kErfc, 0, 1},
    {kErfinv, 0, 0}, {kErfinv, -0.0, -0.0}, {kErfinv, 1, kInf}, {kErfinv, -1, -kInf}, {kErfinv, 1.5, kNan},
    {kErfcinv, 0, kInf}, {kErfcinv, 2, -kInf}, {kErfcinv, 1, 0}, {kErfcinv, -1, kNan}, {kErfcinv, 2.5, kNan},
    {kErfcx, 0, 1}, {kErfcx, kInf, 0}, {kErfcx, -kInf, kInf}, {kErfcx, -30, kInf},
    {kNormcdf, 0, 0.5}, {kNormcdf, kInf, 1}, {kNormcdf, -kInf, 0},
    {kNormcdfinv, 0.5, 0}, {kNormcdfinv, 0, -kInf}, {kNormcdfinv, 1, kInf}, {kNormcdfinv, 2, kNan},
    {kTgamma, 5, 24}, {kTgamma, 0, kInf}, {kTgamma, -0.0, -kInf}, {kTgamma, -1, kNan}, {kTgamma, kInf, kInf},
    {kTgamma, -kInf, kNan}, {kLgamma, 1, 0}, {kLgamma, 2, 0}, {kLgamma, 0, kInf}, {kLgamma, -3, kInf},
    {kLgamma, -kInf, kInf},
    {kJ0, 0, 1}, {kJ0, kInf, 0}, {kJ1, 0, 0}, {kY0, 0, -kInf}, {kY0, -1, kNan}, {kY1, 0, -kInf}, {kY1, -1, kNan},
    {kY0, kInf, 0}, {kCylBesselI0, 0, 1}, {kCylBesselI0, -kInf, kInf}, {kCylBesselI1, -0.0, -0.0},
    {kCylBesselI1, -kInf, -kInf}, {kCylBesselI1, 1e4, kInf},
    {kLogb, 0, -kInf}, {kLogb, -kInf, kInf}, {kLogb, 0x1p-149, -149}, {kLogb, -12, 3},
    {kFloor, -0.5, -1}, {kFloor, -0.0, -0.0}, {kFloor, 1e30, 1e30}, {kCeil, -0.5, -0.0}, {kCeil, 0.5, 1},
    {kTrunc, -1.5, -1}, {kTrunc, -0.5, -0.0}, {kTrunc, kInf, kInf},
    {kRoundAway, 0.5, 1}, {kRoundAway, -0.5, -1}, {kRoundAway, 2.5, 3}, {kRoundAway, -0.25, -0.0},
    {kRoundAway, 0.49999997, 0}, {kRoundAway, 8388609, 8388609}, {kRoundAway, -kInf, -kInf},
    {kRoundEven, 0.5, 0}, {kRoundEven, 1.5, 2}, {kRoundEven, -2.5, -2}, {kRoundEven, -0.25, -0.0},
    {kSaturate, -1, 0}, {kSaturate, 2, 1}, {kSaturate, kNan, 0}, {kSaturate, -0.0, 0}, {kSaturate, 0.25, 0.25},
};
// clang-format on

bool GivesNumberForNan(MathFunction function) { return function == kSaturate; }

template <typename F>
std::string Show(F x) {
  char text[64];
  std::snprintf(text, sizeof(text), "%a", static_cast<double>(x));
  return text;
}

template <typename F>
void ExpectSame(F got, F want, const std::string& what) {
  if (std::isnan(want)) {
    EXPECT_TRUE(std::isnan(got)) << what << " = " << got;
  } else {
    EXPECT_TRUE(got == want && std::signbit(got) == std::signbit(want))
        << what << " = " << Show(got) << ", want " << Show(want);
  }
}

template <typename F>
void CheckRows() {
  for (const Row& row : kRows) {
    for (const UnaryCase& c : kUnaryCases) {
      if (c.function != row.function) continue;
      // Bounds chosen for f32 may lie within f64's range: 0x1p-149 and the overflows here are right in both.
      ExpectSame<F>(Evaluate<F>(c.template bulk<F>(), static_cast<F>(row.x)), static_cast<F>(row.want),
                    InfoOf(row.function).text + std::string("(") + Show(row.x) + ")");
    }
  }
}
TEST(VectorMathSpecial, RowsF32) { CheckRows<float>(); }
TEST(VectorMathSpecial, RowsF64) { CheckRows<double>(); }

TEST(VectorMathSpecial, NanStaysNan) {
  for (const UnaryCase& c : kUnaryCases) {
    if (GivesNumberForNan(c.function)) continue;
    for (const bool negative : {false, true}) {
      EXPECT_TRUE(std::isnan(Evaluate<float>(c.f32, negative ? -NAN : NAN))) << InfoOf(c.function).text;
      EXPECT_TRUE(std::isnan(Evaluate<double>(c.f64, negative ? -kNan : kNan))) << InfoOf(c.function).text;
    }
  }
}

// Results at the gradual end of the range are kept, not flushed.
TEST(VectorMathSpecial, UnderflowIsGradual) {
  EXPECT_EQ(Evaluate<float>(math::Exp, -103.0f), static_cast<float>(std::exp(-103.0L)));
  EXPECT_GT(Evaluate<float>(math::Exp, -103.0f), 0.0f);
  EXPECT_EQ(Evaluate<float>(math::Exp2, -149.5f), 0x1p-149f);
  EXPECT_EQ(Evaluate<float>(math::Exp2, -150.5f), 0.0f);
  EXPECT_EQ(Evaluate<float>(math::Erfc, 10.0f), static_cast<float>(std::erfc(10.0L)));
  EXPECT_EQ(Evaluate<float>(math::Exp, 88.72284f), static_cast<float>(std::exp(88.7228393554687500L)));
  EXPECT_EQ(Evaluate<float>(math::Exp, 88.72285f), std::numeric_limits<float>::infinity());
}

// The same bits in place, at any offset and length, with elements beyond the fast range among the others.
TEST(VectorMathSpecial, InPlaceAndPositionDontMatter) {
  std::mt19937 random(11);
  std::vector<float> x(700);
  for (float& each : x) each = std::bit_cast<float>(static_cast<uint32_t>(random()));
  std::vector<double> x64(x.begin(), x.end());
  for (const UnaryCase& c : kUnaryCases) {
    std::vector<float> whole(x.size());
    c.f32(x, whole);
    std::vector<float> in_place = x;
    c.f32(in_place, in_place);
    for (size_t i = 0; i < x.size(); ++i) {
      const float alone = Evaluate<float>(c.f32, x[i]);
      if (std::isnan(alone)) {
        ASSERT_TRUE(std::isnan(whole[i]) && std::isnan(in_place[i])) << InfoOf(c.function).text;
        continue;
      }
      ASSERT_EQ(std::bit_cast<uint32_t>(whole[i]), std::bit_cast<uint32_t>(alone))
          << InfoOf(c.function).text << " " << Show(x[i]);
      ASSERT_EQ(std::bit_cast<uint32_t>(in_place[i]), std::bit_cast<uint32_t>(alone)) << InfoOf(c.function).text;
    }
  }
}

TEST(VectorMathSpecial, EveryUnaryFunctionIsTested) {
  for (const MathFunctionInfo& info : MathFunctions()) {
    if (info.kind != MathKind::kUnary) continue;
    EXPECT_TRUE(std::any_of(std::begin(kUnaryCases), std::end(kUnaryCases), [&](const UnaryCase& c) {
      return c.function == info.function;
    })) << info.text;
    EXPECT_TRUE(std::any_of(std::begin(kRows), std::end(kRows), [&](const Row& row) {
      return row.function == info.function;
    })) << info.text;
  }
  for (size_t i = 0; i < MathFunctions().size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(MathFunctions()[i].function), i);
    EXPECT_EQ(&InfoOf(MathFunctions()[i].function), &MathFunctions()[i]);
  }
}

template <typename F>
void CheckBinarySpecials() {
  using Bulk = void (*)(std::span<const F>, std::span<const F>, std::span<F>);
  struct Pair {
    Bulk bulk;
    const char* text;
    double x, y, want;
  };
  const Pair pairs[] = {
      {math::Pow, "pow", 0, 0, 1},
      {math::Pow, "pow", kNan, 0, 1},
      {math::Pow, "pow", 1, kNan, 1},
      {math::Pow, "pow", -8, 1.0 / 3, kNan},
      {math::Pow, "pow", -2, 3, -8},
      {math::Pow, "pow", -0.0, -3, -kInf},
      {math::Pow, "pow", -1, kInf, 1},
      {math::Pow, "pow", 0.5, -kInf, kInf},
      {math::Pow, "pow", 2, 0.5, std::sqrt(2.0)},
      {math::Atan2, "atan2", 0, -1, kPi},
      {math::Atan2, "atan2", -0.0, -1, -kPi},
      {math::Atan2, "atan2", 0, 0, 0},
      {math::Atan2, "atan2", 1, 0, kPi / 2},
      {math::Atan2, "atan2", kInf, -kInf, 3 * kPi / 4},
      {math::Hypot, "hypot", 3, 4, 5},
      {math::Hypot, "hypot", -kInf, kNan, kInf},
      {math::Hypot, "hypot", kNan, 1, kNan},
      {math::Hypot, "hypot", 3e30, 4e30, 5e30},
      {math::Rhypot, "rhypot", 0, 0, kInf},
      {math::Rhypot, "rhypot", kInf, kNan, 0},
      {math::Fmod, "fmod", -5.5, 2, -1.5},
      {math::Fmod, "fmod", 1, 0, kNan},
      {math::Fmod, "fmod", 1, kInf, 1},
      {math::Fmod, "fmod", -6, 3, -0.0},
      {math::Remainder, "remainder", 5, 2, 1},
      {math::Remainder, "remainder", 7, 2, -1},
      {math::Remainder, "remainder", kInf, 2, kNan},
      {math::Fdim, "fdim", 3, 5, 0},
      {math::Fdim, "fdim", 5, 3, 2},
      {math::Fdim, "fdim", kNan, 3, kNan},
      {math::Fdim, "fdim", kInf, kInf, 0},
      {math::Fdim, "fdim", 3, kNan, kNan},
      {math::Copysign, "copysign", 3, -0.0, -3},
      {math::Copysign, "copysign", -kInf, 1, kInf},
      {math::Nextafter, "nextafter", 0, 1, std::numeric_limits<F>::denorm_min()},
      {math::Nextafter, "nextafter", 0, -0.0, -0.0},
      {math::Nextafter, "nextafter", kInf, 0, std::numeric_limits<F>::max()},
      {math::Nextafter, "nextafter", 1, 2, 1.0 + std::numeric_limits<F>::epsilon()},
      {math::Nextafter, "nextafter", 1, kNan, kNan},
  };
  for (const Pair& pair : pairs) {
    const F x = static_cast<F>(pair.x), y = static_cast<F>(pair.y);
    F out;
    pair.bulk(std::span<const F>(&x, 1), std::span<const F>(&y, 1), std::span<F>(&out, 1));
    ExpectSame<F>(out, static_cast<F>(pair.want), pair.text + std::string(" ") + Show(x) + " " + Show(y));
  }
}
TEST(VectorMathSpecial, BinaryF32) { CheckBinarySpecials<float>(); }
TEST(VectorMathSpecial, BinaryF64) { CheckBinarySpecials<double>(); }

template <typename F>
void CheckIntegers() {
  const std::vector<F> x = {static_cast<F>(0.0),
                            static_cast<F>(-0.0),
                            1,
                            -12,
                            static_cast<F>(kInf),
                            static_cast<F>(-kInf),
                            static_cast<F>(kNan),
                            std::numeric_limits<F>::denorm_min()};
  std::vector<uint8_t> finite(x.size()), infinite(x.size()), nan(x.size()), sign(x.size());
  std::vector<int32_t> exponent(x.size());
  math::IsFinite(x, finite);
  math::IsInf(x, infinite);
  math::IsNan(x, nan);
  math::SignBit(x, sign);
  math::Ilogb(x, exponent);
  EXPECT_EQ(finite, (std::vector<uint8_t>{1, 1, 1, 1, 0, 0, 0, 1}));
  EXPECT_EQ(infinite, (std::vector<uint8_t>{0, 0, 0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(nan, (std::vector<uint8_t>{0, 0, 0, 0, 0, 0, 1, 0}));
  EXPECT_EQ(sign, (std::vector<uint8_t>{0, 1, 0, 1, 0, 1, 0, 0}));
  EXPECT_EQ(exponent,
            (std::vector<int32_t>{INT_MIN, INT_MIN, 0, 3, INT_MAX, INT_MAX, INT_MIN, sizeof(F) == 4 ? -149 : -1074}));

  const std::vector<F> base = {2, -2, static_cast<F>(-0.0), 0, static_cast<F>(kNan), static_cast<F>(kInf), 1};
  const std::vector<int32_t> n = {10, 3, -3, 0, 0, -1, INT_MIN};
  std::vector<F> power(n.size());
  math::Powi(base, n, power);
  const double wanted[] = {1024, -8, -kInf, 1, 1, 0, 1};
  for (size_t i = 0; i < n.size(); ++i) ExpectSame<F>(power[i], static_cast<F>(wanted[i]), "powi");
  std::vector<F> scaled(n.size());
  math::Ldexp(base, n, scaled);
  const double shifted[] = {2048, -16, -0.0, 0, kNan, kInf, 0};
  for (size_t i = 0; i < n.size(); ++i) ExpectSame<F>(scaled[i], static_cast<F>(shifted[i]), "ldexp");
}
TEST(VectorMathSpecial, IntegersF32) { CheckIntegers<float>(); }
TEST(VectorMathSpecial, IntegersF64) { CheckIntegers<double>(); }

// Bessel functions of integer order: against the extended form; hostile orders answer at once.
TEST(VectorMathSpecial, BesselOrders) {
  for (const double x : {0.5, 3.0, 17.25, 100.0}) {
    for (int32_t n = 0; n < 8; ++n) {
      double j, y;
      math::Jn(std::span<const int32_t>(&n, 1), std::span<const double>(&x, 1), std::span<double>(&j, 1));
      math::Yn(std::span<const int32_t>(&n, 1), std::span<const double>(&x, 1), std::span<double>(&y, 1));
      EXPECT_EQ(j, static_cast<double>(jnl(n, x)));
      EXPECT_EQ(y, static_cast<double>(ynl(n, x)));
    }
  }
  const std::vector<int32_t> n = {-1, INT_MAX, INT_MAX, INT_MIN, 0};
  const std::vector<float> x = {1, 5, 2e9f, 1, -1};
  std::vector<float> j(n.size()), y(n.size());
  math::Jn(n, x, j);
  math::Yn(n, x, y);
  EXPECT_TRUE(std::isnan(j[0]) && std::isnan(j[2]) && std::isnan(j[3]));
  EXPECT_EQ(j[1], 0.0f);
  EXPECT_EQ(j[4], static_cast<float>(j0(1.0)));
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[2]) && std::isnan(y[3]) && std::isnan(y[4]));
  EXPECT_EQ(y[1], -std::numeric_limits<float>::infinity());
}

TEST(VectorMathSpecial, NormsAreInfiniteBesideNan) {
  const double inf = kInf, nan = kNan, one = 1, big = 1e300;
  auto at = [](const double& x) { return std::span<const double>(&x, 1); };
  double out;
  math::Norm3d(at(nan), at(inf), at(one), std::span(&out, 1));
  EXPECT_EQ(out, kInf);
  math::Norm3d(at(big), at(big), at(one), std::span(&out, 1));
  EXPECT_DOUBLE_EQ(out, std::sqrt(2.0) * 1e300);
  math::Rnorm4d(at(nan), at(one), at(one), at(one), std::span(&out, 1));
  EXPECT_TRUE(std::isnan(out));
  math::Rnorm4d(at(inf), at(one), at(nan), at(one), std::span(&out, 1));
  EXPECT_EQ(out, 0);
}

}  // namespace
}  // namespace trivet::vm
