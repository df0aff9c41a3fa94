// Results in each mode, checked by what they mean: with the exact error of the candidate (from fma, or from
// arithmetic that is exact in extended precision) the result must be the neighbour that the mode asks for.

#include "vm/numerics/directed_rounding.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <random>
#include <vector>

namespace trivet::vm {
namespace {

constexpr Rounding kModes[] = {Rounding::kNearestEven, Rounding::kTowardZero, Rounding::kUp, Rounding::kDown};

// `error_of(r)` is exact - r, or at least has its sign; exact where it decides between neighbours.
template <typename F, typename ErrorOf>
void ExpectRounded(Rounding mode, F result, ErrorOf error_of, const char* what) {
  if (!std::isfinite(result)) return;
  const auto error = error_of(result);
  if (error == 0) return;
  constexpr F kInf = std::numeric_limits<F>::infinity();
  const F beyond = std::nextafter(result, error > 0 ? kInf : -kInf);
  // The exact value lies between the two.
  const auto other = error_of(beyond);
  bool right = std::isinf(beyond) || (other != 0 && (other > 0) != (error > 0));
  switch (mode) {
    case Rounding::kNearestEven:
      right = right && std::fabs(error) <= std::fabs(other);
      break;
    case Rounding::kUp:
      right = right && error < 0;
      break;
    case Rounding::kDown:
      right = right && error > 0;
      break;
    case Rounding::kTowardZero:
      right = right && (error > 0) != std::signbit(result);
      break;
    case Rounding::kNearestAway:
      break;
  }
  EXPECT_TRUE(right) << what << " in mode " << static_cast<int>(mode) << ": " << std::hexfloat << result;
}

template <typename F>
std::vector<F> Samples(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<F> samples;
  for (int i = 0; i < 20'003; ++i) {
    const double magnitude =
        std::ldexp(1 + std::ldexp(static_cast<double>(random() >> 12), -52), static_cast<int>(random() % 24) - 12);
    samples.push_back(static_cast<F>(random() % 2 == 0 ? magnitude : -magnitude));
  }
  return samples;
}

template <typename F>
void Check() {
  const std::vector<F> x = Samples<F>(1), y = Samples<F>(2), z = Samples<F>(3);
  std::vector<F> positive = x;
  for (F& each : positive) each = std::fabs(each);
  std::vector<F> out(x.size());
  for (const Rounding mode : kModes) {
    AddRounded(mode, x, y, out);
    // a + b - r in extended precision: a - r cancels, so nothing is lost that could change the sign.
    auto sum_error = [](F a, F b) {
      return [a, b](F r) {
        const F big = std::fabs(a) > std::fabs(b) ? a : b, small = std::fabs(a) > std::fabs(b) ? b : a;
        return (static_cast<long double>(big) - r) + static_cast<long double>(small);
      };
    };
    for (size_t i = 0; i < x.size(); ++i) ExpectRounded(mode, out[i], sum_error(x[i], y[i]), "add");
    SubRounded(mode, x, y, out);
    for (size_t i = 0; i < x.size(); ++i) ExpectRounded(mode, out[i], sum_error(x[i], -y[i]), "sub");
    MulRounded(mode, x, y, out);
    for (size_t i = 0; i < x.size(); ++i) {
      ExpectRounded(
          mode, out[i], [&](F r) { return std::fma(x[i], y[i], -r); }, "mul");
    }
    DivRounded(mode, x, y, out);
    for (size_t i = 0; i < x.size(); ++i) {  // the sign of x/y - r is that of (x - r y)/y
      ExpectRounded(
          mode, out[i], [&](F r) { return std::fma(-r, y[i], x[i]) * std::copysign(F{1}, y[i]); }, "div");
    }
    RcpRounded(mode, y, out);
    for (size_t i = 0; i < x.size(); ++i) {
      ExpectRounded(
          mode, out[i], [&](F r) { return std::fma(-r, y[i], F{1}) * std::copysign(F{1}, y[i]); }, "rcp");
    }
    SqrtRounded(mode, positive, out);
    for (size_t i = 0; i < x.size(); ++i) {
      ExpectRounded(
          mode, out[i], [&](F r) { return std::fma(-r, r, positive[i]); }, "sqrt");
    }
    if constexpr (sizeof(F) == 4) {  // x y is exact in 48 bits, and x y + z - r in 64 where exponents are this close
      FmaRounded(mode, x, y, z, out);
      for (size_t i = 0; i < x.size(); ++i) {
        if (std::abs(std::ilogb(x[i]) + std::ilogb(y[i]) - std::ilogb(z[i])) > 12) continue;
        const long double exact = static_cast<long double>(x[i]) * y[i] + z[i];
        ExpectRounded(
            mode, out[i], [&](F r) { return exact - r; }, "fma");
      }
    }
  }
}
TEST(DirectedRounding, F32) { Check<float>(); }
TEST(DirectedRounding, F64) { Check<double>(); }

struct Row {
  Rounding mode;
  float sum;      // 1 + 2^-30
  float product;  // max * 2
  float tiny;     // 2^-149 * 0.5
  double third;   // 1 / 3
  double fused;   // 1 * 1 + 2^-80
};
TEST(DirectedRounding, KnownValues) {
  const float kMax = std::numeric_limits<float>::max(), kInf = std::numeric_limits<float>::infinity();
  const Row rows[] = {
      {Rounding::kNearestEven, 1, kInf, 0, 0x1.5555555555555p-2, 1},
      {Rounding::kTowardZero, 1, kMax, 0, 0x1.5555555555555p-2, 1},
      {Rounding::kUp, 1 + 0x1p-23f, kInf, 0x1p-149f, 0x1.5555555555556p-2, 1 + 0x1p-52},
      {Rounding::kDown, 1, kMax, 0, 0x1.5555555555555p-2, 1},
  };
  for (const Row& row : rows) {
    const std::vector<float> a = {1}, b = {0x1p-30f}, big = {kMax}, two = {2}, tiny = {0x1p-149f}, half = {0.5f};
    const std::vector<double> one = {1}, three = {3}, speck = {0x1p-80};
    std::vector<float> out(1);
    std::vector<double> wide(1);
    AddRounded(row.mode, a, b, out);
    EXPECT_EQ(out[0], row.sum);
    MulRounded(row.mode, big, two, out);
    EXPECT_EQ(out[0], row.product);
    MulRounded(row.mode, tiny, half, out);
    EXPECT_EQ(out[0], row.tiny);
    RcpRounded(row.mode, three, wide);
    EXPECT_EQ(wide[0], row.third);
    FmaRounded(row.mode, one, one, speck, wide);
    EXPECT_EQ(wide[0], row.fused);
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  }
}

}  // namespace
}  // namespace trivet::vm
