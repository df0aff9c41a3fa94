// Comparing tensors, the tolerances of whole kernels, and launches on two tiers: the "GPU" is what the test makes of
// it.
#include "jit/runtime/cross_check.h"

#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "jit/runtime/kernel_tolerance.h"
#include "tests/unit/runtime/device_kernel.h"

namespace trivet::jit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

template <typename T>
Comparison Compare(vm::DType dtype, const std::vector<T>& reference, const std::vector<T>& actual,
                   const ComparisonRule& rule = {}) {
  return CompareTensors({dtype, reference.data(), actual.data(), {static_cast<int64_t>(reference.size())}, {1}}, rule);
}
Comparison CompareF32(std::vector<float> reference, std::vector<float> actual, const ComparisonRule& rule = {}) {
  return Compare(vm::DType::kF32, reference, actual, rule);
}

TEST(CompareTest, EqualBitsAreEqual) {
  const Comparison comparison = CompareF32({1, -0.0f, kInf, kNan}, {1, -0.0f, kInf, kNan});
  EXPECT_TRUE(comparison.is_equal());
  EXPECT_EQ(comparison.num_elements, 4);
  EXPECT_EQ(comparison.max_ulp, 0);
}

TEST(CompareTest, FirstAndWorst) {
  const Comparison comparison = CompareF32({1, 2, 3, 4}, {1, 2.0000002f, 3, 4.5f});
  EXPECT_EQ(comparison.num_different, 2);
  EXPECT_THAT(comparison.first->index, ElementsAre(1));
  EXPECT_EQ(comparison.first->ulp, 1);
  EXPECT_THAT(comparison.worst->index, ElementsAre(3));
  EXPECT_EQ(comparison.worst->reference, "4");
  EXPECT_EQ(comparison.worst->actual, "4.5");
  EXPECT_EQ(comparison.worst->ulp, 0x1p20);
  EXPECT_EQ(Describe("y", *comparison.worst), "y[3]: 4 on the interpreter, 4.5 here (1.04858e+06 ulp)");
}

TEST(CompareTest, UlpsBoundTheDistance) {
  const float next = std::nextafter(1.0f, 2.0f);
  const float third = std::nextafter(std::nextafter(next, 2.0f), 2.0f);
  EXPECT_FALSE(CompareF32({1}, {next}).is_equal());
  EXPECT_TRUE(CompareF32({1}, {next}, {.tolerance = {.ulp = 1}}).is_equal());
  EXPECT_FALSE(CompareF32({1}, {third}, {.tolerance = {.ulp = 2}}).is_equal());
  EXPECT_TRUE(CompareF32({1}, {third}, {.tolerance = {.ulp = 1, .ulp_per_argument = 0.5}, .argument = 4}).is_equal());
  EXPECT_TRUE(CompareF32({1}, {1.5f}, {.tolerance = {.absolute = 0.5}}).is_equal());
  EXPECT_TRUE(CompareF32({1}, {1.5f}, {.tolerance = {.relative_to_terms = 0.25}, .terms = 2}).is_equal());
  EXPECT_EQ(CompareF32({1}, {third}, {.tolerance = {.ulp = 3}}).max_ulp, 3);
}

TEST(CompareTest, NanMeetsNanWhateverItsBits) {
  EXPECT_TRUE(CompareF32({kNan}, {-kNan}).is_equal());
  const Comparison lost = CompareF32({kNan, kNan}, {1, 2}, {.tolerance = {.absolute = 1e30}});
  EXPECT_EQ(lost.num_different, 2);
  EXPECT_EQ(lost.first->ulp, kInf);
  EXPECT_FALSE(CompareF32({1}, {kNan}, {.tolerance = {.absolute = 1e30}}).is_equal());
}

TEST(CompareTest, InfinityMeetsTheSameInfinity) {
  const ComparisonRule wide = {.tolerance = {.absolute = 1e38}};
  EXPECT_TRUE(CompareF32({kInf}, {kInf}, wide).is_equal());
  EXPECT_FALSE(CompareF32({kInf}, {-kInf}, wide).is_equal());
  EXPECT_FALSE(CompareF32({kInf}, {3e38f}, wide).is_equal());
  EXPECT_FALSE(CompareF32({3e38f}, {kInf}, wide).is_equal());
}

TEST(CompareTest, SignsOfZeroCountWhereTheToleranceIsExact) {
  EXPECT_FALSE(CompareF32({0.0f}, {-0.0f}).is_equal());
  EXPECT_TRUE(CompareF32({0.0f}, {-0.0f}, {.tolerance = {.ulp = 1}}).is_equal());
}

