#include "jit/emulator/host_compiler.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "jit/emulator/fiber.h"
#include "jit/emulator/host_functions.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "vm/base/status.h"

namespace trivet::jit {

namespace {

// Leaves room for a few frames of calls, and for the host's functions.
constexpr size_t kMaxFrameBytes = FiberStacks::kStackBytes / 4;

template <typename T>
absl::StatusOr<T> ToStatus(llvm::Expected<T> value, const char* what) {
  if (value) return std::move(*value);
  return absl::InternalError(absl::StrCat("emulator: ", what, ": ", llvm::toString(value.takeError())));
}

absl::Status ToStatus(llvm::Error error, const char* what) {
  if (!error) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("emulator: ", what, ": ", llvm::toString(std::move(error))));
}

llvm::orc::JITTargetMachineBuilder ThisMachine() {
  static const bool initialised = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialised;
  llvm::orc::JITTargetMachineBuilder machine{llvm::Triple(llvm::sys::getProcessTriple())};
#ifdef __x86_64__
  const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  const auto has = [&](const char* feature) { return features.lookup(feature); };
  const bool v3 = has("avx2") && has("fma") && has("f16c") && has("bmi2") && has("lzcnt") && has("movbe");
  machine.setCPU(v3 ? "x86-64-v3" : "x86-64");
#endif
  // A kernel runs for a millisecond or two; optimising it would take ten times as long as compiling it so.
  machine.setCodeGenOptLevel(llvm::CodeGenOptLevel::None);
  machine.getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return machine;
}

// What the code generator says against a function: its errors, and frames that no stack has room for.
void Collect(const llvm::DiagnosticInfo* diagnostic, void* message) {
  const bool too_big = diagnostic->getKind() == llvm::DK_StackSize;
  if (!too_big && diagnostic->getSeverity() != llvm::DS_Error) return;
  llvm::raw_string_ostream stream(*static_cast<std::string*>(message));
  llvm::DiagnosticPrinterRawOStream printer(stream);
  diagnostic->print(printer);
  stream << "; ";
}

}  // namespace

struct HostCode::Impl {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

HostCode::HostCode(std::unique_ptr<Impl> impl, void* entry) : impl_(std::move(impl)), entry_(entry) {}
HostCode::~HostCode() = default;

absl::Status HostCode::Retarget(llvm::Module& module) {
  TRIVET_ASSIGN_OR_RETURN(const std::unique_ptr<llvm::TargetMachine> machine,
                          ToStatus(ThisMachine().createTargetMachine(), "no code generator for this machine"));
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<HostCode>> HostCode::Compile(std::unique_ptr<llvm::LLVMContext> context,
                                                            std::unique_ptr<llvm::Module> module, const char* entry) {
  llvm::orc::ThreadSafeModule both(std::move(module), std::move(context));  // destroys them in the right order
  std::string complaints;
  both.withModuleDo([&](llvm::Module& m) {
    m.getContext().setDiagnosticHandlerCallBack(Collect, &complaints);
    for (llvm::Function& function : m) {
      if (!function.isDeclaration()) function.addFnAttr("warn-stack-size", absl::StrCat(kMaxFrameBytes));
    }
  });
  auto impl = std::make_unique<Impl>();
  TRIVET_ASSIGN_OR_RETURN(impl->jit, ToStatus(llvm::orc::LLJITBuilder()
                                                  .setJITTargetMachineBuilder(ThisMachine())
                                                  .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
                                                  .create(),
                                              "starting the compiler"));
  llvm::orc::LLJIT& jit = *impl->jit;
  llvm::orc::SymbolMap symbols;
  for (const HostSymbol& symbol : HostSymbols()) {
    symbols[jit.mangleAndIntern(symbol.name)] = {llvm::orc::ExecutorAddr::fromPtr(symbol.address),
                                                 llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  }
  TRIVET_RETURN_IF_ERROR(ToStatus(jit.getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols))),
                                  "defining host functions"));
  TRIVET_RETURN_IF_ERROR(ToStatus(jit.addIRModule(std::move(both)), "adding the module"));
  TRIVET_ASSIGN_OR_RETURN(const llvm::orc::ExecutorAddr address, ToStatus(jit.lookup(entry), "compiling"));
  if (!complaints.empty()) return absl::ResourceExhaustedError(absl::StrCat("emulator: compiling: ", complaints));
  return std::unique_ptr<HostCode>(new HostCode(std::move(impl), address.toPtr<void*>()));
}

}  // namespace trivet::jit
