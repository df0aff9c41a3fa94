// Register blocking after Goto and van de Geijn, "Anatomy of high-performance matrix multiplication" (ACM TOMS 34,
// 2008), without the outer loops: tiles are small enough for the caches.
//
//        k                 panel of b: 2 vectors wide, packed when b's rows are far apart
//      +---+             +--+
//   kRows| a |   x     k |  |   ->  kRows x 2 vectors of sums, which stay in registers for all of k
//      +---+             +--+
#include "vm/interpreter/matmul_kernel.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#if defined(__FMA__)
#include <immintrin.h>
#endif

namespace trivet::vm {
namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
constexpr int kBlockRows = 8;  // 8 x 2 sums, 2 of b and 1 of a: 19 of 32 registers; two FMA units need 8 chains
#elif defined(__FMA__)
constexpr int kVectorBytes = 32;
constexpr int kBlockRows = 6;  // 6 x 2 sums, 2 of b and 1 of a: 15 of 16 registers
#else
constexpr int kVectorBytes = 16;
constexpr int kBlockRows = 4;
#endif

template <typename E>
struct VectorOf {
  typedef E Type __attribute__((vector_size(kVectorBytes)));
};
template <typename E>
using Vector = typename VectorOf<E>::Type;
template <typename E>
constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(E));

// Rows of b further apart than this would fall on few cache sets, and on a page each.
constexpr int64_t kMaxUnpackedRowBytes = 512;

template <typename E>
inline Vector<E> Load(const E* from) {
  Vector<E> value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}
template <typename E>
inline void Store(E* to, const Vector<E>& value) {
  std::memcpy(to, &value, sizeof(value));
}

// a * b + c, rounded once.
inline Vector<float> MulAdd(const Vector<float>& a, const Vector<float>& b, const Vector<float>& c) {
#if defined(__AVX512F__)
  return reinterpret_cast<Vector<float>>(_mm512_fmadd_ps(a, b, c));
#elif defined(__FMA__)
  return reinterpret_cast<Vector<float>>(_mm256_fmadd_ps(a, b, c));
#else
  Vector<float> sum;
  for (int i = 0; i < kLanes<float>; ++i) sum[i] = std::fma(a[i], b[i], c[i]);
  return sum;
#endif
}
inline Vector<double> MulAdd(const Vector<double>& a, const Vector<double>& b, const Vector<double>& c) {
#if defined(__AVX512F__)
  return reinterpret_cast<Vector<double>>(_mm512_fmadd_pd(a, b, c));
#elif defined(__FMA__)
  return reinterpret_cast<Vector<double>>(_mm256_fmadd_pd(a, b, c));
#else
  Vector<double> sum;
  for (int i = 0; i < kLanes<double>; ++i) sum[i] = std::fma(a[i], b[i], c[i]);
  return sum;
#endif
}
inline Vector<uint32_t> MulAdd(const Vector<uint32_t>& a, const Vector<uint32_t>& b, const Vector<uint32_t>& c) {
  return a * b + c;
}

// Where a block of a row-major matrix begins, and how far apart its rows are.
template <typename E>
struct Block {
  E* data;
  int64_t stride;
};

// kRows rows of a against a panel of kVectors vectors.
template <typename E, int kRows, int kVectors>
void MicroKernel(int64_t k, Block<const E> a, Block<const E> b, Block<const E> acc, Block<E> out) {
  Vector<E> sums[kRows][kVectors];
  for (int row = 0; row < kRows; ++row) {
    for (int v = 0; v < kVectors; ++v) sums[row][v] = Load(acc.data + row * acc.stride + v * kLanes<E>);
  }
  for (int64_t i = 0; i < k; ++i) {
    Vector<E> b_row[kVectors];
    for (int v = 0; v < kVectors; ++v) b_row[v] = Load(b.data + i * b.stride + v * kLanes<E>);
    for (int row = 0; row < kRows; ++row) {
      const Vector<E> a_value = Vector<E>{} + a.data[row * a.stride + i];
      for (int v = 0; v < kVectors; ++v) sums[row][v] = MulAdd(a_value, b_row[v], sums[row][v]);
    }
  }
  for (int row = 0; row < kRows; ++row) {
    for (int v = 0; v < kVectors; ++v) Store(out.data + row * out.stride + v * kLanes<E>, sums[row][v]);
  }
}

