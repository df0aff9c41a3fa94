#include "jit/emulator/rewrite.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "jit/emulator/host_functions.h"
#include "jit/emulator/rows.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "vm/base/status.h"

namespace trivet::jit {

namespace {

constexpr unsigned kGlobalSpace = 1;
constexpr unsigned kSharedSpace = 3;

// --- What the compiled code calls -------------------------------------------------------------------------------

void Emulate(const CallSite* site, const uint64_t* in, uint64_t* out) {
  Cta& cta = Cta::Current();
  site->row->function(Call{cta, *site, in, out});
  cta.LeaveIfFailed();
}

void CheckShared(const AccessSite* site, uint64_t address, const void* value) {
  Cta::Current().CheckShared(*site, address, value);
}

void CheckGlobal(const AccessSite* site, uint64_t address) { Cta::Current().CheckGlobal(*site, address); }

void OutOfIterations(const std::string* location) { Cta::Current().OutOfIterations(*location); }

void YieldThread() {
  Cta::Current().Yield();
  Cta::Current().LeaveIfFailed();
}

// --- Helpers ----------------------------------------------------------------------------------------------------

absl::string_view View(llvm::StringRef text) { return absl::string_view(text.data(), text.size()); }

std::string LocationOf(const llvm::Instruction& instruction) {
  const llvm::DebugLoc& location = instruction.getDebugLoc();
  if (!location) return "";
  return absl::StrCat(View(location->getFilename()), ":", location.getLine(), ":", location.getCol());
}

// "/*name*/" at the start of inline PTX, or the PTX itself when it has no name.
std::string AsmName(const llvm::InlineAsm& code) {
  const absl::string_view text = View(code.getAsmString());
  const size_t end = text.find("*/");
  if (absl::StartsWith(text, "/*") && end != absl::string_view::npos) return std::string(text.substr(0, end + 2));
  return absl::StrCat("inline PTX without a name: ", text);
}

class Rewriter {
 public:
  Rewriter(llvm::Module& module, uint64_t shared_address, int64_t* iterations)
      : module_(module),
        layout_(module.getDataLayout()),
        builder_(module.getContext()),
        shared_address_(shared_address),
        iterations_(iterations) {}

  absl::StatusOr<RewrittenKernel> Run(absl::string_view kernel_name);

 private:
  // Where operands, results and stored values pass between a function and the host. A thread is in one call at a time,
  // so each function has one set.
  struct FrameSlots {
    llvm::AllocaInst* in;
    llvm::AllocaInst* out;
  };

  absl::Status PlaceSharedGlobals();
  absl::Status RewriteFunction(llvm::Function& function);
  absl::Status RewriteCall(llvm::CallInst& call, const FrameSlots& slots);
  absl::Status ReplaceCall(llvm::CallInst& call, const std::string& name, const Row& row,
                           const std::array<int, 8>& choice, const FrameSlots& slots);
  void AddMemoryCheck(llvm::Instruction& access, const FrameSlots& slots);
  void LimitLoops(llvm::Function& function);
  void MakeEntry(llvm::Function& kernel);
  void DropUnreachable(llvm::Function& kernel);
  void DropTargetSpecifics();

  llvm::Value* Address(const void* pointer) {
    return builder_.CreateIntToPtr(builder_.getInt64(reinterpret_cast<uint64_t>(pointer)), builder_.getPtrTy());
  }
  template <typename R, typename... A>
  llvm::CallInst* CallHost(R (*function)(A...), llvm::ArrayRef<llvm::Value*> arguments) {
    std::vector<llvm::Type*> types;
    for (llvm::Value* argument : arguments) types.push_back(argument->getType());
    auto* type = llvm::FunctionType::get(builder_.getVoidTy(), types, false);
    llvm::CallInst* call = builder_.CreateCall(type, Address(reinterpret_cast<const void*>(function)), arguments);
    call->setConvergent();
    return call;
  }
  SlotType TypeOfSlot(llvm::Type* type) const {
    const bool is_pointer = type->isPointerTy();
    return {static_cast<int>(layout_.getTypeSizeInBits(type).getFixedValue()),
            is_pointer ? static_cast<int>(type->getPointerAddressSpace()) : -1};
  }
  void StoreSlot(llvm::Value* value, llvm::Value* slots, unsigned index);
  llvm::Value* LoadSlot(llvm::Type* type, llvm::Value* slots, unsigned index);

