// atomic_rmw and atomic_cas: LLVM's atomicrmw and cmpxchg, which NVPTX turns into atom.* (PTX ISA, "atom"), or into a
// loop of compare-and-swap where the hardware has no such operation (8 and 16 bits, float min and max).
//
// Only one thread does an element's operation; threads that hold copies get the result through shared memory. A scalar
// is thread 0's, so that `while atomic_cas(lock, 0, 1) == 1` goes the same way in all threads.
#include <algorithm>

#include "jit/lowering/lowering_context.h"

namespace trivet::jit {
namespace {

using llvm::Value;
using vm::AtomicOp;
using vm::MemoryOrder;
using vm::MemoryScope;
using vm::Operation;

llvm::AtomicOrdering OrderingOf(MemoryOrder order) {
  switch (order) {
    case MemoryOrder::kRelaxed:
      return llvm::AtomicOrdering::Monotonic;
    case MemoryOrder::kAcquire:
      return llvm::AtomicOrdering::Acquire;
    case MemoryOrder::kRelease:
      return llvm::AtomicOrdering::Release;
    case MemoryOrder::kAcqRel:
      return llvm::AtomicOrdering::AcquireRelease;
  }
  return llvm::AtomicOrdering::AcquireRelease;
}

llvm::SyncScope::ID ScopeOf(LoweringContext& cx, MemoryScope scope) {
  const char* name = scope == MemoryScope::kCta ? "block" : scope == MemoryScope::kGpu ? "device" : "";
  return cx.llvm_context().getOrInsertSyncScopeID(name);
}

llvm::AtomicRMWInst::BinOp BinOpOf(AtomicOp kind, const vm::Type& type) {
  using B = llvm::AtomicRMWInst::BinOp;
  const bool is_float = type.is_float();
  const bool is_signed = !is_float && vm::IsSignedInteger(type.dtype());
  switch (kind) {
    case AtomicOp::kAdd:
      return is_float ? B::FAdd : B::Add;
    case AtomicOp::kAnd:
      return B::And;
    case AtomicOp::kOr:
      return B::Or;
    case AtomicOp::kXor:
      return B::Xor;
    case AtomicOp::kMax:
      return is_float ? B::FMax : is_signed ? B::Max : B::UMax;
    case AtomicOp::kMin:
      return is_float ? B::FMin : is_signed ? B::Min : B::UMin;
    case AtomicOp::kXchg:
      return B::Xchg;
  }
  return B::Add;
}

bool IsUsed(const vm::Function& fn, ValueId value) {
  bool is_used = false;
  fn.ForEachOp([&](OpId id) {
    const auto& operands = fn.op(id).operands;
    is_used |= std::find(operands.begin(), operands.end(), value) != operands.end();
  });
  return is_used;
}

// What all atomics share: masks, owners, order and the way of the result. `access(register)` makes the operation and
// gives the old value.
template <typename Access>
absl::Status LowerAtomic(LoweringContext& cx, const Operation& op, const Registers& masks, MemoryOrder order,
                         const Access& access) {
  auto& ir = cx.ir();
  const vm::Type& type = cx.type(op.result());
  const bool is_tile = type.is_tile();
  const TileLayout layout = is_tile ? cx.layout(op.result()) : TileLayout();
  const size_t count = cx.NumRegisters(op.result());
  // What other threads of the program wrote before belongs to what is released.
  if (order != MemoryOrder::kRelaxed) cx.Barrier();
  Value* is_owner = is_tile ? cx.IsOwner(layout) : cx.IsThreadZero();
  llvm::Type* element = cx.ElementType(type);
  Registers out;
  for (size_t r = 0; r < count; ++r) {
    Value* active = masks.empty() ? nullptr : masks[masks.size() == 1 ? 0 : r];
    if (is_owner != nullptr) active = active == nullptr ? is_owner : ir.CreateAnd(active, is_owner);
    if (active == nullptr) {
      out.push_back(access(r));
      continue;
    }
    llvm::BasicBlock* before = ir.GetInsertBlock();
    llvm::BasicBlock* act = cx.NewBlock("atomic");
    llvm::BasicBlock* after = cx.NewBlock("atomic.after");
    ir.CreateCondBr(active, act, after);
    ir.SetInsertPoint(act);
    Value* old = access(r);
    llvm::BasicBlock* acted = ir.GetInsertBlock();
    ir.CreateBr(after);
    ir.SetInsertPoint(after);
    llvm::PHINode* phi = ir.CreatePHI(element, 2);
    phi->addIncoming(llvm::Constant::getNullValue(element), before);
    phi->addIncoming(old, acted);
    out.push_back(phi);
  }
  const bool is_used = IsUsed(cx.function(), op.result());
  if (is_owner != nullptr && is_used) {
    if (!is_tile) {
      out[0] = cx.BroadcastFromThreadZero(out[0]);
    } else {
      // Owners write, everyone reads.
      llvm::Type* memory_type = cx.MemoryType(type);
      Value* scratch = cx.Scratch(layout.num_elements() * type.element_bytes());
      llvm::BasicBlock* write = cx.NewBlock("atomic.write");
      llvm::BasicBlock* written = cx.NewBlock("atomic.written");
      ir.CreateCondBr(is_owner, write, written);
      ir.SetInsertPoint(write);
      const auto index = [&](size_t r) {
        return ir.CreateAdd(cx.ThreadElement(layout), cx.I32(layout.RegisterElement(static_cast<int>(r))));
      };
      for (size_t r = 0; r < count; ++r) {
        ir.CreateAlignedStore(out[r], ir.CreateInBoundsGEP(memory_type, scratch, index(r)),
                              llvm::Align(static_cast<uint64_t>(type.element_bytes())));
      }
      ir.CreateBr(written);
      ir.SetInsertPoint(written);
      cx.Barrier();
      for (size_t r = 0; r < count; ++r) out[r] = cx.LoadFromScratch(scratch, index(r), type);
    }
  } else if (order == MemoryOrder::kAcquire || order == MemoryOrder::kAcqRel) {
    cx.Barrier();  // what was acquired is visible to all threads
  }
  cx.Set(op.result(), std::move(out));
  return absl::OkStatus();
}

}  // namespace

absl::Status LowerAtomicRmw(LoweringContext& cx, const Operation& op) {
  using In = vm::AtomicRmwOp::In;
  using At = vm::AtomicRmwOp::At;
  const vm::Type& type = cx.type(op.result());
  if (!cx.ElementType(type)->isFloatingPointTy() && type.is_float()) return cx.Refuse(op, "atomics on f8");
  if (type.is_bool()) return cx.Refuse(op, "atomics on i1");
  const auto order = op.enum_attr<MemoryOrder>(At::order);
  const auto kind = op.enum_attr<AtomicOp>(At::kind);
  const auto scope = ScopeOf(cx, op.enum_attr<MemoryScope>(At::scope));
  const Registers pointers = cx.Get(op.operand(In::ptr));
  const Registers values = cx.Get(op.operand(In::value));
  const Registers masks = op.operand(In::mask).is_none() ? Registers() : cx.Get(op.operand(In::mask));
  // NVPTX drops the order of atomicrmw, so fences make it (PTX ISA, "Memory Consistency Model": a fence and a relaxed
  // atomic).
  return LowerAtomic(cx, op, masks, order, [&](size_t r) -> Value* {
    auto& ir = cx.ir();
    if (order == MemoryOrder::kRelease || order == MemoryOrder::kAcqRel)
      ir.CreateFence(llvm::AtomicOrdering::AcquireRelease, scope);
    Value* old = ir.CreateAtomicRMW(BinOpOf(kind, type), pointers[r], values[r],
                                    llvm::MaybeAlign(static_cast<uint64_t>(type.element_bytes())),
                                    llvm::AtomicOrdering::Monotonic, scope);
    if (order == MemoryOrder::kAcquire || order == MemoryOrder::kAcqRel)
      ir.CreateFence(llvm::AtomicOrdering::AcquireRelease, scope);
    return old;
  });
}

absl::Status LowerAtomicCas(LoweringContext& cx, const Operation& op) {
  using In = vm::AtomicCasOp::In;
  using At = vm::AtomicCasOp::At;
  const vm::Type& type = cx.type(op.result());
  if (type.is_bool()) return cx.Refuse(op, "atomics on i1");
  // A scalar compare-and-swap takes a lock: authors who ask for less order still expect what the lock guards to be
  // seen, as with Triton. More order than asked for is always right.
  const auto order = type.is_tile() ? op.enum_attr<MemoryOrder>(At::order) : MemoryOrder::kAcqRel;
  const auto scope = ScopeOf(cx, op.enum_attr<MemoryScope>(At::scope));
  const Registers pointers = cx.Get(op.operand(In::ptr));
  const Registers compare = cx.Get(op.operand(In::compare));
  const Registers values = cx.Get(op.operand(In::value));
  llvm::Type* bits = cx.ir().getIntNTy(static_cast<unsigned>(8 * type.element_bytes()));
  return LowerAtomic(cx, op, {}, order, [&](size_t r) -> Value* {
    auto& ir = cx.ir();
    // A compare-and-swap that fails still acquires, but may not release.
    const llvm::AtomicOrdering failure = order == MemoryOrder::kAcquire || order == MemoryOrder::kAcqRel
                                             ? llvm::AtomicOrdering::Acquire
                                             : llvm::AtomicOrdering::Monotonic;
    const auto as_bits = [&](Value* v) { return ir.CreateBitOrPointerCast(v, bits); };
    Value* pair = ir.CreateAtomicCmpXchg(pointers[r], as_bits(compare[r]), as_bits(values[r]),
                                         llvm::MaybeAlign(static_cast<uint64_t>(type.element_bytes())),
                                         OrderingOf(order), failure, scope);
    return ir.CreateBitOrPointerCast(ir.CreateExtractValue(pair, 0), cx.ElementType(type));
  });
}

}  // namespace trivet::jit
