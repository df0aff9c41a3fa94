// jit/layout against the hardware: products of small integers, whose operands are put where the layouts say and whose
// results are looked up there. Skipped without a GPU of compute capability 9.0, which has all the instructions.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "jit/driver/cuda_driver.h"
#include "jit/driver/cuda_module.h"
#include "jit/layout/conversion.h"
#include "jit/layout/mma_layouts.h"
#include "tests/unit/fragments/fragment_kernels.h"

namespace trivet::jit {
namespace {

using Bytes = std::vector<uint8_t>;

class Fragments : public ::testing::Test {
 protected:
  void SetUp() override {
    const absl::StatusOr<const CudaDriver*> driver = CudaDriver::Get();
    if (!driver.ok()) GTEST_SKIP() << driver.status().message();
    driver_ = *driver;
    if (driver_->devices()[0].compute_capability() != 90) GTEST_SKIP() << "not compute capability 9.0";
    context_.emplace(ScopedContext::Enter(*driver_, 0).value());
  }

  // Runs one CTA of `threads` threads on copies of the buffers and brings them back.
  void Run(const std::string& ptx, int threads, int64_t shared_bytes, std::vector<Bytes>* buffers) {
    const absl::StatusOr<LoadedFunction> kernel = LoadFunction(*driver_, driver_->devices()[0],
                                                               {.image = ptx,
                                                                .kernel = kFragmentKernel,
                                                                .label = "",
                                                                .dynamic_shared_bytes = shared_bytes,
                                                                .threads_per_cta = threads});
    ASSERT_TRUE(kernel.ok()) << kernel.status().message() << "\n" << ptx;
    std::vector<cuda::DevicePtr> addresses(buffers->size());
    std::vector<void*> params;
    for (size_t i = 0; i < buffers->size(); ++i) {
      Expect(TRIVET_CUDA_CALL(*driver_, cuMemAlloc, &addresses[i], (*buffers)[i].size()));
      Expect(TRIVET_CUDA_CALL(*driver_, cuMemcpyHtoD, addresses[i], (*buffers)[i].data(), (*buffers)[i].size()));
      params.push_back(&addresses[i]);
    }
    Expect(TRIVET_CUDA_CALL(*driver_, cuLaunchKernel, kernel->function, 1, 1, 1, static_cast<unsigned>(threads), 1, 1,
                            static_cast<unsigned>(shared_bytes), nullptr, params.data(), nullptr));
    Expect(TRIVET_CUDA_CALL(*driver_, cuCtxSynchronize));
    for (size_t i = 0; i < buffers->size(); ++i) {
      Expect(TRIVET_CUDA_CALL(*driver_, cuMemcpyDtoH, (*buffers)[i].data(), addresses[i], (*buffers)[i].size()));
      Expect(TRIVET_CUDA_CALL(*driver_, cuMemFree, addresses[i]));
    }
  }

 private:
  static void Expect(const absl::Status& status) { ASSERT_TRUE(status.ok()) << status.message(); }

  const CudaDriver* driver_ = nullptr;
  std::optional<ScopedContext> context_;
};

// How an element type writes an integer from -3 to 3, and reads a sum back.
struct Element {
  const char* name;
  int bytes;
  std::function<uint64_t(int)> code;
};

uint32_t FloatBits(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return bits;
}

const Element kF16 = {.name = "f16", .bytes = 2, .code = [](int x) -> uint64_t {
                        const uint64_t magnitude[] = {0, 0x3c00, 0x4000, 0x4200};
                        return magnitude[std::abs(x)] | (x < 0 ? 0x8000u : 0u);
                      }};
const Element kBf16 = {
    .name = "bf16", .bytes = 2, .code = [](int x) -> uint64_t { return FloatBits(static_cast<float>(x)) >> 16; }};
const Element kTf32 = {
    .name = "tf32", .bytes = 4, .code = [](int x) -> uint64_t { return FloatBits(static_cast<float>(x)); }};
const Element kE4m3 = {.name = "e4m3", .bytes = 1, .code = [](int x) -> uint64_t {
                         const uint64_t magnitude[] = {0, 0x38, 0x40, 0x44};
                         return magnitude[std::abs(x)] | (x < 0 ? 0x80u : 0u);
                       }};
const Element kS8 = {.name = "s8", .bytes = 1, .code = [](int x) -> uint64_t { return static_cast<uint8_t>(x); }};
const Element kF64 = {.name = "f64", .bytes = 8, .code = [](int x) -> uint64_t {
                        const double value = x;
                        uint64_t bits;
                        std::memcpy(&bits, &value, 8);
                        return bits;
                      }};

// A matrix of integers from -3 to 3 without a pattern.
std::vector<int> Matrix(int64_t elements, uint32_t seed) {
  std::vector<int> out;
  for (int64_t i = 0; i < elements; ++i) {
    seed = seed * 1664525 + 1013904223;
    out.push_back(static_cast<int>(seed >> 24) % 7 - 3);
  }
  return out;
}

std::vector<int> Product(const std::vector<int>& a, const std::vector<int>& b, int64_t m, int64_t n, int64_t k) {
  std::vector<int> out(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t l = 0; l < k; ++l) {
        out[static_cast<size_t>(i * n + j)] += a[static_cast<size_t>(i * k + l)] * b[static_cast<size_t>(l * n + j)];
      }
    }
  }
  return out;
}

