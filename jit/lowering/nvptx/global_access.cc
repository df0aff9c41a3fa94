#include "jit/lowering/nvptx/global_access.h"

#include <algorithm>

namespace trivet::jit {
namespace {

using llvm::Value;

// How `count` elements of a type are packed into the words of one access: words of 32 bits if they are narrower and
// there are enough, else words of one element.
struct Packing {
  Packing(LoweringContext& context, const vm::Type& type, int count)
      : cx(context), element(context.ElementType(type)), element_bits(static_cast<unsigned>(8 * type.element_bytes())) {
    const unsigned total = element_bits * static_cast<unsigned>(count);
    const unsigned word_bits = total >= 32 ? std::max(32u, element_bits) : total;
    word = cx.ir().getIntNTy(word_bits);
    num_words = total / word_bits;
    elements_per_word = word_bits / element_bits;
  }

  // The element as an integer of element_bits.
  Value* AsInteger(Value* v) const {
    llvm::Type* type = cx.ir().getIntNTy(element_bits);
    if (element->isPointerTy()) return cx.ir().CreatePtrToInt(v, type);
    if (element->isIntegerTy(1)) return cx.ir().CreateZExt(v, type);
    return cx.ir().CreateBitCast(v, type);
  }
  Value* FromInteger(Value* v) const {
    if (element->isPointerTy()) return cx.ir().CreateIntToPtr(v, element);
    // A byte is true if it is not 0.
    if (element->isIntegerTy(1)) return cx.ir().CreateICmpNE(v, llvm::ConstantInt::get(v->getType(), 0));
    return cx.ir().CreateBitCast(v, element);
  }
  std::vector<Value*> Pack(absl::Span<Value* const> elements) const {
    auto& ir = cx.ir();
    std::vector<Value*> words;
    for (size_t w = 0; w < num_words; ++w) {
      Value* packed = nullptr;
      for (size_t i = 0; i < elements_per_word; ++i) {
        Value* part = ir.CreateZExt(AsInteger(elements[w * elements_per_word + i]), word);
        if (i > 0) part = ir.CreateShl(part, i * element_bits);
        packed = packed == nullptr ? part : ir.CreateOr(packed, part);
      }
      words.push_back(packed);
    }
    return words;
  }
  void Unpack(const std::vector<Value*>& words, Registers* out) const {
    auto& ir = cx.ir();
    for (Value* w : words) {
      for (size_t i = 0; i < elements_per_word; ++i) {
        Value* part = i == 0 ? w : ir.CreateLShr(w, i * element_bits);
        out->push_back(FromInteger(ir.CreateTrunc(part, ir.getIntNTy(element_bits))));
      }
    }
  }

  LoweringContext& cx;
  llvm::Type* element;
  unsigned element_bits;
  llvm::Type* word = nullptr;
  size_t num_words = 1;
  size_t elements_per_word = 1;
};

}  // namespace

int AccessElements(const TileLayout& layout, const AxisInfo& pointer, const AxisInfo* mask, int element_bytes) {
  int best = 1;
  for (int axis = 0; axis < layout.rank(); ++axis) {
    int64_t n = std::min<int64_t>({layout.VectorLength(axis), pointer.ElementsPerAccess(axis), 16 / element_bytes});
    if (mask != nullptr) n = std::min(n, mask->constancy[static_cast<size_t>(axis)]);
    best = std::max(best, static_cast<int>(n));
  }
  return best;
}

Registers LoadGlobal(LoweringContext& cx, const vm::Type& type, const Registers& pointers, const Registers& masks,
                     const Registers& other, int vector, const CacheHints& hints) {
  auto& ir = cx.ir();
  const Packing packing(cx, type, vector);
  const auto step = static_cast<size_t>(vector);
  const bool is_plain = !hints.any();
  Registers out;
  for (size_t r = 0; r < pointers.size(); r += step) {
    std::vector<Value*> words;
    if (masks.empty() && is_plain) {
      llvm::Type* access = packing.num_words == 1
                               ? packing.word
                               : llvm::FixedVectorType::get(packing.word, static_cast<unsigned>(packing.num_words));
      const llvm::Align alignment(static_cast<uint64_t>(vector * type.element_bytes()));
      Value* loaded = ir.CreateAlignedLoad(access, pointers[r], alignment);
      for (size_t w = 0; w < packing.num_words; ++w) {
        words.push_back(packing.num_words == 1 ? loaded : ir.CreateExtractElement(loaded, w));
      }
    } else {
      std::vector<Value*> instead(packing.num_words, llvm::ConstantInt::get(packing.word, 0));
      if (!other.empty()) instead = packing.Pack(absl::MakeConstSpan(other).subspan(r, step));
      words = MaskedLoad(cx, pointers[r], masks.empty() ? ir.getTrue() : masks[r], instead, hints);
    }
    packing.Unpack(words, &out);
  }
  return out;
}

void StoreGlobal(LoweringContext& cx, const vm::Type& type, const Registers& pointers, const Registers& values,
                 const Registers& masks, int vector, const CacheHints& hints) {
  auto& ir = cx.ir();
  const Packing packing(cx, type, vector);
  const auto step = static_cast<size_t>(vector);
  const bool is_plain = !hints.any();
  for (size_t r = 0; r < pointers.size(); r += step) {
    const std::vector<Value*> words = packing.Pack(absl::MakeConstSpan(values).subspan(r, step));
    if (!masks.empty() || !is_plain) {
      MaskedStore(cx, pointers[r], masks.empty() ? ir.getTrue() : masks[r], words, hints);
      continue;
    }
    Value* data = words[0];
    if (packing.num_words > 1) {
      data = llvm::PoisonValue::get(llvm::FixedVectorType::get(packing.word, static_cast<unsigned>(packing.num_words)));
      for (size_t w = 0; w < words.size(); ++w) data = ir.CreateInsertElement(data, words[w], w);
    }
    ir.CreateAlignedStore(data, pointers[r], llvm::Align(static_cast<uint64_t>(vector * type.element_bytes())));
  }
}

}  // namespace trivet::jit
