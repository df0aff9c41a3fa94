#include "emulator_fixture.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

namespace trivet::jit {

absl::StatusOr<std::unique_ptr<EmulatedKernel>> LoadText(absl::string_view text) {
  auto context = std::make_unique<llvm::LLVMContext>();
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module =
      llvm::parseAssemblyString(llvm::StringRef(text.data(), text.size()), error, *context);
  if (module == nullptr) {
    return absl::InvalidArgumentError("line " + std::to_string(error.getLineNo()) + ": " + error.getMessage().str());
  }
  return EmulatedKernel::Load(std::move(context), std::move(module), "kernel");
}

absl::Status RunText(absl::string_view text, const EmulatedLaunch& launch) {
  absl::StatusOr<std::unique_ptr<EmulatedKernel>> kernel = LoadText(text);
  if (!kernel.ok()) return kernel.status();
  return (*kernel)->Launch(launch);
}

}  // namespace trivet::jit
