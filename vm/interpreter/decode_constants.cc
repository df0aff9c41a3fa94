#include "vm/interpreter/decode_constants.h"

#include "absl/strings/str_cat.h"

namespace trivet::vm {

const std::vector<OpId>& ConstantPool::In(FunctionId id) {
  auto [found, is_new] = ops_.try_emplace(id);
  if (is_new) {
    const Function& fn = module_.function(id);
    found->second.resize(fn.num_values());
    fn.ForEachOp([&](OpId op) {
      if (IsArenaConstant(fn.op(op).opcode)) found->second[fn.op(op).result().index()] = op;
    });
  }
  return found->second;
}

absl::StatusOr<uint32_t> ConstantPool::SlotOf(const Function& fn, OpId id, int64_t lanes) {
  const Operation& op = fn.op(id);
  const Type& type = fn.type(op.result());
  ArenaConstant constant;
  constant.count = type.num_elements() * lanes;
  constant.element_bytes = type.element_bytes();
  constant.is_arange = op.opcode == Op::kArange;
  constant.bits =
      static_cast<uint64_t>(op.int_attr(constant.is_arange ? int{ArangeOp::At::start} : int{ConstantOp::At::value}));
  const auto key = std::make_tuple(constant.bits, constant.count, constant.element_bytes, constant.is_arange);
  auto [found, is_new] = slots_.try_emplace(key, 0);
  if (is_new) {
    const uint64_t alignment = constant.count == 1 ? 8 : kSlotAlignment;
    size_bytes_ = (size_bytes_ + alignment - 1) / alignment * alignment;
    constant.slot = found->second = kTag | static_cast<uint32_t>(size_bytes_);
    size_bytes_ += static_cast<uint64_t>(constant.count) * static_cast<uint64_t>(constant.element_bytes);
    if (size_bytes_ > kMaxFrameBytes) {
      slots_.erase(found);
      return absl::ResourceExhaustedError(
          absl::StrCat("@", fn.name, ": its constants need more than ", kMaxFrameBytes, " bytes"));
    }
    constants_.push_back(constant);
    return constant.slot;
  }
  return found->second;
}

}  // namespace trivet::vm
