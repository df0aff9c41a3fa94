// The loops under matmul and softmax, through their handlers: dots in GFLOP/s, reductions of one row in time.
//
//   cmake --build build/release --target bench_dot_kernel && build/release/benchmarks/bench_dot_kernel
//
// A kernel of one program that loops over the op is run, so what is shown includes conversion, packing and dispatch.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "vm/base/check.h"
#include "vm/bytecode/parser.h"
#include "vm/interpreter/execute.h"

namespace trivet::vm {
namespace {

constexpr int64_t kIterations = 1000;

// Times EvaluateFunction of @f in `text`, which does its op kIterations times; arguments are zeros.
void TimeFunction(benchmark::State& state, const std::string& text) {
  absl::StatusOr<Module> module = Parse(text);
  TRIVET_CHECK(module.ok(), module.status().ToString());
  std::vector<std::vector<uint8_t>> arguments;
  const Function& function = module->functions[0];
  for (ValueId param : function.params()) {
    arguments.emplace_back(static_cast<size_t>(function.type(param).value_bytes()));
  }
  absl::StatusOr<std::shared_ptr<const Executable>> executable = Executable::Load(*std::move(module));
  TRIVET_CHECK(executable.ok(), executable.status().ToString());
  for (auto _ : state) {
    const auto results = EvaluateFunction(**executable, "f", arguments);
    TRIVET_CHECK(results.ok(), results.status().ToString());
    benchmark::DoNotOptimize(results->data());
  }
  state.SetItemsProcessed(state.iterations() * kIterations);
}

// `op` makes %r of type `type` from %acc, and others from parameters.
std::string LoopText(const std::string& params, const std::string& type, const std::string& op) {
  return absl::StrCat("func @f(", params, ", %init: ", type, ") -> ", type, R"( {
    %lower = constant 0 : i32
    %upper = constant )",
                      kIterations, R"( : i32
    %step = constant 1 : i32
    %end = for %lower, %upper, %step, %init : )",
                      type, R"( {
    ^(%i: i32, %acc: )",
                      type, "):\n", op, R"(
      yield %r
    }
    return %end
  })");
}

void BM_Dot(benchmark::State& state, const std::string& dtype, int64_t m, int64_t n, int64_t k) {
  const std::string acc = absl::StrCat("tile<", m, "x", n, "xf32>");
  TimeFunction(
      state, LoopText(absl::StrCat("%a: tile<", m, "x", k, "x", dtype, ">, %b: tile<", k, "x", n, "x", dtype, ">"), acc,
                      absl::StrCat("%r = dot %a, %b, %acc precision=ieee : ", acc)));
  state.counters["FLOP/s"] = benchmark::Counter(static_cast<double>(state.iterations() * kIterations * 2 * m * n * k),
                                                benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(BM_Dot, f32_64x64x32, "f32", 64, 64, 32);
BENCHMARK_CAPTURE(BM_Dot, f16_64x64x32, "f16", 64, 64, 32);
BENCHMARK_CAPTURE(BM_Dot, bf16_64x64x32, "bf16", 64, 64, 32);
BENCHMARK_CAPTURE(BM_Dot, f16_128x256x64, "f16", 128, 256, 64);

void BM_Reduce(benchmark::State& state, const std::string& dtype, const std::string& combine) {
  TimeFunction(state, LoopText(absl::StrCat("%x: tile<1024x", dtype, ">"), dtype,
                               absl::StrCat("%r = reduce %x axis=0 : ", dtype, " {\n^(%p: ", dtype, ", %q: ", dtype,
                                            "):\n%z = ", combine, " %p, %q : ", dtype, "\nyield %z\n}")));
}
BENCHMARK_CAPTURE(BM_Reduce, sum_f32_1024, "f32", "addf");
BENCHMARK_CAPTURE(BM_Reduce, max_f32_1024, "f32", "maxf");
BENCHMARK_CAPTURE(BM_Reduce, sum_f16_1024, "f16", "addf");
BENCHMARK_CAPTURE(BM_Reduce, any_region_f32_1024, "f32", "subf");

}  // namespace
}  // namespace trivet::vm
