// Runs the op cases of tests/ops as GPU code: lowered to LLVM IR, carried out by the emulator. What this tier refuses
// is counted and must be refused by lowering.def or for the shape of a tile; nothing is skipped in silence.
#include <cstring>
#include <map>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "jit/emulator/emulator.h"
#include "jit/runtime/lower_for_gpu.h"
#include "tests/support/case_values.h"
#include "tests/support/wrap_function.h"
#include "vm/base/status.h"
#include "vm/bytecode/parser.h"
#include "vm/bytecode/verifier.h"
#include "vm/interpreter/execute.h"

namespace trivet::jit {
namespace {

using vm::CaseRun;
using vm::Elements;
using vm::OpCase;
using vm::Type;

// Compiled once for each function of a case.
struct Compiled {
  std::unique_ptr<EmulatedKernel> kernel;
  int64_t shared_bytes = 0;
};

absl::StatusOr<Compiled> CompileForEmulator(const vm::Module& module, absl::string_view kernel, int num_warps) {
  CompileOptions options;
  options.kernel = std::string(kernel);
  options.target = "sm_90a";
  options.num_warps = num_warps;
  TRIVET_ASSIGN_OR_RETURN(LoweredModule lowered, LowerForGpu(module, options));
  // Law 2: what the passes made is still a legal function.
  TRIVET_RETURN_IF_ERROR(vm::VerifyModule(lowered.tile));
  Compiled out;
  out.shared_bytes = lowered.kernel.shared_bytes;
  TRIVET_ASSIGN_OR_RETURN(
      out.kernel, EmulatedKernel::Load(std::move(lowered.kernel.context), std::move(lowered.kernel.module), kernel));
  return out;
}

// Where a case's expected values are the reference's and this tier may differ (docs/semantics.md, "Tolerance"): exp and
// exp10 of large arguments, by the rounding of x * log2(e).
int64_t SlackOf(const OpCase& op_case) {
  return absl::StartsWith(op_case.name, "exp ") || absl::StartsWith(op_case.name, "exp10 ") ? 110 : 0;
}

bool HasLoweredOps(const vm::Module& module) {
  bool has_lowered = false;
  for (const vm::Function& fn : module.functions) {
    fn.ForEachOp([&](OpId id) { has_lowered |= fn.op(id).info().level == vm::OpLevel::kLowered; });
  }
  return has_lowered;
}

class OpSuiteTest : public testing::TestWithParam<std::tuple<std::filesystem::path, int>> {
 protected:
  int num_warps() const { return std::get<1>(GetParam()); }

  absl::Status Launch(const Compiled& compiled, std::array<int64_t, 3> grid, std::vector<uint64_t> arguments) {
    EmulatedLaunch launch;
    for (size_t i = 0; i < 3; ++i) launch.grid[i] = static_cast<int>(grid[i]);
    launch.num_threads = kWarpSize * num_warps();
    launch.shared_bytes = compiled.shared_bytes;
    launch.arguments = std::move(arguments);
    launch.arguments.push_back(0);  // diagnostics
    launch.max_loop_iterations = 5'000'000;
    return compiled.kernel->Launch(launch);
  }

  absl::Status RunKernel(const Compiled& compiled, const OpCase& op_case, const vm::Function& function,
                         const CaseRun& run) {
    vm::Tensors tensors;
    for (const vm::CaseTensor& tensor : op_case.memory) TRIVET_RETURN_IF_ERROR(tensors.Add(tensor));
    std::vector<uint64_t> arguments;
    for (size_t i = 0; i < run.arguments.size(); ++i) {
      const Type& type = function.type(function.params()[i]);
      TRIVET_ASSIGN_OR_RETURN(const Elements elements,
                              vm::ReadElements(run.arguments[i], type.AsScalar(), 1, tensors.addresses()));
      arguments.push_back(static_cast<uint64_t>(elements[0].value_or(0)));
    }
    if (run.grid[0] * run.grid[1] * run.grid[2] == 0) return absl::OkStatus();  // the runtime launches nothing
    const absl::Status status = Launch(compiled, run.grid, std::move(arguments));
    // The emulator runs one program after another: a program that waits for a later one spins.
    if (absl::IsDeadlineExceeded(status) && run.grid[0] > 1) return absl::OkStatus();
    EXPECT_TRUE(status.ok()) << status.message();
    for (const auto& [name, contents] : run.leaves) {
      TRIVET_ASSIGN_OR_RETURN(const std::string difference, tensors.Compare(name, contents));
      EXPECT_EQ(difference, "");
    }
    return absl::OkStatus();
  }

