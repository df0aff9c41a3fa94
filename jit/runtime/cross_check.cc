#include "jit/runtime/cross_check.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "jit/runtime/compile.h"
#include "jit/runtime/kernel_tolerance.h"
#include "jit/runtime/written_parameters.h"
#include "vm/base/status.h"
#include "vm/interpreter/program.h"

namespace trivet::jit {
namespace {

// Remembers which program wrote to some bytes last, and where.
class WriterFinder final : public vm::Observer {
 public:
  WriterFinder(uint64_t address, uint64_t size_bytes) : address_(address), size_bytes_(size_bytes) {}

  void OnStore(const vm::MemoryEvent& event) override { Note(event); }
  void OnAtomic(const vm::MemoryEvent& event) override { Note(event); }

  std::optional<std::array<int32_t, 3>> program;
  std::string location;

 private:
  void Note(const vm::MemoryEvent& event) {
    for (size_t i = 0; i < event.addresses.size(); ++i) {
      if (!event.active.empty() && event.active[i] == 0) continue;
      const uint64_t begin = event.addresses[i];
      if (begin >= address_ + size_bytes_ || begin + static_cast<uint64_t>(event.element_bytes) <= address_) continue;
      program = event.at.program->id();
      const vm::Function& function = event.at.module->function(event.at.function);
      location = event.at.module->LocationToString(function.op(event.at.op).location);
      return;
    }
  }

  const uint64_t address_;
  const uint64_t size_bytes_;
};

// Runs the interpreter once more on what was there at first, watching one element.
void FindWriter(const vm::Executable& executable, MirroredMemory& memory, uint64_t device_address, vm::DType dtype,
                TensorMismatch& mismatch) {
  WriterFinder finder(reinterpret_cast<uintptr_t>(memory.FindCopy(device_address)),
                      static_cast<uint64_t>(vm::InfoOf(dtype).storage_bytes));
  memory.Restore();
  vm::LaunchRequest request = memory.request();
  request.options.observer = &finder;
  class Silence final : public vm::PrintSink {
    void Write(absl::string_view) override {}
  } silence;
  request.options.print_sink = &silence;  // it was printed before
  if (!vm::Launch(executable, request).status.ok()) return;
  mismatch.program = finder.program;
  mismatch.location = finder.location;
}

// The view of `allocation` in the two copies, or nothing if the kernel can't have written to it.
std::optional<TensorPair> ViewOf(const MirroredMemory& memory, const vm::Allocation& allocation) {
  TensorPair pair;
  pair.dtype = allocation.dtype;
  pair.shape = allocation.shape;
  pair.strides = allocation.strides;
  pair.reference = memory.FindCopy(allocation.view_base);
  pair.actual = memory.FindActual(allocation.view_base);
  if (pair.dtype == vm::DType::kNone || pair.reference == nullptr || pair.actual == nullptr) return std::nullopt;
  return pair;
}

}  // namespace

absl::StatusOr<CrossCheckReport> CrossCheck(const CudaDriver& driver, const vm::Executable& executable,
                                            const DeviceLaunch& launch,
                                            const std::function<absl::Status()>& launch_on_gpu) {
  const vm::Module& module = executable.module();
  TRIVET_ASSIGN_OR_RETURN(const FunctionId kernel, FindKernel(module, launch.request.kernel));
  TRIVET_ASSIGN_OR_RETURN(MirroredMemory memory, MirroredMemory::Copy(driver, module, launch));
  TRIVET_RETURN_IF_ERROR(launch_on_gpu());
  const vm::LaunchResult result = vm::Launch(executable, memory.request());
  TRIVET_RETURN_IF_ERROR(memory.ReadDevice());

  CrossCheckReport report;
  report.kernel = module.function(kernel).name;
  if (!result.status.ok()) {
    report.interpreter_error = std::string(result.status.message());
    return report;
  }
  const std::array<int64_t, 3>& grid = launch.request.grid;
  const KernelTolerance tolerance = ToleranceOfKernel(module, kernel, grid[0] * grid[1] * grid[2]);
  report.depends_on_order = tolerance.depends_on_order;
  const WrittenParameters written = FindWrittenParameters(module, kernel);
  struct Pending {
    size_t mismatch;
    uint64_t address;
    vm::DType dtype;
  };
  std::vector<Pending> pending;
  for (const vm::Allocation& allocation : memory.device_tensors()) {
    const std::optional<TensorPair> pair = ViewOf(memory, allocation);
    if (!pair.has_value()) {
      if (allocation.is_writable && memory.IsUsedInPlace(allocation) &&
          std::find(written.may_write.begin(), written.may_write.end(), true) != written.may_write.end()) {
        report.not_compared.push_back(allocation.name);
      }
      continue;
    }
    const Comparison comparison =
        CompareTensors(*pair, {.tolerance = tolerance.For(tolerance.relative > 0 ? LargestMagnitude(*pair) : 0)});
    report.num_elements += comparison.num_elements;
    report.max_ulp = std::max(report.max_ulp, comparison.max_ulp);
    if (comparison.is_equal()) continue;
    pending.push_back({report.mismatches.size(), allocation.view_base + comparison.first->offset_bytes, pair->dtype});
    report.mismatches.push_back({allocation.name, comparison, std::nullopt, ""});
  }
  for (const Pending& found : pending) {
    FindWriter(executable, memory, found.address, found.dtype, report.mismatches[found.mismatch]);
  }
  return report;
}

std::string CrossCheckReport::ToString() const {
  std::string text = absl::StrCat("cross-check of kernel '", kernel, "': ");
  if (!interpreter_error.empty()) return absl::StrCat(text, "the interpreter stopped: ", interpreter_error);
  if (is_equal()) {
    absl::StrAppend(&text, num_elements, " elements agree (", max_ulp, " ulp at most)");
  } else {
    absl::StrAppend(&text, "the GPU and the interpreter disagree");
  }
  for (const TensorMismatch& mismatch : mismatches) {
    const Comparison& comparison = mismatch.comparison;
    absl::StrAppend(&text, "\n  ", comparison.num_different, " of ", comparison.num_elements, " elements of ",
                    mismatch.tensor, " differ");
    absl::StrAppend(&text, "\n    first: ", Describe(mismatch.tensor, *comparison.first));
    if (mismatch.program.has_value()) {
      absl::StrAppend(&text, ", written by program (", absl::StrJoin(*mismatch.program, ", "), ")");
      if (!mismatch.location.empty()) absl::StrAppend(&text, " at ", mismatch.location);
    }
    if (comparison.worst->index != comparison.first->index) {
      absl::StrAppend(&text, "\n    worst: ", Describe(mismatch.tensor, *comparison.worst));
    }
  }
  if (!mismatches.empty() && depends_on_order) {
    absl::StrAppend(&text, "\n  the kernel uses what atomics give back, which depends on the order of programs");
  }
  if (!not_compared.empty()) {
    absl::StrAppend(&text, "\n  not compared, in host memory: ", absl::StrJoin(not_compared, ", "));
  }
  return text;
}

}  // namespace trivet::jit
