// The accuracy that math_functions.def states, over samples of the whole range and against golden values.

#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <random>

#include "tests/unit/numerics/math_cases.h"

namespace trivet::vm {
namespace {

struct GoldenValue {
  MathFunction function;
  double x;
  Extended value;
};
constexpr GoldenValue kGoldenValues[] = {
#include "tests/unit/numerics/golden_values.inc"
};

template <typename F>
double StatedUlp(MathFunction function) {
  const MathFunctionInfo& info = InfoOf(function);
  return sizeof(F) == 4 ? info.reference_ulp_f32 : info.reference_ulp_f64;
}

// Bit patterns at a stride that is prime to everything: all binades, both signs, NaNs and infinities, alike.
// TRIVET_ULP_STRIDE=1 checks all 2^32 floats (hours).
std::vector<float> SampleF32() {
  const char* asked = std::getenv("TRIVET_ULP_STRIDE");
  const uint64_t stride = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 20'011;
  std::vector<float> samples;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += stride) {
    samples.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  return samples;
}

// Magnitudes log-uniform within 2^-30 to 2^10, where functions have their features, and a fifth from everywhere.
std::vector<double> SampleF64() {
  std::mt19937_64 random(5);
  std::vector<double> samples;
  for (int i = 0; i < 40'000; ++i) {
    const uint64_t bits = random();
    const uint64_t exponent = i % 5 == 0 ? bits >> 52 & 0x7ff : 1023 - 30 + (bits >> 52) % 41;
    samples.push_back(std::bit_cast<double>((bits & 0x800f'ffff'ffff'ffffu) | exponent << 52));
  }
  return samples;
}

template <typename F>
void CheckAccuracy(const std::vector<F>& samples) {
  std::vector<F> out(samples.size());
  for (const UnaryCase& c : kUnaryCases) {
    const double stated = StatedUlp<F>(c.function);
    if (c.exact == nullptr || stated < 0) continue;
    c.bulk<F>()(samples, out);
    double worst = 0;
    F worst_x = 0;
    for (size_t i = 0; i < samples.size(); ++i) {
      const double ulp = UlpDistance(out[i], c.exact(samples[i]));
      if (ulp > worst) {
        worst = ulp;
        worst_x = samples[i];
      }
    }
    EXPECT_LE(worst, std::max(stated, 0.0)) << InfoOf(c.function).text << "(" << std::hexfloat << worst_x << ")";
    if (std::getenv("TRIVET_ULP_PRINT") != nullptr) {
      std::printf("%-14s %zu bits: %.6f ulp at %a\n", InfoOf(c.function).text, sizeof(F) * 8, worst, double{worst_x});
    }
  }
}

TEST(VectorMathAccuracy, F32IsWithinTheStatedUlp) { CheckAccuracy(SampleF32()); }
TEST(VectorMathAccuracy, F64IsWithinTheStatedUlp) { CheckAccuracy(SampleF64()); }

TEST(VectorMathAccuracy, MeetsTheGoldenValues) {
  double worst[2][256] = {};
  for (const GoldenValue& golden : kGoldenValues) {
    const auto* c = std::find_if(std::begin(kUnaryCases), std::end(kUnaryCases),
                                 [&](const UnaryCase& each) { return each.function == golden.function; });
    ASSERT_NE(c, std::end(kUnaryCases));
    const char* name = InfoOf(golden.function).text;
    // Where ulp say nothing, the values here are away from zeros: 4 ulp, or the absolute error that is left near them.
    auto check = [&](auto x) {
      using F = decltype(x);
      const double stated = StatedUlp<F>(golden.function);
      const F got = Evaluate<F>(c->template bulk<F>(), x);
      const double ulp = UlpDistance(got, golden.value);
      double& seen = worst[sizeof(F) == 8][static_cast<size_t>(golden.function)];
      seen = std::max(seen, ulp);
      if (stated < 0 && std::fabs(static_cast<Extended>(got) - golden.value) < 4 * std::numeric_limits<F>::epsilon())
        return;
      EXPECT_LE(ulp, stated < 0 ? 4 : stated) << name << "(" << std::hexfloat << x << ") = " << got;
    };
    check(golden.x);
    if (static_cast<double>(static_cast<float>(golden.x)) == golden.x) check(static_cast<float>(golden.x));
  }
  if (std::getenv("TRIVET_ULP_PRINT") == nullptr) return;
  for (const UnaryCase& c : kUnaryCases) {
    std::printf("%-14s golden: f32 %.4f f64 %.4f\n", InfoOf(c.function).text, worst[0][static_cast<size_t>(c.function)],
                worst[1][static_cast<size_t>(c.function)]);
  }
}

// The kernels of double_kernels.h have one set of bits, whatever compiler and instruction set: a checksum of some
// 15,000 results each. A change of a coefficient changes it; so must nothing else. (libm's functions may differ
// among hosts in the last place, so they are left out, and with them sin, cos and tan of large arguments.)
TEST(VectorMathAccuracy, KernelsHaveTheSameBitsEverywhere) {
  const UnaryBulk<float> kernels[] = {math::Exp,   math::Exp2, math::Exp10, math::Expm1, math::Log,   math::Log2,
                                      math::Log10, math::Sin,  math::Cos,   math::Tan,   math::Sinpi, math::Cospi,
                                      math::Sinh,  math::Cosh, math::Tanh,  math::Erf,   math::Rsqrt};
  std::vector<float> samples;
  for (uint32_t bits = 0; bits < std::bit_cast<uint32_t>(0x1p20f); bits += 160'009) {
    samples.push_back(std::bit_cast<float>(bits));
    samples.push_back(-samples.back());
  }
  uint64_t hash = 14695981039346656037u;  // FNV-1a over words
  std::vector<float> out(samples.size());
  for (const UnaryBulk<float> kernel : kernels) {
    kernel(samples, out);
    for (const float each : out) {
      hash = (hash ^ (std::isnan(each) ? 0x7fc0'0000u : std::bit_cast<uint32_t>(each))) * 1099511628211u;
    }
  }
  EXPECT_EQ(hash, 16358574990904393831u);
}

// Inverses, for want of a second implementation, by what they invert.
TEST(VectorMathAccuracy, InversesInvert) {
  std::mt19937_64 random(9);
  for (int i = 0; i < 20'000; ++i) {
    const double p = std::ldexp(static_cast<double>(random() >> 11), -53 - static_cast<int>(random() % 200));
    if (p == 0) continue;
    const double y = Evaluate<double>(math::Erfcinv, p);
    // d(erfc)/dy times half an ulp of y is what rounding y may cost.
    const Extended slope = 2 / std::sqrt(M_PIl) * std::exp(-static_cast<Extended>(y) * y);
    const Extended room = slope * (std::nextafter(std::fabs(y), INFINITY) - std::fabs(y));
    EXPECT_LE(std::fabs(std::erfc(static_cast<Extended>(y)) - p), room) << std::hexfloat << p;
    EXPECT_LE(UlpDistance(Evaluate<double>(math::Normcdfinv, p / 2), -std::sqrt(Extended{2}) * y), 2.0);
    const double z = Evaluate<double>(math::Erfinv, p);
    const Extended slope_z = 2 / std::sqrt(M_PIl) * std::exp(-static_cast<Extended>(z) * z);
    const Extended room_z = slope_z * (std::nextafter(z, INFINITY) - z);
    EXPECT_LE(std::fabs(std::erf(static_cast<Extended>(z)) - p), room_z) << std::hexfloat << p;
  }
}

// Pairs with magnitudes in 2^-20..2^20 and a few from everywhere.
template <typename F>
std::vector<F> SampleOperand(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<F> samples;
  for (int i = 0; i < 30'000; ++i) {
    const int range = i % 4 == 0 ? 120 : 6;
    const double magnitude = std::ldexp(1 + std::ldexp(static_cast<double>(random() >> 12), -52),
                                        static_cast<int>(random() % static_cast<uint64_t>(2 * range)) - range);
    samples.push_back(static_cast<F>(random() % 2 == 0 ? magnitude : -magnitude));
  }
  return samples;
}

template <typename F>
void CheckBinary() {
  using Bulk = void (*)(std::span<const F>, std::span<const F>, std::span<F>);
  struct Case {
    MathFunction function;
    Bulk bulk;
    Extended (*exact)(Extended, Extended);
  };
  const Case cases[] = {
      {MathFunction::kPow, math::Pow, [](Extended x, Extended y) { return std::pow(x, y); }},
      {MathFunction::kAtan2, math::Atan2, [](Extended x, Extended y) { return std::atan2(x, y); }},
      {MathFunction::kHypot, math::Hypot, [](Extended x, Extended y) { return std::hypot(x, y); }},
      {MathFunction::kRhypot, math::Rhypot, [](Extended x, Extended y) { return 1 / std::hypot(x, y); }},
      {MathFunction::kFmod, math::Fmod, [](Extended x, Extended y) { return std::fmod(x, y); }},
      {MathFunction::kRemainder, math::Remainder, [](Extended x, Extended y) { return std::remainder(x, y); }},
      {MathFunction::kFdim, math::Fdim, [](Extended x, Extended y) { return std::fdim(x, y); }},
      {MathFunction::kCopysign, math::Copysign, [](Extended x, Extended y) { return std::copysign(x, y); }},
  };
  const std::vector<F> x = SampleOperand<F>(1), y = SampleOperand<F>(2);
  std::vector<F> out(x.size());
  for (const Case& c : cases) {
    c.bulk(x, y, out);
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_LE(UlpDistance(out[i], c.exact(x[i], y[i])), StatedUlp<F>(c.function))
          << InfoOf(c.function).text << std::hexfloat << " " << x[i] << " " << y[i] << " = " << out[i];
    }
  }
  const std::vector<F> z = SampleOperand<F>(3), w = SampleOperand<F>(4);
  std::vector<F> norm3(x.size()), rnorm3(x.size()), norm4(x.size()), rnorm4(x.size());
  math::Norm3d(x, y, z, norm3);
  math::Rnorm3d(x, y, z, rnorm3);
  math::Norm4d(x, y, z, w, norm4);
  math::Rnorm4d(x, y, z, w, rnorm4);
  for (size_t i = 0; i < x.size(); ++i) {
    const Extended three =
        std::hypot(std::hypot(static_cast<Extended>(x[i]), static_cast<Extended>(y[i])), static_cast<Extended>(z[i]));
    const Extended four = std::hypot(three, static_cast<Extended>(w[i]));
    ASSERT_LE(UlpDistance(norm3[i], three), StatedUlp<F>(MathFunction::kNorm3d));
    ASSERT_LE(UlpDistance(rnorm3[i], 1 / three), StatedUlp<F>(MathFunction::kRnorm3d));
    ASSERT_LE(UlpDistance(norm4[i], four), StatedUlp<F>(MathFunction::kNorm4d));
    ASSERT_LE(UlpDistance(rnorm4[i], 1 / four), StatedUlp<F>(MathFunction::kRnorm4d));
  }
}
TEST(VectorMathAccuracy, BinaryF32) { CheckBinary<float>(); }
TEST(VectorMathAccuracy, BinaryF64) { CheckBinary<double>(); }

template <typename F>
void CheckWithInteger() {
  const std::vector<F> x = SampleOperand<F>(7);
  std::vector<int32_t> n(x.size());
  for (size_t i = 0; i < n.size(); ++i) n[i] = static_cast<int32_t>(i * 7 % 41) - 20;
  std::vector<F> power(x.size()), scaled(x.size());
  math::Powi(x, n, power);
  math::Ldexp(x, n, scaled);
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_LE(UlpDistance(power[i], std::pow(static_cast<Extended>(x[i]), n[i])), StatedUlp<F>(MathFunction::kPowi));
    ASSERT_LE(UlpDistance(scaled[i], std::ldexp(static_cast<Extended>(x[i]), n[i])), 0.5);
  }
}
TEST(VectorMathAccuracy, IntegerOperandF32) { CheckWithInteger<float>(); }
TEST(VectorMathAccuracy, IntegerOperandF64) { CheckWithInteger<double>(); }

}  // namespace
}  // namespace trivet::vm