// All m rows against one panel: blocks of kRows rows, then of fewer.
template <typename E, int kVectors, int kRows = kBlockRows>
void MultiplyPanel(int64_t m, int64_t k, Block<const E> a, Block<const E> b, Block<const E> acc, Block<E> out) {
  int64_t row = 0;
  for (; row + kRows <= m; row += kRows) {
    MicroKernel<E, kRows, kVectors>(k, {a.data + row * a.stride, a.stride}, b,
                                    {acc.data + row * acc.stride, acc.stride},
                                    {out.data + row * out.stride, out.stride});
  }
  if constexpr (kRows > 1) {
    if (row < m) {
      MultiplyPanel<E, kVectors, (kRows + 1) / 2>(m - row, k, {a.data + row * a.stride, a.stride}, b,
                                                  {acc.data + row * acc.stride, acc.stride},
                                                  {out.data + row * out.stride, out.stride});
    }
  }
}

// The last columns, fewer than a vector: in padded copies, one row at a time.
template <typename E>
void MultiplyEdge(const MatmulShape& shape, int64_t column, Block<const E> a, const E* b, const E* acc, E* out,
                  E* packing) {
  const int64_t width = shape.n - column;
  std::fill_n(packing, shape.k * kLanes<E>, E{});
  for (int64_t i = 0; i < shape.k; ++i) std::copy_n(b + i * shape.n + column, width, packing + i * kLanes<E>);
  alignas(kVectorBytes) E row_sums[kLanes<E>] = {};
  for (int64_t row = 0; row < shape.m; ++row) {
    std::copy_n(acc + row * shape.n + column, width, row_sums);
    MicroKernel<E, 1, 1>(shape.k, {a.data + row * a.stride, a.stride}, {packing, kLanes<E>}, {row_sums, kLanes<E>},
                         {row_sums, kLanes<E>});
    std::copy_n(row_sums, width, out + row * shape.n + column);
  }
}

template <typename E>
void MatmulOf(const MatmulShape& shape, const E* a, const E* b, const E* acc, E* out, E* packing) {
  const Block<const E> a_rows{a, shape.k};
  constexpr int64_t kPanel = 2 * kLanes<E>;
  const bool packs = shape.n * static_cast<int64_t>(sizeof(E)) > kMaxUnpackedRowBytes;
  int64_t column = 0;
  for (; column + kPanel <= shape.n; column += kPanel) {
    Block<const E> panel{b + column, shape.n};
    if (packs) {
      for (int64_t i = 0; i < shape.k; ++i)
        std::memcpy(packing + i * kPanel, panel.data + i * shape.n, kPanel * sizeof(E));
      panel = {packing, kPanel};
    }
    MultiplyPanel<E, 2>(shape.m, shape.k, a_rows, panel, {acc + column, shape.n}, {out + column, shape.n});
  }
  if (column + kLanes<E> <= shape.n) {
    MultiplyPanel<E, 1>(shape.m, shape.k, a_rows, {b + column, shape.n}, {acc + column, shape.n},
                        {out + column, shape.n});
    column += kLanes<E>;
  }
  if (column < shape.n) MultiplyEdge(shape, column, a_rows, b, acc, out, packing);
}

}  // namespace

int64_t MatmulPackingElements(const MatmulShape& shape) { return shape.k * 2 * kLanes<float>; }

void Matmul(const MatmulShape& shape, const float* a, const float* b, const float* acc, float* out, float* packing) {
  MatmulOf(shape, a, b, acc, out, packing);
}
void Matmul(const MatmulShape& shape, const double* a, const double* b, const double* acc, double* out,
            double* packing) {
  MatmulOf(shape, a, b, acc, out, packing);
}
void Matmul(const MatmulShape& shape, const uint32_t* a, const uint32_t* b, const uint32_t* acc, uint32_t* out,
            uint32_t* packing) {
  MatmulOf(shape, a, b, acc, out, packing);
}

}  // namespace trivet::vm
