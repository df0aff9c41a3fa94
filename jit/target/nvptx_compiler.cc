#include "jit/target/nvptx_compiler.h"

#include <memory>
#include <mutex>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "vm/base/status.h"

// What llvm/Support/TargetSelect.h would declare for every target of the LLVM at hand; we link NVPTX alone.
extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace trivet::jit {
namespace {

constexpr char kTriple[] = "nvptx64-nvidia-cuda";
// PTX 8.6 knows all that sm_90a needs (tensor maps without clusters); drivers of CUDA 12.7 and later read it.
constexpr char kFeatures[] = "+ptx86";

void Initialise() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

llvm::OptimizationLevel LevelOf(int level) {
  switch (level) {
    case 0:
      return llvm::OptimizationLevel::O0;
    case 1:
      return llvm::OptimizationLevel::O1;
    case 2:
      return llvm::OptimizationLevel::O2;
    default:
      return llvm::OptimizationLevel::O3;
  }
}

void Optimise(llvm::Module& module, llvm::TargetMachine& machine, int level) {
  llvm::PipelineTuningOptions tuning;
  // Loops are unrolled and vectorised by our own passes, which know the hardware's copies.
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  tuning.LoopUnrolling = false;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  builder.buildPerModuleDefaultPipeline(LevelOf(level)).run(module, modules);
}

}  // namespace

absl::StatusOr<int> ComputeCapabilityOf(absl::string_view target) {
  absl::string_view digits = target;
  int capability = 0;
  if (absl::ConsumePrefix(&digits, "sm_")) {
    absl::ConsumeSuffix(&digits, "a");
    if (absl::SimpleAtoi(digits, &capability) && capability >= 80) return capability;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("target must be sm_80 or later, such as sm_90a; found '", target, "'"));
}

absl::StatusOr<std::string> CompileToPtx(llvm::Module& module, const PtxOptions& options) {
  Initialise();
  std::string error;
  const llvm::Triple triple(kTriple);
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (target == nullptr) return absl::InternalError(absl::StrCat("LLVM has no NVPTX backend: ", error));
  TRIVET_RETURN_IF_ERROR(ComputeCapabilityOf(options.target).status());
  llvm::TargetOptions target_options;
  target_options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // rounding is decided in the bytecode
  const std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, options.target, kFeatures, target_options, llvm::Reloc::PIC_, std::nullopt,
                                  llvm::CodeGenOptLevel::Aggressive));
  if (machine == nullptr) return absl::InternalError(absl::StrCat("no target machine for ", options.target));
  module.setTargetTriple(triple);
  module.setDataLayout(machine->createDataLayout());
  Optimise(module, *machine, options.optimisation_level);

  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile)) {
    return absl::InternalError("LLVM can't emit PTX");
  }
  passes.run(module);
  return std::string(text.data(), text.size());
}

}  // namespace trivet::jit
