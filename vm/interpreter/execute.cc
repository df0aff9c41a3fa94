#include "vm/interpreter/execute.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "vm/base/status.h"
#include "vm/interpreter/decode.h"
#include "vm/interpreter/program.h"
#include "vm/interpreter/scheduler.h"

namespace trivet::vm {
namespace {

// Programs that a deadlock report lists.
constexpr size_t kMaxListed = 16;
// Back edges between two looks at a function that is evaluated.
constexpr int64_t kEvaluationSlice = 256;

// A decoded kernel with memory for its programs.
struct LoadedKernel {
  explicit LoadedKernel(std::unique_ptr<const DecodedKernel> decoded) : code(std::move(decoded)), arenas(*code) {}
  std::unique_ptr<const DecodedKernel> code;
  ArenaPool arenas;
};

class LoadedModule final : public Executable {
 public:
  explicit LoadedModule(Module module) : module_(std::move(module)) {}
  const Module& module() const override { return module_; }

  // The kernel, decoded on first use. The decoded form for observers is another.
  absl::StatusOr<LoadedKernel*> Get(FunctionId id, bool for_observer) const {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<LoadedKernel>& kernel = kernels_[{id, for_observer}];
    if (kernel == nullptr) {
      TRIVET_ASSIGN_OR_RETURN(auto decoded, DecodeKernel(module_, id, for_observer));
      kernel = std::make_unique<LoadedKernel>(std::move(decoded));
    }
    return kernel.get();
  }

 private:
  const Module module_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<FunctionId, bool>, std::unique_ptr<LoadedKernel>> kernels_;
};

// Lets programs on several threads write one after another.
class TurnTakingSink final : public PrintSink {
 public:
  explicit TurnTakingSink(PrintSink* sink) : sink_(sink) {}
  void Write(absl::string_view text) override {
    const std::lock_guard lock(mutex_);
    if (sink_ != nullptr) {
      sink_->Write(text);
    } else {
      std::fwrite(text.data(), 1, text.size(), stdout);
      std::fflush(stdout);
    }
  }

 private:
  std::mutex mutex_;
  PrintSink* sink_;
};

absl::StatusOr<FunctionId> FindKernel(const Module& module, const std::string& name) {
  if (!name.empty()) {
    const FunctionId id = module.FindFunction(name);
    if (id.is_none()) return absl::NotFoundError(absl::StrCat("the module has no function @", name));
    if (!module.function(id).is_kernel) return absl::InvalidArgumentError(absl::StrCat("@", name, " is not a kernel"));
    return id;
  }
  std::vector<std::string> kernels;
  FunctionId found;
  for (uint32_t i = 0; i < module.functions.size(); ++i) {
    if (!module.functions[i].is_kernel) continue;
    found = FunctionId(i);
    kernels.push_back(absl::StrCat("@", module.functions[i].name));
  }
  if (kernels.empty()) return absl::NotFoundError("the module has no kernel");
  if (kernels.size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat("name one of the module's kernels: ", absl::StrJoin(kernels, ", ")));
  }
  return found;
}

absl::Status CheckArguments(const Function& kernel, const std::vector<KernelArgument>& arguments) {
  if (arguments.size() != kernel.params().size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("@", kernel.name, " takes ", kernel.params().size(), " arguments, not ", arguments.size()));
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ValueId param = kernel.params()[i];
    const auto words = static_cast<size_t>((kernel.type(param).value_bytes() + 7) / 8);
    if (arguments[i].words.size() == words) continue;
    return absl::InvalidArgumentError(absl::StrCat("@", kernel.name, ": argument ", kernel.value(param).name, " (",
                                                   kernel.type(param).ToString(), ") takes ", words, " words, not ",
                                                   arguments[i].words.size()));
  }
  return absl::OkStatus();
}

// The number of programs.
absl::StatusOr<int64_t> CheckGrid(const std::array<int64_t, 3>& grid) {
  constexpr int64_t kMaxExtent = std::numeric_limits<int32_t>::max();
  int64_t count = 1;
  for (int64_t extent : grid) {
    if (extent < 0 || extent > kMaxExtent) {
      return absl::InvalidArgumentError(
          absl::StrCat("the grid (", absl::StrJoin(grid, ", "), ") has an extent outside 0 to ", kMaxExtent));
    }
    if (__builtin_mul_overflow(count, extent, &count)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the grid (", absl::StrJoin(grid, ", "), ") has too many programs"));
    }
  }
  return count;
}

