// dot, dot_scaled and the matrix kernel against naive loops: std::fma in order of k, exact integers, powers of two.
#include <functional>

#include "tests/unit/interpreter/evaluate_text.h"
#include "vm/interpreter/matmul_kernel.h"

namespace trivet::vm::testing {
namespace {

struct Shape {
  int64_t batch, m, n, k;
  size_t a_count() const { return static_cast<size_t>(batch * m * k); }
  size_t b_count() const { return static_cast<size_t>(batch * k * n); }
  size_t c_count() const { return static_cast<size_t>(batch * m * n); }
};
const std::vector<Shape> kShapes = {{0, 1, 1, 1},    {0, 16, 16, 16}, {0, 64, 64, 32}, {0, 5, 7, 3},    {0, 33, 47, 19},
                                    {2, 16, 32, 16}, {3, 3, 20, 5},   {0, 16, 160, 8}, {0, 1, 256, 40}, {0, 70, 1, 9}};

// a[i, k] and b[k, j] of batch entry `batch` as double, and a chain of combine(a, b, sum).
template <typename A, typename B, typename C>
std::vector<C> ReferenceDot(const Shape& at, const std::vector<A>& a, const std::vector<B>& b,
                            const std::vector<C>& acc, const std::function<C(A, B, C)>& combine) {
  std::vector<C> out = acc;
  for (int64_t batch = 0; batch < std::max<int64_t>(at.batch, 1); ++batch) {
    for (int64_t i = 0; i < at.m; ++i) {
      for (int64_t j = 0; j < at.n; ++j) {
        C& sum = out[static_cast<size_t>((batch * at.m + i) * at.n + j)];
        for (int64_t k = 0; k < at.k; ++k) {
          sum = combine(a[static_cast<size_t>((batch * at.m + i) * at.k + k)],
                        b[static_cast<size_t>((batch * at.k + k) * at.n + j)], sum);
        }
      }
    }
  }
  return out;
}

std::string MatrixText(int64_t batch, int64_t rows, int64_t columns, const std::string& dtype) {
  return batch == 0 ? TileText({rows, columns}, dtype) : TileText({batch, rows, columns}, dtype);
}

// The accumulator is an intermediate value that dies in the dot, so that the dot may work in its place.
std::string DotText(const Shape& at, const std::string& a, const std::string& b, const std::string& acc,
                    const std::string& precision = "ieee") {
  const std::string type = MatrixText(at.batch, at.m, at.n, acc);
  const bool is_integer = acc == "i32";
  return absl::StrCat("func @f(%a: ", MatrixText(at.batch, at.m, at.k, a),
                      ", %b: ", MatrixText(at.batch, at.k, at.n, b), ", %c: ", type, ") -> ", type,
                      " {\n%z = constant 0 : ", type, "\n%d = ", is_integer ? "ori" : "addf",
                      " %c, %z\n%r = dot %a, %b, %d precision=", precision, " : ", type, "\nreturn %r\n}\n");
}

Shape Unbatched(Shape at) {
  at.batch = std::max<int64_t>(at.batch, 1);
  return at;
}

// Elements whose zeros are +0: the addition of a zero in DotText then changes nothing.
template <typename T>
std::vector<T> Operand(size_t count, uint64_t seed) {
  return RandomElements<T>(count, seed);
}

// Dots in f32 of operands widened exactly, rounded once to `C`.
template <typename A, typename B, typename C>
void ExpectDotInF32() {
  for (const Shape& shape : kShapes) {
    const Shape at = Unbatched(shape);
    const std::vector<A> a = Operand<A>(at.a_count(), 1);
    const std::vector<B> b = Operand<B>(at.b_count(), 2);
    const std::vector<C> acc = Operand<C>(at.c_count(), 3);
    const std::string text = DotText(shape, ElementTraits<A>::kText, ElementTraits<B>::kText, ElementTraits<C>::kText);
    SCOPED_TRACE(text);
    const std::vector<C> got = EvaluateTo<C>(at.c_count(), text, {ToBytes(a), ToBytes(b), ToBytes(acc)});
    std::vector<float> wide;
    for (C c : acc) wide.push_back(static_cast<float>(ToDouble(c)));
    const std::vector<float> want = ReferenceDot<A, B, float>(at, a, b, wide, [](A x, B y, float sum) {
      return std::fma(static_cast<float>(ToDouble(x)), static_cast<float>(ToDouble(y)), sum);
    });
    for (size_t i = 0; i < want.size(); ++i) {
      ASSERT_TRUE(SameFloat(ToDouble(got[i]), ToDouble(FromDouble<C>(want[i])))) << i << ": " << ToDouble(got[i]);
    }
  }
}

TEST(DotTest, F32) { ExpectDotInF32<float, float, float>(); }
TEST(DotTest, NarrowOperands) {
  ExpectDotInF32<F16, F16, float>();
  ExpectDotInF32<BF16, BF16, float>();
  ExpectDotInF32<F8E4M3, F8E4M3, float>();
  ExpectDotInF32<F8E5M2, F8E5M2, float>();
  ExpectDotInF32<F8E4B15, F8E4B15, float>();
}
TEST(DotTest, MixedF8) {
  ExpectDotInF32<F8E4M3, F8E5M2, float>();
  ExpectDotInF32<F8E5B16, F8E4B8, float>();
}
TEST(DotTest, NarrowAccumulatorsRoundOnce) {
  ExpectDotInF32<F16, F16, F16>();
  ExpectDotInF32<BF16, BF16, BF16>();
  ExpectDotInF32<F8E4M3, F8E5M2, F16>();
}

TEST(DotTest, F64) {
  for (const Shape& shape : kShapes) {
    const Shape at = Unbatched(shape);
    const std::vector<double> a = Operand<double>(at.a_count(), 1);
    const std::vector<double> b = Operand<double>(at.b_count(), 2);
    const std::vector<double> acc = Operand<double>(at.c_count(), 3);
    const std::vector<double> got =
        EvaluateTo<double>(at.c_count(), DotText(shape, "f64", "f64", "f64"), {ToBytes(a), ToBytes(b), ToBytes(acc)});
    EXPECT_EQ(got, (ReferenceDot<double, double, double>(
                       at, a, b, acc, [](double x, double y, double sum) { return std::fma(x, y, sum); })));
  }
}

template <typename T>
void ExpectIntegerDot() {
  for (const Shape& shape : kShapes) {
    const Shape at = Unbatched(shape);
    const std::vector<T> a = RandomElements<T>(at.a_count(), 1);
    const std::vector<T> b = RandomElements<T>(at.b_count(), 2);
    const std::vector<int32_t> acc = RandomElements<int32_t>(at.c_count(), 3);
    const std::string text = DotText(shape, ElementTraits<T>::kText, ElementTraits<T>::kText, "i32");
    const std::vector<int32_t> got = EvaluateTo<int32_t>(at.c_count(), text, {ToBytes(a), ToBytes(b), ToBytes(acc)});
    EXPECT_EQ(got, (ReferenceDot<T, T, int32_t>(at, a, b, acc, [](T x, T y, int32_t sum) {
                return static_cast<int32_t>(static_cast<int64_t>(x) * y + sum);  // wraps
              })));
  }
}
TEST(DotTest, Integers) {
  ExpectIntegerDot<int8_t>();
  ExpectIntegerDot<uint8_t>();
}

TEST(DotTest, SpecialValues) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::string precision : {"ieee", "tf32", "tf32x3", "bf16x3", "bf16x6"}) {
    const std::vector<float> got = EvaluateTo<float>(
        4, DotText({0, 4, 1, 2}, "f32", "f32", "f32", precision),
        {ToBytes<float>({1, 0, inf, 0, inf, -1, 2, nan}), ToBytes<float>({1, inf}), ToBytes<float>({0, 0, 0, 0})});
    EXPECT_TRUE(std::isnan(got[0])) << precision;  // 0 * inf
    EXPECT_TRUE(std::isnan(got[1])) << precision;
    EXPECT_TRUE(std::isnan(got[2])) << precision;  // inf - inf
    EXPECT_TRUE(std::isnan(got[3])) << precision;
    const std::vector<float> infinite =
        EvaluateTo<float>(1, DotText({0, 1, 1, 2}, "f32", "f32", "f32", precision),
                          {ToBytes<float>({1, 1.1f}), ToBytes<float>({inf, 1.1f}), ToBytes<float>({1})});
    EXPECT_EQ(infinite[0], inf) << precision;
  }
}

