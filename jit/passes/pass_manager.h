// Runs passes over a module: verifies after each, measures, dumps, and stops where it is told to.
//
//   PassOptions options{.facts = facts};
//   TRIVET_ASSIGN_OR_RETURN(const PipelineReport report, PassPipeline::Default().Run(module, options));
//
// To find the pass that breaks a kernel, halve stop_at between 0 (no pass ran) and the number of passes; the last one
// that still works names the first that does not.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "jit/passes/pass.h"

namespace trivet::jit {

struct PassOptions {
  ArgumentFacts facts;                  // about the arguments of kernels
  std::vector<std::string> dump_after;  // names of passes, or "all"
  std::string stop_after;               // a pass: ends after the last run of it in the pipeline. Empty: runs all
  int stop_at = -1;                     // ends after so many passes; -1: runs all
  bool verify = true;                   // after each pass that changed something
  bool collect_remarks = false;
  // Gets each dump: a legal .tvt whose first line is a comment that names the pass. Null: standard error.
  std::function<void(absl::string_view)> dump;
};

struct PassRun {
  std::string pass;
  bool changed = false;
  double microseconds = 0;  // over all functions, without verifier and dump
};

struct PipelineReport {
  std::vector<PassRun> runs;  // in order
  std::vector<Remark> remarks;
  std::map<std::string, int64_t> counters;  // "cse.merged": 12

  // A table of passes and times, and the counters.
  std::string ToString() const;
};

class PassPipeline {
 public:
  // What the GPU tiers run before they assign layouts.
  static PassPipeline Default();
  // "canonicalise,cse,dce". Errors: no such pass; it names those there are.
  static absl::StatusOr<PassPipeline> FromNames(absl::string_view names);

  const std::vector<const PassInfo*>& passes() const { return passes_; }
  // Changes all functions of `module`, which must be legal. Errors: those of a pass; Internal, with the verifier's
  // words and the pass's name, when a pass leaves something illegal; InvalidArgument for options that name no pass.
  absl::StatusOr<PipelineReport> Run(vm::Module& module, const PassOptions& options = {}) const;

 private:
  std::vector<const PassInfo*> passes_;
};

// Removes the functions that `kernel` does not call, directly or through others, so that later work is not spent on
// them. Requires that the module has this function.
void KeepOnlyReachable(vm::Module& module, FunctionId kernel);

}  // namespace trivet::jit
