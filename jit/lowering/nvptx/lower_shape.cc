// Shape ops whose result's registers are a choice of the operand's: layouts were assigned so that nothing moves between
// threads. convert_layout, which does move, is at the end.
#include <bit>

#include "jit/layout/conversion.h"
#include "jit/lowering/elementwise.h"

namespace trivet::jit {
namespace {

using llvm::Value;
using vm::Operation;

}  // namespace

absl::Status LowerSplat(LoweringContext& cx, const Operation& op) {
  cx.Set(op.result(), Registers(cx.NumRegisters(op.result()), cx.Scalar(op.operand(0))));
  return absl::OkStatus();
}

// Register r of the result is the operand's register at the same coordinates, those along repeated axes being 0.
absl::Status LowerBroadcast(LoweringContext& cx, const Operation& op) {
  const TileLayout& from = cx.layout(op.operand(0));
  const TileLayout& to = cx.layout(op.result());
  const Registers& x = cx.Get(op.operand(0));
  Registers out;
  for (int r = 0; r < to.num_registers(); ++r) {
    const uint32_t element = to.RegisterElement(r);
    uint32_t source = 0;
    for (int axis = 0; axis < to.rank(); ++axis) {
      if (from.shape()[static_cast<size_t>(axis)] == 1) continue;
      source |= static_cast<uint32_t>(to.Coordinate(element, axis)) << from.axis_bits(axis).shift;
    }
    out.push_back(x[static_cast<size_t>(from.FindRegister(source))]);
  }
  cx.Set(op.result(), std::move(out));
  return absl::OkStatus();
}

absl::Status LowerTrans(LoweringContext& cx, const Operation& op) {
  // The result's layout is the operand's with its index bits renamed, register by register.
  cx.Set(op.result(), cx.Get(op.operand(0)));
  return absl::OkStatus();
}

absl::Status LowerJoin(LoweringContext& cx, const Operation& op) {
  const Registers& lhs = cx.Get(op.operand(0));
  const Registers& rhs = cx.Get(op.operand(1));
  if (!cx.type(op.operand(0)).is_tile()) {
    const TileLayout& layout = cx.layout(op.result());
    Registers out;
    for (int r = 0; r < layout.num_registers(); ++r) {
      Value* index = cx.ir().CreateAdd(cx.ThreadElement(layout), cx.I32(layout.RegisterElement(r)));
      out.push_back(cx.ir().CreateSelect(cx.ir().CreateICmpEQ(index, cx.I32(0)), lhs[0], rhs[0]));
    }
    cx.Set(op.result(), std::move(out));
    return absl::OkStatus();
  }
  Registers out;
  for (size_t r = 0; r < lhs.size(); ++r) {
    out.push_back(lhs[r]);
    out.push_back(rhs[r]);
  }
  cx.Set(op.result(), std::move(out));
  return absl::OkStatus();
}

absl::Status LowerSplit(LoweringContext& cx, const Operation& op) {
  const TileLayout& from = cx.layout(op.operand(0));
  const Registers x = cx.Get(op.operand(0));
  const bool is_tile = cx.type(op.result(0)).is_tile();
  for (uint32_t half = 0; half < 2; ++half) {
    Registers out;
    const int count = is_tile ? cx.layout(op.result(0)).num_registers() : 1;
    for (int r = 0; r < count; ++r) {
      const uint32_t element = is_tile ? cx.layout(op.result(0)).RegisterElement(r) << 1 | half : half;
      out.push_back(x[static_cast<size_t>(from.FindRegister(element))]);
    }
    cx.Set(op.result(static_cast<int>(half)), std::move(out));
  }
  return absl::OkStatus();
}

namespace {

// Values travel as integers: of 8, 16, 32 or 64 bits.
class Mover {
 public:
  Mover(LoweringContext& cx, const vm::Type& type) : cx_(cx), element_(cx.ElementType(type)) {
    const unsigned bits = element_->isPointerTy() ? 64 : std::max(8u, element_->getScalarSizeInBits());
    word_ = cx.ir().getIntNTy(bits);
  }
  llvm::Type* word() const { return word_; }
  Value* ToWord(Value* v) {
    if (element_->isPointerTy()) return cx_.ir().CreatePtrToInt(v, word_);
    if (element_->isIntegerTy(1)) return cx_.ir().CreateZExt(v, word_);
    return cx_.ir().CreateBitCast(v, word_);
  }
  Value* FromWord(Value* w) {
    if (element_->isPointerTy()) return cx_.ir().CreateIntToPtr(w, element_);
    if (element_->isIntegerTy(1)) return cx_.ir().CreateTrunc(w, element_);
    return cx_.ir().CreateBitCast(w, element_);
  }