// --- precision of f32 operands
// ----------------------------------------------------------------------------------------

// Worst |got - exact| relative to the sum of |products|.
double WorstError(const std::string& precision) {
  const Shape at{1, 16, 16, 64};
  const std::vector<float> a = Operand<float>(at.a_count(), 1);
  const std::vector<float> b = Operand<float>(at.b_count(), 2);
  const std::vector<float> got =
      EvaluateTo<float>(at.c_count(), DotText({0, 16, 16, 64}, "f32", "f32", "f32", precision),
                        {ToBytes(a), ToBytes(b), ToBytes(std::vector<float>(at.c_count()))});
  double worst = 0;
  for (size_t i = 0; i < 16; ++i) {
    for (size_t j = 0; j < 16; ++j) {
      long double exact = 0, magnitude = 0;
      for (size_t k = 0; k < 64; ++k) {
        const long double product = static_cast<long double>(a[i * 64 + k]) * b[k * 16 + j];
        exact += product;
        magnitude += std::fabs(product);
      }
      worst = std::max(worst, static_cast<double>(std::fabs(got[i * 16 + j] - exact) / magnitude));
    }
  }
  return worst;
}

TEST(DotTest, PrecisionsDiffer) {
  EXPECT_LT(WorstError("ieee"), 2e-7);
  EXPECT_LT(WorstError("tf32"), 1.0 / (1 << 9));
  EXPECT_GT(WorstError("tf32"), 1.0 / (1 << 16));
  EXPECT_LT(WorstError("tf32x3"), 5e-7);
  EXPECT_LT(WorstError("bf16x3"), 1.0 / (1 << 16));
  EXPECT_GT(WorstError("bf16x3"), 1e-6);
  EXPECT_LT(WorstError("bf16x6"), 1e-6);
}