TEST(CompareTest, IntegersAreExactWhateverTheTolerance) {
  const ComparisonRule wide = {.tolerance = {.absolute = 100}};
  EXPECT_FALSE(Compare<int32_t>(vm::DType::kI32, {1}, {2}, wide).is_equal());
  const Comparison large = Compare<int64_t>(vm::DType::kI64, {(int64_t{1} << 60) + 1}, {int64_t{1} << 60});
  EXPECT_EQ(large.num_different, 1);
  EXPECT_EQ(large.first->reference, "1152921504606846977");
  const Comparison bytes = Compare<int8_t>(vm::DType::kI8, {-1}, {65});
  EXPECT_EQ(bytes.first->reference, "-1");
  EXPECT_EQ(bytes.first->actual, "65");
}

TEST(CompareTest, NarrowFloatsHaveTheirOwnUlp) {
  // bf16: 1.0 and the next one; e4m3: 1.0 and 1.125.
  const Comparison bf16 = Compare<uint16_t>(vm::DType::kBF16, {0x3f80}, {0x3f81});
  EXPECT_EQ(bf16.first->ulp, 1);
  EXPECT_EQ(bf16.first->actual, "1.0078125");
  const Comparison f8 = Compare<uint8_t>(vm::DType::kF8E4M3, {0x38}, {0x3a});
  EXPECT_EQ(f8.first->ulp, 2);
  EXPECT_TRUE(Compare<uint8_t>(vm::DType::kF8E4M3, {0x38}, {0x39}, {.tolerance = {.ulp = 1}}).is_equal());
}

TEST(CompareTest, ViewsWithStrides) {
  const std::vector<float> reference = {0, 1, 2, 3, 4, 5, 6, 7};
  std::vector<float> actual = reference;
  actual[1] = 100;  // outside the view
  actual[6] = 60;
  // [2, 2] with strides (4, 2): elements 0, 2, 4, 6.
  const Comparison comparison = CompareTensors({vm::DType::kF32, reference.data(), actual.data(), {2, 2}, {4, 2}}, {});
  EXPECT_EQ(comparison.num_elements, 4);
  EXPECT_EQ(comparison.num_different, 1);
  EXPECT_THAT(comparison.first->index, ElementsAre(1, 1));
  EXPECT_EQ(comparison.first->offset_bytes, 24u);
}

TEST(CompareTest, ScalarsAndEmptyTensors) {
  const float one = 1;
  EXPECT_EQ(CompareTensors({vm::DType::kF32, &one, &one, {}, {}}, {}).num_elements, 1);
  EXPECT_EQ(CompareTensors({vm::DType::kF32, &one, &one, {3, 0}, {1, 1}}, {}).num_elements, 0);
}

KernelTolerance ToleranceOf(const std::string& text, int64_t programs = 1) {
  const auto kernel = Load(text);
  return ToleranceOfKernel(kernel->module(), *FindKernel(kernel->module(), {}), programs);
}

TEST(KernelToleranceTest, ExactKernelsAreExact) {
  const KernelTolerance tolerance = ToleranceOf(kDoubleText);
  EXPECT_TRUE(tolerance.For(1e30).is_exact());
  EXPECT_FALSE(tolerance.depends_on_order);
}

TEST(KernelToleranceTest, FunctionsAndQuotientsAddUp) {
  const auto text = [](const char* op) {
    return absl::StrCat("kernel @f(%p: ptr<f32>, %x: f32) {\n  %y = ", op, "\n  store %p, %y\n  return\n}\n");
  };
  EXPECT_EQ(ToleranceOf(text("sin %x : f32")).ulp, 3);
  EXPECT_EQ(ToleranceOf(text("divf %x, %x : f32")).ulp, 2);
  EXPECT_EQ(ToleranceOf(text("divf %x, %x precise=true : f32")).ulp, 0);
  EXPECT_EQ(ToleranceOf(text("sqrt %x : f32")).ulp, 1);
  EXPECT_EQ(ToleranceOf(text("floor %x : f32")).ulp, 0);
  EXPECT_GT(ToleranceOf(text("exp %x : f32")).ulp, 100);
}

constexpr char kAtomicText[] = R"(
kernel @f(%p: ptr<f32>, %q: ptr<i32>, %x: f32, %n: i32) {
  %0 = atomic_rmw %p, %x kind=add : f32
  %1 = atomic_rmw %q, %n kind=add : i32
  USE
  return
}
)";

