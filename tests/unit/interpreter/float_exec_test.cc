// Float arithmetic, minimum and maximum, signs, neighbours and cmpf on edge values of every format (every code of f8)
// against FloatModel.
#include <cfenv>
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

// All combinations of `arity` edge values, one list for each operand; of triples of f8 only a sample.
std::vector<std::vector<uint64_t>> Combinations(const FloatModel& model, int arity) {
  std::vector<uint64_t> edges = model.Edges();
  if (arity == 3 && edges.size() > 64) {
    std::vector<uint64_t> fewer;
    for (size_t i = 0; i < edges.size(); i += 5) fewer.push_back(edges[i]);
    edges = fewer;
  }
  std::vector<std::vector<uint64_t>> lists(static_cast<size_t>(arity));
  size_t total = 1;
  for (int i = 0; i < arity; ++i) total *= edges.size();
  for (size_t n = 0; n < total; ++n) {
    size_t rest = n;
    for (auto& list : lists) {
      list.push_back(edges[rest % edges.size()]);
      rest /= edges.size();
    }
  }
  return lists;
}

// Runs `op` on all combinations and calls check(operand codes, result code).
void ForEachResult(Op op, const FloatModel& model, int arity, std::vector<Attribute> attrs,
                   const std::function<void(const std::vector<uint64_t>&, uint64_t)>& check) {
  const std::vector<std::vector<uint64_t>> lists = Combinations(model, arity);
  std::vector<Bytes> operands;
  for (const auto& list : lists) operands.push_back(model.Store(list));
  const std::vector<DType> dtypes(static_cast<size_t>(arity), model.dtype());
  const Bytes got = RunElementwise(op, dtypes, model.dtype(), operands, std::move(attrs));
  for (size_t i = 0; i < lists[0].size(); ++i) {
    std::vector<uint64_t> codes;
    for (const auto& list : lists) codes.push_back(list[i]);
    check(codes, WordAt(got, model.storage_bytes(), static_cast<int64_t>(i)));
  }
}

std::string Describe(Op op, const FloatModel& model, const std::vector<uint64_t>& codes, uint64_t got,
                     uint64_t expected) {
  std::string text = InfoOf(op).text;
  for (uint64_t code : codes) text += " " + std::to_string(model.Decode(code));
  return text + " in " + InfoOf(model.dtype()).text + " gave " + std::to_string(model.Decode(got)) + ", not " +
         std::to_string(model.Decode(expected));
}

// What arithmetic does with results too large for the format.
ModelOverflow OverflowOf(const FloatModel& model) {
  return model.storage_bytes() == 1 ? ModelOverflow::kSaturate : ModelOverflow::kInfinity;
}

int HostRounding(ModelRounding rounding) {
  switch (rounding) {
    case ModelRounding::kNearest:
      return FE_TONEAREST;
    case ModelRounding::kTowardZero:
      return FE_TOWARDZERO;
    case ModelRounding::kUp:
      return FE_UPWARD;
    case ModelRounding::kDown:
      return FE_DOWNWARD;
  }
  return FE_TONEAREST;
}

// a + b, or where that has more than 64 bits, the one of its neighbours whose last bit is set.
LD SumRoundedToOdd(LD a, LD b) {
  const volatile LD x = a;
  const volatile LD y = b;
  std::fesetround(FE_DOWNWARD);
  const volatile LD low = x + y;
  std::fesetround(FE_UPWARD);
  const volatile LD high = x + y;
  std::fesetround(FE_TONEAREST);
  int exponent;
  const LD fraction = std::frexp(static_cast<LD>(low), &exponent);
  const bool low_is_odd = std::fmod(std::ldexp(std::fabs(fraction), 64), 2) == 1;
  return !std::isfinite(static_cast<LD>(low)) || low == high ? x + y : low_is_odd ? low : high;
}

// One operation in long double under the same rounding; rounding its result again in that direction changes nothing.
LD Compute(Op op, ModelRounding rounding, const std::vector<LD>& x) {
  const volatile LD a = x[0];
  const volatile LD b = x.size() > 1 ? x[1] : 0;
  const volatile LD c = x.size() > 2 ? x[2] : 0;
  std::fesetround(HostRounding(rounding));
  volatile LD result = 0;
  switch (op) {
    case Op::kAddF:
      result = a + b;
      break;
    case Op::kSubF:
      result = a - b;
      break;
    case Op::kMulF:
      result = a * b;
      break;
    case Op::kDivF:
      result = a / b;
      break;
    case Op::kFma:
      result = a * b;  // exact
      result = rounding == ModelRounding::kNearest ? SumRoundedToOdd(result, c) : result + c;
      break;
    default:
      result = std::sqrt(a);
      break;
  }
  std::fesetround(FE_TONEAREST);
  return result;
}