// tf32 has ten bits after the point.
TEST(DotTest, Tf32CutsOperandsOff) {
  const float step = 1.0f / 1024;
  const std::vector<float> got = EvaluateTo<float>(
      1, DotText({0, 1, 1, 2}, "f32", "f32", "f32", "tf32"),
      {ToBytes<float>({1 + step * 0.875f, -1 - step * 1.5f}), ToBytes<float>({1, 16 + 8 * step}), ToBytes<float>({0})});
  EXPECT_EQ(got[0], 1 - (1 + step) * 16);
}

// Of the two parts the larger is rounded and the smaller cut off, as Triton splits them on NVIDIA GPUs.
TEST(DotTest, Tf32x3CutsTheSmallPartOff) {
  const float x = std::bit_cast<float>(0x3f92'7407u);  // = 0x3f928000 - 0xbf9 ulp; 0xbf9 has twelve bits, eleven stay
  const std::vector<float> got = EvaluateTo<float>(1, DotText({0, 1, 1, 1}, "f32", "f32", "f32", "tf32x3"),
                                                   {ToBytes<float>({x}), ToBytes<float>({1}), ToBytes<float>({0})});
  EXPECT_EQ(std::bit_cast<uint32_t>(got[0]), 0x3f92'7408u);
}

// --- dot_scaled
// -------------------------------------------------------------------------------------------------------

struct ScaledCase {
  std::string format;
  std::string storage;
  int bits;
  FloatFormat decode;
};
const std::vector<ScaledCase> kFormats = {
    {"e2m1", "u8", 4, FloatFormat::kF4E2M1},  {"e4m3", "f8e4m3", 8, FloatFormat::kF8E4M3},
    {"e4m3", "u8", 8, FloatFormat::kF8E4M3},  {"e5m2", "u8", 8, FloatFormat::kF8E5M2},
    {"bf16", "bf16", 16, FloatFormat::kBF16}, {"fp16", "f16", 16, FloatFormat::kF16}};

// [rows, columns] codes of a format, without NaN and infinities, and how they are stored.
struct ScaledMatrix {
  int64_t rows, columns;
  std::vector<uint16_t> codes;
  const ScaledCase* format;

  ScaledMatrix(int64_t r, int64_t c, const ScaledCase& f, uint64_t seed) : rows(r), columns(c), format(&f) {
    std::mt19937_64 random(seed);
    for (int64_t i = 0; i < r * c; ++i) {
      uint16_t code;
      do {
        code = static_cast<uint16_t>(random() & ((1u << f.bits) - 1));
      } while (!(std::fabs(DecodeFloat(f.decode, code)) < 1e4));
      codes.push_back(code);
    }
  }
  double At(int64_t i, int64_t j) const {
    return DecodeFloat(format->decode, codes[static_cast<size_t>(i * columns + j)]);
  }
  bool is_packed() const { return format->bits == 4; }
  std::string Text(bool packs_columns) const {
    const int64_t stored_rows = is_packed() && !packs_columns ? rows / 2 : rows;
    const int64_t stored_columns = is_packed() && packs_columns ? columns / 2 : columns;
    return TileText({stored_rows, stored_columns}, format->storage);
  }
  Bytes Store(bool packs_columns) const {
    if (format->bits == 16) return ToBytes(codes);
    Bytes bytes;
    if (!is_packed()) return Bytes(codes.begin(), codes.end());
    for (int64_t i = 0; i < rows; i += packs_columns ? 1 : 2) {
      for (int64_t j = 0; j < columns; j += packs_columns ? 2 : 1) {
        const int64_t second = packs_columns ? i * columns + j + 1 : (i + 1) * columns + j;
        bytes.push_back(static_cast<uint8_t>(codes[static_cast<size_t>(i * columns + j)] |
                                             codes[static_cast<size_t>(second)] << 4));
      }
    }
    return bytes;
  }
};

void ExpectDotScaled(const ScaledCase& a_format, const ScaledCase& b_format, bool k_pack, bool has_a_scale,
                     bool has_b_scale) {
  const int64_t m = 6, n = 10, k = 64;
  const ScaledMatrix a(m, k, a_format, 1);
  const ScaledMatrix b(k, n, b_format, 2);
  const std::vector<float> acc = RandomElements<float>(static_cast<size_t>(m * n), 3);
  std::vector<uint8_t> a_scale, b_scale;
  for (int64_t i = 0; i < m * k / 32; ++i) a_scale.push_back(static_cast<uint8_t>(120 + i % 9));
  for (int64_t i = 0; i < n * k / 32; ++i) b_scale.push_back(static_cast<uint8_t>(131 - i % 7));
  const std::string pack = k_pack ? "true" : "false";
  const std::string text = absl::StrCat(
      "func @f(%a: ", a.Text(k_pack), ", %s: tile<6x2xu8>, %b: ", b.Text(!k_pack),
      ", %t: tile<10x2xu8>, %c: tile<6x10xf32>)", " -> tile<6x10xf32> {\n%r = dot_scaled %a, ",
      has_a_scale ? "%s" : "_", ", %b, ", has_b_scale ? "%t" : "_", ", %c a_format=", a_format.format,
      " b_format=", b_format.format, " a_k_pack=", pack, " b_k_pack=", pack, " : tile<6x10xf32>\nreturn %r\n}\n");
  SCOPED_TRACE(text);
  const std::vector<float> got =
      EvaluateTo<float>(static_cast<size_t>(m * n), text,
                        {a.Store(k_pack), ToBytes(a_scale), b.Store(!k_pack), ToBytes(b_scale), ToBytes(acc)});
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float sum = acc[static_cast<size_t>(i * n + j)];
      for (int64_t at = 0; at < k; ++at) {
        const int sa = has_a_scale ? a_scale[static_cast<size_t>(i * 2 + at / 32)] - 127 : 0;
        const int sb = has_b_scale ? b_scale[static_cast<size_t>(j * 2 + at / 32)] - 127 : 0;
        sum = std::fma(static_cast<float>(std::ldexp(a.At(i, at), sa)), static_cast<float>(std::ldexp(b.At(at, j), sb)),
                       sum);
      }
      ASSERT_EQ(got[static_cast<size_t>(i * n + j)], sum) << i << ", " << j;
    }
  }
}

