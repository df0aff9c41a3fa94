#include "jit/lowering/nvptx/inline_ptx.h"

#include "absl/strings/str_join.h"
#include "llvm/IR/InlineAsm.h"

namespace trivet::jit {
namespace {

using llvm::Value;

unsigned WidthOf(Value* v) { return v->getType()->getScalarSizeInBits(); }

// The register class of a word (NVPTX, "Inline assembly constraints"). 8-bit words live in 16-bit registers.
char RegisterClass(unsigned bits) { return bits == 64 ? 'l' : bits == 32 ? 'r' : 'h'; }

std::string Hints(const CacheHints& hints, bool is_store) {
  if (hints.is_volatile) return ".volatile";
  std::string text;
  switch (hints.cache) {
    case vm::CacheModifier::kNone:
      break;
    case vm::CacheModifier::kCA:
      text = is_store ? "" : ".ca";
      break;
    case vm::CacheModifier::kCG:
      text = ".cg";
      break;
    case vm::CacheModifier::kCV:
      text = is_store ? ".wt" : ".cv";
      break;
    case vm::CacheModifier::kWB:
      text = is_store ? ".wb" : "";
      break;
    case vm::CacheModifier::kCS:
      text = ".cs";
      break;
    case vm::CacheModifier::kWT:
      text = is_store ? ".wt" : "";
      break;
  }
  // PTX permits a cache operator or a priority, not both.
  if (text.empty() && hints.eviction == vm::EvictionPolicy::kEvictFirst) text = ".L1::evict_first";
  if (text.empty() && hints.eviction == vm::EvictionPolicy::kEvictLast) text = ".L1::evict_last";
  return text;
}

std::string VectorSuffix(size_t count) { return count == 1 ? "" : absl::StrCat(".v", count); }

// "{$0, $1}", or "$0" for one.
std::string Operands(size_t first, size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back(absl::StrCat("$", first + i));
  return count == 1 ? names[0] : absl::StrCat("{", absl::StrJoin(names, ", "), "}");
}

}  // namespace

Value* InlinePtx(LoweringContext& cx, const std::string& name, const std::string& text, const std::string& constraints,
                 llvm::Type* result, const std::vector<Value*>& operands) {
  std::vector<llvm::Type*> types;
  for (Value* v : operands) types.push_back(v->getType());
  llvm::InlineAsm* callee =
      llvm::InlineAsm::get(llvm::FunctionType::get(result, types, false), absl::StrCat("/*", name, "*/ ", text),
                           constraints, /*hasSideEffects=*/true);
  llvm::CallInst* call = cx.ir().CreateCall(callee, operands);
  call->addFnAttr(llvm::Attribute::NoUnwind);
  return call;
}

std::vector<Value*> MaskedLoad(LoweringContext& cx, Value* pointer, Value* mask, const std::vector<Value*>& other,
                               const CacheHints& hints) {
  auto& ir = cx.ir();
  const size_t count = other.size();
  const unsigned bits = WidthOf(other[0]);
  llvm::Type* word = ir.getIntNTy(std::max(16u, bits));
  std::string constraints;
  for (size_t i = 0; i < count; ++i) absl::StrAppend(&constraints, "=", std::string(1, RegisterClass(bits)), ",");
  absl::StrAppend(&constraints, "b,l");
  std::vector<Value*> operands = {mask, pointer};
  for (size_t i = 0; i < count; ++i) {
    absl::StrAppend(&constraints, ",", i);
    operands.push_back(ir.CreateZExt(other[i], word));
  }
  absl::StrAppend(&constraints, ",~{memory}");
  llvm::Type* result =
      count == 1 ? word : llvm::StructType::get(cx.llvm_context(), std::vector<llvm::Type*>(count, word));
  const std::string suffix = absl::StrCat(VectorSuffix(count), ".b", bits);
  const std::string text = absl::StrCat("@$", count, " ld", hints.is_volatile ? ".volatile" : "", ".global",
                                        hints.is_volatile ? "" : Hints(hints, false), suffix, " ", Operands(0, count),
                                        ", [$", count + 1, "];");
  Value* loaded = InlinePtx(cx, absl::StrCat("masked_load.v", count, ".b", bits), text, constraints, result, operands);
  std::vector<Value*> out;
  for (unsigned i = 0; i < count; ++i) {
    Value* v = count == 1 ? loaded : ir.CreateExtractValue(loaded, i);
    out.push_back(ir.CreateTrunc(v, other[i]->getType()));
  }
  return out;
}

void MaskedStore(LoweringContext& cx, Value* pointer, Value* mask, const std::vector<Value*>& words,
                 const CacheHints& hints) {
  auto& ir = cx.ir();
  const unsigned bits = WidthOf(words[0]);
  llvm::Type* word = ir.getIntNTy(std::max(16u, bits));
  std::string constraints = "b,l";
  std::vector<Value*> operands = {mask, pointer};
  for (Value* v : words) {
    absl::StrAppend(&constraints, ",", std::string(1, RegisterClass(bits)));
    operands.push_back(ir.CreateZExt(v, word));
  }
  absl::StrAppend(&constraints, ",~{memory}");
  const std::string text = absl::StrCat("@$0 st", hints.is_volatile ? ".volatile" : "", ".global",
                                        hints.is_volatile ? "" : Hints(hints, true), VectorSuffix(words.size()), ".b",
                                        bits, " [$1], ", Operands(2, words.size()), ";");
  InlinePtx(cx, absl::StrCat("masked_store.v", words.size(), ".b", bits), text, constraints, ir.getVoidTy(), operands);
}

}  // namespace trivet::jit