  llvm::Module& module_;
  const llvm::DataLayout& layout_;
  llvm::IRBuilder<> builder_;
  uint64_t shared_address_;
  int64_t* iterations_;
  RewrittenKernel result_;
};

void Rewriter::StoreSlot(llvm::Value* value, llvm::Value* slots, unsigned index) {
  llvm::Value* slot = builder_.CreateConstInBoundsGEP1_32(builder_.getInt64Ty(), slots, index);
  llvm::Type* type = value->getType();
  const SlotType slot_type = TypeOfSlot(type);
  if (slot_type.bits > 64) {
    builder_.CreateAlignedStore(value, slot, llvm::Align(8));
    return;
  }
  if (type->isPointerTy()) {
    value = builder_.CreatePtrToInt(value, builder_.getInt64Ty());
  } else {
    value = builder_.CreateBitCast(value, builder_.getIntNTy(static_cast<unsigned>(slot_type.bits)));
    value = builder_.CreateZExt(value, builder_.getInt64Ty());
  }
  builder_.CreateAlignedStore(value, slot, llvm::Align(8));
}

llvm::Value* Rewriter::LoadSlot(llvm::Type* type, llvm::Value* slots, unsigned index) {
  llvm::Value* slot = builder_.CreateConstInBoundsGEP1_32(builder_.getInt64Ty(), slots, index);
  const SlotType slot_type = TypeOfSlot(type);
  if (slot_type.bits > 64) return builder_.CreateAlignedLoad(type, slot, llvm::Align(8));
  llvm::Value* bits = builder_.CreateAlignedLoad(builder_.getInt64Ty(), slot, llvm::Align(8));
  if (type->isPointerTy()) return builder_.CreateIntToPtr(bits, type);
  bits = builder_.CreateTrunc(bits, builder_.getIntNTy(static_cast<unsigned>(slot_type.bits)));
  return builder_.CreateBitCast(bits, type);
}

// --- Globals in shared memory -----------------------------------------------------------------------------------

// Static ones from the start of the buffer on, then the dynamic one, as ptxas and the driver place them.
absl::Status Rewriter::PlaceSharedGlobals() {
  std::vector<llvm::GlobalVariable*> fixed;
  std::vector<llvm::GlobalVariable*> dynamic;
  for (llvm::GlobalVariable& global : module_.globals()) {
    if (global.getAddressSpace() != kSharedSpace) continue;
    const bool is_dynamic = global.isDeclaration() || layout_.getTypeAllocSize(global.getValueType()).isZero();
    (is_dynamic ? dynamic : fixed).push_back(&global);
  }
  uint64_t offset = 0;
  const auto place = [this](llvm::GlobalVariable* global, uint64_t at) {
    llvm::Constant* address =
        llvm::ConstantExpr::getIntToPtr(builder_.getInt64(shared_address_ + at), global->getType());
    global->replaceAllUsesWith(address);
    global->eraseFromParent();
  };
  for (llvm::GlobalVariable* global : fixed) {
    offset = llvm::alignTo(offset, global->getAlign().valueOrOne());
    const uint64_t bytes = layout_.getTypeAllocSize(global->getValueType());
    place(global, offset);
    offset += bytes;
  }
  result_.static_shared_bytes = static_cast<int64_t>(offset);
  if (offset > static_cast<uint64_t>(kMaxSharedBytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("emulator: ", offset, " bytes of static shared memory, of ", kMaxSharedBytes));
  }
  for (llvm::GlobalVariable* global : dynamic) offset = llvm::alignTo(offset, global->getAlign().valueOrOne());
  result_.dynamic_shared_offset = static_cast<int64_t>(offset);
  for (llvm::GlobalVariable* global : dynamic) place(global, offset);
  return absl::OkStatus();
}

// --- Calls ------------------------------------------------------------------------------------------------------

absl::Status Rewriter::RewriteCall(llvm::CallInst& call, const FrameSlots& slots) {
  std::string name;
  if (const auto* code = llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand())) {
    name = AsmName(*code);
  } else if (const llvm::Function* callee = call.getCalledFunction()) {
    if (!callee->isDeclaration()) return absl::OkStatus();
    absl::string_view full = View(callee->getName());
    if (callee->getIntrinsicID() == llvm::Intrinsic::fmuladd) {  // NVPTX fuses it always
      builder_.SetInsertPoint(&call);
      llvm::Value* fused =
          builder_.CreateIntrinsic(llvm::Intrinsic::fma, {call.getType()},
                                   {call.getArgOperand(0), call.getArgOperand(1), call.getArgOperand(2)});
      call.replaceAllUsesWith(fused);
      call.eraseFromParent();
      auto* fma = llvm::dyn_cast<llvm::CallInst>(fused);
      return fma != nullptr ? RewriteCall(*fma, slots) : absl::OkStatus();
    }
    name = std::string(full);
    absl::ConsumePrefix(&full, "llvm.nvvm.");
    if (full.size() < name.size())
      name = std::string(full);
    else if (!absl::StartsWith(name, "llvm.") && FindHostSymbol(name) != nullptr)
      return absl::OkStatus();
  } else {
    return absl::UnimplementedError("emulator: calls through pointers");
  }
  std::array<int, 8> choice;
  const Row* row = FindRow(name, choice);
  if (row != nullptr) return ReplaceCall(call, name, *row, choice, slots);
  if (absl::StartsWith(name, "llvm.")) return absl::OkStatus();  // LLVM's own: compiled for this processor
  const std::string location = LocationOf(call);
  return absl::UnimplementedError(
      absl::StrCat("emulator: nothing does what \"", name, "\" does", location.empty() ? "" : " at ", location));
}

absl::Status Rewriter::ReplaceCall(llvm::CallInst& call, const std::string& name, const Row& row,
                                   const std::array<int, 8>& choice, const FrameSlots& slots) {
  auto site = std::make_unique<CallSite>();
  site->name = name;
  site->location = LocationOf(call);
  site->row = &row;
  site->choice = choice;
  builder_.SetInsertPoint(&call);
  unsigned slot = 0;
  for (llvm::Value* operand : call.args()) {
    if (!operand->getType()->isSized()) return absl::UnimplementedError(absl::StrCat("emulator: operands of ", name));
    site->operands.push_back(TypeOfSlot(operand->getType()));
    StoreSlot(operand, slots.in, slot);
    slot += static_cast<unsigned>(site->operands.back().slots());
  }
  std::vector<llvm::Type*> results;
  if (auto* type = llvm::dyn_cast<llvm::StructType>(call.getType())) {
    results.assign(type->element_begin(), type->element_end());
  } else if (!call.getType()->isVoidTy()) {
    results.push_back(call.getType());
  }
  for (llvm::Type* type : results) site->results.push_back(TypeOfSlot(type));
  CallHost(Emulate, {Address(site.get()), slots.in, slots.out});
  slot = 0;
  llvm::Value* value = call.getType()->isStructTy() ? llvm::PoisonValue::get(call.getType()) : nullptr;
  for (unsigned i = 0; i < results.size(); ++i) {
    llvm::Value* result = LoadSlot(results[i], slots.out, slot);
    slot += static_cast<unsigned>(site->results[i].slots());
    value = value == nullptr ? result : builder_.CreateInsertValue(value, result, {i});
  }
  if (value != nullptr) call.replaceAllUsesWith(value);
  call.eraseFromParent();
  result_.sites.calls.push_back(std::move(site));
  return absl::OkStatus();
}

// --- Memory -----------------------------------------------------------------------------------------------------

void Rewriter::AddMemoryCheck(llvm::Instruction& access, const FrameSlots& slots) {
  llvm::Value* pointer = nullptr;
  llvm::Type* type = nullptr;
  llvm::Value* stored = nullptr;
  auto kind = SharedAccess::kLoad;
  llvm::Align alignment;
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&access)) {
    pointer = load->getPointerOperand();
    alignment = load->getAlign();
    type = load->getType();
    if (load->isAtomic()) kind = SharedAccess::kAtomicLoad;
  } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&access)) {
    pointer = store->getPointerOperand();
    alignment = store->getAlign();
    stored = store->getValueOperand();
    type = stored->getType();
    kind = store->isAtomic() ? SharedAccess::kAtomic : SharedAccess::kStore;
  } else if (auto* rmw = llvm::dyn_cast<llvm::AtomicRMWInst>(&access)) {
    pointer = rmw->getPointerOperand();
    alignment = rmw->getAlign();
    type = rmw->getValOperand()->getType();
    kind = SharedAccess::kAtomic;
  } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&access)) {
    pointer = exchange->getPointerOperand();
    alignment = exchange->getAlign();
    type = exchange->getNewValOperand()->getType();
    kind = SharedAccess::kAtomic;
  } else {
    return;
  }
  const unsigned space = pointer->getType()->getPointerAddressSpace();
  if (space != kSharedSpace && space != kGlobalSpace) return;
  // The module's own globals are no allocation of the launch, but may be used.
  if (space == kGlobalSpace && llvm::isa<llvm::GlobalVariable>(llvm::getUnderlyingObject(pointer))) return;
  auto site = std::make_unique<AccessSite>();
  site->access = kind;
  site->bytes = static_cast<int64_t>(layout_.getTypeStoreSize(type).getFixedValue());
  // No instruction of a GPU needs more than 16 bytes.
  site->alignment = static_cast<int64_t>(std::min<uint64_t>(alignment.value(), 16));
  site->location = LocationOf(access);
  builder_.SetInsertPoint(&access);
  llvm::Value* address = builder_.CreatePtrToInt(pointer, builder_.getInt64Ty());
  if (space == kGlobalSpace) {
    CallHost(CheckGlobal, {Address(site.get()), address});
  } else {
    llvm::Value* value = llvm::ConstantPointerNull::get(builder_.getPtrTy());
    if (kind == SharedAccess::kStore) {
      builder_.CreateAlignedStore(stored, slots.in, llvm::Align(8));
      value = slots.in;
    }
    CallHost(CheckShared, {Address(site.get()), address, value});
  }
  result_.sites.accesses.push_back(std::move(site));
}

