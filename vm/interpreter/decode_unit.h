// Decoding one piece of a kernel: a function, or the region of a reduce, scan or map_elementwise, or a call inlined
// there.
//
//   decode_unit.cc           its frame, and ops that compute
//   decode_unit_control.cc   control flow: jumps, and the copies of values on the way
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "vm/interpreter/decode_kernel.h"
#include "vm/interpreter/frame.h"
#include "vm/interpreter/prepare.h"

namespace trivet::vm {

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
  class OpContext;

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

}  // namespace trivet::vm