TEST(DotScaledTest, AllFormatPairs) {
  for (const ScaledCase& a : kFormats) {
    for (const ScaledCase& b : kFormats) ExpectDotScaled(a, b, true, true, true);
  }
}
TEST(DotScaledTest, PackedAlongTheOtherAxis) { ExpectDotScaled(kFormats[0], kFormats[0], false, true, true); }
TEST(DotScaledTest, AbsentScalesAreOne) {
  ExpectDotScaled(kFormats[0], kFormats[1], true, false, true);
  ExpectDotScaled(kFormats[4], kFormats[0], true, true, false);
  ExpectDotScaled(kFormats[1], kFormats[2], true, false, false);
}

TEST(DotScaledTest, ScaleOfAllOnesIsNan) {
  const std::string text =
      R"(func @f(%a: tile<1x32xf8e4m3>, %s: tile<1x1xu8>, %b: tile<32x1xf8e4m3>, %c: tile<1x1xf32>) -> tile<1x1xf32> {
    %r = dot_scaled %a, %s, %b, _, %c a_format=e4m3 b_format=e4m3 a_k_pack=true b_k_pack=true : tile<1x1xf32>
    return %r
  })";
  const std::vector<F8E4M3> ones(32, FromDouble<F8E4M3>(1));
  const auto run = [&](uint8_t scale) {
    return EvaluateTo<float>(1, text, {ToBytes(ones), Bytes{scale}, ToBytes(ones), ToBytes<float>({0})})[0];
  };
  EXPECT_EQ(run(127), 32);
  EXPECT_EQ(run(128), 64);
  EXPECT_EQ(run(0), 32 * std::ldexp(1.0f, -127));
  EXPECT_TRUE(std::isnan(run(0xff)));
}

