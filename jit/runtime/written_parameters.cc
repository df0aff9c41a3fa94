#include "jit/runtime/written_parameters.h"

#include "vm/interpreter/decode_provenance.h"

namespace trivet::jit {
namespace {

bool IsAddress(const vm::Type& type) { return type.is_pointer() || type.is_block_ptr() || type.is_desc(); }

bool Reads(const vm::Operation& op) {
  const vm::OpEffects effects = op.info().effects;
  return effects == vm::OpEffects::kReads || effects == vm::OpEffects::kReadsWrites;
}

bool Writes(const vm::Operation& op) {
  const vm::OpEffects effects = op.info().effects;
  return effects == vm::OpEffects::kWrites || effects == vm::OpEffects::kReadsWrites;
}

}  // namespace

WrittenParameters FindWrittenParameters(const vm::Module& module, FunctionId kernel) {
  const vm::Function& fn = module.function(kernel);
  WrittenParameters result;
  result.may_write.resize(fn.params().size(), false);
  for (const auto& [id, facts] : vm::FindProvenance(module, kernel)) {
    const vm::Function& function = module.function(id);
    function.ForEachOp([&](OpId op_id) {
      const vm::Operation& op = function.op(op_id);
      // What is read or written is operand 0 of every such op; a barrier has none.
      if (!Reads(op) && !Writes(op)) return;
      if (op.operands.empty() || !IsAddress(function.type(op.operand(0)))) return;
      const vm::Provenance& from = facts[op.operand(0).index()];
      if (from.is_foreign) result.follows_stored_pointers = true;
      if (!Writes(op)) return;
      if (from.source >= 0) result.may_write[static_cast<size_t>(from.source)] = true;
      if (from.source == vm::Provenance::kUnknown || from.is_foreign) result.writes_anywhere = true;
    });
  }
  if (result.writes_anywhere) {
    for (size_t i = 0; i < result.may_write.size(); ++i) result.may_write[i] = IsAddress(fn.type(fn.params()[i]));
  }
  return result;
}

}  // namespace trivet::jit
