// out = acc + a @ b on row-major matrices in ordinary memory: the arithmetic under dot and dot_scaled.
//
// Every element is one chain of fused multiply-adds in order of increasing k,
//
//   out[i, j] = fma(a[i, K-1], b[K-1, j], ... fma(a[i, 1], b[1, j], fma(a[i, 0], b[0, j], acc[i, j])))
//
// whatever the instruction set and the blocking: both are free to choose which elements are worked on together, not
// how one is summed. Without a hardware fused multiply-add (x86 before Haswell) it is slow, not different.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trivet::vm {

// a is [m, k], b is [k, n], acc and out are [m, n].
struct MatmulShape {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
};

// Elements of `packing` that Matmul needs for this shape: one panel of b.
int64_t MatmulPackingElements(const MatmulShape& shape);

// acc may be out; nothing else overlaps. `packing` is aligned to 64 bytes. Integers wrap.
void Matmul(const MatmulShape& shape, const float* a, const float* b, const float* acc, float* out, float* packing);
void Matmul(const MatmulShape& shape, const double* a, const double* b, const double* acc, double* out,
            double* packing);
void Matmul(const MatmulShape& shape, const uint32_t* a, const uint32_t* b, const uint32_t* acc, uint32_t* out,
            uint32_t* packing);

}  // namespace trivet::vm
