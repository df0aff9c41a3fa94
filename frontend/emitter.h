// Emitter: makes ops from values by the language's rules of conversion, promotion and broadcasting.
//
// The rules are those of Triton's documentation ("Triton Semantics"); docs/semantics.md#promotion writes them down.
// Everything here takes and gives Values. A mistake is reported once, at the current source span, and gives an error
// value; operations on error values give error values silently.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "frontend/ast.h"
#include "frontend/value.h"
#include "vm/bytecode/builder.h"

namespace trivet::frontend {

// What arithmetic promotion gives for two operand types; `error` is set instead if they don't go together.
struct Promotion {
  vm::DType dtype = vm::DType::kNone;
  std::string error;
};
// a, b: element types. a_is_number: the operand is a compile-time number, which adapts to the other if of the same or a
// lower kind (bool < int < float). for_division: / and % compute half precision in f32 and refuse mixed signedness.
Promotion Promote(vm::DType a, bool a_is_number, vm::DType b, bool b_is_number, bool for_division);
// The type of a compile-time number on its own: i32, u32, i64, u64 (the first that holds it), i1, f32 or f64.
vm::DType DTypeOfNumber(const Constant& number);

class Emitter {
 public:
  // Where mistakes go: to the current span.
  class Reporter {
   public:
    virtual ~Reporter() = default;
    virtual void ReportError(std::string message, std::string hint) = 0;
    virtual void ReportErrorAt(const SourceSpan& span, std::string message, std::string hint) = 0;
    // `what` is an extension of the language. False if it was reported as an error.
    virtual bool AllowExtension(absl::string_view what, absl::string_view portable_way) = 0;
  };

  Emitter(vm::Builder builder, Reporter* reporter) : builder_(builder), reporter_(reporter) {}

  vm::Builder& builder() { return builder_; }
  Value Error(std::string message, std::string hint = "") {
    reporter_->ReportError(std::move(message), std::move(hint));
    return Value();
  }
  // At the argument that `culprit` is, if it is one.
  Value ErrorAbout(const Value& culprit, std::string message, std::string hint = "") {
    if (culprit.span().line == 0) return Error(std::move(message), std::move(hint));
    reporter_->ReportErrorAt(culprit.span(), std::move(message), std::move(hint));
    return Value();
  }

  // The operation whose arguments are being looked at, for messages: "tl.where"; gives the one before.
  std::string ExchangeContext(std::string operation) { return std::exchange(context_, std::move(operation)); }

  // --- making values
  Value Wrap(ValueId id) { return Value::Ssa(id, builder_.type(id)); }
  // An op with one result; an error if no tile may have the result's shape.
  Value Create1(vm::Op op, absl::Span<const ValueId> operands, vm::Type type,
                absl::InlinedVector<vm::Attribute, 1> attrs = {}) {
    if (!CheckShape(type.shape(), context_)) return Value();
    return Wrap(builder_.Create1(op, operands, std::move(type), std::move(attrs)));
  }
  // An elementwise op with the type of its first operand.
  Value Elementwise(vm::Op op, absl::Span<const Value> operands, absl::InlinedVector<vm::Attribute, 1> attrs = {});
  // A scalar or tile with `number` in every element, converted to the type.
  Value MakeConstant(const vm::Type& type, const Constant& number);
  // The value as a run-time value: numbers become scalars of their own type (DTypeOfNumber).
  Value ToSsa(const Value& value);
  // A number as ToSsa, everything else as it is: for operands that do not adapt to each other (comparisons, maximum,
  // ...).
  Value WithOwnType(const Value& value) {
    return value.is_constant() && IsNumber(value.constant()) ? ToSsa(value) : value;
  }
  // As ToSsa for a number that has to become `dtype`.
  Value ToSsa(const Value& value, vm::DType dtype);

  // --- conversion
  // To another element type (numbers) or pointer type. Shape stays.
  Value Cast(const Value& value, const vm::Type& element, vm::Rounding rounding = vm::Rounding::kNearestEven);
  Value Cast(const Value& value, vm::DType dtype) { return Cast(value, vm::Type::Scalar(dtype)); }
  Value Bitcast(const Value& value, const vm::Type& element);
  // i1 of the value's shape: is not zero.
  Value ToBool(const Value& value);

  // --- shapes
  // Makes the shapes of all values equal: missing axes are added on the left, extents of 1 are repeated.
  bool BroadcastTogether(absl::Span<Value* const> values, absl::string_view what);
  // To `shape`, by splat or by adding and repeating axes.
  Value BroadcastTo(const Value& value, const vm::Type::Shape& shape, absl::string_view what);
  Value ExpandDims(const Value& value, int axis);
  // False, and an error, if the shape has more elements or axes than a tile may have. Every value that is made passes
  // through here, so that no combination of legal operands gives bytecode that the verifier refuses.
  bool CheckShape(const vm::Type::Shape& shape, absl::string_view what);

  // --- operators of the language; op as in ast.h
  Value Binary(absl::string_view op, const Value& a, const Value& b);
  Value Compare(absl::string_view op, const Value& a, const Value& b);
  Value Unary(absl::string_view op, const Value& a);
  // `and` and `or` of run-time values, element by element.
  Value Logical(absl::string_view op, const Value& a, const Value& b);

  // Promotes two operands to a common element type and shape. Pointers only if allowed. False after an error.
  struct PairOptions {
    bool allow_pointers = false;
    bool promote = true;
    bool for_division = false;
    bool broadcast = true;
  };
  bool MatchPair(Value* a, Value* b, absl::string_view what, PairOptions options);

  // The integer shape, axis, ... that a constant holds; nothing after an error. `what` names it in the message.
  std::optional<int64_t> RequireInt(const Value& value, absl::string_view what);
  std::optional<bool> RequireBool(const Value& value, absl::string_view what);
  std::optional<std::string> RequireString(const Value& value, absl::string_view what);
  std::optional<vm::Type> RequireType(const Value& value, absl::string_view what);
  // A tuple of constants, or one constant.
  std::optional<std::vector<int64_t>> RequireInts(const Value& value, absl::string_view what);
  // A legal tile shape.
  std::optional<vm::Type::Shape> RequireShape(const Value& value, absl::string_view what);
  // An axis of a tile of this rank, negative ones counted from the back.
  std::optional<int> RequireAxis(const Value& value, int rank, absl::string_view what);
  // A run-time tile or scalar (numbers are converted); false after an error.
  bool RequireNumber(Value* value, absl::string_view what);

 private:
  Value AddPointer(const Value& pointer, const Value& offset, bool negate);
  Value Arithmetic(absl::string_view op, Value a, Value b);
  Value Bitwise(absl::string_view op, Value a, Value b);
  // Folds a scalar op over known operands; the op is replaced by a constant.
  std::optional<Value> Fold(absl::string_view op, const Value& a, const Value& b, vm::DType result);

  vm::Builder builder_;
  std::string context_;
  Reporter* reporter_;
};

// True if `n` is a power of two.
inline bool IsPowerOfTwo(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

}  // namespace trivet::frontend
