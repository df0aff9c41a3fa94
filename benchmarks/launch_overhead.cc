// What GpuKernel::Launch costs above the driver's own cuLaunchKernel: an empty kernel of six and of twenty arguments.
//
// On a machine with a GPU it measures the real driver. Without one, TRIVET_CUDA_DRIVER=.../libcuda_fake.so with
// FAKE_CUDA_RECORD=0 leaves only what happens before the driver. What Python adds is in launch.py.
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "jit/driver/cuda_driver.h"
#include "jit/runtime/gpu_kernel.h"

namespace trivet::jit {
namespace {

// Launches between two synchronisations: fewer than the driver queues without waiting.
constexpr int kBatch = 256;

CompiledKernel EmptyKernel(int num_arguments) {
  CompiledKernel kernel;
  kernel.kernel_name = "empty";
  kernel.target = "sm_80";
  kernel.ptx = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry empty(";
  for (int i = 0; i < num_arguments; ++i) absl::StrAppend(&kernel.ptx, i == 0 ? "" : ", ", ".param .u64 p", i);
  kernel.ptx += ")\n{\n  ret;\n}\n";
  return kernel;
}

// A kernel that is loaded, its arguments, and a stream in the current context.
struct Subject {
  const CudaDriver& driver;
  ScopedContext context;
  std::unique_ptr<GpuKernel> kernel;
  LoadedFunction function;
  cuda::Stream stream = nullptr;
  std::array<uint64_t, 20> values{};
  std::array<void*, 20> params{};
};

std::unique_ptr<Subject> Prepare(benchmark::State& state) {
  const absl::StatusOr<const CudaDriver*> driver = CudaDriver::Get();
  if (!driver.ok()) {
    state.SkipWithError(std::string(driver.status().message()).c_str());
    return nullptr;
  }
  auto subject = std::make_unique<Subject>(Subject{**driver, *ScopedContext::Enter(**driver, 0), nullptr, {}});
  subject->kernel = std::make_unique<GpuKernel>(**driver, EmptyKernel(static_cast<int>(state.range(0))), "empty");
  const absl::StatusOr<LoadedFunction> function = subject->kernel->Load(0);
  if (!function.ok()) {
    state.SkipWithError(std::string(function.status().message()).c_str());
    return nullptr;
  }
  subject->function = *function;
  subject->driver.api().cuStreamCreate(&subject->stream, 1);
  for (size_t i = 0; i < subject->params.size(); ++i) subject->params[i] = &subject->values[i];
  return subject;
}

template <typename Launch>
void Measure(benchmark::State& state, Subject& subject, const Launch& launch) {
  int in_batch = 0;
  for (auto _ : state) {
    launch();
    if (++in_batch == kBatch) {
      state.PauseTiming();
      subject.driver.api().cuStreamSynchronize(subject.stream);
      in_batch = 0;
      state.ResumeTiming();
    }
  }
  subject.driver.api().cuStreamSynchronize(subject.stream);
}

void BM_DriverLaunch(benchmark::State& state) {
  const std::unique_ptr<Subject> subject = Prepare(state);
  if (subject == nullptr) return;
  Measure(state, *subject, [&] {
    subject->driver.api().cuLaunchKernel(subject->function.function, 1, 1, 1, 128, 1, 1, 0, subject->stream,
                                         subject->params.data(), nullptr);
  });
}
BENCHMARK(BM_DriverLaunch)->Arg(6)->Arg(20);

void BM_KernelLaunch(benchmark::State& state) {
  const std::unique_ptr<Subject> subject = Prepare(state);
  if (subject == nullptr) return;
  Measure(state, *subject, [&] {
    const absl::Status status = subject->kernel->Launch(0, subject->stream, Grid{1, 1, 1}, subject->params.data());
    benchmark::DoNotOptimize(status.ok());
  });
}
BENCHMARK(BM_KernelLaunch)->Arg(6)->Arg(20);

}  // namespace
}  // namespace trivet::jit