void CheckArithmetic(Op op, int arity) {
  for (DType dtype : FloatTypes()) {
    if (dtype == DType::kF64) continue;  // long double is not wide enough; see below
    if (dtype == DType::kF32 && op == Op::kFma) continue;
    const FloatModel& model = FloatModel::Of(dtype);
    for (ModelRounding rounding :
         {ModelRounding::kNearest, ModelRounding::kTowardZero, ModelRounding::kUp, ModelRounding::kDown}) {
      const auto attr = static_cast<int64_t>(rounding);
      ForEachResult(op, model, arity, {attr}, [&](const std::vector<uint64_t>& codes, uint64_t got) {
        std::vector<LD> x;
        for (uint64_t code : codes) x.push_back(model.Decode(code));
        const LD result = Compute(op, rounding, x);
        if (std::isnan(result) && dtype == DType::kF8E4B15) return;  // its sign is the host's
        const uint64_t expected = model.Encode(result, rounding, OverflowOf(model));
        ASSERT_TRUE(model.SameCode(got, expected)) << Describe(op, model, codes, got, expected) << " rounding " << attr;
      });
    }
  }
}

TEST(FloatExec, Add) { CheckArithmetic(Op::kAddF, 2); }
TEST(FloatExec, Sub) { CheckArithmetic(Op::kSubF, 2); }
TEST(FloatExec, Mul) { CheckArithmetic(Op::kMulF, 2); }
TEST(FloatExec, Div) { CheckArithmetic(Op::kDivF, 2); }
TEST(FloatExec, Fma) { CheckArithmetic(Op::kFma, 3); }
TEST(FloatExec, Sqrt) { CheckArithmetic(Op::kSqrt, 1); }

// f64, and fma of f32, against the host's own correctly rounded operations.
template <typename F>
void CheckHostArithmetic(DType dtype, Op op, int arity, const std::function<F(F, F, F)>& host) {
  const FloatModel& model = FloatModel::Of(dtype);
  ForEachResult(op, model, arity, {}, [&](const std::vector<uint64_t>& codes, uint64_t got) {
    const auto value = [&](size_t i) { return i < codes.size() ? static_cast<F>(model.Decode(codes[i])) : F{0}; };
    const uint64_t expected = model.Encode(host(value(0), value(1), value(2)));
    ASSERT_TRUE(model.SameCode(got, expected)) << Describe(op, model, codes, got, expected);
  });
}

TEST(FloatExec, HostArithmetic) {
  CheckHostArithmetic<double>(DType::kF64, Op::kAddF, 2, [](double a, double b, double) { return a + b; });
  CheckHostArithmetic<double>(DType::kF64, Op::kSubF, 2, [](double a, double b, double) { return a - b; });
  CheckHostArithmetic<double>(DType::kF64, Op::kMulF, 2, [](double a, double b, double) { return a * b; });
  CheckHostArithmetic<double>(DType::kF64, Op::kDivF, 2, [](double a, double b, double) { return a / b; });
  CheckHostArithmetic<double>(DType::kF64, Op::kSqrt, 1, [](double a, double, double) { return std::sqrt(a); });
  CheckHostArithmetic<double>(DType::kF64, Op::kFma, 3, [](double a, double b, double c) { return std::fma(a, b, c); });
  CheckHostArithmetic<float>(DType::kF32, Op::kFma, 3, [](float a, float b, float c) { return std::fma(a, b, c); });
}

TEST(FloatExec, DirectedF64) {
  const auto divide = [](Rounding rounding) {
    const Bytes got =
        RunElementwise(Op::kDivF, {DType::kF64, DType::kF64}, DType::kF64,
                       {BytesOf<double>({1, -1}), BytesOf<double>({3, 3})}, {static_cast<int64_t>(rounding)});
    return ElementsOf<double>(got);
  };
  const double low = 0x1.5555555555555p-2;
  const double high = 0x1.5555555555556p-2;
  EXPECT_EQ(divide(Rounding::kTowardZero), (std::vector<double>{low, -low}));
  EXPECT_EQ(divide(Rounding::kUp), (std::vector<double>{high, -low}));
  EXPECT_EQ(divide(Rounding::kDown), (std::vector<double>{low, -high}));
}

