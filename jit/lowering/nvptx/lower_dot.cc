// dot: mma.sync where an instruction serves the types (jit/passes/dot_layouts.h chose the layouts then), otherwise a
// loop of fma over operands in shared memory.
#include "jit/lowering/lowering_context.h"
#include "jit/lowering/nvptx/convert.h"
#include "jit/passes/dot_layouts.h"

namespace trivet::jit {
namespace {

using llvm::Value;
using vm::DotOp;
using vm::DType;
using vm::Operation;

// -------------------------------------------------------------------------------------------------------------
// mma.sync

llvm::Intrinsic::ID MmaIntrinsic(DType a, DType b, DType acc, MmaKind kind) {
  const bool a_e4m3 = a == DType::kF8E4M3;
  const bool b_e4m3 = b == DType::kF8E4M3;
  switch (kind) {
    case MmaKind::kHalf:
      if (a == DType::kBF16) return llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_bf16;
      return acc == DType::kF16 ? llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_f16_f16
                                : llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_f32_f32;
    case MmaKind::kTf32:
      return llvm::Intrinsic::nvvm_mma_m16n8k8_row_col_tf32;
    case MmaKind::kByte:
      if (a == DType::kI8) return llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_s8;
      if (a == DType::kU8) return llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_u8;
      if (a_e4m3) {
        return b_e4m3 ? llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_f32_e4m3_e4m3_f32
                      : llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_f32_e4m3_e5m2_f32;
      }
      return b_e4m3 ? llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_f32_e5m2_e4m3_f32
                    : llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_f32_e5m2_e5m2_f32;
    case MmaKind::kDouble:
      return llvm::Intrinsic::nvvm_mma_m8n8k4_row_col_f64;
  }
  return llvm::Intrinsic::not_intrinsic;
}

class MmaDot {
 public:
  MmaDot(LoweringContext& cx, const Operation& op, MmaKind kind)
      : cx_(cx), op_(op), kind_(kind), acc_(cx.Get(op.operand(DotOp::In::acc))) {
    a_type_ = cx.type(op.operand(DotOp::In::a)).dtype();
    b_type_ = cx.type(op.operand(DotOp::In::b)).dtype();
    acc_type_ = cx.type(op.result()).dtype();
  }

  void Run() {
    const MmaSize size = InstructionSize(kind_);
    // Elements of one instruction in a thread.
    const auto per_thread = [](int rows, int columns) { return static_cast<size_t>(rows * columns / kWarpSize); };
    const size_t in_a = per_thread(size.m, size.k);
    const size_t in_b = per_thread(size.k, size.n);
    const size_t in_c = per_thread(size.m, size.n);
    const Registers& a = cx_.Get(op_.operand(DotOp::In::a));
    const Registers& b = cx_.Get(op_.operand(DotOp::In::b));
    // Repetitions: along K and then M in a, along K and then N in b, along N and then M in c, the batch last.
    const size_t along_k =
        static_cast<size_t>(cx_.type(op_.operand(DotOp::In::a)).dim(-1)) / static_cast<size_t>(size.k);
    const size_t m_batch = a.size() / in_a / along_k;
    const size_t n_batch = b.size() / in_b / along_k;
    const size_t m_n_batch = acc_.size() / in_c;
    const size_t batch = m_batch * n_batch / m_n_batch;
    const size_t along_m = m_batch / batch;
    const size_t along_n = n_batch / batch;
    const auto id = MmaIntrinsic(a_type_, b_type_, acc_type_, kind_);
    for (size_t bt = 0; bt < batch; ++bt) {
      for (size_t k = 0; k < along_k; ++k) {
        for (size_t m = 0; m < along_m; ++m) {
          const Registers a_words = Pack(a, ((bt * along_m + m) * along_k + k) * in_a, in_a, a_type_);
          for (size_t n = 0; n < along_n; ++n) {
            Registers arguments = a_words;
            const Registers b_words = Pack(b, ((bt * along_n + n) * along_k + k) * in_b, in_b, b_type_);
            arguments.insert(arguments.end(), b_words.begin(), b_words.end());
            const size_t at = ((bt * along_m + m) * along_n + n) * in_c;
            const Registers c_words = PackAccumulator(at, in_c);
            arguments.insert(arguments.end(), c_words.begin(), c_words.end());
            Unpack(cx_.Intrinsic(id, arguments), at, c_words.size());
          }
        }
      }
    }
    cx_.Set(op_.result(), std::move(acc_));
  }