// --- Loops ------------------------------------------------------------------------------------------------------

// Whether a loop may wait for what other threads write.
bool WaitsForMemory(const llvm::Loop& loop) {
  for (const llvm::BasicBlock* block : loop.blocks()) {
    for (const llvm::Instruction& instruction : *block) {
      if (instruction.isAtomic() || instruction.isVolatile()) return true;
    }
  }
  return false;
}

void Rewriter::LimitLoops(llvm::Function& function) {
  llvm::SmallVector<std::pair<const llvm::BasicBlock*, const llvm::BasicBlock*>, 8> edges;
  llvm::FindFunctionBackedges(function, edges);
  std::vector<std::pair<llvm::BasicBlock*, bool>> latches;  // and whether to let others run there
  {
    const llvm::DominatorTree dominators(function);
    const llvm::LoopInfo loops(dominators);
    for (const auto& [from, to] : edges) {
      const llvm::Loop* loop = loops.getLoopFor(to);
      const bool waits = loop == nullptr || WaitsForMemory(*loop);
      if (std::none_of(latches.begin(), latches.end(), [&](const auto& latch) { return latch.first == from; })) {
        latches.emplace_back(const_cast<llvm::BasicBlock*>(from), waits);
      }
    }
  }
  for (const auto& [block, waits] : latches) {
    llvm::Instruction* end = block->getTerminator();
    auto location = std::make_unique<std::string>(LocationOf(*end));
    builder_.SetInsertPoint(end);
    if (waits) CallHost(YieldThread, {});
    llvm::Value* counter = Address(iterations_);
    llvm::Value* left = builder_.CreateSub(builder_.CreateLoad(builder_.getInt64Ty(), counter), builder_.getInt64(1));
    builder_.CreateStore(left, counter);
    llvm::Value* none_left = builder_.CreateICmpSLT(left, builder_.getInt64(0));
    llvm::Instruction* then = llvm::SplitBlockAndInsertIfThen(none_left, end->getIterator(), /*Unreachable=*/false);
    builder_.SetInsertPoint(then);
    CallHost(OutOfIterations, {Address(location.get())});
    result_.sites.loops.push_back(std::move(location));
  }
}

