#include "vm/interpreter/decode_unit.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "vm/base/check.h"
#include "vm/base/status.h"

namespace trivet::vm {
namespace {

// Calls within calls inside the region of a reduce, scan or map_elementwise, where they are inlined.
constexpr int kMaxInlineDepth = 64;

}  // namespace

// An op as its Prepare function sees it.
class UnitDecoder::OpContext final : public PrepareContext {
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

// --- The frame ------------------------------------------------------------------------------------------------------

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
  const std::vector<OpId>& constants = kernel_.constants().In(request_.function);
  for (uint32_t i = 0; i < slots.size(); ++i) {
    const ValueId same = layout_.SameAs(ValueId(i));
    slots[i] = layout_.SlotOf(same);
    if (constants[same.index()].is_none()) continue;
    absl::StatusOr<uint32_t> slot = kernel_.constants().SlotOf(fn_, constants[same.index()], 1);
    if (slot.ok()) slots[i] = *slot;
  }
  return slots;
}

absl::StatusOr<uint32_t> UnitDecoder::SlotOf(ValueId value) const {
  const ValueId same = layout_.SameAs(value);
  const OpId constant = kernel_.constants().In(request_.function)[same.index()];
  if (constant) return kernel_.constants().SlotOf(fn_, constant, request_.lanes);
  const uint32_t slot = layout_.SlotOf(same);
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

// --- Ops that compute -----------------------------------------------------------------------------------------------

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
    // No instruction, but work for the decoder: calls that are inlined must not make too much of it.
    if (!kernel_.keep_values() || !is_function()) return kernel_.CountInstruction();
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

// --- Code inside an op ----------------------------------------------------------------------------------------------

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

}  // namespace trivet::vm
