// load and store through pointers.
#include <algorithm>

#include "jit/lowering/nvptx/global_access.h"

namespace trivet::jit {
namespace {

using llvm::Value;
using vm::Operation;

// Registers of an optional operand; empty if it is absent.
Registers GetOptional(LoweringContext& cx, const Operation& op, int operand) {
  const ValueId v = op.operand(operand);
  return v.is_none() ? Registers() : cx.Get(v);
}

// Restricts the mask to threads that own their elements: copies must not be written twice.
Registers OwnersOnly(LoweringContext& cx, Registers masks, Value* is_owner, size_t count) {
  if (is_owner == nullptr) return masks;
  if (masks.empty()) return Registers(count, is_owner);
  for (Value*& mask : masks) mask = cx.ir().CreateAnd(mask, is_owner);
  return masks;
}

}  // namespace

absl::Status LowerLoad(LoweringContext& cx, const Operation& op) {
  using In = vm::LoadOp::In;
  const ValueId pointer = op.operand(In::ptr);
  const vm::Type& type = cx.type(op.result());
  const CacheHints hints{op.enum_attr<vm::CacheModifier>(vm::LoadOp::At::cache),
                         op.enum_attr<vm::EvictionPolicy>(vm::LoadOp::At::eviction),
                         op.bool_attr(vm::LoadOp::At::is_volatile)};
  const Registers masks = GetOptional(cx, op, In::mask);
  const Registers other = GetOptional(cx, op, In::other);
  if (!type.is_tile()) {
    // One address for all threads. What another program may change meanwhile must be read once, or threads would go
    // different ways: a volatile load, or one in a loop that waits.
    Value* value = LoadGlobal(cx, type, cx.Get(pointer), masks, other, 1, hints)[0];
    const auto& loops = cx.frame().loops;
    const bool may_change =
        hints.is_volatile || std::any_of(loops.begin(), loops.end(), [](const auto& loop) { return loop.is_while; });
    cx.Set(op.result(), {may_change ? cx.BroadcastFromThreadZero(value) : value});
    return absl::OkStatus();
  }
  const AxisInfo* mask_info = op.operand(In::mask).is_none() ? nullptr : &cx.axis_info(op.operand(In::mask));
  const int vector = AccessElements(cx.layout(op.result()), cx.axis_info(pointer), mask_info, type.element_bytes());
  cx.Set(op.result(), LoadGlobal(cx, type, cx.Get(pointer), masks, other, vector, hints));
  return absl::OkStatus();
}

absl::Status LowerStore(LoweringContext& cx, const Operation& op) {
  using In = vm::StoreOp::In;
  const ValueId pointer = op.operand(In::ptr);
  const vm::Type& type = cx.type(op.operand(In::value));
  const CacheHints hints{op.enum_attr<vm::CacheModifier>(vm::StoreOp::At::cache),
                         op.enum_attr<vm::EvictionPolicy>(vm::StoreOp::At::eviction), false};
  Registers masks = GetOptional(cx, op, In::mask);
  if (!type.is_tile()) {
    StoreGlobal(cx, type, cx.Get(pointer), cx.Get(op.operand(In::value)),
                OwnersOnly(cx, std::move(masks), cx.IsThreadZero(), 1), 1, hints);
    return absl::OkStatus();
  }
  const TileLayout& layout = cx.layout(op.operand(In::value));
  const AxisInfo* mask_info = op.operand(In::mask).is_none() ? nullptr : &cx.axis_info(op.operand(In::mask));
  const int vector = AccessElements(layout, cx.axis_info(pointer), mask_info, type.element_bytes());
  masks = OwnersOnly(cx, std::move(masks), cx.IsOwner(layout), cx.Get(pointer).size());
  StoreGlobal(cx, type, cx.Get(pointer), cx.Get(op.operand(In::value)), masks, vector, hints);
  return absl::OkStatus();
}

}  // namespace trivet::jit
