#include "vm/interpreter/decode.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "vm/base/status.h"
#include "vm/interpreter/decode_kernel.h"
#include "vm/interpreter/decode_unit.h"

namespace trivet::vm {
namespace {

// Instructions of one kernel, inlined calls in regions included.
constexpr size_t kMaxInstructions = size_t{1} << 22;

}  // namespace

absl::Status KernelDecoder::CountInstruction() {
  if (++num_instructions_ <= kMaxInstructions) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("@", module_.function(entry_).name, ": more than ", kMaxInstructions,
                                                   " instructions when calls in regions are inlined"));
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
  const std::vector<OpId>& constants = constants_.In(id);
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
  kernel_->arena_bytes = base + constants_.size_bytes();
  kernel_->constants = std::move(constants_.constants());
  const auto place = [&](uint32_t& slot) { slot = ConstantPool::Untag(slot, base); };
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

absl::StatusOr<std::unique_ptr<const DecodedKernel>> DecodeKernel(const Module& module, FunctionId entry,
                                                                  bool keep_values) {
  return KernelDecoder(module, entry, keep_values).Run();
}

}  // namespace trivet::vm
