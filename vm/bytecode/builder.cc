#include "vm/bytecode/builder.h"

#include "vm/base/check.h"

namespace trivet::vm {

OpId Builder::Create(Op opcode, absl::Span<const ValueId> operands, absl::Span<const Type> result_types,
                     absl::InlinedVector<Attribute, 1> attrs, absl::Span<const RegionId> regions) {
  const OpInfo& info = InfoOf(opcode);
  Operation op;
  op.opcode = opcode;
  op.location = location_;
  op.operands.assign(operands.begin(), operands.end());
  while (op.operands.size() < static_cast<size_t>(info.num_fixed_operands())) {
    TRIVET_CHECK(info.operands[op.operands.size()].kind == OperandKind::kOptional, info.text);
    op.operands.push_back(ValueId::None());
  }
  op.attrs = std::move(attrs);
  TRIVET_CHECK(op.attrs.size() <= info.attrs.size(), info.text);
  for (size_t i = op.attrs.size(); i < info.attrs.size(); ++i) {
    switch (info.attrs[i].kind) {
      case AttrKind::kString:
        op.attrs.emplace_back(std::string());
        break;
      case AttrKind::kInts:
        op.attrs.emplace_back(std::vector<int64_t>());
        break;
      case AttrKind::kI64:
      case AttrKind::kBool:
      case AttrKind::kFunction:
      case AttrKind::kEnum:
      case AttrKind::kBits:
        op.attrs.emplace_back(int64_t{0});
        break;
    }
  }
  op.regions.assign(regions.begin(), regions.end());
  for (const Type& type : result_types) op.results.push_back(function_->AddValue(type));
  return function_->AppendOp(region_, std::move(op));
}

ValueId Builder::Create1(Op opcode, absl::Span<const ValueId> operands, Type result_type,
                         absl::InlinedVector<Attribute, 1> attrs, absl::Span<const RegionId> regions) {
  OpId id = Create(opcode, operands, {std::move(result_type)}, std::move(attrs), regions);
  return function_->op(id).result();
}

}  // namespace trivet::vm