// --- Functions --------------------------------------------------------------------------------------------------

absl::Status Rewriter::RewriteFunction(llvm::Function& function) {
  unsigned in_slots = 16;
  unsigned out_slots = 1;
  std::vector<llvm::CallInst*> calls;
  std::vector<llvm::Instruction*> accesses;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (llvm::isa<llvm::FPMathOperator>(instruction)) instruction.copyFastMathFlags(llvm::FastMathFlags());
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
      calls.push_back(call);
      unsigned slots = 0;
      for (llvm::Value* operand : call->args()) {
        if (operand->getType()->isSized()) slots += static_cast<unsigned>(TypeOfSlot(operand->getType()).slots());
      }
      in_slots = std::max(in_slots, slots);
      if (call->getType()->isSized()) {
        slots = static_cast<unsigned>(layout_.getTypeAllocSize(call->getType()).getFixedValue() + 7) / 8;
        if (auto* type = llvm::dyn_cast<llvm::StructType>(call->getType())) slots += type->getNumElements();
        out_slots = std::max(out_slots, slots);
      }
    } else if (instruction.mayReadOrWriteMemory()) {
      if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
        const auto bytes = layout_.getTypeStoreSize(store->getValueOperand()->getType()).getFixedValue();
        in_slots = std::max(in_slots, static_cast<unsigned>(bytes + 7) / 8);
      }
      accesses.push_back(&instruction);
    }
  }
  builder_.SetInsertPoint(function.getEntryBlock().getFirstInsertionPt());
  builder_.SetCurrentDebugLocation(llvm::DebugLoc());
  FrameSlots slots;
  slots.in = builder_.CreateAlloca(builder_.getInt64Ty(), builder_.getInt32(in_slots));
  slots.out = builder_.CreateAlloca(builder_.getInt64Ty(), builder_.getInt32(out_slots));
  slots.in->setAlignment(llvm::Align(16));
  slots.out->setAlignment(llvm::Align(16));
  // Both are in use while the thread waits in a call, and only then.
  LimitLoops(function);
  for (llvm::Instruction* access : accesses) AddMemoryCheck(*access, slots);
  for (llvm::CallInst* call : calls) TRIVET_RETURN_IF_ERROR(RewriteCall(*call, slots));
  return absl::OkStatus();
}