 private:
  LoweringContext& cx_;
  llvm::Type* element_;
  llvm::Type* word_;
};

// i32: the xor of the values of the thread's set bits.
Value* SumOverThreadBits(LoweringContext& cx, const std::vector<uint32_t>& values) {
  auto& ir = cx.ir();
  Value* sum = cx.I32(0);
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0) continue;
    Value* bit = ir.CreateAnd(ir.CreateLShr(cx.thread(), cx.I32(static_cast<int64_t>(i))), cx.I32(1));
    // A power of two is a shift; what has several bits, a product.
    Value* part = std::has_single_bit(values[i]) ? ir.CreateShl(bit, cx.I32(std::countr_zero(values[i])))
                                                 : ir.CreateMul(bit, cx.I32(values[i]));
    sum = ir.CreateXor(sum, part);
  }
  return sum;
}

Value* ThreadBit(LoweringContext& cx, int bit) {
  return cx.ir().CreateTrunc(cx.ir().CreateLShr(cx.thread(), cx.I32(bit)), cx.ir().getInt1Ty());
}

void Swap(LoweringContext& cx, const ShufflePlan::Conditional& swap, Registers* x) {
  Value* bit = ThreadBit(cx, swap.thread_bit);
  for (size_t k = 0; k < x->size(); ++k) {
    const size_t other = k ^ swap.register_bits;
    if (other < k) continue;
    Value* a = (*x)[k];
    Value* b = (*x)[other];
    (*x)[k] = cx.ir().CreateSelect(bit, b, a);
    (*x)[other] = cx.ir().CreateSelect(bit, a, b);
  }
}

Registers ConvertByShuffles(LoweringContext& cx, const ShufflePlan& plan, const Registers& source) {
  auto& ir = cx.ir();
  Registers x;
  for (int first : plan.source_registers) {
    // All choices of the selections, halved one selection after the other.
    Registers choices;
    for (uint32_t subset = 0; subset < uint32_t{1} << plan.selections.size(); ++subset) {
      auto reg = static_cast<uint32_t>(first);
      for (size_t i = 0; i < plan.selections.size(); ++i) {
        if ((subset >> i & 1) != 0) reg ^= plan.selections[i].register_bits;
      }
      choices.push_back(source[reg]);
    }
    for (const ShufflePlan::Conditional& selection : plan.selections) {
      Value* bit = ThreadBit(cx, selection.thread_bit);
      Registers halved;
      for (size_t i = 0; i < choices.size(); i += 2) halved.push_back(ir.CreateSelect(bit, choices[i + 1], choices[i]));
      choices = std::move(halved);
    }
    x.push_back(choices[0]);
  }
  for (const ShufflePlan::Conditional& swap : plan.sender_swaps) Swap(cx, swap, &x);
  Value* lane = nullptr;
  Registers y;
  for (size_t k = 0; k < x.size(); ++k) {
    if (plan.StaysInLane(static_cast<int>(k))) {
      y.push_back(x[k]);
    } else if (plan.IsButterfly()) {
      y.push_back(cx.ShuffleXor(x[k], static_cast<int>(plan.lane_xors[k])));
    } else {
      if (lane == nullptr) lane = SumOverThreadBits(cx, plan.lane_map.bases());
      y.push_back(cx.ShuffleIndex(x[k], ir.CreateXor(lane, cx.I32(plan.lane_xors[k]))));
    }
  }
  for (const ShufflePlan::Conditional& swap : plan.receiver_swaps) Swap(cx, swap, &y);
  Registers out;
  for (int r : plan.results) out.push_back(y[static_cast<size_t>(r)]);
  return out;
}

Value* GroupPointer(LoweringContext& cx, Value* scratch, Value* thread_offset, const ScratchAccess::Group& group) {
  auto& ir = cx.ir();
  Value* offset = group.xored == 0 ? thread_offset : ir.CreateXor(thread_offset, cx.I32(group.xored));
  Value* pointer = ir.CreateInBoundsGEP(ir.getInt8Ty(), scratch, offset);
  return group.added == 0 ? pointer : ir.CreateInBoundsGEP(ir.getInt8Ty(), pointer, cx.I32(group.added));
}

