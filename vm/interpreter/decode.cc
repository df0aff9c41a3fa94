#include "vm/interpreter/decode.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "vm/base/check.h"
#include "vm/base/status.h"
#include "vm/interpreter/exec_control.h"

namespace trivet::vm {
namespace {

// Slots of constants are offsets into the constants with this bit, until the size of the frames is known.
constexpr uint32_t kConstantTag = 0x80000000u;
static_assert(kMaxFrameBytes <= kConstantTag);

// Instructions of one kernel, inlined calls in regions included.
constexpr size_t kMaxInstructions = size_t{1} << 22;
// Calls within calls inside the region of a reduce, scan or map_elementwise, where they are inlined.
constexpr int kMaxInlineDepth = 64;

class UnitDecoder;

// What all units of one kernel share.
class KernelDecoder {
 public:
  KernelDecoder(const Module& module, FunctionId entry, bool keep_values)
      : module_(module), entry_(entry), keep_values_(keep_values), kernel_(std::make_unique<DecodedKernel>()) {}

  absl::StatusOr<std::unique_ptr<const DecodedKernel>> Run();

  const Module& module() const { return module_; }
  bool keep_values() const { return keep_values_; }
  DecodedKernel& kernel() { return *kernel_; }
  const Provenance& ProvenanceOf(FunctionId function, ValueId value) { return provenance_[function][value.index()]; }

  // By value: the constant or arange that defines it, or none.
  const std::vector<OpId>& ConstantsOf(FunctionId id);
  // The tagged slot of `lanes` copies of a constant.
  absl::StatusOr<uint32_t> ConstantSlot(const Function& fn, OpId id, int64_t lanes);
  bool IsStraightLine(FunctionId id);
  bool IsStraightLine(FunctionId id, RegionId region);

  uint32_t* NewSlots(size_t count) {
    kernel_->slots.emplace_back(count);
    return kernel_->slots.back().data();
  }
  // Keeps a payload, and its moves for when constants get their places.
  template <typename T>
  T* Keep(T payload) {
    auto kept = std::make_shared<T>(std::move(payload));
    kernel_->payloads.push_back(kept);
    return kept.get();
  }
  // `moves` contains tagged slots.
  void PatchLater(std::vector<Move>* moves) {
    if (!moves->empty()) moves_.push_back(moves);
  }
  // Once all functions are decoded, arguments and results of the call are known.
  void LinkLater(FunctionId callee, CallPayload* call, std::vector<Move> arguments, MovesPayload* end,
                 std::vector<Move> results) {
    calls_.push_back({callee, call, std::move(arguments), end, std::move(results)});
  }
  absl::Status CountInstruction() {
    if (++num_instructions_ <= kMaxInstructions) return absl::OkStatus();
    return absl::ResourceExhaustedError(absl::StrCat("@", module_.function(entry_).name, ": more than ",
                                                     kMaxInstructions,
                                                     " instructions when calls in regions are inlined"));
  }
  std::vector<Move> Sequence(std::vector<Move> moves) {
    return SequenceMoves(std::move(moves), &kernel_->scratch_bytes);
  }

 private:
  struct PendingCall {
    FunctionId callee;
    CallPayload* call;
    std::vector<Move> arguments;  // without `to`
    MovesPayload* end;
    std::vector<Move> results;  // without `from`
  };

  absl::StatusOr<std::vector<FunctionId>> CallersFirst();
  void LinkCalls();
  void PlaceConstants();

  const Module& module_;
  FunctionId entry_;
  bool keep_values_;
  std::unique_ptr<DecodedKernel> kernel_;
  ProvenanceMap provenance_;
  absl::flat_hash_map<FunctionId, std::vector<OpId>> constant_ops_;
  absl::flat_hash_map<std::tuple<uint64_t, int64_t, int, bool>, uint32_t> constants_;  // to tagged slots
  uint64_t constant_bytes_ = 0;
  absl::flat_hash_map<FunctionId, bool> straight_line_;
  std::vector<std::vector<Move>*> moves_;
  std::vector<PendingCall> calls_;
  size_t num_instructions_ = 0;
};

// Decodes one function, or one region for some number of lanes, or one call inlined in a region.
class UnitDecoder {
 public:
  struct Request {
    FunctionId function;
    RegionId root;
    int64_t lanes = 1;
    uint64_t begin = 0;                   // first free offset of the arena
    bool in_region = false;               // in a reduce, scan or map_elementwise: no preemption, calls inlined
    const UnitDecoder* around = nullptr;  // the unit whose values a region may use
    OpId blame;                           // of inlined code: the op in the function that runs
    int inline_depth = 0;
    int region_depth = 0;
  };

  UnitDecoder(KernelDecoder& kernel, const Request& request, std::vector<Instr>* code)
      : kernel_(kernel), request_(request), fn_(kernel.module().function(request.function)), code_(*code) {}

