#include "frontend/read_only.h"

#include <algorithm>

namespace trivet::frontend {

namespace {

bool IsPointerLike(const vm::Type& type) { return type.is_pointer() || type.is_block_ptr() || type.is_desc(); }

}  // namespace

const std::string* ReadOnlyPointers::Find(const vm::Function& function, ValueId id) {
  for (; seen_ops_ < function.num_ops() && !parameter_of_.empty(); ++seen_ops_) {
    const vm::Operation& op = function.op(OpId(static_cast<uint32_t>(seen_ops_)));
    // A load through a pointer to pointers gives others; results of calls, ifs and loops are told by Follow.
    if (op.opcode == vm::Op::kLoad || op.opcode == vm::Op::kCall || !op.regions.empty()) continue;
    for (ValueId result : op.results) {
      if (!IsPointerLike(function.type(result))) continue;
      for (ValueId operand : op.operands) {
        auto found = operand ? parameter_of_.find(operand) : parameter_of_.end();
        if (found == parameter_of_.end()) continue;
        const std::string parameter = found->second;
        parameter_of_.emplace(result, parameter);
        break;
      }
    }
  }
  auto found = parameter_of_.find(id);
  return found == parameter_of_.end() ? nullptr : &found->second;
}

void ReadOnlyPointers::Follow(const vm::Function& function, absl::Span<const ValueId> from,
                              absl::Span<const ValueId> to) {
  if (parameter_of_.empty()) return;
  for (size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
    const std::string* const parameter = Find(function, from[i]);
    if (parameter != nullptr) Mark(to[i], std::string(*parameter));
  }
}

}  // namespace trivet::frontend
