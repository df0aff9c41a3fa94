// Lowering functions that treat each register by itself.
#pragma once

#include "jit/lowering/lowering_context.h"

namespace trivet::jit {

// Sets each register of the op's one result to fn(registers of the operands that are there, at the same place). A tile
// and a scalar may be mixed (select by a scalar): the scalar serves every register. All tiles have one layout.
template <typename Fn>
absl::Status LowerElementwise(LoweringContext& cx, const vm::Operation& op, const Fn& fn) {
  const size_t count = cx.NumRegisters(op.result());
  Registers out(count);
  Registers in;
  for (size_t r = 0; r < count; ++r) {
    in.clear();
    for (ValueId v : op.operands) {
      if (v.is_none()) continue;
      const Registers& registers = cx.Get(v);
      in.push_back(registers[registers.size() == 1 ? 0 : r]);
    }
    out[r] = fn(in);
  }
  cx.Set(op.result(), std::move(out));
  return absl::OkStatus();
}

}  // namespace trivet::jit
