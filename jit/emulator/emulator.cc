#include "jit/emulator/emulator.h"

#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "jit/emulator/cta.h"
#include "jit/emulator/host_compiler.h"
#include "jit/emulator/rewrite.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "vm/base/status.h"

namespace trivet::jit {

namespace {

// What the verifier says against the module, or nothing.
std::string VerifierMessage(const llvm::Module& module) {
  std::string message;
  llvm::raw_string_ostream stream(message);
  return llvm::verifyModule(module, &stream) ? message : "";
}

// The threads of the host that launch keep their stacks.
FiberStacks& StacksOfThisThread() {
  thread_local FiberStacks stacks;
  return stacks;
}

}  // namespace

// The order matters: code goes before what it refers to.
struct EmulatedKernel::Impl {
  explicit Impl(SharedBuffer buffer) : shared(std::move(buffer)) {}

  std::string name;
  absl::Mutex mutex;  // held during a launch: the buffer and the loop budget are the kernel's
  SharedBuffer shared ABSL_GUARDED_BY(mutex);
  std::unique_ptr<int64_t> iterations = std::make_unique<int64_t>(0);
  RewrittenKernel kernel;
  std::unique_ptr<HostCode> code;
};

EmulatedKernel::EmulatedKernel(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
EmulatedKernel::~EmulatedKernel() = default;

absl::StatusOr<std::unique_ptr<EmulatedKernel>> EmulatedKernel::Load(std::unique_ptr<llvm::LLVMContext> context,
                                                                     std::unique_ptr<llvm::Module> module,
                                                                     absl::string_view kernel) {
  // The module goes before its context, also on early returns; parameters are destroyed in the compiler's order.
  struct Owned {
    std::unique_ptr<llvm::LLVMContext> context;
    std::unique_ptr<llvm::Module> module;
  } owned = {std::move(context), std::move(module)};
  if (const std::string message = VerifierMessage(*owned.module); !message.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("emulator: the module is not valid: ", message));
  }
  TRIVET_ASSIGN_OR_RETURN(SharedBuffer shared, SharedBuffer::Make());
  const uint64_t shared_address = shared.address();
  auto impl = std::make_unique<Impl>(std::move(shared));
  impl->name = std::string(kernel);
  TRIVET_RETURN_IF_ERROR(HostCode::Retarget(*owned.module));
  TRIVET_ASSIGN_OR_RETURN(impl->kernel, RewriteForHost(*owned.module, kernel, shared_address, impl->iterations.get()));
  if (const std::string message = VerifierMessage(*owned.module); !message.empty()) {
    return absl::InternalError(absl::StrCat("emulator: the rewrite made an invalid module: ", message));
  }
  TRIVET_ASSIGN_OR_RETURN(impl->code, HostCode::Compile(std::move(owned.context), std::move(owned.module), kEntryName));
  return std::unique_ptr<EmulatedKernel>(new EmulatedKernel(std::move(impl)));
}

absl::Status EmulatedKernel::Launch(const EmulatedLaunch& launch) const {
  Impl& impl = *impl_;
  const auto invalid = [&](const std::string& why) {
    return absl::InvalidArgumentError(absl::StrCat("emulator: launch of ", impl.name, ": ", why));
  };
  for (const int extent : launch.grid) {
    if (extent < 1) return invalid(absl::StrCat("a grid extent of ", extent));
  }
  if (launch.num_threads < 32 || launch.num_threads > kMaxThreads || launch.num_threads % 32 != 0) {
    return invalid(absl::StrCat(launch.num_threads, " threads; a multiple of 32 up to ", kMaxThreads, " is possible"));
  }
  if (static_cast<int>(launch.arguments.size()) != impl.kernel.num_parameters) {
    return invalid(absl::StrCat(launch.arguments.size(), " arguments for ", impl.kernel.num_parameters, " parameters"));
  }
  const int64_t shared_bytes = launch.shared_bytes > 0 ? impl.kernel.dynamic_shared_offset + launch.shared_bytes
                                                       : impl.kernel.static_shared_bytes;
  if (launch.shared_bytes < 0 || shared_bytes > kMaxSharedBytes) {
    return invalid(absl::StrCat(shared_bytes, " bytes of shared memory; ", kMaxSharedBytes, " are possible"));
  }
  FiberStacks& stacks = StacksOfThisThread();
  if (!stacks.Reserve(launch.num_threads)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("emulator: no memory for the stacks of ", launch.num_threads, " threads"));
  }
  absl::MutexLock lock(&impl.mutex);
  const Cta::Program program = {reinterpret_cast<void (*)(const uint64_t*)>(impl.code->entry()), impl.iterations.get(),
                                impl.shared.address(), shared_bytes};
  Cta cta(program, launch, stacks);
  for (int z = 0; z < launch.grid[2]; ++z) {
    for (int y = 0; y < launch.grid[1]; ++y) {
      for (int x = 0; x < launch.grid[0]; ++x) TRIVET_RETURN_IF_ERROR(cta.Run({x, y, z}));
    }
  }
  return absl::OkStatus();
}

}  // namespace trivet::jit
