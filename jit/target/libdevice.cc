#include "jit/target/libdevice.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Constants.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Transforms/IPO/Internalize.h"

namespace trivet::jit {
namespace {

const llvm::Function* FindMissing(const llvm::Module& module) {
  for (const llvm::Function& fn : module) {
    if (fn.isDeclaration() && fn.getName().starts_with("__nv_")) return &fn;
  }
  return nullptr;
}

}  // namespace

bool NeedsLibdevice(const llvm::Module& module) { return FindMissing(module) != nullptr; }

absl::Status LinkLibdevice(llvm::Module& module, const std::string& path) {
  const llvm::Function* missing = FindMissing(module);
  if (missing == nullptr) return absl::OkStatus();
  const std::string wanted = missing->getName().str();
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (path.empty() || !buffer) {
    return absl::UnimplementedError(absl::StrCat(
        wanted, " needs NVIDIA's libdevice.10.bc, which was not found", path.empty() ? "" : absl::StrCat(" at ", path),
        ": install nvidia-cuda-nvcc from PyPI, or set TRIVET_LIBDEVICE to the file"));
  }
  auto library = llvm::parseBitcodeFile((*buffer)->getMemBufferRef(), module.getContext());
  if (!library) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is no LLVM bitcode: ", llvm::toString(library.takeError())));
  }
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  const auto internalise = [](llvm::Module& m, const llvm::StringSet<>& linked) {
    llvm::internalizeModule(
        m, [&](const llvm::GlobalValue& value) { return !value.hasName() || !linked.contains(value.getName()); });
  };
  if (llvm::Linker::linkModules(module, std::move(*library), llvm::Linker::LinkOnlyNeeded, internalise)) {
    return absl::InternalError(absl::StrCat("linking ", path, " failed"));
  }
  // Subnormals are kept (NVVM IR specification, "__nvvm_reflect").
  module.addModuleFlag(llvm::Module::Override, "nvvm-reflect-ftz", uint32_t{0});
  if (const llvm::Function* still = FindMissing(module); still != nullptr) {
    return absl::UnimplementedError(absl::StrCat(path, " has no function ", still->getName().str()));
  }
  return absl::OkStatus();
}

}  // namespace trivet::jit