TEST(FloatExec, RemainderOfTruncatedQuotient) {
  for (DType dtype : FloatTypes()) {
    const FloatModel& model = FloatModel::Of(dtype);
    ForEachResult(Op::kRemF, model, 2, {}, [&](const std::vector<uint64_t>& codes, uint64_t got) {
      const LD result = std::fmod(model.Decode(codes[0]), model.Decode(codes[1]));
      if (std::isnan(result) && dtype == DType::kF8E4B15) return;
      ASSERT_TRUE(model.SameCode(got, model.Encode(result)))
          << Describe(Op::kRemF, model, codes, got, model.Encode(result));
    });
  }
}

// -0 < +0, else by value.
bool Below(LD a, LD b) { return a < b || (a == b && std::signbit(a) && !std::signbit(b)); }

LD Extremum(LD a, LD b, bool is_max, NanRule rule) {
  if (std::isnan(a) || std::isnan(b)) {
    if (rule == NanRule::kPropagate) return std::numeric_limits<LD>::quiet_NaN();
    return std::isnan(a) ? b : a;
  }
  return Below(a, b) == is_max ? b : a;
}

TEST(FloatExec, MinMaxClamp) {
  for (DType dtype : FloatTypes()) {
    const FloatModel& model = FloatModel::Of(dtype);
    for (NanRule rule : {NanRule::kIgnore, NanRule::kPropagate}) {
      const std::vector<Attribute> attrs{static_cast<int64_t>(rule)};
      for (Op op : {Op::kMinF, Op::kMaxF}) {
        ForEachResult(op, model, 2, attrs, [&](const std::vector<uint64_t>& codes, uint64_t got) {
          const LD chosen = Extremum(model.Decode(codes[0]), model.Decode(codes[1]), op == Op::kMaxF, rule);
          ASSERT_TRUE(model.SameCode(got, model.Encode(chosen)))
              << Describe(op, model, codes, got, model.Encode(chosen));
        });
      }
      ForEachResult(Op::kClampF, model, 3, attrs, [&](const std::vector<uint64_t>& codes, uint64_t got) {
        const LD raised = Extremum(model.Decode(codes[0]), model.Decode(codes[1]), true, rule);
        const LD chosen = Extremum(raised, model.Decode(codes[2]), false, rule);
        ASSERT_TRUE(model.SameCode(got, model.Encode(chosen)))
            << Describe(Op::kClampF, model, codes, got, model.Encode(chosen));
      });
    }
  }
}

TEST(FloatExec, SignsOfEveryCode) {
  for (DType dtype : FloatTypes()) {
    const FloatModel& model = FloatModel::Of(dtype);
    const uint64_t sign = uint64_t{1} << (8 * model.storage_bytes() - 1);
    // Without -0, neither zero nor the NaN has a sign to change.
    const auto is_fixed = [&](uint64_t code) { return !model.has_minus_zero() && (code & ~sign) == 0; };
    ForEachResult(Op::kNegF, model, 1, {}, [&](const std::vector<uint64_t>& codes, uint64_t got) {
      EXPECT_EQ(got, is_fixed(codes[0]) ? codes[0] : codes[0] ^ sign) << InfoOf(dtype).text << " " << codes[0];
    });
    ForEachResult(Op::kAbsF, model, 1, {}, [&](const std::vector<uint64_t>& codes, uint64_t got) {
      EXPECT_EQ(got, is_fixed(codes[0]) ? codes[0] : codes[0] & ~sign) << InfoOf(dtype).text << " " << codes[0];
    });
    ForEachResult(Op::kCopySign, model, 2, {}, [&](const std::vector<uint64_t>& codes, uint64_t got) {
      EXPECT_EQ(got, is_fixed(codes[0]) ? codes[0] : (codes[0] & ~sign) | (codes[1] & sign))
          << InfoOf(dtype).text << " " << codes[0] << ", " << codes[1];
    });
  }
}