// The registers of all threads, one thread after the other.
Bytes InRegisters(const TileLayout& layout, const std::vector<int>& values, const Element& element) {
  Bytes out;
  for (int thread = 0; thread < kWarpSize * layout.num_warps(); ++thread) {
    for (int reg = 0; reg < layout.num_registers(); ++reg) {
      const uint64_t code = element.code(values[layout.Element(reg, thread)]);
      for (int byte = 0; byte < element.bytes; ++byte) out.push_back(static_cast<uint8_t>(code >> (8 * byte)));
    }
  }
  return out;
}

Bytes InShared(const WgmmaSharedLayout& layout, const std::vector<int>& values, const Element& element) {
  Bytes out(static_cast<size_t>(layout.bytes));
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t code = element.code(values[i]);
    std::memcpy(&out[layout.offsets.Apply(static_cast<uint32_t>(i))], &code, static_cast<size_t>(element.bytes));
  }
  return out;
}

template <typename T>
void ExpectInRegisters(const TileLayout& layout, const Bytes& registers, const std::vector<int>& expected) {
  for (int thread = 0; thread < kWarpSize * layout.num_warps(); ++thread) {
    for (int reg = 0; reg < layout.num_registers(); ++reg) {
      T value;
      std::memcpy(&value, &registers[sizeof(T) * static_cast<size_t>(thread * layout.num_registers() + reg)],
                  sizeof(T));
      ASSERT_EQ(value, static_cast<T>(expected[layout.Element(reg, thread)]))
          << "thread " << thread << " register " << reg;
    }
  }
}

TEST_F(Fragments, OfMma) {
  const struct {
    MmaKind kind;
    const Element& element;
    const char* sum;
  } cases[] = {{MmaKind::kHalf, kF16, "f32"},  {MmaKind::kHalf, kBf16, "f32"}, {MmaKind::kTf32, kTf32, "f32"},
               {MmaKind::kByte, kE4m3, "f32"}, {MmaKind::kByte, kS8, "s32"},   {MmaKind::kDouble, kF64, "f64"}};
  for (const auto& [kind, element, sum] : cases) {
    SCOPED_TRACE(element.name);
    const MmaSize size = InstructionSize(kind);
    const TileLayout a = MmaOperandA({size.m, size.k}, {}, kind), b = MmaOperandB({size.k, size.n}, {}, kind);
    const TileLayout d = MmaResult({size.m, size.n}, {}, kind);
    const std::vector<int> a_values = Matrix(a.num_elements(), 1), b_values = Matrix(b.num_elements(), 2);
    const int sum_bytes = kind == MmaKind::kDouble ? 8 : 4;
    std::vector<Bytes> buffers = {InRegisters(a, a_values, element), InRegisters(b, b_values, element),
                                  Bytes(static_cast<size_t>(kWarpSize * d.num_registers() * sum_bytes))};
    const auto words = [](const TileLayout& layout, int bytes) { return layout.num_registers() * bytes / 4; };
    const std::string types = absl::StrCat(sum, ".", element.name, ".", element.name, ".", sum);
    Run(MmaKernel(kind, types, words(a, element.bytes), words(b, element.bytes), words(d, sum_bytes)), kWarpSize, 0,
        &buffers);
    const std::vector<int> expected = Product(a_values, b_values, size.m, size.n, size.k);
    if (kind == MmaKind::kDouble) {
      ExpectInRegisters<double>(d, buffers[2], expected);
    } else if (sum[0] == 's') {
      ExpectInRegisters<int32_t>(d, buffers[2], expected);
    } else {
      ExpectInRegisters<float>(d, buffers[2], expected);
    }
  }
}

