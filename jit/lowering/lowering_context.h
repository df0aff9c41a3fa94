// What a lowering function sees: the values of its operands as registers, the IR builder, the thread's place, shared
// memory.
#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "jit/lowering/lower.h"
#include "jit/lowering/program_order.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "vm/base/status.h"

namespace trivet::jit {

inline constexpr unsigned kGlobalSpace = 1;
inline constexpr unsigned kSharedSpace = 3;

// The LLVM values that one bytecode value has in a thread: one for a scalar, one a register for a tile; of a block
// pointer base, shape.., strides.., offsets.., and of a descriptor base, padding, shape.., strides.., each but the base
// as i64.
using Registers = std::vector<llvm::Value*>;

// Where a terminator jumps to, and the phis that take its values.
struct JumpTarget {
  llvm::BasicBlock* block = nullptr;
  std::vector<llvm::PHINode*> phis;  // of all registers of all values, one after the other
};

class LoweringContext {
 public:
  LoweringContext(const vm::Module& module, const std::vector<FunctionPlan>& plans, const LoweringOptions& options,
                  LoweredKernel* out);

  llvm::IRBuilder<>& ir() { return ir_; }
  llvm::LLVMContext& llvm_context() { return *out_.context; }
  llvm::Module& llvm_module() { return *out_.module; }
  const LoweringOptions& options() const { return options_; }
  int num_warps() const { return options_.num_warps; }
  int num_threads() const { return kWarpSize * options_.num_warps; }

  // --- The function being lowered.
  const vm::Function& function() const { return *frame_.function; }
  const vm::Type& type(ValueId v) const { return function().type(v); }
  const TileLayout& layout(ValueId v) const { return frame_.plan->layouts.layouts.Of(v); }
  bool HasLayout(ValueId v) const { return frame_.plan->layouts.layouts.Has(v); }
  const AxisInfo& axis_info(ValueId v) const {
    return frame_.plan->axis_info.Get(frame_.plan->layouts.origin[v.index()]);
  }
  const Registers& Get(ValueId v) const { return frame_.values[v.index()]; }
  llvm::Value* Scalar(ValueId v) const { return Get(v)[0]; }
  void Set(ValueId v, Registers registers) { frame_.values[v.index()] = std::move(registers); }
  // How many LLVM values `v` has.
  size_t NumRegisters(ValueId v) const;
  // Unimplemented, with the op and its place in the author's source.
  template <typename... Pieces>
  absl::Status Refuse(const vm::Operation& op, const Pieces&... why) const {
    return RefuseWith(op, absl::StrCat(why...));
  }

  // --- Types. f8 are i8 in registers, i1 is i1 (a byte in memory), pointers are in the global space.
  llvm::Type* ElementType(const vm::Type& type);
  llvm::Type* ElementType(vm::DType dtype);
  // As it lies in memory and in kernel parameters: i1 as i8.
  llvm::Type* MemoryType(const vm::Type& type);
  llvm::Value* Constant(const vm::Type& type, int64_t bits);
  // An intrinsic whose name has no types in it.
  llvm::CallInst* Intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value*> arguments) {
    return ir_.CreateIntrinsic(id, llvm::ArrayRef<llvm::Type*>(), arguments);
  }
  llvm::ConstantInt* I32(int64_t value) { return ir_.getInt32(static_cast<uint32_t>(value)); }

  // --- The thread's place. Made once, at the kernel's entry.
  llvm::Value* thread() const { return thread_; }  // i32, lane + 32 * warp
  llvm::Value* lane() const { return lane_; }
  llvm::Value* warp() const { return warp_; }
  // i32: the thread's part of the row-major index; the element in register r is at this plus layout.RegisterElement(r).
  llvm::Value* ThreadElement(const TileLayout& layout);
  // i32: coordinate along `axis` of the element in register `reg`.
  llvm::Value* Coordinate(const TileLayout& layout, int axis, int reg);
  // i1, or null for always: false in threads that only have copies of what others have.
  llvm::Value* IsOwner(const TileLayout& layout);
  llvm::Value* IsThreadZero();

