#include "jit/passes/pass_manager.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "vm/base/status.h"
#include "vm/bytecode/printer.h"
#include "vm/bytecode/verifier.h"

namespace trivet::jit {
namespace {

// Calls go first, since everything else looks at one function. Constants then decide branches and loops; what becomes
// equal is merged; addresses are made small before loops give them up; unrolling makes new constants.
constexpr absl::string_view kDefaultPipeline =
    "inline,canonicalise,cse,carry-scalars,combine-addressing,licm,unroll,canonicalise,drop-proven-masks,cse,licm,dce";

absl::Status CheckNames(const PassOptions& options) {
  std::vector<std::string> names = options.dump_after;
  if (!options.stop_after.empty()) names.push_back(options.stop_after);
  for (const std::string& name : names) {
    if (name != "all" && FindPass(name) == nullptr) return PassPipeline::FromNames(name).status();
  }
  return absl::OkStatus();
}

// The smallest place in `passes` after which to stop.
size_t PassesToRun(const std::vector<const PassInfo*>& passes, const PassOptions& options) {
  size_t count = passes.size();
  if (options.stop_at >= 0) count = std::min(count, static_cast<size_t>(options.stop_at));
  if (options.stop_after.empty()) return count;
  for (size_t i = passes.size(); i-- > 0;) {
    if (options.stop_after == passes[i]->name) return std::min(count, i + 1);
  }
  return count;
}

bool IsDumped(const PassOptions& options, absl::string_view pass) {
  return std::any_of(options.dump_after.begin(), options.dump_after.end(),
                     [&](const std::string& name) { return name == "all" || name == pass; });
}

void Dump(const PassOptions& options, absl::string_view text) {
  if (options.dump) return options.dump(text);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace

std::string PipelineReport::ToString() const {
  std::string text;
  for (const PassRun& run : runs) {
    absl::StrAppendFormat(&text, "%-20s %10.1f us%s\n", run.pass, run.microseconds, run.changed ? "" : "  no change");
  }
  for (const auto& [counter, n] : counters) absl::StrAppendFormat(&text, "%-32s %6d\n", counter, n);
  return text;
}

PassPipeline PassPipeline::Default() { return *FromNames(kDefaultPipeline); }

absl::StatusOr<PassPipeline> PassPipeline::FromNames(absl::string_view names) {
  PassPipeline pipeline;
  for (absl::string_view name : absl::StrSplit(names, ',', absl::SkipWhitespace())) {
    name = absl::StripAsciiWhitespace(name);
    const PassInfo* pass = FindPass(name);
    if (pass == nullptr) {
      const std::string known = absl::StrJoin(
          AllPasses(), ", ", [](std::string* out, const PassInfo& info) { absl::StrAppend(out, info.name); });
      return absl::InvalidArgumentError(absl::StrCat("no pass is called '", name, "'; there are: ", known));
    }
    pipeline.passes_.push_back(pass);
  }
  return pipeline;
}

absl::StatusOr<PipelineReport> PassPipeline::Run(vm::Module& module, const PassOptions& options) const {
  TRIVET_RETURN_IF_ERROR(CheckNames(options));
  PipelineReport report;
  std::vector<PassContext> contexts;
  contexts.reserve(module.functions.size());
  for (uint32_t i = 0; i < module.functions.size(); ++i) {
    const bool is_kernel = module.functions[i].is_kernel;
    contexts.emplace_back(module, FunctionId(i), is_kernel ? options.facts : ArgumentFacts(),
                          options.collect_remarks ? &report.remarks : nullptr, &report.counters);
  }
  const size_t count = PassesToRun(passes_, options);
  for (size_t i = 0; i < count; ++i) {
    const PassInfo& pass = *passes_[i];
    PassRun run{pass.name};
    const auto began = std::chrono::steady_clock::now();
    for (PassContext& cx : contexts) {
      cx.BeginPass(pass.name);
      TRIVET_ASSIGN_OR_RETURN(const PassResult result, pass.run(module.function(cx.function()), cx));
      if (result.changed) cx.DropAnalyses();
      run.changed |= result.changed;
    }
    run.microseconds = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began).count();
    report.runs.push_back(run);
    if (options.verify && run.changed) {
      vm::Limits limits;
      limits.max_level = pass.level_out;
      if (const absl::Status status = vm::VerifyModule(module, limits); !status.ok()) {
        return absl::InternalError(absl::StrCat("the pass ", pass.name, " left: ", status.message()));
      }
    }
    if (!IsDumped(options, pass.name)) continue;
    const std::string title = absl::StrCat("; after ", pass.name, " (pass ", i + 1, " of ", passes_.size(), ")");
    Dump(options, run.changed ? absl::StrCat(title, "\n", vm::Print(module)) : absl::StrCat(title, ": no change\n"));
  }
  return report;
}

void KeepOnlyReachable(vm::Module& module, FunctionId kernel) {
  std::vector<bool> is_reachable(module.functions.size());
  std::vector<size_t> todo = {kernel.index()};
  while (!todo.empty()) {
    const size_t at = todo.back();
    todo.pop_back();
    if (is_reachable[at]) continue;
    is_reachable[at] = true;
    const vm::Function& fn = module.functions[at];
    fn.ForEachOp([&](OpId op) {
      if (fn.op(op).opcode == vm::Op::kCall)
        todo.push_back(static_cast<size_t>(fn.op(op).int_attr(vm::CallOp::At::callee)));
    });
  }
  std::vector<int64_t> new_index(module.functions.size());
  std::vector<vm::Function> kept;
  for (size_t i = 0; i < module.functions.size(); ++i) {
    new_index[i] = static_cast<int64_t>(kept.size());
    if (is_reachable[i]) kept.push_back(std::move(module.functions[i]));
  }
  for (vm::Function& fn : kept) {
    fn.ForEachOp([&](OpId op) {
      vm::Operation& call = fn.op(op);
      if (call.opcode != vm::Op::kCall) return;
      call.attrs[vm::CallOp::At::callee] = new_index[static_cast<size_t>(call.int_attr(vm::CallOp::At::callee))];
    });
  }
  module.functions = std::move(kept);
}

}  // namespace trivet::jit
