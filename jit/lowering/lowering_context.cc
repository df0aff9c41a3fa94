#include "jit/lowering/lowering_context.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

namespace trivet::jit {
namespace {

using llvm::Intrinsic::ID;
using vm::DType;
using vm::Type;

int MemoryBytes(const Type& type) { return type.element_bytes(); }

}  // namespace

LoweringContext::LoweringContext(const vm::Module& module, const std::vector<FunctionPlan>& plans,
                                 const LoweringOptions& options, LoweredKernel* out)
    : module_(module), plans_(plans), options_(options), out_(*out), ir_(*out->context) {}

absl::Status LoweringContext::RefuseWith(const vm::Operation& op, const std::string& why) const {
  const std::string place = module_.LocationToString(op.location);
  return absl::UnimplementedError(
      absl::StrCat(op.info().text, place.empty() ? "" : absl::StrCat(" (", place, ")"), ": ", why));
}

// ------------------------------------------------------------------------------------------------------------ types

llvm::Type* LoweringContext::ElementType(DType dtype) {
  switch (dtype) {
    case DType::kI1:
      return ir_.getInt1Ty();
    case DType::kF16:
      return ir_.getHalfTy();
    case DType::kBF16:
      return ir_.getBFloatTy();
    case DType::kF32:
      return ir_.getFloatTy();
    case DType::kF64:
      return ir_.getDoubleTy();
    default:
      return ir_.getIntNTy(static_cast<unsigned>(vm::InfoOf(dtype).bits));  // integers and f8
  }
}

llvm::Type* LoweringContext::ElementType(const Type& type) {
  return type.is_pointer() ? static_cast<llvm::Type*>(ir_.getPtrTy(kGlobalSpace)) : ElementType(type.dtype());
}

llvm::Type* LoweringContext::MemoryType(const Type& type) {
  return type.is_bool() ? static_cast<llvm::Type*>(ir_.getInt8Ty()) : ElementType(type);
}

llvm::Value* LoweringContext::Constant(const Type& type, int64_t bits) {
  llvm::Type* element = ElementType(type);
  if (element->isPointerTy()) {
    return llvm::ConstantExpr::getIntToPtr(ir_.getInt64(static_cast<uint64_t>(bits)), element);
  }
  const unsigned width = element->getScalarSizeInBits();
  const llvm::APInt value(width, static_cast<uint64_t>(bits), /*isSigned=*/false, /*implicitTrunc=*/true);
  if (element->isIntegerTy()) return llvm::ConstantInt::get(element, value);
  return llvm::ConstantFP::get(element, llvm::APFloat(element->getFltSemantics(), value));
}

size_t LoweringContext::NumRegisters(ValueId v) const {
  const Type& t = type(v);
  const auto rank = static_cast<size_t>(t.rank());
  if (t.is_block_ptr()) return 1 + 3 * rank;
  if (t.is_desc()) return 2 + 2 * rank;
  return t.is_tile() ? static_cast<size_t>(layout(v).num_registers()) : 1;
}

// ------------------------------------------------------------------------------------------------- the thread's place

llvm::Value* LoweringContext::ThreadElement(const TileLayout& layout) {
  llvm::Value*& cached = thread_elements_[layout];
  if (cached != nullptr) return cached;
  llvm::IRBuilder<>::InsertPointGuard guard(ir_);
  ir_.SetInsertPoint(entry_end_);
  std::vector<uint32_t> bases = layout.lane_bases();
  bases.insert(bases.end(), layout.warp_bases().begin(), layout.warp_bases().end());
  llvm::Value* sum = nullptr;
  // Neighbouring bits of the thread that stay neighbours move together: one mask and one shift.
  for (size_t i = 0; i < bases.size();) {
    if (bases[i] == 0) {
      ++i;
      continue;
    }
    size_t end = i + 1;
    while (end < bases.size() && bases[end] == bases[i] << (end - i)) ++end;
    const uint32_t mask = ((uint32_t{1} << (end - i)) - 1) << i;
    const int shift = std::countr_zero(bases[i]) - static_cast<int>(i);
    llvm::Value* part = ir_.CreateAnd(thread_, I32(mask));
    part = shift >= 0 ? ir_.CreateShl(part, I32(shift)) : ir_.CreateLShr(part, I32(-shift));
    sum = sum == nullptr ? part : ir_.CreateOr(sum, part, "", /*IsDisjoint=*/true);
    i = end;
  }
  cached = sum == nullptr ? I32(0) : sum;
  return cached;
}

llvm::Value* LoweringContext::Coordinate(const TileLayout& layout, int axis, int reg) {
  const AxisBits bits = layout.axis_bits(axis);
  llvm::Value* thread_part = ir_.CreateLShr(ir_.CreateAnd(ThreadElement(layout), I32(bits.mask())), I32(bits.shift));
  const auto own = static_cast<int64_t>(layout.Coordinate(layout.RegisterElement(reg), axis));
  // No bit is in both, so the sum can't wrap.
  return own == 0 ? thread_part : ir_.CreateAdd(thread_part, I32(own), "", /*HasNUW=*/true, /*HasNSW=*/true);
}

llvm::Value* LoweringContext::IsOwner(const TileLayout& layout) {
  const uint32_t free = layout.FreeThreadBits();
  if (free == 0) return nullptr;
  llvm::Value*& cached = owners_[layout];
  if (cached == nullptr) {
    llvm::IRBuilder<>::InsertPointGuard guard(ir_);
    ir_.SetInsertPoint(entry_end_);
    cached = ir_.CreateICmpEQ(ir_.CreateAnd(thread_, I32(free)), I32(0));
  }
  return cached;
}

llvm::Value* LoweringContext::IsThreadZero() { return ir_.CreateICmpEQ(thread_, I32(0)); }

// ------------------------------------------------------------------------------------- synchronisation, shared memory

void LoweringContext::Barrier() {
  if (num_warps() == 1) return WarpBarrier();
  Intrinsic(llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all, {I32(0)});
}

void LoweringContext::WarpBarrier() { Intrinsic(llvm::Intrinsic::nvvm_bar_warp_sync, {I32(-1)}); }

llvm::Value* LoweringContext::Scratch(int64_t bytes) {
  out_.shared_bytes = std::max(out_.shared_bytes, bytes);
  Barrier();
  return shared_;
}

// Moves 32 bits at a time (PTX ISA, shfl.sync).
llvm::Value* LoweringContext::Shuffle(llvm::Value* value, ID id, llvm::Value* argument, int clamp) {
  llvm::Type* type = value->getType();
  const unsigned bits = type->isPointerTy() ? 64 : type->getScalarSizeInBits();
  const auto shuffle32 = [&](llvm::Value* word) -> llvm::Value* {
    return Intrinsic(id, {I32(-1), word, argument, I32(clamp)});
  };
  llvm::Value* as_int =
      type->isPointerTy() ? ir_.CreatePtrToInt(value, ir_.getInt64Ty()) : ir_.CreateBitCast(value, ir_.getIntNTy(bits));
  llvm::Value* moved;
  if (bits <= 32) {
    moved = ir_.CreateTrunc(shuffle32(ir_.CreateZExt(as_int, ir_.getInt32Ty())), as_int->getType());
  } else {
    llvm::Value* low = shuffle32(ir_.CreateTrunc(as_int, ir_.getInt32Ty()));
    llvm::Value* high = shuffle32(ir_.CreateTrunc(ir_.CreateLShr(as_int, 32), ir_.getInt32Ty()));
    moved =
        ir_.CreateOr(ir_.CreateZExt(low, ir_.getInt64Ty()), ir_.CreateShl(ir_.CreateZExt(high, ir_.getInt64Ty()), 32));
  }
  return type->isPointerTy() ? ir_.CreateIntToPtr(moved, type) : ir_.CreateBitCast(moved, type);
}

llvm::Value* LoweringContext::ShuffleXor(llvm::Value* value, int lane_mask) {
  return Shuffle(value, llvm::Intrinsic::nvvm_shfl_sync_bfly_i32, I32(lane_mask), 31);
}
llvm::Value* LoweringContext::ShuffleIndex(llvm::Value* value, llvm::Value* lane) {
  return Shuffle(value, llvm::Intrinsic::nvvm_shfl_sync_idx_i32, lane, 31);
}

llvm::Value* LoweringContext::LoadFromScratch(llvm::Value* scratch, llvm::Value* element_index, const Type& type) {
  llvm::Type* memory_type = MemoryType(type);
  llvm::Value* loaded = ir_.CreateAlignedLoad(memory_type, ir_.CreateInBoundsGEP(memory_type, scratch, element_index),
                                              llvm::Align(static_cast<uint64_t>(MemoryBytes(type))));
  return type.is_bool() ? ir_.CreateTrunc(loaded, ir_.getInt1Ty()) : loaded;
}

llvm::Value* LoweringContext::StoreToScratch(const Registers& tile, const TileLayout& layout, const Type& type) {
  llvm::Type* memory_type = MemoryType(type);
  llvm::Value* scratch = Scratch(layout.num_elements() * MemoryBytes(type));
  llvm::Value* base = ir_.CreateInBoundsGEP(memory_type, scratch, ThreadElement(layout));
  // Copies write the same value to the same place, which is harmless.
  for (int r = 0; r < layout.num_registers(); ++r) {
    llvm::Value* value = tile[static_cast<size_t>(r)];
    if (type.is_bool()) value = ir_.CreateZExt(value, memory_type);
    ir_.CreateAlignedStore(value, ir_.CreateInBoundsGEP(memory_type, base, I32(layout.RegisterElement(r))),
                           llvm::Align(static_cast<uint64_t>(MemoryBytes(type))));
  }
  Barrier();
  return scratch;
}

llvm::Value* LoweringContext::BroadcastFromThreadZero(llvm::Value* value) {
  llvm::Type* type = value->getType();
  llvm::Value* scratch = Scratch(8);
  llvm::BasicBlock* write = NewBlock("write");
  llvm::BasicBlock* after = NewBlock("written");
  ir_.CreateCondBr(IsThreadZero(), write, after);
  ir_.SetInsertPoint(write);
  ir_.CreateAlignedStore(type->isIntegerTy(1) ? ir_.CreateZExt(value, ir_.getInt8Ty()) : value, scratch,
                         llvm::Align(8));
  ir_.CreateBr(after);
  ir_.SetInsertPoint(after);
  Barrier();
  if (type->isIntegerTy(1)) {
    return ir_.CreateTrunc(ir_.CreateAlignedLoad(ir_.getInt8Ty(), scratch, llvm::Align(8)), type);
  }
  return ir_.CreateAlignedLoad(type, scratch, llvm::Align(8));
}

// ------------------------------------------------------------------------------------------------------- control flow

llvm::BasicBlock* LoweringContext::NewBlock(const char* name) {
  return llvm::BasicBlock::Create(*out_.context, name, kernel_);
}

JumpTarget LoweringContext::MakeTarget(llvm::BasicBlock* block, absl::Span<const ValueId> values) {
  JumpTarget target{block, {}};
  llvm::IRBuilder<>::InsertPointGuard guard(ir_);
  ir_.SetInsertPoint(block);
  for (ValueId v : values) {
    const Type& t = type(v);
    Registers registers;
    for (size_t i = 0; i < NumRegisters(v); ++i) {
      llvm::Type* register_type = ElementType(t);
      if (t.is_block_ptr() || t.is_desc()) {
        register_type = i == 0 ? static_cast<llvm::Type*>(ir_.getPtrTy(kGlobalSpace)) : ir_.getInt64Ty();
      }
      llvm::PHINode* phi = ir_.CreatePHI(register_type, 2);
      target.phis.push_back(phi);
      registers.push_back(phi);
    }
    Set(v, std::move(registers));
  }
  return target;
}

void LoweringContext::Jump(const JumpTarget& target, absl::Span<const ValueId> values) {
  size_t next = 0;
  for (ValueId v : values) {
    for (llvm::Value* reg : Get(v)) {
      if (next < target.phis.size()) target.phis[next++]->addIncoming(reg, ir_.GetInsertBlock());
    }
  }
  ir_.CreateBr(target.block);
}

absl::Status LoweringContext::LowerOp(const vm::Operation& op) {
  if (frame_.order.NeedsBarrierBefore(op)) Barrier();
  switch (op.opcode) {
#define TRIVET_LOWER(Name, Function) \
  case vm::Op::k##Name:              \
    return jit::Function(*this, op);
#define TRIVET_REFUSE(Name, reason) \
  case vm::Op::k##Name:             \
    return Refuse(op, reason);
#include "jit/lowering/nvptx/lowering.def"
#undef TRIVET_LOWER
#undef TRIVET_REFUSE
  }
  return absl::InternalError("an op outside the table");
}

absl::Status LoweringContext::LowerRegion(RegionId region) {
  for (OpId id : function().region(region).ops) TRIVET_RETURN_IF_ERROR(LowerOp(function().op(id)));
  return absl::OkStatus();
}

absl::StatusOr<Registers> LoweringContext::LowerScalarRegion(RegionId region,
                                                             absl::Span<llvm::Value* const> arguments) {
  const vm::Region& r = function().region(region);
  for (size_t i = 0; i < r.params.size(); ++i) Set(r.params[i], {arguments[i]});
  const vm::Operation& last = function().op(r.ops.back());
  const bool is_straight = std::all_of(r.ops.begin(), r.ops.end(), [&](OpId id) {
    return function().op(id).regions.empty() && function().op(id).opcode != vm::Op::kCall;
  });
  if (is_straight) {
    for (size_t i = 0; i + 1 < r.ops.size(); ++i) TRIVET_RETURN_IF_ERROR(LowerOp(function().op(r.ops[i])));
    Registers out;
    for (ValueId v : last.operands) out.push_back(Scalar(v));
    return out;
  }
  // The values that a region with control flow yields meet in one block.
  llvm::BasicBlock* after = NewBlock("combined");
  JumpTarget target{after, {}};
  {
    llvm::IRBuilder<>::InsertPointGuard guard(ir_);
    ir_.SetInsertPoint(after);
    for (ValueId v : last.operands) target.phis.push_back(ir_.CreatePHI(ElementType(type(v)), 1));
  }
  frame_.yields.push_back(target);
  const absl::Status lowered = LowerRegion(region);
  frame_.yields.pop_back();
  TRIVET_RETURN_IF_ERROR(lowered);
  ir_.SetInsertPoint(after);
  Registers out;
  for (llvm::PHINode* phi : target.phis) out.push_back(phi);
  return out;
}

absl::Status LoweringContext::LowerCall(const vm::Operation& op) {
  const FunctionId callee(static_cast<uint32_t>(op.int_attr(vm::CallOp::At::callee)));
  const vm::Function& fn = module_.function(callee);
  std::vector<Registers> arguments;
  for (ValueId v : op.operands) arguments.push_back(Get(v));
  llvm::BasicBlock* after = NewBlock("returned");
  JumpTarget after_return = MakeTarget(after, op.results);

  Frame caller = std::move(frame_);
  frame_ = Frame{&fn,
                 &plans_[callee.index()],
                 std::vector<Registers>(fn.num_values()),
                 {},
                 {},
                 after_return,
                 ProgramOrder::Of(fn, plans_[callee.index()].layouts)};
  for (size_t i = 0; i < arguments.size(); ++i) Set(fn.params()[i], std::move(arguments[i]));
  const absl::Status lowered = LowerRegion(fn.body);
  frame_ = std::move(caller);
  TRIVET_RETURN_IF_ERROR(lowered);
  ir_.SetInsertPoint(after);
  return absl::OkStatus();
}

absl::Status LoweringContext::LowerKernelFunction(FunctionId kernel) {
  const vm::Function& fn = module_.function(kernel);
  llvm::Module& m = llvm_module();
  frame_ = Frame{&fn,
                 &plans_[kernel.index()],
                 std::vector<Registers>(fn.num_values()),
                 {},
                 {},
                 {},
                 ProgramOrder::Of(fn, plans_[kernel.index()].layouts)};

  std::vector<llvm::Type*> parameter_types;
  for (ValueId p : fn.params()) {
    const Type& t = type(p);
    if (t.is_tile() || t.is_block_ptr()) {
      return absl::UnimplementedError(absl::StrCat("kernel parameter of type ", t.ToString()));
    }
    if (t.is_desc()) {
      parameter_types.push_back(ir_.getPtrTy(kGlobalSpace));
      for (size_t i = 1; i < NumRegisters(p); ++i) parameter_types.push_back(ir_.getInt64Ty());
    } else {
      parameter_types.push_back(MemoryType(t));
    }
  }
  parameter_types.push_back(ir_.getPtrTy(kGlobalSpace));  // diagnostics
  kernel_ = llvm::Function::Create(llvm::FunctionType::get(ir_.getVoidTy(), parameter_types, false),
                                   llvm::GlobalValue::ExternalLinkage, fn.name, m);
  kernel_->setCallingConv(llvm::CallingConv::PTX_Kernel);
  kernel_->addFnAttr("nvvm.reqntid", absl::StrCat(num_threads()));
  shared_ =
      new llvm::GlobalVariable(m, llvm::ArrayType::get(ir_.getInt8Ty(), 0), false, llvm::GlobalValue::ExternalLinkage,
                               nullptr, "trivet_shared", nullptr, llvm::GlobalValue::NotThreadLocal, kSharedSpace);
  shared_->setAlignment(llvm::Align(1024));

  llvm::BasicBlock* entry = NewBlock("entry");
  llvm::BasicBlock* body = NewBlock("body");
  ir_.SetInsertPoint(entry);
  thread_ = Intrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, {});
  lane_ = ir_.CreateAnd(thread_, I32(kWarpSize - 1));
  warp_ = ir_.CreateLShr(thread_, I32(kLaneBits));
  size_t next = 0;
  for (ValueId p : fn.params()) {
    Registers registers;
    for (size_t i = 0; i < NumRegisters(p); ++i) {
      llvm::Value* argument = kernel_->getArg(static_cast<unsigned>(next++));
      registers.push_back(type(p).is_bool() ? ir_.CreateTrunc(argument, ir_.getInt1Ty()) : argument);
    }
    Set(p, std::move(registers));
  }
  entry_end_ = ir_.CreateBr(body);
  ir_.SetInsertPoint(body);

  llvm::BasicBlock* exit = NewBlock("exit");
  frame_.after_return = JumpTarget{exit, {}};
  TRIVET_RETURN_IF_ERROR(LowerRegion(fn.body));
  ir_.SetInsertPoint(exit);
  ir_.CreateRetVoid();

  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(m, &stream))
    return absl::InternalError(absl::StrCat("lowering made illegal LLVM IR: ", problem));
  return absl::OkStatus();
}

std::string ToText(const LoweredKernel& kernel) {
  std::string text;
  llvm::raw_string_ostream(text) << *kernel.module;
  return text;
}

absl::StatusOr<LoweredKernel> LowerKernel(const vm::Module& module, FunctionId kernel,
                                          const std::vector<FunctionPlan>& plans, const LoweringOptions& options) {
  LoweredKernel out;
  out.context = std::make_unique<llvm::LLVMContext>();
  out.module = std::make_unique<llvm::Module>(module.function(kernel).name, *out.context);
  out.kernel_name = module.function(kernel).name;
  LoweringContext cx(module, plans, options, &out);
  TRIVET_RETURN_IF_ERROR(cx.LowerKernelFunction(kernel));
  return out;
}

}  // namespace trivet::jit
