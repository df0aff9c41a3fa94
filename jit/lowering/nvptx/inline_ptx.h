// The PTX that LLVM has no intrinsic for, as inline assembly. Each begins with a comment that names it, by which the
// emulator (and a reader of the PTX) finds it: "/*masked_load.v4.b32*/".
#pragma once

#include <string>
#include <vector>

#include "jit/lowering/lowering_context.h"

namespace trivet::jit {

// What a memory access asks of the caches; PTX ISA, "Cache operators" and "Cache eviction priority hints".
struct CacheHints {
  vm::CacheModifier cache = vm::CacheModifier::kNone;
  vm::EvictionPolicy eviction = vm::EvictionPolicy::kNormal;
  bool is_volatile = false;

  bool any() const {
    return cache != vm::CacheModifier::kNone || eviction != vm::EvictionPolicy::kNormal || is_volatile;
  }
};

// "masked_load.vN.bW": N words (integers of W = 8, 16, 32, 64 bits; N = 1, 2, 4, at most 128 bits together) from
// `pointer`, or `other` where `mask` is false. Operands of the assembly: mask i1, pointer, then N others that are tied
// to the outputs.
std::vector<llvm::Value*> MaskedLoad(LoweringContext& cx, llvm::Value* pointer, llvm::Value* mask,
                                     const std::vector<llvm::Value*>& other, const CacheHints& hints);

// "masked_store.vN.bW": operands mask i1, pointer, then N words.
void MaskedStore(LoweringContext& cx, llvm::Value* pointer, llvm::Value* mask, const std::vector<llvm::Value*>& words,
                 const CacheHints& hints);

// Calls inline assembly named `name`. `results` is one type, or a struct. Ordered with other memory accesses.
llvm::Value* InlinePtx(LoweringContext& cx, const std::string& name, const std::string& text,
                       const std::string& constraints, llvm::Type* result, const std::vector<llvm::Value*>& operands);

}  // namespace trivet::jit
