// Mathematical functions as ops: that each op runs the function of its name, in every format. How accurate the
// functions are is tested with vm/numerics.
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/interpreter/float_model.h"
#include "tests/unit/interpreter/handler_harness.h"

namespace trivet::vm {
namespace {

using LD = long double;

constexpr LD kPi = 3.141592653589793238462643383279502884L;

struct UnaryCase {
  Op op;
  std::function<LD(LD)> function;
  LD low, high;  // the arguments to try
};

LD NormCdf(LD x) { return std::erfc(-x / std::sqrt(LD{2})) / 2; }

// The x in [low, high] where an increasing function is y.
LD Solve(const std::function<LD(LD)>& function, LD y, LD low, LD high) {
  for (int i = 0; i < 200; ++i) {
    const LD middle = (low + high) / 2;
    (function(middle) < y ? low : high) = middle;
  }
  return (low + high) / 2;
}

// Modified Bessel functions, by their power series.
LD BesselI(int order, LD x) {
  LD term = order == 0 ? 1 : x / 2;
  LD sum = 0;
  for (int k = 1; k < 200; ++k) {
    sum += term;
    term *= x * x / 4 / (k * (k + order));
  }
  return sum;
}

const std::vector<UnaryCase>& UnaryCases() {
  static const std::vector<UnaryCase>& cases = *new std::vector<UnaryCase>{
      {Op::kFloor, [](LD x) { return std::floor(x); }, -4, 4},
      {Op::kCeil, [](LD x) { return std::ceil(x); }, -4, 4},
      {Op::kTrunc, [](LD x) { return std::trunc(x); }, -4, 4},
      {Op::kRound, [](LD x) { return std::round(x); }, -4, 4},
      {Op::kRint, [](LD x) { return std::nearbyint(x); }, -4, 4},
      {Op::kSqrt, [](LD x) { return std::sqrt(x); }, 0, 40},
      {Op::kRsqrt, [](LD x) { return 1 / std::sqrt(x); }, 0.1L, 40},
      {Op::kCbrt, [](LD x) { return std::cbrt(x); }, -20, 20},
      {Op::kRcbrt, [](LD x) { return 1 / std::cbrt(x); }, 0.1L, 20},
      {Op::kSaturate, [](LD x) { return x > 0 ? std::min(x, LD{1}) : 0; }, -2, 2},
      {Op::kExp, [](LD x) { return std::exp(x); }, -5, 5},
      {Op::kExp2, [](LD x) { return std::exp2(x); }, -5, 5},
      {Op::kExp10, [](LD x) { return std::pow(LD{10}, x); }, -2, 2},
      {Op::kExpm1, [](LD x) { return std::expm1(x); }, -1, 3},
      {Op::kLog, [](LD x) { return std::log(x); }, 0.1L, 20},
      {Op::kLog2, [](LD x) { return std::log2(x); }, 0.1L, 20},
      {Op::kLog10, [](LD x) { return std::log10(x); }, 0.1L, 20},
      {Op::kLog1p, [](LD x) { return std::log1p(x); }, -0.5L, 3},
      {Op::kLogb, [](LD x) { return std::logb(x); }, 0.1L, 40},
      {Op::kSin, [](LD x) { return std::sin(x); }, -7, 7},
      {Op::kCos, [](LD x) { return std::cos(x); }, -7, 7},
      {Op::kTan, [](LD x) { return std::tan(x); }, -1, 1},
      {Op::kSinPi, [](LD x) { return std::sin(kPi * x); }, -0.9L, 0.9L},
      {Op::kCosPi, [](LD x) { return std::cos(kPi * x); }, -0.4L, 0.4L},
      {Op::kAsin, [](LD x) { return std::asin(x); }, -1, 1},
      {Op::kAcos, [](LD x) { return std::acos(x); }, -1, 1},
      {Op::kAtan, [](LD x) { return std::atan(x); }, -5, 5},
      {Op::kSinh, [](LD x) { return std::sinh(x); }, -3, 3},
      {Op::kCosh, [](LD x) { return std::cosh(x); }, -3, 3},
      {Op::kTanh, [](LD x) { return std::tanh(x); }, -3, 3},
      {Op::kAsinh, [](LD x) { return std::asinh(x); }, -5, 5},
      {Op::kAcosh, [](LD x) { return std::acosh(x); }, 1, 9},
      {Op::kAtanh, [](LD x) { return std::atanh(x); }, -0.9L, 0.9L},
      {Op::kErf, [](LD x) { return std::erf(x); }, -2, 2},
      {Op::kErfc, [](LD x) { return std::erfc(x); }, -2, 2},
      {Op::kErfInv, [](LD y) { return Solve([](LD x) { return std::erf(x); }, y, -6, 6); }, -0.9L, 0.9L},
      {Op::kErfcInv, [](LD y) { return -Solve([](LD x) { return std::erfc(-x); }, y, -6, 6); }, 0.1L, 1.9L},
      {Op::kErfcx, [](LD x) { return std::exp(x * x) * std::erfc(x); }, -1, 3},
      {Op::kNormCdf, NormCdf, -3, 3},
      {Op::kNormCdfInv, [](LD y) { return Solve(NormCdf, y, -9, 9); }, 0.05L, 0.95L},
      {Op::kTGamma, [](LD x) { return std::tgamma(x); }, 0.3L, 5},
      {Op::kLGamma, [](LD x) { return std::lgamma(x); }, 3, 9},
      {Op::kBesselJ0, [](LD x) { return ::j0l(x); }, 0, 2},
      {Op::kBesselJ1, [](LD x) { return ::j1l(x); }, 0.1L, 3},
      {Op::kBesselY0, [](LD x) { return ::y0l(x); }, 1, 3},
      {Op::kBesselY1, [](LD x) { return ::y1l(x); }, 0.2L, 2},
      {Op::kBesselI0, [](LD x) { return BesselI(0, x); }, 0, 4},
      {Op::kBesselI1, [](LD x) { return BesselI(1, x); }, 0.1L, 4},
  };
  return cases;
}

// How far from the truth a result may be: half a unit of its format, and what the function in f32 or f64 adds.
bool IsClose(const FloatModel& model, uint64_t code, LD truth) {
  const LD slack = model.dtype() == DType::kF64 ? 0x1p-49L : 0x1p-22L;
  const uint64_t low =
      model.Encode(truth - std::fabs(truth) * slack, ModelRounding::kNearest, ModelOverflow::kSaturate);
  const uint64_t high =
      model.Encode(truth + std::fabs(truth) * slack, ModelRounding::kNearest, ModelOverflow::kSaturate);
  return model.Decode(low) <= model.Decode(code) && model.Decode(code) <= model.Decode(high);
}

// `count` codes of values spread over [low, high].
std::vector<uint64_t> Spread(const FloatModel& model, LD low, LD high, int count) {
  std::vector<uint64_t> codes;
  for (int i = 0; i < count; ++i) {
    const uint64_t code =
        model.Encode(low + (high - low) * i / (count - 1), ModelRounding::kNearest, ModelOverflow::kSaturate);
    if (const LD value = model.Decode(code); low <= value && value <= high) codes.push_back(code);
  }
  return codes;
}

TEST(MathExec, EachUnaryOpRunsItsFunctionInEveryFormat) {
  for (const UnaryCase& c : UnaryCases()) {
    for (DType dtype : FloatTypes()) {
      const FloatModel& model = FloatModel::Of(dtype);
      const std::vector<uint64_t> codes = Spread(model, c.low, c.high, 30);
      if (codes.empty()) continue;
      const Bytes got = RunElementwise(c.op, {dtype}, dtype, {model.Store(codes)});
      for (size_t i = 0; i < codes.size(); ++i) {
        const LD x = model.Decode(codes[i]);
        const uint64_t code = WordAt(got, model.storage_bytes(), static_cast<int64_t>(i));
        ASSERT_TRUE(IsClose(model, code, c.function(x)))
            << InfoOf(c.op).text << " " << InfoOf(dtype).text << " of " << static_cast<double>(x) << " gave "
            << static_cast<double>(model.Decode(code)) << ", not " << static_cast<double>(c.function(x));
      }
    }
  }
}

// The op table's own list of unary functions of floats, so that none is forgotten above.
TEST(MathExec, TheCasesAreComplete) {
  for (const OpInfo& info : AllOps()) {
    const bool is_math =
        info.code >= 0x040 && info.code < 0x090 && info.operands.size() == 1 && info.rule == TypeRule::kSameFloat;
    if (!is_math) continue;
    bool found = false;
    for (const UnaryCase& c : UnaryCases()) found |= c.op == info.op;
    EXPECT_TRUE(found) << info.text;
  }
}

TEST(MathExec, FunctionsOfSeveralOperands) {
  const struct {
    Op op;
    std::function<LD(const std::vector<LD>&)> function;
    int arity;
  } cases[] = {
      {Op::kPow, [](const std::vector<LD>& v) { return std::pow(v[0], v[1]); }, 2},
      {Op::kAtan2, [](const std::vector<LD>& v) { return std::atan2(v[0], v[1]); }, 2},
      {Op::kHypot, [](const std::vector<LD>& v) { return std::hypot(v[0], v[1]); }, 2},
      {Op::kRhypot, [](const std::vector<LD>& v) { return 1 / std::hypot(v[0], v[1]); }, 2},
      {Op::kFdim, [](const std::vector<LD>& v) { return std::fdim(v[0], v[1]); }, 2},
      {Op::kRemainder, [](const std::vector<LD>& v) { return std::remainder(v[0], v[1]); }, 2},
      {Op::kNorm3d, [](const std::vector<LD>& v) { return std::hypot(v[0], v[1], v[2]); }, 3},
      {Op::kRnorm3d, [](const std::vector<LD>& v) { return 1 / std::hypot(v[0], v[1], v[2]); }, 3},
      {Op::kNorm4d, [](const std::vector<LD>& v) { return std::hypot(std::hypot(v[0], v[1]), v[2], v[3]); }, 4},
      {Op::kRnorm4d, [](const std::vector<LD>& v) { return 1 / std::hypot(std::hypot(v[0], v[1]), v[2], v[3]); }, 4},
  };
  for (const auto& c : cases) {
    for (DType dtype : FloatTypes()) {
      const FloatModel& model = FloatModel::Of(dtype);
      std::vector<std::vector<uint64_t>> lists(static_cast<size_t>(c.arity));
      for (int n = 0; n < 200; ++n) {
        for (size_t k = 0; k < lists.size(); ++k) {
          const LD x = LD{0.25} + LD{0.01} * ((n * (7 + 6 * static_cast<int>(k)) + 3 * static_cast<int>(k)) % 140);
          lists[k].push_back(model.Encode(x, ModelRounding::kNearest, ModelOverflow::kSaturate));
        }
      }
      std::vector<Bytes> operands;
      for (const auto& list : lists) operands.push_back(model.Store(list));
      const Bytes got = RunElementwise(c.op, std::vector<DType>(lists.size(), dtype), dtype, operands);
      for (size_t i = 0; i < lists[0].size(); ++i) {
        std::vector<LD> x;
        for (const auto& list : lists) x.push_back(model.Decode(list[i]));
        const uint64_t code = WordAt(got, model.storage_bytes(), static_cast<int64_t>(i));
        ASSERT_TRUE(IsClose(model, code, c.function(x)))
            << InfoOf(c.op).text << " " << InfoOf(dtype).text << " gave " << static_cast<double>(model.Decode(code))
            << ", not " << static_cast<double>(c.function(x));
      }
    }
  }
}

TEST(MathExec, IntegerOperands) {
  std::vector<int32_t> n;
  std::vector<LD> values;
  for (int i = 0; i < 700; ++i) {
    n.push_back(i % 4);
    values.push_back(LD{1} + LD{0.125} * (i % 7));
  }
  for (DType dtype : FloatTypes()) {
    const FloatModel& model = FloatModel::Of(dtype);
    std::vector<uint64_t> codes;
    for (LD value : values) codes.push_back(model.Encode(value, ModelRounding::kNearest, ModelOverflow::kSaturate));
    const Bytes x = model.Store(codes);
    const Bytes orders = BytesOf(n);
    const Bytes jn = RunElementwise(Op::kBesselJn, {DType::kI32, dtype}, dtype, {orders, x});
    const Bytes yn = RunElementwise(Op::kBesselYn, {DType::kI32, dtype}, dtype, {orders, x});
    const Bytes ldexp = RunElementwise(Op::kLdexp, {dtype, DType::kI32}, dtype, {x, orders});
    const Bytes powi = RunElementwise(Op::kPowi, {dtype, DType::kI32}, dtype, {x, orders});
    for (size_t i = 0; i < codes.size(); ++i) {
      const LD value = model.Decode(codes[i]);
      const auto at = [&](const Bytes& bytes) { return WordAt(bytes, model.storage_bytes(), static_cast<int64_t>(i)); };
      ASSERT_TRUE(IsClose(model, at(jn), ::jnl(n[i], value))) << InfoOf(dtype).text << " " << i;
      ASSERT_TRUE(IsClose(model, at(yn), ::ynl(n[i], value))) << InfoOf(dtype).text << " " << i;
      ASSERT_TRUE(IsClose(model, at(ldexp), std::ldexp(value, n[i]))) << InfoOf(dtype).text << " " << i;
      ASSERT_TRUE(IsClose(model, at(powi), std::pow(value, LD(n[i])))) << InfoOf(dtype).text << " " << i;
    }
  }
}

TEST(MathExec, ClassificationOfEdgesInEveryFormat) {
  for (DType dtype : FloatTypes()) {
    const FloatModel& model = FloatModel::Of(dtype);
    const std::vector<uint64_t> codes = model.Edges();
    const Bytes x = model.Store(codes);
    const Bytes is_nan = RunElementwise(Op::kIsNan, {dtype}, DType::kI1, {x});
    const Bytes is_inf = RunElementwise(Op::kIsInf, {dtype}, DType::kI1, {x});
    const Bytes is_finite = RunElementwise(Op::kIsFinite, {dtype}, DType::kI1, {x});
    const Bytes sign = RunElementwise(Op::kSignBit, {dtype}, DType::kI1, {x});
    const Bytes exponent = RunElementwise(Op::kIlogb, {dtype}, DType::kI32, {x});
    for (size_t i = 0; i < codes.size(); ++i) {
      const LD value = model.Decode(codes[i]);
      EXPECT_EQ(is_nan[i], std::isnan(value) ? 1 : 0);
      EXPECT_EQ(is_inf[i], std::isinf(value) ? 1 : 0);
      EXPECT_EQ(is_finite[i], std::isfinite(value) ? 1 : 0);
      EXPECT_EQ(sign[i], codes[i] >> (8 * model.storage_bytes() - 1)) << InfoOf(dtype).text << " " << codes[i];
      const int32_t expected = value == 0 || std::isnan(value) ? std::numeric_limits<int32_t>::min()
                               : std::isinf(value)             ? std::numeric_limits<int32_t>::max()
                                                               : std::ilogb(value);
      EXPECT_EQ(static_cast<int32_t>(WordAt(exponent, 4, static_cast<int64_t>(i))), expected)
          << InfoOf(dtype).text << " " << static_cast<double>(value);
    }
  }
}

// f8e5m2 has infinities: what picks or builds values of the format keeps them, what rounds saturates.
TEST(MathExec, InfinitiesOfF8E5M2) {
  const uint8_t infinity = 0x7c;
  const uint8_t largest = 0x7b;
  const auto unary = [](Op op, uint8_t x) { return RunElementwise(op, {DType::kF8E5M2}, DType::kF8E5M2, {{x}})[0]; };
  EXPECT_EQ(unary(Op::kFloor, infinity), infinity);
  EXPECT_EQ(unary(Op::kRint, infinity), infinity);
  EXPECT_EQ(unary(Op::kSqrt, infinity), largest);
  EXPECT_EQ(unary(Op::kExp, infinity), largest);
}

}  // namespace
}  // namespace trivet::vm