 private:
  // Registers [first, first + count) in the words that the instruction takes: pairs of f16 as a vector, everything else
  // narrow in i32.
  Registers Pack(const Registers& from, size_t first, size_t count, DType type) {
    auto& ir = cx_.ir();
    Registers words;
    const int bits = vm::InfoOf(type).bits;
    if (type == DType::kF64) {
      words.assign(from.begin() + static_cast<std::ptrdiff_t>(first),
                   from.begin() + static_cast<std::ptrdiff_t>(first + count));
      return words;
    }
    const size_t per_word = 32 / static_cast<size_t>(bits);
    for (size_t w = 0; w < count; w += per_word) {
      if (per_word == 1) {
        words.push_back(ir.CreateBitCast(from[first + w], ir.getInt32Ty()));
        continue;
      }
      llvm::Type* element = from[first]->getType();
      Value* vector = llvm::PoisonValue::get(llvm::FixedVectorType::get(element, static_cast<unsigned>(per_word)));
      for (size_t i = 0; i < per_word; ++i) vector = ir.CreateInsertElement(vector, from[first + w + i], i);
      words.push_back(type == DType::kF16 ? vector : ir.CreateBitCast(vector, ir.getInt32Ty()));
    }
    return words;
  }
  Registers PackAccumulator(size_t first, size_t count) {
    if (acc_type_ == DType::kF16) return Pack(acc_, first, count, DType::kF16);
    return Registers(acc_.begin() + static_cast<std::ptrdiff_t>(first),
                     acc_.begin() + static_cast<std::ptrdiff_t>(first + count));
  }
  void Unpack(Value* result, size_t at, size_t words) {
    auto& ir = cx_.ir();
    for (unsigned w = 0; w < words; ++w) {
      Value* word = ir.CreateExtractValue(result, w);
      if (acc_type_ != DType::kF16) {
        acc_[at + w] = word;
        continue;
      }
      acc_[at + 2 * w] = ir.CreateExtractElement(word, uint64_t{0});
      acc_[at + 2 * w + 1] = ir.CreateExtractElement(word, uint64_t{1});
    }
  }

  LoweringContext& cx_;
  const Operation& op_;
  const MmaKind kind_;
  DType a_type_, b_type_, acc_type_;
  Registers acc_;
};

// ------------------------------------------------------------------------------------------------------------------
// fma

class FmaDot {
 public:
  FmaDot(LoweringContext& cx, const Operation& op) : cx_(cx), op_(op) {}