TEST_F(Fragments, OfWgmmaInEverySwizzle) {
  constexpr int kM = 64;
  for (const Element* element : {&kF16, &kTf32, &kE4m3}) {
    const int k_step = 32 / element->bytes;
    for (int k : {k_step, 2 * k_step, 4 * k_step, 8 * k_step}) {
      for (int n : {8, 16, 32, 64, 128}) {
        for (const auto& [a_axis, b_axis] : {std::pair(1, 0), std::pair(1, 1), std::pair(0, 0), std::pair(0, 1)}) {
          if (element->bytes != 2 && (a_axis != 1 || b_axis != 0)) continue;
          SCOPED_TRACE(absl::StrCat(element->name, " k ", k, " n ", n, " contiguous ", a_axis, b_axis));
          const WgmmaSharedLayout a = WgmmaOperandInShared({kM, k}, 1, a_axis, 8 * element->bytes);
          const WgmmaSharedLayout b = WgmmaOperandInShared({k, n}, 0, b_axis, 8 * element->bytes);
          const TileLayout d = WgmmaResult({kM, n}, {}, n);
          const std::vector<int> a_values = Matrix(kM * k, 3), b_values = Matrix(k * n, 4);
          std::vector<Bytes> buffers = {InShared(a, a_values, *element), InShared(b, b_values, *element),
                                        Bytes(static_cast<size_t>(kM * n * 4))};
          const std::string types = absl::StrCat("f32.", element->name, ".", element->name);
          Run(WgmmaKernel(a, b, types, n, k_step), 128, (a.bytes + 1023) / 1024 * 1024 + b.bytes, &buffers);
          ExpectInRegisters<float>(d, buffers[2], Product(a_values, b_values, kM, n, k));
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST_F(Fragments, MoveByLdmatrixAndStmatrix) {
  using Instruction = ScratchAccess::Instruction;
  const auto rows = [](const Extents& shape) {
    return TileLayout::Blocked(shape, {.order = {1, 0}, .vector_elements = 8, .num_warps = 1});
  };
  const auto columns = [](const Extents& shape) {
    return TileLayout::Blocked(shape, {.order = {0, 1}, .vector_elements = 8, .num_warps = 1});
  };
  struct Case {
    TileLayout from, to;
  };
  std::vector<Case> cases;
  for (const Extents& shape : std::vector<Extents>{{16, 16}, {32, 32}, {64, 32}}) {
    for (const TileLayout& blocked : {rows(shape), columns(shape)}) {
      cases.push_back({blocked, MmaOperandA(shape, {}, MmaKind::kHalf)});
      cases.push_back({blocked, MmaOperandB(shape, {}, MmaKind::kHalf)});
      cases.push_back({MmaResult(shape, {}, MmaKind::kHalf), blocked});
      cases.push_back({MmaOperandA(shape, {}, MmaKind::kHalf), MmaOperandB(shape, {}, MmaKind::kHalf)});
    }
  }
  int matrix_loads = 0, matrix_stores = 0, transposed = 0;
  for (const auto& [from, to] : cases) {
    const ConversionPlan plan =
        PlanConversion(from, to, 16, {.allow_shuffles = false, .allow_ldmatrix = true, .allow_stmatrix = true});
    // Groups of single elements are left to the conversions' own tests.
    if (plan.kind != ConversionKind::kShared || plan.shared.store.vector_elements == 1 ||
        plan.shared.load.vector_elements == 1 || plan.shared.idle_store_threads != 0) {
      continue;
    }
    SCOPED_TRACE(absl::StrCat(from.ToString(), " to ", to.ToString(), " by ", plan.ToString()));
    const std::vector<int> values = Matrix(from.num_elements(), 5);
    // Registers in the order of the groups.
    Bytes in, offsets;
    for (int thread = 0; thread < kWarpSize; ++thread) {
      for (const ScratchAccess::Group& group : plan.shared.store.rounds[0]) {
        for (int reg : group.registers) {
          const uint64_t code = kF16.code(values[from.Element(reg, thread)]);
          in.push_back(static_cast<uint8_t>(code));
          in.push_back(static_cast<uint8_t>(code >> 8));
        }
      }
      for (const ScratchAccess* access : {&plan.shared.store, &plan.shared.load}) {
        uint32_t offset = 0;
        for (size_t i = 0; i < kLaneBits; ++i) offset ^= (thread >> i & 1) != 0 ? access->thread_offsets[i] : 0;
        for (int byte = 0; byte < 4; ++byte) offsets.push_back(static_cast<uint8_t>(offset >> (8 * byte)));
      }
    }
    std::vector<Bytes> buffers = {in, Bytes(static_cast<size_t>(kWarpSize * to.num_registers() * 2)), offsets};
    Run(ConversionKernel(plan.shared), kWarpSize, plan.shared.bytes, &buffers);
    size_t at = 0;
    for (int thread = 0; thread < kWarpSize; ++thread) {
      for (const ScratchAccess::Group& group : plan.shared.load.rounds[0]) {
        for (int reg : group.registers) {
          const uint64_t code = buffers[1][at] | static_cast<uint64_t>(buffers[1][at + 1]) << 8;
          ASSERT_EQ(code, kF16.code(values[to.Element(reg, thread)])) << "thread " << thread << " register " << reg;
          at += 2;
        }
      }
    }
    matrix_stores += plan.shared.store.instruction != Instruction::kVector ? 1 : 0;
    matrix_loads += plan.shared.load.instruction != Instruction::kVector ? 1 : 0;
    transposed += plan.shared.store.instruction == Instruction::kMatrixTransposed ||
                          plan.shared.load.instruction == Instruction::kMatrixTransposed
                      ? 1
                      : 0;
  }
  EXPECT_GT(matrix_loads, 5);
  EXPECT_GT(matrix_stores, 3);
  EXPECT_GT(transposed, 3);
}

}  // namespace
}  // namespace trivet::jit
