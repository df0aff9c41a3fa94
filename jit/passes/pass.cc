#include "jit/passes/pass.h"

#include <utility>

namespace trivet::jit {
namespace {

constexpr PassInfo kPasses[] = {
#define TRIVET_PASS(Function, name, LevelIn, LevelOut, doc) \
  {name, &Function, vm::OpLevel::k##LevelIn, vm::OpLevel::k##LevelOut, doc},
#include "jit/passes/passes.def"
};

}  // namespace

absl::Span<const PassInfo> AllPasses() { return kPasses; }

const PassInfo* FindPass(absl::string_view name) {
  for (const PassInfo& pass : kPasses) {
    if (name == pass.name) return &pass;
  }
  return nullptr;
}

std::string Remark::ToString(const vm::Module& module) const {
  const std::string place = module.LocationToString(location);
  return absl::StrCat(place, place.empty() ? "" : ": ", pass, ": in @", function, ": ", text);
}

const RangeAnalysis& PassContext::ranges() {
  if (!ranges_) ranges_ = RangeAnalysis::Run(module_.function(function_), facts_);
  return *ranges_;
}

const AxisInfoAnalysis& PassContext::axis_info() {
  if (!axis_info_) axis_info_ = AxisInfoAnalysis::Run(module_.function(function_), facts_, ranges());
  return *axis_info_;
}

const AliasAnalysis& PassContext::aliases() {
  if (!aliases_) aliases_ = AliasAnalysis::Run(module_.function(function_));
  return *aliases_;
}

void PassContext::DropAnalyses() {
  ranges_.reset();
  axis_info_.reset();
  aliases_.reset();
}

void PassContext::Count(absl::string_view what, int64_t n) {
  if (counters_ != nullptr && n != 0) (*counters_)[absl::StrCat(pass_, ".", what)] += n;
}

void PassContext::AddRemark(OpId op, std::string text) {
  const vm::Function& fn = module_.function(function_);
  remarks_->push_back({pass_, fn.name, op ? fn.op(op).location : fn.location, std::move(text)});
}

}  // namespace trivet::jit