TEST(KernelToleranceTest, AtomicSumsGrowWithThePrograms) {
  std::string text = kAtomicText;
  text.replace(text.find("USE"), 3, "");
  EXPECT_GT(ToleranceOf(text, 1000).relative, 100 * ToleranceOf(text, 1).relative);
  EXPECT_FALSE(ToleranceOf(text).depends_on_order) << "nobody uses what they give back";
  text = kAtomicText;
  text.replace(text.find("USE"), 3, "store %q, %1");
  EXPECT_TRUE(ToleranceOf(text).depends_on_order);
}

// --- Whole launches ---------------------------------------------------------------------------------

class CrossCheckTest : public RuntimeTest {
 protected:
  CrossCheckTest() : kernel_(Load(kDoubleText)) {}

  // `damage` is what the GPU does to its results after it computed them.
  absl::StatusOr<CrossCheckReport> Run(const DeviceArray<float>& from, const DeviceArray<float>& to, int n,
                                       const std::function<void(float*)>& damage) {
    DeviceLaunch launch;
    launch.request.grid = {(n + 3) / 4, 1, 1};
    launch.request.arguments = {{{from.address()}}, {{to.address()}}, {{static_cast<uint64_t>(n)}}};
    launch.request.memory.Add(from.AsTensor("from", vm::DType::kF32));
    launch.request.memory.Add(to.AsTensor("to", vm::DType::kF32));
    launch.request.memory.Seal();
    return CrossCheck(*driver_, *kernel_, launch, [&] {
      const std::vector<float> before = from.values();
      for (int i = 0; i < n && i < static_cast<int>(before.size()); ++i) {
        to.data()[i] = 2 * before[static_cast<size_t>(i)];
      }
      damage(to.data());
      return absl::OkStatus();
    });
  }

  const std::shared_ptr<const vm::Executable> kernel_;
};

TEST_F(CrossCheckTest, AgreesInPlaceToo) {
  const DeviceArray<float> both(*driver_, {1, 2, 3, 4, 5, 6});
  const absl::StatusOr<CrossCheckReport> report = Run(both, both, 6, [](float*) {});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->is_equal()) << report->ToString();
  EXPECT_EQ(report->ToString(), "cross-check of kernel 'double': 12 elements agree (0 ulp at most)");
  EXPECT_THAT(both.values(), ElementsAre(2, 4, 6, 8, 10, 12)) << "doubled once";
}

TEST_F(CrossCheckTest, NamesTensorIndexValuesAndProgram) {
  const DeviceArray<float> from(*driver_, {1, 2, 3, 4, 5, 6});
  const DeviceArray<float> to(*driver_, {0, 0, 0, 0, 0, 0});
  const absl::StatusOr<CrossCheckReport> report = Run(from, to, 6, [](float* out) { out[5] = 13; });
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->ToString(), HasSubstr("1 of 6 elements of to differ"));
  EXPECT_THAT(report->ToString(), HasSubstr("first: to[5]: 12 on the interpreter, 13 here (1.04858e+06 ulp), written "
                                            "by program (1, 0, 0) at double.py:9:3"));
  EXPECT_EQ(to.values()[5], 13) << "the GPU's results stay";
}

TEST_F(CrossCheckTest, SeesWhatNobodyWroteOnTheInterpreter) {
  const DeviceArray<float> from(*driver_, {1, 2, 3, 4, 5, 6});
  const DeviceArray<float> to(*driver_, {0, 0, 0, 0, 0, 0});
  const absl::StatusOr<CrossCheckReport> report = Run(from, to, 4, [](float* out) { out[4] = 1; });
  ASSERT_EQ(report->mismatches.size(), 1u);
  EXPECT_FALSE(report->mismatches[0].program.has_value());
}

TEST_F(CrossCheckTest, ReportsWhereTheInterpreterStopped) {
  const DeviceArray<float> from(*driver_, {1, 2, 3, 4});
  const DeviceArray<float> to(*driver_, {0, 0, 0, 0, 0, 0, 0, 0});
  const absl::StatusOr<CrossCheckReport> report = Run(from, to, 8, [](float*) {});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_FALSE(report->is_equal());
  EXPECT_THAT(report->ToString(), HasSubstr("the interpreter stopped: "));
  EXPECT_THAT(report->ToString(), HasSubstr("from[4]"));
}

TEST_F(CrossCheckTest, AFaultOfTheGpuIsAnError) {
  const DeviceArray<float> from(*driver_, {1, 2, 3, 4});
  const DeviceArray<float> to(*driver_, {0, 0, 0, 0});
  const absl::StatusOr<CrossCheckReport> report =
      Run(from, to, 4, [](float*) { fake_cuda::FaultAtNextSynchronisation(700); });
  EXPECT_TRUE(IsDeviceFault(report.status())) << report.status();
  fake_cuda::Reset();
}

}  // namespace
}  // namespace trivet::jit
