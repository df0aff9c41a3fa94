// Decoding a kernel: which functions need code, in what order, and what is known of it once all of them have theirs.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "vm/interpreter/decode.h"
#include "vm/interpreter/decode_constants.h"
#include "vm/interpreter/decode_provenance.h"
#include "vm/interpreter/exec_control.h"

namespace trivet::vm {

// What all units of one kernel share.
class KernelDecoder {
 public:
  KernelDecoder(const Module& module, FunctionId entry, bool keep_values)
      : module_(module), entry_(entry), keep_values_(keep_values), constants_(module) {}

  absl::StatusOr<std::unique_ptr<const DecodedKernel>> Run();

  const Module& module() const { return module_; }
  bool keep_values() const { return keep_values_; }
  DecodedKernel& kernel() { return *kernel_; }
  const Provenance& ProvenanceOf(FunctionId function, ValueId value) { return provenance_[function][value.index()]; }

  ConstantPool& constants() { return constants_; }
  // True if `region` of function `id`, or its body, has no control flow but calls to functions of which that is true,
  // and computes nothing but scalars, from its parameters and from constants.
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
  // Errors: ResourceExhausted, when the kernel gets too long.
  absl::Status CountInstruction();
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
  std::unique_ptr<DecodedKernel> kernel_ = std::make_unique<DecodedKernel>();
  ProvenanceMap provenance_;
  ConstantPool constants_;
  absl::flat_hash_map<FunctionId, bool> straight_line_;
  std::vector<std::vector<Move>*> moves_;
  std::vector<PendingCall> calls_;
  size_t num_instructions_ = 0;
};

}  // namespace trivet::vm