absl::StatusCode StatusCodeOf(TrapKind kind) {
  switch (kind) {
    case TrapKind::kNone:
      return absl::StatusCode::kOk;
    case TrapKind::kOutOfBounds:
    case TrapKind::kNullPointer:
    case TrapKind::kReadOnly:
    case TrapKind::kMisaligned:
    case TrapKind::kIndex:
    case TrapKind::kZeroStep:
      return absl::StatusCode::kOutOfRange;
    case TrapKind::kAssert:
    case TrapKind::kAssume:
      return absl::StatusCode::kFailedPrecondition;
    case TrapKind::kStepLimit:
    case TrapKind::kStack:
      return absl::StatusCode::kResourceExhausted;
    case TrapKind::kInterrupted:
      return absl::StatusCode::kCancelled;
    case TrapKind::kDeadlock:
    case TrapKind::kEndlessLoop:
      return absl::StatusCode::kAborted;
    case TrapKind::kUnsupported:
      return absl::StatusCode::kUnimplemented;
  }
  return absl::StatusCode::kInternal;
}

std::string IdText(const Program& program) { return absl::StrCat("(", absl::StrJoin(program.id(), ", "), ")"); }

// "matmul.py:31:21 in @dot_tile", or "op 12 (load) in @dot_tile".
std::string FrameText(const Module& module, const ProgramFrame& frame) {
  const Function& function = module.function(frame.function);
  const Operation& op = function.op(frame.op);
  const std::string place = module.LocationToString(op.location);
  return absl::StrCat(place.empty() ? absl::StrCat("op ", frame.op.index(), " (", op.info().text, ")") : place, " in @",
                      function.name);
}

TrapReport DescribeTrap(const Program& program, const Function& kernel) {
  TrapReport report{program.trap().kind, kernel.name, program.id(), "", {}, ""};
  const Module& module = program.module();
  const std::vector<ProgramFrame> frames = program.Frames();
  for (const ProgramFrame& frame : frames) report.frames.push_back(FrameText(module, frame));
  const Operation& op = module.function(frames.front().function).op(frames.front().op);
  report.location = module.LocationToString(op.location);
  report.message = absl::StrCat(report.frames.front(), ": ", program.trap().message);
  if (program.trap().element >= 0) absl::StrAppend(&report.message, " (element ", program.trap().element, ")");
  absl::StrAppend(&report.message, ", in program ", IdText(program), " of @", kernel.name);
  for (size_t i = 1; i < frames.size(); ++i) absl::StrAppend(&report.message, "\n  called at ", report.frames[i]);
  return report;
}