  // First decides the frame, then emits code.
  absl::Status LayOut();
  absl::Status EmitBody();

  uint64_t end() const { return end_; }
  uint32_t link_slot() const { return link_slot_; }
  const std::vector<uint32_t>& result_slots() const { return layout_.result_slots; }
  std::vector<uint32_t> param_slots() const {
    std::vector<uint32_t> slots;
    for (ValueId param : fn_.region(request_.root).params) slots.push_back(layout_.SlotOf(param));
    return slots;
  }
  std::vector<uint32_t> ValueSlots() const;

 private:
  friend class OpContext;

  using Label = size_t;
  enum class ScopeKind { kRoot, kIf, kFor, kWhileBefore, kWhileAfter };
  struct Scope {
    ScopeKind kind;
    OpId op;
    Label next;                  // of an if: after it; of a loop: where the next iteration begins
    Label exit;                  // of a loop: after it
    bool falls_through = false;  // of an if: a yield here ends where the code goes on
  };

  Label NewLabel() {
    labels_.push_back(0);
    return labels_.size() - 1;
  }
  uint32_t Here() const { return static_cast<uint32_t>(code_.size()); }
  void Bind(Label label) { labels_[label] = Here(); }
  void JumpTo(uint32_t* target, Label label) { fixups_.emplace_back(target, label); }

  bool is_function() const { return !request_.in_region; }
  bool is_kernel() const { return is_function() && kernel_.kernel().functions.size() == 1; }
  absl::StatusOr<uint32_t> SlotOf(ValueId value) const;
  absl::StatusOr<std::vector<Move>> Moves(absl::Span<const ValueId> from, absl::Span<const uint32_t> to);
  absl::StatusOr<std::vector<Move>> MovesTo(absl::Span<const ValueId> from, absl::Span<const ValueId> to);
  absl::Span<const ValueId> Carried(const Operation& loop) const {
    absl::Span<const ValueId> params = fn_.region(loop.regions[0]).params;
    return loop.opcode == Op::kFor ? params.subspan(1) : params;
  }
  const Scope& InnermostLoop() const;

  absl::Status EmitRegion(RegionId region);
  absl::Status EmitOp(OpId id);
  absl::Status EmitPlain(OpId id);
  absl::Status EmitFor(OpId id);
  absl::Status EmitWhile(OpId id);
  absl::Status EmitIf(OpId id);
  absl::Status EmitCall(OpId id);
  absl::Status EmitInlined(OpId id);
  absl::Status EmitYield(OpId id);
  absl::Status EmitLeave(OpId id);
  absl::Status EmitJump(OpId id, std::vector<Move> moves, Label label, Handler handler);
  absl::Status EmitMoves(OpId id, std::vector<Move> moves, bool starts, bool ends);
  // In kernels for observers: the end of a control op.
  absl::Status EmitEnd(OpId id);
  absl::Status Emit(OpId id, Handler handler, const void* data, absl::Span<const uint32_t> slots, uint32_t num_operands,
                    bool starts, bool ends);

  absl::StatusOr<RegionCode> DecodeRegion(RegionId region, int64_t lanes);

  KernelDecoder& kernel_;
  const Request request_;
  const Function& fn_;
  std::vector<Instr>& code_;
  FrameLayout layout_;
  uint32_t link_slot_ = kNoSlot;
  uint64_t end_ = 0;           // past everything, regions included
  uint64_t region_begin_ = 0;  // where the next region or inlined call of the current op has its frame
  std::vector<uint32_t> labels_;
  std::vector<std::pair<uint32_t*, Label>> fixups_;
  std::vector<Scope> scopes_;
  Label end_label_ = 0;
};

// An op as its Prepare function sees it.
class OpContext final : public PrepareContext {
 public:
  OpContext(UnitDecoder& unit, const Operation& op) : unit_(unit), op_(op) {}

  const Module& module() const override { return unit_.kernel_.module(); }
  const Function& function() const override { return unit_.fn_; }
  const Operation& op() const override { return op_; }
  int64_t lanes() const override { return unit_.request_.lanes; }
  void RequireScratch(size_t size_bytes) override {
    size_t& most = unit_.kernel_.kernel().scratch_bytes;
    most = std::max(most, size_bytes);
  }
  bool IsStraightLine(RegionId region) const override {
    return unit_.kernel_.IsStraightLine(unit_.request_.function, region);
  }
  absl::StatusOr<RegionCode> PrepareRegion(RegionId region, int64_t lanes) override {
    return unit_.DecodeRegion(region, lanes);
  }
  int SourceParameter(ValueId pointer) const override {
    return std::max(unit_.kernel_.ProvenanceOf(unit_.request_.function, pointer).source, Provenance::kUnknown);
  }
  bool IsForeign(ValueId pointer) const override {
    return unit_.kernel_.ProvenanceOf(unit_.request_.function, pointer).is_foreign;
  }

