// Decoding, seen from one op: Prepare<Op> looks at types and attributes once and chooses the handler.
//
// Every op that isn't control flow has a PrepareX, declared here from the op table: a forgotten one does not link.
// Control flow (for, while, if, call, terminators) belongs to decode.cc.
//
// Regions of reduce, scan and map_elementwise hold scalar ops. They are decoded like other code, but for `lanes`
// elements at a time: each scalar of the region is then a vector of that many elements, contiguous, and the same
// elementwise handlers run it. So a Prepare function must take its element counts from PrepareContext, not from types.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "vm/bytecode/module.h"
#include "vm/interpreter/exec_context.h"

namespace trivet::vm {

// The decoded region of a reduce, scan or map_elementwise.
struct RegionCode {
  std::vector<Instr> code;
  std::vector<uint32_t> param_slots;  // frame offsets of the region's parameters; the caller fills them
  std::vector<uint32_t> yield_slots;  // frame offsets of what it yields
  int64_t lanes = 1;
  bool has_control = false;  // some op sets cx.pc, an index into `code`
};

// Runs a region over the lanes it was decoded for. A trap inside is raised on `cx`.
void RunRegion(ExecContext& cx, const RegionCode& region);

class PrepareContext {
 public:
  virtual ~PrepareContext() = default;

  virtual const Module& module() const = 0;
  virtual const Function& function() const = 0;
  virtual const Operation& op() const = 0;

  bool has_operand(int i) const { return static_cast<size_t>(i) < op().operands.size() && !op().operand(i).is_none(); }
  const Type& operand_type(int i) const { return function().type(op().operand(i)); }
  const Type& result_type(int i = 0) const { return function().type(op().result(i)); }
  // Elements at a time: 1, but for code inside a vectorised region.
  virtual int64_t lanes() const = 0;
  // Elements of operand or result i, lanes included.
  int64_t operand_count(int i) const { return operand_type(i).num_elements() * lanes(); }
  int64_t result_count(int i = 0) const { return result_type(i).num_elements() * lanes(); }

  // The worker's scratch memory will have at least this many bytes.
  virtual void RequireScratch(size_t size_bytes) = 0;

  // True if the region has no control flow but calls to straight-line helpers (which are inlined): then it can be
  // decoded for any number of lanes. Otherwise for one lane only.
  virtual bool IsStraightLine(RegionId region) const = 0;
  // Decodes a region for `lanes` elements at a time. Each call makes code with slots of its own in this frame.
  virtual absl::StatusOr<RegionCode> PrepareRegion(RegionId region, int64_t lanes) = 0;

  // Where a pointer operand points by its derivation: the kernel parameter it was computed from, or -1 when unknown.
  virtual int SourceParameter(ValueId pointer) const = 0;
  // True if the pointer may come from memory or from an integer rather than from a parameter.
  virtual bool IsForeign(ValueId pointer) const = 0;
};

// What Prepare gives. `data` lives as long as the decoded function.
struct PreparedOp {
  Handler handler = nullptr;
  std::shared_ptr<const void> data;
};

// Results never share memory with operands, with two exceptions, where a result may be an operand that dies:
// elementwise ops, for operands of the result's element size (so iteration i may touch element i only), and the acc of
// dot and dot_scaled. They are then the same memory exactly, never a part of it.
//
// Declares PrepareLoad, PrepareAddF, ... for all ops but control flow.
#define TRIVET_PREPARE_Pure(Name) absl::StatusOr<PreparedOp> Prepare##Name(PrepareContext& cx);
#define TRIVET_PREPARE_Reads(Name) TRIVET_PREPARE_Pure(Name)
#define TRIVET_PREPARE_Writes(Name) TRIVET_PREPARE_Pure(Name)
#define TRIVET_PREPARE_ReadsWrites(Name) TRIVET_PREPARE_Pure(Name)
#define TRIVET_PREPARE_Output(Name) TRIVET_PREPARE_Pure(Name)
#define TRIVET_PREPARE_Control(Name)
#define TRIVET_OP(code, Name, text, since, Level, ins, outs, attrs, regions, Rule, Effects, doc) \
  TRIVET_PREPARE_##Effects(Name)
#include "vm/bytecode/ops.def"

// The PrepareX of an op; must not be control flow.
absl::StatusOr<PreparedOp> PrepareOp(PrepareContext& cx);

}  // namespace trivet::vm
