// What a pass is given and gives back. pass_manager.h runs them; each pass is a function declared here by its row of
// passes.def.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "jit/analysis/alias_info.h"
#include "jit/analysis/axis_info.h"
#include "jit/analysis/range_info.h"
#include "vm/bytecode/module.h"

namespace trivet::jit {

struct PassResult {
  bool changed = false;
};

// One decision of a pass, for the author of the kernel or of the pass.
struct Remark {
  std::string pass;
  std::string function;
  vm::Location location;
  std::string text;

  // "add.py:12:5: drop-proven-masks: in @add: mask of load is always true: ...".
  std::string ToString(const vm::Module& module) const;
};

// The function's surroundings, what is known of it, and where decisions are noted. One for each function that a
// pipeline runs over; analyses are kept until a pass changes the function.
class PassContext {
 public:
  // `facts` are about the kernel's arguments; `remarks` and `counters` may be null.
  PassContext(const vm::Module& module, FunctionId function, ArgumentFacts facts, std::vector<Remark>* remarks,
              std::map<std::string, int64_t>* counters)
      : module_(module), function_(function), facts_(std::move(facts)), remarks_(remarks), counters_(counters) {}

  // The module as it is while the pass runs; the function being changed is part of it.
  const vm::Module& module() const { return module_; }
  FunctionId function() const { return function_; }
  const ArgumentFacts& facts() const { return facts_; }

  // Analyses of the function. A pass that changes it goes on with what it fetched before, if that still fits.
  const RangeAnalysis& ranges();
  const AxisInfoAnalysis& axis_info();
  const AliasAnalysis& aliases();
  void DropAnalyses();

  // Whether notes go anywhere: for those that cost something to write.
  bool keeps_notes() const { return remarks_ != nullptr; }
  // Notes a decision about `op`: its location is kept.
  template <typename... Pieces>
  void Note(OpId op, const Pieces&... pieces) {
    if (remarks_ != nullptr) AddRemark(op, absl::StrCat(pieces...));
  }
  // Adds to the counter "pass.what".
  void Count(absl::string_view what, int64_t n = 1);

  // --- For the pass manager.
  void BeginPass(absl::string_view pass) { pass_ = std::string(pass); }

 private:
  void AddRemark(OpId op, std::string text);

  const vm::Module& module_;
  const FunctionId function_;
  const ArgumentFacts facts_;
  std::vector<Remark>* const remarks_;
  std::map<std::string, int64_t>* const counters_;
  std::string pass_;
  std::optional<RangeAnalysis> ranges_;
  std::optional<AxisInfoAnalysis> axis_info_;
  std::optional<AliasAnalysis> aliases_;
};

// The passes. Each one's file says what must hold before, what holds after and what it keeps.
#define TRIVET_PASS(Run, ...) absl::StatusOr<PassResult> Run(vm::Function& fn, PassContext& cx);
#include "jit/passes/passes.def"

struct PassInfo {
  const char* name;
  absl::StatusOr<PassResult> (*run)(vm::Function& fn, PassContext& cx);
  vm::OpLevel level_in;
  vm::OpLevel level_out;
  const char* doc;
};

// The rows of passes.def, in order.
absl::Span<const PassInfo> AllPasses();
// The row with this name, or nullptr.
const PassInfo* FindPass(absl::string_view name);

}  // namespace trivet::jit