// --- the kernel alone
// -------------------------------------------------------------------------------------------------

// Every remainder of rows and columns against the block sizes, in place and not.
TEST(MatmulKernelTest, AllRemainders) {
  for (int64_t m = 1; m <= 18; ++m) {
    for (int64_t n : {1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 129, 144}) {
      const MatmulShape shape{.m = m, .n = n, .k = 5};
      const Shape at{1, m, n, 5};
      const std::vector<float> a = RandomElements<float>(at.a_count(), 1);
      const std::vector<float> b = RandomElements<float>(at.b_count(), 2);
      const std::vector<float> acc = RandomElements<float>(at.c_count(), 3);
      const std::vector<float> want = ReferenceDot<float, float, float>(
          at, a, b, acc, [](float x, float y, float sum) { return std::fma(x, y, sum); });
      std::vector<float> packing(static_cast<size_t>(MatmulPackingElements(shape)));
      std::vector<float> out(at.c_count(), -1);
      Matmul(shape, a.data(), b.data(), acc.data(), out.data(), packing.data());
      EXPECT_EQ(out, want) << m << " x " << n;
      std::vector<float> in_place = acc;
      Matmul(shape, a.data(), b.data(), in_place.data(), in_place.data(), packing.data());
      EXPECT_EQ(in_place, want) << m << " x " << n << " in place";
    }
  }
}

}  // namespace
}  // namespace trivet::vm::testing