void Rewriter::MakeEntry(llvm::Function& kernel) {
  auto* type = llvm::FunctionType::get(builder_.getVoidTy(), {builder_.getPtrTy()}, false);
  llvm::Function* entry = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, kEntryName, module_);
  builder_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", entry));
  std::vector<llvm::Value*> arguments;
  for (llvm::Argument& parameter : kernel.args()) {
    arguments.push_back(LoadSlot(parameter.getType(), entry->getArg(0), parameter.getArgNo()));
  }
  builder_.CreateCall(&kernel, arguments);
  builder_.CreateRetVoid();
  result_.num_parameters = static_cast<int>(kernel.arg_size());
}

// Removes what the kernel can't call: other kernels, most of a library that was linked in.
void Rewriter::DropUnreachable(llvm::Function& kernel) {
  llvm::SmallPtrSet<const llvm::Function*, 16> reached = {&kernel};
  std::vector<const llvm::Function*> todo = {&kernel};
  while (!todo.empty()) {
    const llvm::Function* function = todo.back();
    todo.pop_back();
    for (const llvm::Instruction& instruction : llvm::instructions(*function)) {
      for (const llvm::Value* operand : instruction.operand_values()) {
        const auto* used = llvm::dyn_cast<llvm::Function>(operand);
        if (used != nullptr && reached.insert(used).second) todo.push_back(used);
      }
    }
  }
  for (llvm::Function& function : module_.functions()) {
    if (!function.isDeclaration() && !reached.contains(&function)) function.deleteBody();
  }
}

