#include "jit/runtime/compile.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "jit/analysis/axis_info.h"
#include "jit/passes/assign_layouts.h"
#include "jit/passes/pass_manager.h"
#include "jit/runtime/lower_for_gpu.h"
#include "jit/target/libdevice.h"
#include "jit/target/nvptx_compiler.h"
#include "vm/base/status.h"
#include "vm/bytecode/printer.h"

namespace trivet::jit {
namespace {

ArgumentFacts FactsOf(const vm::Function& kernel, const CompileOptions& options) {
  ArgumentFacts facts;
  for (size_t i = 0; i < kernel.params().size(); ++i) {
    ArgumentFact fact;
    if (i < options.parameters.size()) {
      fact.divisibility = options.parameters[i].divisibility;
      fact.constant = options.parameters[i].value;
    }
    facts.parameters.push_back(fact);
  }
  return facts;
}

}  // namespace

absl::StatusOr<FunctionId> FindKernel(const vm::Module& module, absl::string_view name) {
  FunctionId found;
  for (uint32_t i = 0; i < module.functions.size(); ++i) {
    const vm::Function& fn = module.functions[i];
    if (!fn.is_kernel || (!name.empty() && fn.name != name)) continue;
    if (found) return absl::InvalidArgumentError("the module has several kernels; name one");
    found = FunctionId(i);
  }
  if (!found) return absl::InvalidArgumentError(absl::StrCat("the module has no kernel '", name, "'"));
  return found;
}

absl::StatusOr<LoweredModule> LowerForGpu(const vm::Module& module, const CompileOptions& options) {
  TRIVET_ASSIGN_OR_RETURN(const FunctionId kernel, FindKernel(module, options.kernel));
  TRIVET_ASSIGN_OR_RETURN(const int capability, ComputeCapabilityOf(options.target));
  if (options.num_ctas != 1) return absl::UnimplementedError("num_ctas > 1: clusters are not lowered yet");
  LoweredModule out{module, {}};
  KeepOnlyReachable(out.tile, kernel);
  TRIVET_ASSIGN_OR_RETURN(const FunctionId kept, FindKernel(out.tile, options.kernel));
  PassOptions pass_options;
  pass_options.facts = FactsOf(out.tile.function(kept), options);
  TRIVET_RETURN_IF_ERROR(PassPipeline::Default().Run(out.tile, pass_options).status());
  std::vector<FunctionPlan> plans;
  for (vm::Function& fn : out.tile.functions) {
    const ArgumentFacts facts = fn.is_kernel ? FactsOf(fn, options) : ArgumentFacts();
    FunctionPlan plan;
    // The remainders of run-time extents are taken on trust (docs/semantics.md, "Where GPUs may differ").
    plan.axis_info = AxisInfoAnalysis::Run(fn, facts, Trust::kRemainders);
    TRIVET_ASSIGN_OR_RETURN(plan.layouts, AssignLayouts(fn, plan.axis_info, {options.num_warps, capability}));
    plans.push_back(std::move(plan));
  }
  TRIVET_ASSIGN_OR_RETURN(out.kernel, LowerKernel(out.tile, kept, plans, {options.num_warps, capability}));
  return out;
}

absl::StatusOr<CompiledKernel> Compile(const vm::Module& module, const CompileOptions& options) {
  TRIVET_ASSIGN_OR_RETURN(LoweredModule lowered, LowerForGpu(module, options));
  CompiledKernel out;
  out.kernel_name = lowered.kernel.kernel_name;
  out.target = options.target;
  out.num_warps = options.num_warps;
  out.num_ctas = options.num_ctas;
  out.shared_bytes = lowered.kernel.shared_bytes;
  out.tile = vm::Print(lowered.tile);
  out.llir = ToText(lowered.kernel);
  TRIVET_RETURN_IF_ERROR(LinkLibdevice(*lowered.kernel.module, options.libdevice_path));
  TRIVET_ASSIGN_OR_RETURN(out.ptx, CompileToPtx(*lowered.kernel.module, {options.target}));
  return out;
}

}  // namespace trivet::jit
