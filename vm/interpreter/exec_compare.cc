// Comparison and selection: cmpi, cmpf, select.
#include <cstring>

#include "vm/interpreter/elementwise.h"

namespace trivet::vm {
namespace {

#define TRIVET_COMPARISON(Name, op)        \
  struct Name {                            \
    template <typename T>                  \
    static uint8_t Apply(T a, T b) {       \
      return static_cast<uint8_t>(a op b); \
    }                                      \
  };
TRIVET_COMPARISON(Equal, ==)
TRIVET_COMPARISON(NotEqual, !=)
TRIVET_COMPARISON(Less, <)
TRIVET_COMPARISON(LessEqual, <=)
TRIVET_COMPARISON(Greater, >)
TRIVET_COMPARISON(GreaterEqual, >=)
#undef TRIVET_COMPARISON

// Calls visit(TypeTag<Fn>) with the function of a predicate.
template <typename Visit>
PreparedOp VisitPredicate(CmpPredicate predicate, Visit&& visit) {
  switch (predicate) {
    case CmpPredicate::kEq:
      return visit(TypeTag<Equal>{});
    case CmpPredicate::kNe:
      return visit(TypeTag<NotEqual>{});
    case CmpPredicate::kLt:
      return visit(TypeTag<Less>{});
    case CmpPredicate::kLe:
      return visit(TypeTag<LessEqual>{});
    case CmpPredicate::kGt:
      return visit(TypeTag<Greater>{});
    case CmpPredicate::kGe:
      return visit(TypeTag<GreaterEqual>{});
  }
  return {};
}

struct Choose {
  template <typename T>
  static T Apply(uint8_t condition, T if_true, T if_false) {
    return condition != 0 ? if_true : if_false;
  }
};

struct WholePayload {
  size_t size_bytes;
};

void SelectWhole(ExecContext& cx, const Instr& at) {
  const bool condition = *cx.Operand<uint8_t>(at, SelectOp::In::condition) != 0;
  const std::byte* in = cx.Operand<std::byte>(at, condition ? SelectOp::In::if_true : SelectOp::In::if_false);
  std::byte* out = cx.Result<std::byte>(at);
  if (out != in) std::memcpy(out, in, at.payload<WholePayload>().size_bytes);
}

}  // namespace

absl::StatusOr<PreparedOp> PrepareCmpI(PrepareContext& cx) {
  const Type& type = cx.operand_type(CmpIOp::In::lhs);
  const auto predicate = cx.op().enum_attr<CmpPredicate>(CmpIOp::At::predicate);
  const int64_t count = cx.result_count();
  return VisitPredicate(predicate, [&]<typename Fn>(TypeTag<Fn>) {
    const auto prepare = [count]<typename T>(TypeTag<T>) { return Elementwise<Fn, uint8_t, T, T>::Prepare(count); };
    if constexpr (std::is_same_v<Fn, Equal> || std::is_same_v<Fn, NotEqual>) {
      return VisitWidth(type.element_bytes(), prepare);
    } else {
      return VisitInteger(type.is_pointer() ? DType::kU64 : type.dtype(), prepare);
    }
  });
}

absl::StatusOr<PreparedOp> PrepareCmpF(PrepareContext& cx) {
  const DType format = cx.operand_type(CmpFOp::In::lhs).dtype();
  const auto predicate = cx.op().enum_attr<CmpPredicate>(CmpFOp::At::predicate);
  const int64_t count = cx.result_count();
  return VisitPredicate(predicate, [&]<typename Fn>(TypeTag<Fn>) {
    using InF32 = Elementwise<Fn, uint8_t, float, float>;
    using InF64 = Elementwise<Fn, uint8_t, double, double>;
    if (format == DType::kF32) return InF32::Prepare(count);
    if (format == DType::kF64) return InF64::Prepare(count);
    return PrepareNarrow(cx, &InF32::Kernel, {.is_exact = true});
  });
}

absl::StatusOr<PreparedOp> PrepareSelect(PrepareContext& cx) {
  const Type& type = cx.result_type();
  const bool is_elementwise = type.is_value() && cx.operand_count(SelectOp::In::condition) == cx.result_count();
  if (!is_elementwise) return MakePrepared(&SelectWhole, WholePayload{static_cast<size_t>(type.value_bytes())});
  return VisitWidth(type.element_bytes(), [&]<typename U>(TypeTag<U>) {
    return Elementwise<Choose, U, uint8_t, U, U>::Prepare(cx.result_count());
  });
}

}  // namespace trivet::vm