TrapReport DescribeDeadlock(const std::vector<std::unique_ptr<Program>>& waiting, const Function& kernel) {
  const Program& first = *waiting.front();
  TrapReport report{TrapKind::kDeadlock, kernel.name, first.id(), "", {}, ""};
  const Module& module = first.module();
  report.message = absl::StrCat("deadlock in @", kernel.name, ": ", waiting.size(),
                                waiting.size() == 1 ? " program waits" : " programs wait",
                                " for memory to change, and none is left to change it");
  for (size_t i = 0; i < waiting.size() && i < kMaxListed; ++i) {
    const std::vector<ProgramFrame> frames = waiting[i]->Frames();
    absl::StrAppend(&report.message, "\n  program ", IdText(*waiting[i]), " at ", FrameText(module, frames.front()));
    if (i > 0) continue;
    for (const ProgramFrame& frame : frames) report.frames.push_back(FrameText(module, frame));
    report.location = module.LocationToString(module.function(frames[0].function).op(frames[0].op).location);
  }
  if (waiting.size() > kMaxListed) absl::StrAppend(&report.message, "\n  and ", waiting.size() - kMaxListed, " more");
  return report;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Executable>> Executable::Load(Module module) {
  auto loaded = std::make_shared<LoadedModule>(std::move(module));
  for (uint32_t i = 0; i < loaded->module().functions.size(); ++i) {
    if (loaded->module().functions[i].is_kernel) TRIVET_RETURN_IF_ERROR(loaded->Get(FunctionId(i), false).status());
  }
  return loaded;
}

LaunchResult Launch(const Executable& executable, const LaunchRequest& request) {
  LaunchResult result;
  const auto run = [&]() -> absl::Status {
    const Module& module = executable.module();
    TRIVET_ASSIGN_OR_RETURN(const FunctionId id, FindKernel(module, request.kernel));
    const Function& kernel = module.function(id);
    TRIVET_RETURN_IF_ERROR(CheckArguments(kernel, request.arguments));
    TRIVET_ASSIGN_OR_RETURN(const int64_t count, CheckGrid(request.grid));
    if (count == 0) return absl::OkStatus();
    TRIVET_ASSIGN_OR_RETURN(LoadedKernel* const loaded,
                            static_cast<const LoadedModule&>(executable).Get(id, request.options.observer != nullptr));
    TurnTakingSink sink(request.options.print_sink);
    LaunchContext launch{*loaded->code, request, loaded->arenas, &sink};
    for (size_t i = 0; i < 3; ++i) launch.grid[i] = static_cast<int32_t>(request.grid[i]);
    {
      const ScheduleResult ended = RunPrograms(launch, count);
      if (ended.trapped != nullptr) result.trap = DescribeTrap(*ended.trapped, kernel);
      if (ended.is_deadlock) result.trap = DescribeDeadlock(ended.waiting, kernel);
    }
    result.steps = launch.watch.steps();
    return result.trap ? absl::Status(StatusCodeOf(result.trap->kind), result.trap->message) : absl::OkStatus();
  };
  result.status = run();
  return result;
}

absl::StatusOr<std::vector<std::vector<uint8_t>>> EvaluateFunction(const Executable& executable,
                                                                   absl::string_view function,
                                                                   absl::Span<const std::vector<uint8_t>> arguments,
                                                                   int64_t max_steps) {
  const Module& module = executable.module();
  const FunctionId id = module.FindFunction(function);
  if (id.is_none()) return absl::NotFoundError(absl::StrCat("the module has no function @", function));
  const Function& fn = module.function(id);
  if (arguments.size() != fn.params().size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("@", function, " takes ", fn.params().size(), " arguments, not ", arguments.size()));
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto size = static_cast<size_t>(fn.type(fn.params()[i]).value_bytes());
    if (arguments[i].size() == size) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("@", function, ": argument ", i, " has ", arguments[i].size(), " bytes, not ", size));
  }
  TRIVET_ASSIGN_OR_RETURN(LoadedKernel* const loaded, static_cast<const LoadedModule&>(executable).Get(id, false));
  LaunchRequest request;
  request.options.max_steps = max_steps;
  TurnTakingSink sink(nullptr);
  LaunchContext launch{*loaded->code, request, loaded->arenas, &sink};
  Program program(launch);
  for (size_t i = 0; i < arguments.size(); ++i) program.WriteParam(i, arguments[i]);
  program.Start(0);
  WaitDetector detector;
  Program::Outcome outcome = Program::Outcome::kPreempted;
  while (outcome == Program::Outcome::kPreempted) {
    outcome = program.Resume(kEvaluationSlice);
    if (outcome != Program::Outcome::kPreempted) break;
    // Nobody else changes memory, so what waits never ends either; but then it runs into the limit.
    const bool may_go_on = launch.watch.Permit(program) &&
                           detector.Observe(program, 0, program.TakeWrites() > 0) != WaitDetector::Finding::kEndless;
    if (!may_go_on) outcome = Program::Outcome::kTrapped;
  }
  if (outcome == Program::Outcome::kTrapped) {
    const TrapReport report = DescribeTrap(program, fn);
    return absl::Status(StatusCodeOf(report.kind), report.message);
  }
  std::vector<std::vector<uint8_t>> results;
  for (size_t i = 0; i < fn.result_types.size(); ++i) {
    const absl::Span<const uint8_t> bytes = program.ReadResult(i);
    results.emplace_back(bytes.begin(), bytes.end());
  }
  return results;
}

}  // namespace trivet::vm