Registers ConvertThroughShared(LoweringContext& cx, const SharedPlan& plan, const Registers& source, llvm::Type* word,
                               size_t num_results) {
  auto& ir = cx.ir();
  Value* scratch = cx.Scratch(plan.bytes);
  Value* store_offset = SumOverThreadBits(cx, plan.store.thread_offsets);
  Value* load_offset = SumOverThreadBits(cx, plan.load.thread_offsets);
  const auto vector_type = [&](const ScratchAccess& access) -> llvm::Type* {
    return access.vector_elements == 1
               ? word
               : llvm::FixedVectorType::get(word, static_cast<unsigned>(access.vector_elements));
  };
  const auto alignment = [&](const ScratchAccess& access) {
    return llvm::Align(static_cast<uint64_t>(access.vector_elements * plan.element_bytes));
  };
  const auto meet = [&] { plan.within_warp ? cx.WarpBarrier() : cx.Barrier(); };
  Registers out(num_results);
  for (size_t round = 0; round < plan.store.rounds.size(); ++round) {
    if (round > 0) meet();
    llvm::BasicBlock* after = nullptr;
    if (plan.idle_store_threads != 0) {
      llvm::BasicBlock* store = cx.NewBlock("store");
      after = cx.NewBlock("stored");
      Value* is_busy = ir.CreateICmpEQ(ir.CreateAnd(cx.thread(), cx.I32(plan.idle_store_threads)), cx.I32(0));
      ir.CreateCondBr(is_busy, store, after);
      ir.SetInsertPoint(store);
    }
    for (const ScratchAccess::Group& group : plan.store.rounds[round]) {
      Value* data = source[static_cast<size_t>(group.registers[0])];
      if (plan.store.vector_elements > 1) {
        data = llvm::PoisonValue::get(vector_type(plan.store));
        for (size_t i = 0; i < group.registers.size(); ++i) {
          data = ir.CreateInsertElement(data, source[static_cast<size_t>(group.registers[i])], i);
        }
      }
      ir.CreateAlignedStore(data, GroupPointer(cx, scratch, store_offset, group), alignment(plan.store));
    }
    if (after != nullptr) {
      ir.CreateBr(after);
      ir.SetInsertPoint(after);
    }
    meet();
    for (const ScratchAccess::Group& group : plan.load.rounds[round]) {
      Value* data = ir.CreateAlignedLoad(vector_type(plan.load), GroupPointer(cx, scratch, load_offset, group),
                                         alignment(plan.load));
      for (size_t i = 0; i < group.registers.size(); ++i) {
        out[static_cast<size_t>(group.registers[i])] =
            plan.load.vector_elements == 1 ? data : ir.CreateExtractElement(data, i);
      }
    }
  }
  for (size_t r = 0; r < num_results; ++r) {
    if (out[r] == nullptr) out[r] = out[r & ~static_cast<size_t>(plan.repeated_registers)];
  }
  return out;
}

}  // namespace

absl::Status LowerConvertLayout(LoweringContext& cx, const Operation& op) {
  const TileLayout& from = cx.layout(op.operand(0));
  const TileLayout& to = cx.layout(op.result());
  const vm::Type& type = cx.type(op.result());
  const ConversionPlan plan = PlanConversion(from, to, type.is_bool() ? 1 : 8 * type.element_bytes());
  const Registers& x = cx.Get(op.operand(0));
  if (x.size() != static_cast<size_t>(from.num_registers())) {
    return absl::InternalError(
        absl::StrCat("convert_layout of ", x.size(), " registers from ", from.ToString(), " to ", to.ToString()));
  }
  Registers out;
  if (plan.kind == ConversionKind::kNone) {
    out = x;
  } else if (plan.kind == ConversionKind::kRegisters) {
    for (int r : plan.registers) out.push_back(x[static_cast<size_t>(r)]);
  } else {
    Mover mover(cx, type);
    Registers words;
    for (Value* v : x) words.push_back(mover.ToWord(v));
    words = plan.kind == ConversionKind::kShuffles
                ? ConvertByShuffles(cx, plan.shuffles, words)
                : ConvertThroughShared(cx, plan.shared, words, mover.word(), static_cast<size_t>(to.num_registers()));
    for (Value* w : words) out.push_back(mover.FromWord(w));
  }
  cx.Set(op.result(), std::move(out));
  return absl::OkStatus();
}

}  // namespace trivet::jit
