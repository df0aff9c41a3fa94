#include "jit/passes/fold.h"

#include <algorithm>
#include <type_traits>

#include "vm/bytecode/builder.h"
#include "vm/numerics/int_ops.h"

namespace trivet::jit {

using vm::CmpPredicate;
using vm::DType;
using vm::Op;
using vm::Operation;
using vm::Type;

namespace {

// Calls visit(T{}) with the C++ integer of `dtype`; nothing for floats and i1.
template <typename Visitor>
std::optional<int64_t> VisitInteger(DType dtype, const Visitor& visit) {
  switch (dtype) {
    case DType::kI8:
      return visit(int8_t{});
    case DType::kI16:
      return visit(int16_t{});
    case DType::kI32:
      return visit(int32_t{});
    case DType::kI64:
      return visit(int64_t{});
    case DType::kU8:
      return visit(uint8_t{});
    case DType::kU16:
      return visit(uint16_t{});
    case DType::kU32:
      return visit(uint32_t{});
    case DType::kU64:
      return visit(uint64_t{});
    default:
      return std::nullopt;
  }
}

template <typename T>
std::optional<T> Binary(Op op, T a, T b) {
  switch (op) {
    case Op::kAddI:
      return vm::WrapAdd(a, b);
    case Op::kSubI:
      return vm::WrapSub(a, b);
    case Op::kMulI:
      return vm::WrapMul(a, b);
    case Op::kDivI:
      return vm::DivTrunc(a, b);
    case Op::kRemI:
      return vm::RemTrunc(a, b);
    case Op::kMulHi:
      return vm::MulHigh(a, b);
    case Op::kAndI:
      return static_cast<T>(a & b);
    case Op::kOrI:
      return static_cast<T>(a | b);
    case Op::kXorI:
      return static_cast<T>(a ^ b);
    case Op::kShl:
      return vm::ShiftLeft(a, b);
    case Op::kShr:
      return std::is_signed_v<T> ? vm::ShiftRightArithmetic(a, b) : vm::ShiftRightLogical(a, b);
    case Op::kMinI:
      return std::min(a, b);
    case Op::kMaxI:
      return std::max(a, b);
    default:
      return std::nullopt;
  }
}

template <typename T>
bool Compare(CmpPredicate predicate, T a, T b) {
  switch (predicate) {
    case CmpPredicate::kEq:
      return a == b;
    case CmpPredicate::kNe:
      return a != b;
    case CmpPredicate::kLt:
      return a < b;
    case CmpPredicate::kLe:
      return a <= b;
    case CmpPredicate::kGt:
      return a > b;
    case CmpPredicate::kGe:
      return a >= b;
  }
  return false;
}

int64_t Truncated(DType dtype, uint64_t bits) {
  const int width = vm::InfoOf(dtype).bits;
  return static_cast<int64_t>(width == 64 ? bits : bits & ((uint64_t{1} << width) - 1));
}

}  // namespace

std::optional<int64_t> FoldElement(const vm::Function& fn, const Operation& op, absl::Span<const int64_t> operands) {
  if (op.results.size() != 1 || operands.empty()) return std::nullopt;
  const Type& type = fn.type(op.result());
  const Type& from = fn.type(op.operand(0));
  if (!type.is_number() || !from.is_number()) return std::nullopt;
  const DType dtype = type.dtype();
  switch (op.opcode) {
    case Op::kSelect:
      return operands[0] != 0 ? operands[1] : operands[2];
    case Op::kNegF:
    case Op::kAbsF: {
      if (vm::InfoOf(dtype).bits == 8) return std::nullopt;  // some have no signed zero
      const int64_t sign = static_cast<int64_t>(uint64_t{1} << (vm::InfoOf(dtype).bits - 1));
      return op.opcode == Op::kNegF ? operands[0] ^ sign : operands[0] & ~sign;
    }
    case Op::kCast: {
      if (!from.is_integer() || !type.is_integer()) return std::nullopt;
      if (dtype == DType::kI1) return operands[0] != 0 ? 1 : 0;
      return Truncated(dtype, static_cast<uint64_t>(vm::IntValueOf(from.dtype(), operands[0])));
    }
    case Op::kCmpI: {
      const auto predicate = op.enum_attr<CmpPredicate>(vm::CmpIOp::At::predicate);
      if (from.is_bool()) return Compare(predicate, operands[0], operands[1]) ? 1 : 0;
      return VisitInteger(from.dtype(), [&]<typename T>(T) -> std::optional<int64_t> {
        return Compare(predicate, static_cast<T>(operands[0]), static_cast<T>(operands[1])) ? 1 : 0;
      });
    }
    default:
      break;
  }
  if (op.info().rule != vm::TypeRule::kSameInteger || operands.size() != 2) return std::nullopt;
  if (dtype == DType::kI1) {
    const std::optional<uint8_t> bit =
        op.opcode == Op::kAndI || op.opcode == Op::kOrI || op.opcode == Op::kXorI
            ? Binary(op.opcode, static_cast<uint8_t>(operands[0]), static_cast<uint8_t>(operands[1]))
            : std::nullopt;
    return bit ? std::optional<int64_t>(*bit) : std::nullopt;
  }
  return VisitInteger(dtype, [&]<typename T>(T) -> std::optional<int64_t> {
    const std::optional<T> result = Binary(op.opcode, static_cast<T>(operands[0]), static_cast<T>(operands[1]));
    return result ? std::optional<int64_t>(Truncated(dtype, static_cast<uint64_t>(*result))) : std::nullopt;
  });
}

}  // namespace trivet::jit