  absl::Status Run() {
    auto& ir = cx_.ir();
    const vm::Type& a_type = cx_.type(op_.operand(DotOp::In::a));
    const vm::Type& b_type = cx_.type(op_.operand(DotOp::In::b));
    const vm::Type& result_type = cx_.type(op_.result());
    const DType acc = result_type.dtype();
    compute_ = acc == DType::kF64 ? ir.getDoubleTy() : vm::IsFloat(acc) ? ir.getFloatTy() : cx_.ElementType(acc);
    const TileLayout& layout = cx_.layout(op_.result());
    const int64_t m = result_type.dim(-2);
    const int64_t n = result_type.dim(-1);
    const int64_t k = a_type.dim(-1);

    const int64_t b_offset = (a_type.num_elements() * a_type.element_bytes() + 15) / 16 * 16;
    Value* a_base = cx_.Scratch(b_offset + b_type.num_elements() * b_type.element_bytes());
    Value* b_base = ir.CreateInBoundsGEP(ir.getInt8Ty(), a_base, cx_.I32(b_offset));
    Write(a_base, op_.operand(DotOp::In::a));
    Write(b_base, op_.operand(DotOp::In::b));
    cx_.Barrier();

    // Where each register's row of a and column of b begin; equal ones are loaded once a step.
    Registers sums;
    for (Value* v : cx_.Get(op_.operand(DotOp::In::acc)))
      sums.push_back(vm::IsFloat(acc) ? WidenFloat(cx_, v, acc, compute_) : v);
    std::vector<uint32_t> row_keys, column_keys;
    Registers rows, columns;
    for (int r = 0; r < layout.num_registers(); ++r) {
      const uint32_t element = layout.RegisterElement(r);
      const int rank = layout.rank();
      const auto coordinate = [&](int axis) { return cx_.Coordinate(layout, axis, r); };
      Value* batch = rank == 3 ? coordinate(0) : cx_.I32(0);
      const auto b_part = static_cast<uint32_t>(rank == 3 ? layout.Coordinate(element, 0) : 0);
      row_keys.push_back(b_part << 20 | static_cast<uint32_t>(layout.Coordinate(element, rank - 2)));
      column_keys.push_back(b_part << 20 | static_cast<uint32_t>(layout.Coordinate(element, rank - 1)));
      rows.push_back(ir.CreateMul(ir.CreateAdd(ir.CreateMul(batch, cx_.I32(m)), coordinate(rank - 2)), cx_.I32(k)));
      columns.push_back(ir.CreateAdd(ir.CreateMul(batch, cx_.I32(k * n)), coordinate(rank - 1)));
    }

    llvm::BasicBlock* before = ir.GetInsertBlock();
    llvm::BasicBlock* loop = cx_.NewBlock("dot");
    llvm::BasicBlock* after = cx_.NewBlock("dot.after");
    ir.CreateBr(loop);
    ir.SetInsertPoint(loop);
    llvm::PHINode* step = ir.CreatePHI(ir.getInt32Ty(), 2);
    step->addIncoming(cx_.I32(0), before);
    std::vector<llvm::PHINode*> phis;
    for (Value* v : sums) {
      phis.push_back(ir.CreatePHI(compute_, 2));
      phis.back()->addIncoming(v, before);
    }
    absl::flat_hash_map<uint32_t, Value*> a_values, b_values;
    for (size_t r = 0; r < sums.size(); ++r) {
      Value*& a = a_values[row_keys[r]];
      if (a == nullptr) a = Load(a_base, ir.CreateAdd(rows[r], step), a_type);
      Value*& b = b_values[column_keys[r]];
      if (b == nullptr) b = Load(b_base, ir.CreateAdd(columns[r], ir.CreateMul(step, cx_.I32(n))), b_type);
      sums[r] = vm::IsFloat(acc) ? ir.CreateIntrinsic(llvm::Intrinsic::fma, {compute_}, {a, b, phis[r]})
                                 : ir.CreateAdd(ir.CreateMul(a, b), phis[r]);
      phis[r]->addIncoming(sums[r], loop);
    }
    Value* next = ir.CreateAdd(step, cx_.I32(1));
    step->addIncoming(next, loop);
    ir.CreateCondBr(ir.CreateICmpEQ(next, cx_.I32(k)), after, loop);
    ir.SetInsertPoint(after);
    if (vm::IsFloat(acc)) {
      const DType from = acc == DType::kF64 ? DType::kF64 : DType::kF32;
      for (Value*& v : sums) v = NarrowFloat(cx_, v, from, acc, IsF8(acc));
    }
    cx_.Set(op_.result(), std::move(sums));
    return absl::OkStatus();
  }

 private:
  void Write(Value* base, ValueId v) {
    auto& ir = cx_.ir();
    const vm::Type& type = cx_.type(v);
    const TileLayout& layout = cx_.layout(v);
    llvm::Type* memory_type = cx_.MemoryType(type);
    const Registers& registers = cx_.Get(v);
    for (int r = 0; r < layout.num_registers(); ++r) {
      Value* index = ir.CreateAdd(cx_.ThreadElement(layout), cx_.I32(layout.RegisterElement(r)));
      ir.CreateAlignedStore(registers[static_cast<size_t>(r)], ir.CreateInBoundsGEP(memory_type, base, index),
                            llvm::Align(static_cast<uint64_t>(type.element_bytes())));
    }
  }

  // An operand in the type of the sums. f32 under tf32 lose the bits that the tensor cores ignore.
  Value* Load(Value* base, Value* index, const vm::Type& type) {
    auto& ir = cx_.ir();
    Value* v = cx_.LoadFromScratch(base, index, type);
    if (!type.is_float()) {
      return vm::IsSignedInteger(type.dtype()) ? ir.CreateSExtOrTrunc(v, compute_) : ir.CreateZExtOrTrunc(v, compute_);
    }
    v = WidenFloat(cx_, v, type.dtype(), compute_);
    const auto precision = op_.enum_attr<vm::DotPrecision>(DotOp::At::precision);
    if (type.dtype() != DType::kF32 || precision != vm::DotPrecision::kTf32) return v;
    Value* bits = ir.CreateAnd(ir.CreateBitCast(v, ir.getInt32Ty()), cx_.I32(0xffffe000));
    return ir.CreateBitCast(bits, compute_);
  }

  LoweringContext& cx_;
  const Operation& op_;
  llvm::Type* compute_ = nullptr;
};

}  // namespace

absl::Status LowerDot(LoweringContext& cx, const Operation& op) {
  const auto mma = MmaLayouts(cx.function(), op, cx.num_warps(), cx.options().compute_capability);
  if (!mma) return FmaDot(cx, op).Run();
  MmaDot(cx, op, mma->kind).Run();
  return absl::OkStatus();
}

}  // namespace trivet::jit