  // --- Synchronisation and shared memory.
  void Barrier();      // all threads of the program
  void WarpBarrier();  // the lanes of a warp
  // Scratch memory of this size, whose former users are done with it (a barrier is made). Whoever writes into it makes
  // a barrier before others read.
  llvm::Value* Scratch(int64_t bytes);
  // Shuffles a register of any type up to 64 bits.
  llvm::Value* ShuffleXor(llvm::Value* value, int lane_mask);
  llvm::Value* ShuffleIndex(llvm::Value* value, llvm::Value* lane);
  // Stores a tile in row-major order into scratch memory and makes the barrier; element i is at i * MemoryBytes.
  llvm::Value* StoreToScratch(const Registers& tile, const TileLayout& layout, const vm::Type& type);
  llvm::Value* LoadFromScratch(llvm::Value* scratch, llvm::Value* element_index, const vm::Type& type);
  // What thread 0 has, in all threads.
  llvm::Value* BroadcastFromThreadZero(llvm::Value* value);

  // --- Control flow.
  llvm::BasicBlock* NewBlock(const char* name);
  // Makes phis for these values in `block` (which must be empty) and gives their registers to the values.
  JumpTarget MakeTarget(llvm::BasicBlock* block, absl::Span<const ValueId> values);
  // Ends the current block.
  void Jump(const JumpTarget& target, absl::Span<const ValueId> values);
  absl::Status LowerOp(const vm::Operation& op);
  absl::Status LowerRegion(RegionId region);
  // The region of a reduce, scan or map, inline, on scalars.
  absl::StatusOr<Registers> LowerScalarRegion(RegionId region, absl::Span<llvm::Value* const> arguments);
  absl::Status LowerCall(const vm::Operation& op);

  struct Loop {
    JumpTarget next;   // continue
    JumpTarget after;  // break
    bool is_while = false;
  };
  struct Frame {
    const vm::Function* function = nullptr;
    const FunctionPlan* plan = nullptr;
    std::vector<Registers> values;
    std::vector<Loop> loops;
    std::vector<JumpTarget> yields;  // of the regions around, innermost last
    JumpTarget after_return;
    ProgramOrder order;
  };
  Frame& frame() { return frame_; }
  const vm::Module& module() const { return module_; }

  absl::Status LowerKernelFunction(FunctionId kernel);

 private:
  absl::Status RefuseWith(const vm::Operation& op, const std::string& why) const;
  llvm::Value* Shuffle(llvm::Value* value, llvm::Intrinsic::ID id, llvm::Value* argument, int clamp);

  const vm::Module& module_;
  const std::vector<FunctionPlan>& plans_;
  const LoweringOptions& options_;
  LoweredKernel& out_;
  llvm::IRBuilder<> ir_;
  llvm::Function* kernel_ = nullptr;
  llvm::GlobalVariable* shared_ = nullptr;
  Frame frame_;
  llvm::Value* thread_ = nullptr;
  llvm::Value* lane_ = nullptr;
  llvm::Value* warp_ = nullptr;
  llvm::Instruction* entry_end_ = nullptr;  // where what is made once goes
  absl::flat_hash_map<TileLayout, llvm::Value*> thread_elements_;
  absl::flat_hash_map<TileLayout, llvm::Value*> owners_;
};

// Lowering functions, one for each row of lowering.def that is not refused.
#define TRIVET_LOWER(Name, Function) absl::Status Function(LoweringContext& cx, const vm::Operation& op);
#define TRIVET_REFUSE(Name, reason)
#include "jit/lowering/nvptx/lowering.def"
#undef TRIVET_LOWER
#undef TRIVET_REFUSE

}  // namespace trivet::jit