 private:
  UnitDecoder& unit_;
  const Operation& op_;
};

// --- Units --------------------------------------------------------------------------------------------------------

absl::Status UnitDecoder::LayOut() {
  uint64_t begin = (request_.begin + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
  if (is_function() && !is_kernel()) {
    link_slot_ = static_cast<uint32_t>(begin);
    begin += 8;
  }
  FrameRequest frame;
  frame.function = &fn_;
  frame.root = request_.root;
  frame.lanes = request_.lanes;
  frame.begin = begin;
  frame.pin_params = request_.in_region || is_kernel();
  frame.keep_values = kernel_.keep_values() && is_function();
  TRIVET_ASSIGN_OR_RETURN(layout_, LayOutFrame(frame));
  end_ = region_begin_ = layout_.end;
  return absl::OkStatus();
}

absl::Status UnitDecoder::EmitBody() {
  end_label_ = NewLabel();
  scopes_.push_back({ScopeKind::kRoot, OpId::None(), end_label_, end_label_});
  TRIVET_RETURN_IF_ERROR(EmitRegion(request_.root));
  Bind(end_label_);
  for (auto [target, label] : fixups_) *target = labels_[label];
  return absl::OkStatus();
}

std::vector<uint32_t> UnitDecoder::ValueSlots() const {
  std::vector<uint32_t> slots(fn_.num_values(), kNoSlot);
  const std::vector<OpId>& constants = kernel_.ConstantsOf(request_.function);
  for (uint32_t i = 0; i < slots.size(); ++i) {
    const ValueId same = layout_.same_as[i];
    slots[i] = layout_.slots[same.index()];
    if (constants[same.index()].is_none()) continue;
    absl::StatusOr<uint32_t> slot = kernel_.ConstantSlot(fn_, constants[same.index()], 1);
    if (slot.ok()) slots[i] = *slot;
  }
  return slots;
}

absl::StatusOr<uint32_t> UnitDecoder::SlotOf(ValueId value) const {
  const ValueId same = layout_.same_as[value.index()];
  const OpId constant = kernel_.ConstantsOf(request_.function)[same.index()];
  if (constant) return kernel_.ConstantSlot(fn_, constant, request_.lanes);
  const uint32_t slot = layout_.slots[same.index()];
  if (slot != kNoSlot) return slot;
  TRIVET_CHECK(request_.around != nullptr, "a value of a verified function is defined");
  return request_.around->SlotOf(same);
}

absl::StatusOr<std::vector<Move>> UnitDecoder::Moves(absl::Span<const ValueId> from, absl::Span<const uint32_t> to) {
  std::vector<Move> moves;
  for (size_t i = 0; i < from.size(); ++i) {
    TRIVET_ASSIGN_OR_RETURN(const uint32_t slot, SlotOf(from[i]));
    moves.push_back({to[i], slot, static_cast<uint32_t>(SlotBytes(fn_.type(from[i]), request_.lanes))});
  }
  return kernel_.Sequence(std::move(moves));
}

absl::StatusOr<std::vector<Move>> UnitDecoder::MovesTo(absl::Span<const ValueId> from, absl::Span<const ValueId> to) {
  std::vector<uint32_t> slots;
  for (ValueId value : to) slots.push_back(layout_.SlotOf(value));
  return Moves(from, slots);
}

const UnitDecoder::Scope& UnitDecoder::InnermostLoop() const {
  size_t i = scopes_.size();
  do {
    --i;
  } while (scopes_[i].kind == ScopeKind::kIf);
  return scopes_[i];
}

// --- Emission -------------------------------------------------------------------------------------------------------

absl::Status UnitDecoder::Emit(OpId id, Handler handler, const void* data, absl::Span<const uint32_t> slots,
                               uint32_t num_operands, bool starts, bool ends) {
  TRIVET_RETURN_IF_ERROR(kernel_.CountInstruction());
  uint32_t* kept = kernel_.NewSlots(slots.size());
  std::copy(slots.begin(), slots.end(), kept);
  code_.push_back({handler, kept, data, num_operands, request_.blame ? request_.blame : id});
  if (is_function()) {
    const auto function = static_cast<uint32_t>(kernel_.kernel().functions.size() - 1);
    kernel_.kernel().info.push_back({function, starts, ends});
  }
  return absl::OkStatus();
}

absl::Status UnitDecoder::EmitMoves(OpId id, std::vector<Move> moves, bool starts, bool ends) {
  if (moves.empty() && !kernel_.keep_values()) return absl::OkStatus();
  auto* payload = kernel_.Keep(MovesPayload{std::move(moves)});
  kernel_.PatchLater(&payload->moves);
  return Emit(id, &ExecMoves, payload, {}, 0, starts, ends);
}

absl::Status UnitDecoder::EmitJump(OpId id, std::vector<Move> moves, Label label, Handler handler) {
  auto* payload = kernel_.Keep(JumpPayload{std::move(moves), 0});
  kernel_.PatchLater(&payload->moves);
  JumpTo(&payload->target, label);
  return Emit(id, handler, payload, {}, 0, true, true);
}

absl::Status UnitDecoder::EmitEnd(OpId id) {
  if (!kernel_.keep_values() || !is_function()) return absl::OkStatus();
  return Emit(id, &ExecNothing, nullptr, {}, 0, false, true);
}

absl::Status UnitDecoder::EmitRegion(RegionId region) {
  for (OpId id : fn_.region(region).ops) TRIVET_RETURN_IF_ERROR(EmitOp(id));
  return absl::OkStatus();
}

absl::Status UnitDecoder::EmitOp(OpId id) {
  region_begin_ = layout_.end;
  const Operation& op = fn_.op(id);
  if (op.info().effects != OpEffects::kControl) return EmitPlain(id);
  if (op.opcode == Op::kFor) return EmitFor(id);
  if (op.opcode == Op::kWhile) return EmitWhile(id);
  if (op.opcode == Op::kIf) return EmitIf(id);
  if (op.opcode == Op::kCall) return request_.in_region ? EmitInlined(id) : EmitCall(id);
  if (op.opcode == Op::kYield) return EmitYield(id);
  return EmitLeave(id);
}

absl::Status UnitDecoder::EmitPlain(OpId id) {
  const Operation& op = fn_.op(id);
  if (IsArenaConstant(op.opcode) || IsSameBits(op.opcode)) {
    if (!kernel_.keep_values() || !is_function()) return absl::OkStatus();
    return Emit(id, &ExecNothing, nullptr, {}, 0, true, true);
  }
  OpContext context(*this, op);
  TRIVET_ASSIGN_OR_RETURN(PreparedOp prepared, PrepareOp(context));
  absl::InlinedVector<uint32_t, 8> slots;
  for (ValueId operand : op.operands) {
    if (operand.is_none()) {
      slots.push_back(kNoSlot);
    } else {
      TRIVET_ASSIGN_OR_RETURN(slots.emplace_back(), SlotOf(operand));
    }
  }
  for (ValueId result : op.results) slots.push_back(layout_.SlotOf(result));
  const void* data = prepared.data.get();
  if (data != nullptr) kernel_.kernel().payloads.push_back(std::move(prepared.data));
  return Emit(id, prepared.handler, data, slots, static_cast<uint32_t>(op.operands.size()), true, true);
}

//   ForBegin      counter, remaining; inits to carried; to exit if none
//   body: ...     ends in the yield's copies
//   next: ForEnd  to body
//   exit:
absl::Status UnitDecoder::EmitFor(OpId id) {
  const Operation& op = fn_.op(id);
  const ValueId counter = fn_.region(op.regions[0]).params[0];
  const DType dtype = fn_.type(counter).dtype();
  absl::InlinedVector<uint32_t, 5> slots;
  for (ValueId bound : {op.operand(ForOp::In::lower), op.operand(ForOp::In::upper), op.operand(ForOp::In::step)}) {
    TRIVET_ASSIGN_OR_RETURN(slots.emplace_back(), SlotOf(bound));
  }
  slots.push_back(layout_.SlotOf(counter));
  slots.push_back(layout_.counters.at(id));

  const Label next = NewLabel();
  const Label exit = NewLabel();
  TRIVET_ASSIGN_OR_RETURN(std::vector<Move> inits, MovesTo(op.variadic(), Carried(op)));
  auto* begin = kernel_.Keep(ForPayload{std::move(inits), 0});
  kernel_.PatchLater(&begin->moves);
  JumpTo(&begin->target, exit);
  TRIVET_RETURN_IF_ERROR(Emit(id, ForBeginHandler(dtype), begin, slots, 3, true, false));
  auto* end = kernel_.Keep(ForPayload{{}, Here()});
  scopes_.push_back({ScopeKind::kFor, id, next, exit});
  TRIVET_RETURN_IF_ERROR(EmitRegion(op.regions[0]));
  scopes_.pop_back();
  Bind(next);
  TRIVET_RETURN_IF_ERROR(Emit(id, ForEndHandler(dtype, request_.in_region), end, slots, 3, false, false));
  Bind(exit);
  return EmitEnd(id);
}

//   inits to the first region's parameters
//   next: first region; its condition copies to the second's parameters, or to the results and goes to exit
//   second region; its yield goes to next
//   exit:
absl::Status UnitDecoder::EmitWhile(OpId id) {
  const Operation& op = fn_.op(id);
  TRIVET_ASSIGN_OR_RETURN(std::vector<Move> inits, MovesTo(op.operands, Carried(op)));
  TRIVET_RETURN_IF_ERROR(EmitMoves(id, std::move(inits), true, false));
  const Label next = NewLabel();
  const Label exit = NewLabel();
  Bind(next);
  scopes_.push_back({ScopeKind::kWhileBefore, id, next, exit});
  TRIVET_RETURN_IF_ERROR(EmitRegion(op.regions[0]));
  scopes_.back().kind = ScopeKind::kWhileAfter;
  TRIVET_RETURN_IF_ERROR(EmitRegion(op.regions[1]));
  scopes_.pop_back();
  Bind(exit);
  return EmitEnd(id);
}

absl::Status UnitDecoder::EmitIf(OpId id) {
  const Operation& op = fn_.op(id);
  TRIVET_ASSIGN_OR_RETURN(const uint32_t condition, SlotOf(op.operand(0)));
  auto* branch = kernel_.Keep(BranchPayload{});
  const Label otherwise = NewLabel();
  const Label after = NewLabel();
  JumpTo(&branch->target, otherwise);
  TRIVET_RETURN_IF_ERROR(Emit(id, &ExecBranch, branch, {condition}, 1, true, false));
  const Operation& second = fn_.op(fn_.region(op.regions[1]).ops.front());
  const bool has_second = kernel_.keep_values() || second.opcode != Op::kYield || !second.operands.empty();
  scopes_.push_back({ScopeKind::kIf, id, after, after, !has_second});
  TRIVET_RETURN_IF_ERROR(EmitRegion(op.regions[0]));
  Bind(otherwise);
  scopes_.back().falls_through = true;
  if (has_second) TRIVET_RETURN_IF_ERROR(EmitRegion(op.regions[1]));
  scopes_.pop_back();
  Bind(after);
  return EmitEnd(id);
}

absl::Status UnitDecoder::EmitYield(OpId id) {
  const Operation& op = fn_.op(id);
  const Scope scope = scopes_.back();
  switch (scope.kind) {
    case ScopeKind::kRoot: {
      TRIVET_ASSIGN_OR_RETURN(std::vector<Move> moves, Moves(op.operands, layout_.result_slots));
      return EmitMoves(id, std::move(moves), true, true);
    }
    case ScopeKind::kIf: {
      TRIVET_ASSIGN_OR_RETURN(std::vector<Move> moves, MovesTo(op.operands, fn_.op(scope.op).results));
      if (scope.falls_through) return EmitMoves(id, std::move(moves), true, true);
      return EmitJump(id, std::move(moves), scope.next, &ExecJump);
    }
    case ScopeKind::kFor: {
      TRIVET_ASSIGN_OR_RETURN(std::vector<Move> moves, MovesTo(op.operands, Carried(fn_.op(scope.op))));
      return EmitMoves(id, std::move(moves), true, true);
    }
    case ScopeKind::kWhileBefore:
    case ScopeKind::kWhileAfter: {
      TRIVET_ASSIGN_OR_RETURN(std::vector<Move> moves, MovesTo(op.operands, Carried(fn_.op(scope.op))));
      return EmitJump(id, std::move(moves), scope.next, LoopBackHandler(request_.in_region));
    }
  }
  return absl::OkStatus();
}

// condition, break, continue, return.
absl::Status UnitDecoder::EmitLeave(OpId id) {
  const Operation& op = fn_.op(id);
  if (op.opcode == Op::kReturn) {
    TRIVET_ASSIGN_OR_RETURN(std::vector<Move> moves, Moves(op.operands, layout_.result_slots));
    if (request_.in_region) {
      if (scopes_.size() == 1) return EmitMoves(id, std::move(moves), true, true);
      return EmitJump(id, std::move(moves), end_label_, &ExecJump);
    }
    auto* payload = kernel_.Keep(ReturnPayload{std::move(moves)});
    kernel_.PatchLater(&payload->moves);
    if (is_kernel()) return Emit(id, &ExecFinish, payload, {}, 0, true, true);
    return Emit(id, &ExecReturn, payload, {link_slot_}, 1, true, true);
  }
  if (op.opcode == Op::kCondition) {
    const Operation& loop = fn_.op(scopes_.back().op);
    TRIVET_ASSIGN_OR_RETURN(const uint32_t condition, SlotOf(op.operand(0)));
    TRIVET_ASSIGN_OR_RETURN(std::vector<Move> moves, MovesTo(op.variadic(), fn_.region(loop.regions[1]).params));
    TRIVET_ASSIGN_OR_RETURN(std::vector<Move> else_moves, MovesTo(op.variadic(), loop.results));
    auto* payload = kernel_.Keep(BranchPayload{std::move(moves), std::move(else_moves), 0});
    kernel_.PatchLater(&payload->moves);
    kernel_.PatchLater(&payload->else_moves);
    JumpTo(&payload->target, scopes_.back().exit);
    return Emit(id, &ExecBranch, payload, {condition}, 1, true, true);
  }
  const Scope loop = InnermostLoop();
  const Operation& loop_op = fn_.op(loop.op);
  if (op.opcode == Op::kBreak) {
    TRIVET_ASSIGN_OR_RETURN(std::vector<Move> moves, MovesTo(op.operands, loop_op.results));
    return EmitJump(id, std::move(moves), loop.exit, &ExecJump);
  }
  TRIVET_CHECK(op.opcode == Op::kContinue, op.info().text);
  TRIVET_ASSIGN_OR_RETURN(std::vector<Move> moves, MovesTo(op.operands, Carried(loop_op)));
  // A for steps at `next`; a while begins again there.
  const bool is_back_edge = loop_op.opcode == Op::kWhile;
  return EmitJump(id, std::move(moves), loop.next, is_back_edge ? LoopBackHandler(request_.in_region) : &ExecJump);
}

absl::Status UnitDecoder::EmitCall(OpId id) {
  const Operation& op = fn_.op(id);
  std::vector<Move> arguments;
  for (ValueId operand : op.operands) {
    TRIVET_ASSIGN_OR_RETURN(const uint32_t slot, SlotOf(operand));
    arguments.push_back({0, slot, static_cast<uint32_t>(SlotBytes(fn_.type(operand), 1))});
  }
  std::vector<Move> results;
  for (ValueId result : op.results) {
    results.push_back({layout_.SlotOf(result), 0, static_cast<uint32_t>(SlotBytes(fn_.type(result), 1))});
  }
  auto* call = kernel_.Keep(CallPayload{});
  auto* end = kernel_.Keep(MovesPayload{});
  kernel_.PatchLater(&call->arguments);
  TRIVET_RETURN_IF_ERROR(Emit(id, &ExecCall, call, {}, 0, true, false));
  TRIVET_RETURN_IF_ERROR(Emit(id, &ExecMoves, end, {}, 0, false, true));
  const FunctionId callee(static_cast<uint32_t>(op.int_attr(CallOp::At::callee)));
  kernel_.LinkLater(callee, call, std::move(arguments), end, std::move(results));
  return absl::OkStatus();
}

absl::Status UnitDecoder::EmitInlined(OpId id) {
  const Operation& op = fn_.op(id);
  Request request;
  request.function = FunctionId(static_cast<uint32_t>(op.int_attr(CallOp::At::callee)));
  request.root = kernel_.module().function(request.function).body;
  request.lanes = request_.lanes;
  request.begin = region_begin_;
  request.in_region = true;
  request.blame = request_.blame ? request_.blame : id;
  request.region_depth = request_.region_depth;
  request.inline_depth = request_.inline_depth + 1;
  if (request.inline_depth > kMaxInlineDepth) {
    return absl::ResourceExhaustedError(
        absl::StrCat("@", fn_.name, ": calls in a region are nested more than ", kMaxInlineDepth, " deep"));
  }
  UnitDecoder callee(kernel_, request, &code_);
  TRIVET_RETURN_IF_ERROR(callee.LayOut());
  TRIVET_ASSIGN_OR_RETURN(std::vector<Move> arguments, Moves(op.operands, callee.param_slots()));
  TRIVET_RETURN_IF_ERROR(EmitMoves(id, std::move(arguments), true, false));
  TRIVET_RETURN_IF_ERROR(callee.EmitBody());
  std::vector<Move> results;
  for (size_t i = 0; i < op.results.size(); ++i) {
    results.push_back({layout_.SlotOf(op.results[i]), callee.result_slots()[i],
                       static_cast<uint32_t>(SlotBytes(fn_.type(op.results[i]), request_.lanes))});
  }
  end_ = std::max(end_, callee.end());
  return EmitMoves(id, kernel_.Sequence(std::move(results)), false, true);
}

absl::StatusOr<RegionCode> UnitDecoder::DecodeRegion(RegionId region, int64_t lanes) {
  RegionCode result;
  result.lanes = lanes;
  Request request;
  request.function = request_.function;
  request.root = region;
  request.lanes = lanes;
  request.begin = region_begin_;
  request.in_region = true;
  request.around = this;
  request.blame = request_.blame;
  request.inline_depth = request_.inline_depth;
  request.region_depth = request_.region_depth + 1;
  int& deepest = kernel_.kernel().region_depth;
  deepest = std::max(deepest, request.region_depth);
  UnitDecoder unit(kernel_, request, &result.code);
  TRIVET_RETURN_IF_ERROR(unit.LayOut());
  TRIVET_RETURN_IF_ERROR(unit.EmitBody());
  result.param_slots = unit.param_slots();
  result.yield_slots = unit.result_slots();
  result.has_control = !kernel_.IsStraightLine(request_.function, region);
  region_begin_ = unit.end();
  end_ = std::max(end_, unit.end());
  return result;
}

// --- The kernel -----------------------------------------------------------------------------------------------------

const std::vector<OpId>& KernelDecoder::ConstantsOf(FunctionId id) {
  auto [found, is_new] = constant_ops_.try_emplace(id);
  if (is_new) {
    const Function& fn = module_.function(id);
    found->second.resize(fn.num_values());
    fn.ForEachOp([&](OpId op) {
      if (IsArenaConstant(fn.op(op).opcode)) found->second[fn.op(op).result().index()] = op;
    });
  }
  return found->second;
}

absl::StatusOr<uint32_t> KernelDecoder::ConstantSlot(const Function& fn, OpId id, int64_t lanes) {
  const Operation& op = fn.op(id);
  const Type& type = fn.type(op.result());
  ArenaConstant constant;
  constant.count = type.num_elements() * lanes;
  constant.element_bytes = type.element_bytes();
  constant.is_arange = op.opcode == Op::kArange;
  constant.bits =
      static_cast<uint64_t>(op.int_attr(constant.is_arange ? int{ArangeOp::At::start} : int{ConstantOp::At::value}));
  const auto key = std::make_tuple(constant.bits, constant.count, constant.element_bytes, constant.is_arange);
  auto [found, is_new] = constants_.try_emplace(key, 0);
  if (is_new) {
    const uint64_t alignment = constant.count == 1 ? 8 : kSlotAlignment;
    constant_bytes_ = (constant_bytes_ + alignment - 1) / alignment * alignment;
    constant.slot = found->second = kConstantTag | static_cast<uint32_t>(constant_bytes_);
    constant_bytes_ += static_cast<uint64_t>(constant.count) * static_cast<uint64_t>(constant.element_bytes);
    if (constant_bytes_ > kMaxFrameBytes) {
      constants_.erase(found);
      return absl::ResourceExhaustedError(
          absl::StrCat("@", fn.name, ": its constants need more than ", kMaxFrameBytes, " bytes"));
    }
    kernel_->constants.push_back(constant);
    return constant.slot;
  }
  return found->second;
}

bool KernelDecoder::IsStraightLine(FunctionId id) {
  auto [found, is_new] = straight_line_.try_emplace(id, false);
  if (!is_new) return found->second;
  const bool straight = IsStraightLine(id, module_.function(id).body);
  straight_line_[id] = straight;
  return straight;
}

bool KernelDecoder::IsStraightLine(FunctionId id, RegionId region) {
  const Function& fn = module_.function(id);
  const std::vector<OpId>& constants = ConstantsOf(id);
  absl::flat_hash_set<ValueId> inside(fn.region(region).params.begin(), fn.region(region).params.end());
  const auto is_scalar = [&](ValueId value) { return fn.type(value).is_scalar(); };
  if (!std::all_of(inside.begin(), inside.end(), is_scalar)) return false;
  for (OpId op_id : fn.region(region).ops) {
    const Operation& op = fn.op(op_id);
    if (!op.regions.empty() || op.info().has_variadic()) {
      const bool is_end = op.opcode == Op::kYield || op.opcode == Op::kReturn;
      if (!is_end && op.opcode != Op::kCall) return false;
    }
    if (op.opcode == Op::kCall && !IsStraightLine(FunctionId(static_cast<uint32_t>(op.int_attr(CallOp::At::callee))))) {
      return false;
    }
    for (ValueId operand : op.operands) {
      // A value from around is one scalar, not one a lane; but a constant can be made in any number.
      if (operand.is_none()) continue;
      if (!is_scalar(operand) || (!inside.contains(operand) && constants[operand.index()].is_none())) return false;
    }
    for (ValueId result : op.results) {
      if (!is_scalar(result)) return false;
      inside.insert(result);
    }
  }
  return true;
}

// The functions that need code of their own, each after all that call it.
absl::StatusOr<std::vector<FunctionId>> KernelDecoder::CallersFirst() {
  absl::flat_hash_map<FunctionId, std::vector<FunctionId>> callees;
  absl::flat_hash_map<FunctionId, size_t> pending;
  std::vector<FunctionId> reached{entry_};
  pending[entry_] = 0;
  for (size_t i = 0; i < reached.size(); ++i) {
    const FunctionId caller = reached[i];
    const Function& fn = module_.function(caller);
    std::vector<RegionId> regions{fn.body};
    while (!regions.empty()) {
      const RegionId region = regions.back();
      regions.pop_back();
      for (OpId id : fn.region(region).ops) {
        const Operation& op = fn.op(id);
        if (op.info().effects != OpEffects::kControl) continue;
        regions.insert(regions.end(), op.regions.begin(), op.regions.end());
        if (op.opcode != Op::kCall) continue;
        const FunctionId callee(static_cast<uint32_t>(op.int_attr(CallOp::At::callee)));
        callees[caller].push_back(callee);
        if (pending.try_emplace(callee, 0).second) reached.push_back(callee);
        ++pending[callee];
      }
    }
  }
  std::vector<FunctionId> order;
  if (pending[entry_] == 0) order.push_back(entry_);
  for (size_t i = 0; i < order.size(); ++i) {
    for (FunctionId callee : callees[order[i]]) {
      if (--pending[callee] == 0) order.push_back(callee);
    }
  }
  if (order.size() != reached.size()) {
    return absl::InvalidArgumentError(absl::StrCat("@", module_.function(entry_).name, ": calls recurse"));
  }
  return order;
}

void KernelDecoder::LinkCalls() {
  absl::flat_hash_map<FunctionId, const FunctionCode*> code;
  for (const FunctionCode& function : kernel_->functions) code[function.id] = &function;
  for (PendingCall& pending : calls_) {
    const FunctionCode& callee = *code.at(pending.callee);
    for (size_t i = 0; i < pending.arguments.size(); ++i) pending.arguments[i].to = callee.param_slots[i];
    for (size_t i = 0; i < pending.results.size(); ++i) pending.results[i].from = callee.result_slots[i];
    pending.call->callee = &callee;
    pending.call->arguments = Sequence(std::move(pending.arguments));
    pending.end->moves = Sequence(std::move(pending.results));
    PatchLater(&pending.call->arguments);
  }
}

// Puts the constants behind the frames.
void KernelDecoder::PlaceConstants() {
  const uint64_t base = (kernel_->frame_bytes + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
  kernel_->arena_bytes = base + constant_bytes_;
  const auto place = [&](uint32_t& slot) {
    if (slot >= kConstantTag && slot < kScratchSlot) slot = (slot & ~kConstantTag) + static_cast<uint32_t>(base);
  };
  for (std::vector<uint32_t>& slots : kernel_->slots) std::for_each(slots.begin(), slots.end(), place);
  for (std::vector<Move>* moves : moves_) {
    for (Move& move : *moves) place(move.from);
  }
  for (FunctionCode& function : kernel_->functions) {
    std::for_each(function.value_slots.begin(), function.value_slots.end(), place);
  }
  for (ArenaConstant& constant : kernel_->constants) place(constant.slot);
}

absl::StatusOr<std::unique_ptr<const DecodedKernel>> KernelDecoder::Run() {
  kernel_->module = &module_;
  provenance_ = FindProvenance(module_, entry_);
  TRIVET_ASSIGN_OR_RETURN(const std::vector<FunctionId> order, CallersFirst());
  absl::flat_hash_map<FunctionId, uint64_t> begins;
  for (FunctionId id : order) {
    FunctionCode& code = kernel_->functions.emplace_back();
    code.id = id;
    code.entry_pc = static_cast<uint32_t>(kernel_->code.size());
    UnitDecoder::Request request;
    request.function = id;
    request.root = module_.function(id).body;
    request.begin = begins[id];
    UnitDecoder unit(*this, request, &kernel_->code);
    TRIVET_RETURN_IF_ERROR(unit.LayOut());
    const size_t first_call = calls_.size();
    TRIVET_RETURN_IF_ERROR(unit.EmitBody());
    code.link_slot = unit.link_slot();
    code.param_slots = unit.param_slots();
    code.result_slots = unit.result_slots();
    if (keep_values_) code.value_slots = unit.ValueSlots();
    kernel_->frame_bytes = std::max(kernel_->frame_bytes, unit.end());
    if (kernel_->frame_bytes > kMaxFrameBytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("@", module_.function(entry_).name, ": frames need more than ", kMaxFrameBytes, " bytes"));
    }
    for (size_t i = first_call; i < calls_.size(); ++i) {
      uint64_t& begin = begins[calls_[i].callee];
      begin = std::max(begin, unit.end());
    }
  }
  LinkCalls();
  PlaceConstants();
  return std::unique_ptr<const DecodedKernel>(std::move(kernel_));
}

}  // namespace

absl::StatusOr<std::unique_ptr<const DecodedKernel>> DecodeKernel(const Module& module, FunctionId entry,
                                                                  bool keep_values) {
  return KernelDecoder(module, entry, keep_values).Run();
}

absl::StatusOr<PreparedOp> PrepareOp(PrepareContext& cx) {
  // One case an op, from the table; control flow has none.
#define TRIVET_CASE_Pure(Name) \
  case Op::k##Name:            \
    return Prepare##Name(cx);
#define TRIVET_CASE_Reads(Name) TRIVET_CASE_Pure(Name)
#define TRIVET_CASE_Writes(Name) TRIVET_CASE_Pure(Name)
#define TRIVET_CASE_ReadsWrites(Name) TRIVET_CASE_Pure(Name)
#define TRIVET_CASE_Output(Name) TRIVET_CASE_Pure(Name)
#define TRIVET_CASE_Control(Name) \
  case Op::k##Name:               \
    break;
#define TRIVET_OP(code, Name, text, since, Level, ins, outs, attrs, regions, Rule, Effects, doc) \
  TRIVET_CASE_##Effects(Name)
  switch (cx.op().opcode) {
#include "vm/bytecode/ops.def"
  }
  TRIVET_CHECK(false, "control flow is decoded, not prepared");
  __builtin_unreachable();
}

}  // namespace trivet::vm