  absl::Status RunFunction(const Compiled& compiled, const OpCase& op_case, const vm::Function& function,
                           const CaseRun& run) {
    vm::Tensors tensors;
    for (const vm::CaseTensor& tensor : op_case.memory) TRIVET_RETURN_IF_ERROR(tensors.Add(tensor));
    std::vector<std::vector<uint64_t>> buffers;
    std::vector<uint64_t> arguments;
    for (size_t i = 0; i < run.arguments.size(); ++i) {
      const Type& type = function.type(function.params()[i]);
      TRIVET_ASSIGN_OR_RETURN(const Elements elements, vm::ReadElements(run.arguments[i], type.AsScalar(),
                                                                        type.num_elements(), tensors.addresses()));
      const std::vector<uint8_t> bytes = vm::BytesOf(elements, type.element_bytes());
      buffers.emplace_back(bytes.size() / 8 + 2);
      if (!bytes.empty()) std::memcpy(buffers.back().data(), bytes.data(), bytes.size());
    }
    for (const Type& type : function.result_types) {
      buffers.emplace_back(static_cast<size_t>(type.num_elements() * type.element_bytes()) / 8 + 2,
                           0xa5a5a5a5a5a5a5a5u);
    }
    for (const auto& buffer : buffers) arguments.push_back(reinterpret_cast<uint64_t>(buffer.data()));
    const absl::Status status = Launch(compiled, {1, 1, 1}, std::move(arguments));
    EXPECT_TRUE(status.ok()) << status.message();
    for (size_t i = 0; run.results && i < run.results->size(); ++i) {
      const Type& type = function.result_types[i];
      TRIVET_ASSIGN_OR_RETURN(const Elements expected,
                              vm::ReadElements((*run.results)[i], type.AsScalar(), type.num_elements(), {}));
      EXPECT_EQ(vm::CompareElements(absl::StrCat("result ", i), type.AsScalar(),
                                    reinterpret_cast<const uint8_t*>(buffers[run.arguments.size() + i].data()),
                                    expected, run.ulp + SlackOf(op_case)),
                "");
    }
    return absl::OkStatus();
  }
};

TEST_P(OpSuiteTest, ComputesWhatTheReferenceComputes) {
  const std::filesystem::path path = std::get<0>(GetParam());
  const auto cases = vm::ReadCaseFile(path);
  ASSERT_TRUE(cases.ok()) << cases.status().message();
  std::map<std::string, int> refused;
  int ran = 0;
  for (const OpCase& op_case : *cases) {
    SCOPED_TRACE(absl::StrCat("case ", op_case.name));
    const auto module = vm::Parse(op_case.text, path.filename().string());
    ASSERT_TRUE(module.ok()) << module.status().message();
    if (HasLoweredOps(*module)) continue;  // passes make those, from what kernels may hold
    std::map<std::string, absl::StatusOr<Compiled>> compiled;
    for (const CaseRun& run : op_case.runs) {
      if (run.traps || run.prints) continue;  // what stops or shows is tested with the diagnostics buffer
      SCOPED_TRACE(absl::StrCat(path.filename().string(), ":", run.line));
      const vm::Function& function = module->function(module->FindFunction(run.function));
      auto found = compiled.find(run.function);
      if (found == compiled.end()) {
        absl::StatusOr<Compiled> one = [&]() -> absl::StatusOr<Compiled> {
          if (function.is_kernel) return CompileForEmulator(*module, run.function, num_warps());
          TRIVET_ASSIGN_OR_RETURN(const vm::Module wrapped, vm::WrapFunction(*module, run.function));
          return CompileForEmulator(wrapped, vm::kWrapperName, num_warps());
        }();
        if (!one.ok()) {
          EXPECT_EQ(one.status().code(), absl::StatusCode::kUnimplemented) << one.status().message();
          const std::string text(one.status().message());
          ++refused[text.substr(0, text.find(" (")) +
                    (absl::StrContains(text, ": ") ? text.substr(text.find(": ")) : "")];
        }
        found = compiled.emplace(run.function, std::move(one)).first;
      }
      if (!found->second.ok()) continue;
      ++ran;
      const absl::Status status = function.is_kernel ? RunKernel(*found->second, op_case, function, run)
                                                     : RunFunction(*found->second, op_case, function, run);
      EXPECT_TRUE(status.ok()) << "the case is wrong: " << status.message();
    }
  }
  std::string text;
  for (const auto& [reason, count] : refused) absl::StrAppend(&text, "  ", count, " x ", reason, "\n");
  std::printf("%s: %d runs; refused functions:\n%s", path.filename().c_str(), ran, text.c_str());
}

std::string NameOf(const testing::TestParamInfo<OpSuiteTest::ParamType>& info) {
  return absl::StrCat(std::get<0>(info.param).stem().string(), "_", std::get<1>(info.param), "warps");
}

INSTANTIATE_TEST_SUITE_P(Files, OpSuiteTest,
                         testing::Combine(testing::ValuesIn(vm::CaseFiles()), testing::Values(1, 4)), NameOf);

}  // namespace
}  // namespace trivet::jit