// Calling conventions, attributes and metadata that mean nothing here, or something else.
void Rewriter::DropTargetSpecifics() {
  for (llvm::Function& function : module_.functions()) {
    if (function.isIntrinsic()) continue;
    function.setCallingConv(llvm::CallingConv::C);
    for (llvm::Use& use : function.uses()) {
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(use.getUser()); call != nullptr && call->isCallee(&use)) {
        call->setCallingConv(llvm::CallingConv::C);
      }
    }
    if (function.isDeclaration()) continue;
    llvm::AttributeMask unknown;
    for (const llvm::Attribute& attribute : function.getAttributes().getFnAttrs()) {
      if (attribute.isStringAttribute()) unknown.addAttribute(attribute.getKindAsString());
    }
    function.removeFnAttrs(unknown);
    for (llvm::Argument& parameter : function.args()) {
      // A byval parameter is the address of its bytes.
      function.removeParamAttr(parameter.getArgNo(), llvm::Attribute::ByVal);
    }
  }
  if (llvm::NamedMDNode* annotations = module_.getNamedMetadata("nvvm.annotations")) annotations->eraseFromParent();
  for (const char* name : {"llvm.used", "llvm.compiler.used"}) {
    if (llvm::GlobalVariable* used = module_.getNamedGlobal(name)) used->eraseFromParent();
  }
}

absl::StatusOr<RewrittenKernel> Rewriter::Run(absl::string_view kernel_name) {
  llvm::Function* kernel = module_.getFunction(llvm::StringRef(kernel_name.data(), kernel_name.size()));
  if (kernel == nullptr || kernel->isDeclaration()) {
    return absl::NotFoundError(absl::StrCat("emulator: the module has no kernel \"", kernel_name, "\""));
  }
  if (!kernel->getReturnType()->isVoidTy()) {
    return absl::InvalidArgumentError(absl::StrCat("emulator: kernel ", kernel_name, " returns a value"));
  }
  DropTargetSpecifics();
  DropUnreachable(*kernel);
  TRIVET_RETURN_IF_ERROR(PlaceSharedGlobals());
  for (llvm::Function& function : module_.functions()) {
    if (!function.isDeclaration()) TRIVET_RETURN_IF_ERROR(RewriteFunction(function));
  }
  MakeEntry(*kernel);
  llvm::StripDebugInfo(module_);
  return std::move(result_);
}

}  // namespace

absl::StatusOr<RewrittenKernel> RewriteForHost(llvm::Module& module, absl::string_view kernel, uint64_t shared_address,
                                               int64_t* iterations) {
  return Rewriter(module, shared_address, iterations).Run(kernel);
}

}  // namespace trivet::jit