TEST(FloatExec, NextAfterIsTheNeighbourInTheFormat) {
  for (DType dtype : FloatTypes()) {
    const FloatModel& model = FloatModel::Of(dtype);
    ForEachResult(Op::kNextAfter, model, 2, {}, [&](const std::vector<uint64_t>& codes, uint64_t got) {
      const LD from = model.Decode(codes[0]);
      const LD towards = model.Decode(codes[1]);
      const LD next = model.Decode(got);
      if (std::isnan(from) || std::isnan(towards)) {
        ASSERT_TRUE(std::isnan(next));
        return;
      }
      if (from == towards) {
        ASSERT_EQ(got, codes[1]);
        return;
      }
      ASSERT_TRUE(from < towards ? from < next && next <= towards : towards <= next && next < from)
          << Describe(Op::kNextAfter, model, codes, got, got);
      // Nothing lies between: the middle rounds to one of the two.
      const LD middle = from / 2 + next / 2;
      if (std::isfinite(middle) && middle != from && middle != next && dtype != DType::kF64) {
        const LD rounded = model.Decode(model.Encode(middle));
        ASSERT_TRUE(rounded == from || rounded == next || dtype == DType::kF8E4B15)
            << Describe(Op::kNextAfter, model, codes, got, got);
      }
      if (next == 0 && model.has_minus_zero()) {
        ASSERT_EQ(std::signbit(next), std::signbit(from));
      }
    });
  }
}

TEST(FloatExec, CompareWithNanIsOnlyEverUnequal) {
  for (DType dtype : FloatTypes()) {
    const FloatModel& model = FloatModel::Of(dtype);
    const std::vector<std::vector<uint64_t>> lists = Combinations(model, 2);
    for (int64_t predicate = 0; predicate < 6; ++predicate) {
      const Bytes got = RunElementwise(Op::kCmpF, {dtype, dtype}, DType::kI1,
                                       {model.Store(lists[0]), model.Store(lists[1])}, {predicate});
      for (size_t i = 0; i < got.size(); ++i) {
        const LD a = model.Decode(lists[0][i]);
        const LD b = model.Decode(lists[1][i]);
        const bool expected[] = {a == b, a != b, a<b, a <= b, a> b, a >= b};
        ASSERT_EQ(got[i], expected[predicate] ? 1 : 0) << InfoOf(dtype).text << " " << static_cast<double>(a) << ", "
                                                       << static_cast<double>(b) << " predicate " << predicate;
      }
    }
  }
}

TEST(SelectExec, Elementwise) {
  for (DType dtype : {DType::kI1, DType::kF8E4M3, DType::kBF16, DType::kF32, DType::kI64}) {
    const int bytes = InfoOf(dtype).storage_bytes;
    const int64_t count = 101;
    Bytes condition, if_true(static_cast<size_t>(count * bytes)), if_false(static_cast<size_t>(count * bytes));
    for (int64_t i = 0; i < count; ++i) {
      condition.push_back(i % 3 == 0 ? 1 : 0);
      SetWord(if_true, bytes, i, static_cast<uint64_t>(i) * 77);
      SetWord(if_false, bytes, i, static_cast<uint64_t>(i) * 131 + 5);
    }
    const Bytes got = RunElementwise(Op::kSelect, {DType::kI1, dtype, dtype}, dtype, {condition, if_true, if_false});
    for (int64_t i = 0; i < count; ++i) {
      EXPECT_EQ(WordAt(got, bytes, i), WordAt(i % 3 == 0 ? if_true : if_false, bytes, i));
    }
  }
}

TEST(SelectExec, ScalarConditionTakesWholeValues) {
  for (const Type& type :
       {Type::Tile({7, 3}, DType::kF16), Type::Pointer(DType::kF32), Type::BlockPtr({16, 16}, DType::kF32),
        Type::PointerTile({5}, DType::kI8), Type::Desc({8, 8}, DType::kF16)}) {
    const auto size = static_cast<size_t>(type.value_bytes());
    const Bytes if_true(size, 0x11);
    const Bytes if_false(size, 0x22);
    OpCall call{Op::kSelect, {Type::Scalar(DType::kI1), type, type}, {type}, {}};
    EXPECT_EQ(RunOp1(call, {{1}, if_true, if_false}), if_true) << type.ToString();
    EXPECT_EQ(RunOp1(call, {{0}, if_true, if_false}), if_false) << type.ToString();
    call.in_place_of = 1;
    EXPECT_EQ(RunOp1(call, {{1}, if_true, if_false}), if_true) << type.ToString();
    EXPECT_EQ(RunOp1(call, {{0}, if_true, if_false}), if_false) << type.ToString();
  }
}

}  // namespace
}  // namespace trivet::vm
