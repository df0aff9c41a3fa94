// PTX of the smallest kernels that show where matrix instructions expect their elements. One CTA each; what a thread
// has in registers comes from and goes to global memory as 32-bit words, thread after thread.
#pragma once

#include <cstdint>
#include <string>

#include "jit/layout/conversion.h"
#include "jit/layout/mma_layouts.h"

namespace trivet::jit {

// Name of the kernel in each of these.
inline constexpr char kFragmentKernel[] = "fragments";

// kernel(a, b, d): one mma.sync of one warp with zero accumulators. `types` are those of the instruction in the order
// d, a, b, c: "f32.f16.f16.f32". `a_words`, `b_words` and `d_words` are 32-bit words of a thread.
std::string MmaKernel(MmaKind kind, const std::string& types, int a_words, int b_words, int d_words);

// kernel(a, b, d): copies the bytes of A and B to shared memory as they are, and multiplies there: [64, K] by [K, N],
// by one warpgroup. `types` as "f32.f16.f16" for d, a, b; the instruction takes `k` columns.
std::string WgmmaKernel(const WgmmaSharedLayout& a, const WgmmaSharedLayout& b, const std::string& types, int n, int k);

// kernel(in, out, offsets): carries out a conversion of 16-bit elements through shared memory in one round. `in` and
// `out` have the groups' registers in order. `offsets` has two words for each thread, what its bits contribute to the
// address of a store and of a load.
std::string ConversionKernel(const SharedPlan& plan);

}  // namespace trivet::jit
