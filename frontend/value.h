// What an expression means while a kernel is compiled.
//
//   kSsa       a run-time value: a tile, a scalar, a pointer, a block pointer, a descriptor
//   kConstant  a compile-time number, string, None or type (tl.constexpr)
//   kTuple     values side by side, perhaps with field names
//   kAggregate an instance of a class that @aggregate made: its fields by name
//   kHost      something only Python knows: a module, a function, a class, an operation of the language
//   kMethod    an operation bound to a value: x.to, x.sum
//   kLambda    a lambda of the function that is being compiled
//   kRange     range(...), tl.range(...), tl.static_range(...)
//   kSlice     a:b:c inside an index
//   kError     an error was reported; whatever uses this stays silent
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontend/ast.h"
#include "frontend/constants.h"
#include "frontend/host_value.h"
#include "vm/bytecode/module.h"

namespace trivet::frontend {

enum class ValueKind : uint8_t { kError, kSsa, kConstant, kTuple, kAggregate, kHost, kMethod, kLambda, kRange, kSlice };

struct RangeOptions;

class Value {
 public:
  Value() = default;  // kError
  static Value Ssa(ValueId id, vm::Type type) {
    Value v(ValueKind::kSsa);
    v.id_ = id;
    v.type_ = std::move(type);
    return v;
  }
  static Value Of(Constant constant) {
    Value v(ValueKind::kConstant);
    v.constant_ = std::move(constant);
    return v;
  }
  static Value None() { return Of(NoneValue{}); }
  static Value Tuple(std::vector<Value> items, std::vector<std::string> fields = {}) {
    Value v(ValueKind::kTuple);
    v.items_ = std::move(items);
    v.fields_ = std::move(fields);
    return v;
  }
  // `cls` is the class. While its constructor runs, only the fields that are set by then.
  static Value Aggregate(HostPtr cls, std::vector<Value> items, std::vector<std::string> fields) {
    Value v(ValueKind::kAggregate);
    v.host_ = std::move(cls);
    v.items_ = std::move(items);
    v.fields_ = std::move(fields);
    return v;
  }
  static Value Host(HostPtr host) {
    Value v(ValueKind::kHost);
    v.host_ = std::move(host);
    return v;
  }
  static Value Method(Value self, std::string name, HostPtr host = nullptr) {
    Value v(ValueKind::kMethod);
    v.items_ = {std::move(self)};
    v.name_ = std::move(name);
    v.host_ = std::move(host);
    return v;
  }
  // `owner` is the FunctionLowering whose variables it reads, when it is called.
  static Value Lambda(const Expr* expr, const void* owner) {
    Value v(ValueKind::kLambda);
    v.lambda_ = expr;
    v.owner_ = owner;
    return v;
  }
  static Value Slice(Value lower, Value upper, Value step) {
    Value v(ValueKind::kSlice);
    v.items_ = {std::move(lower), std::move(upper), std::move(step)};
    return v;
  }
  static Value Range(Value lower, Value upper, Value step, std::shared_ptr<const RangeOptions> options) {
    Value v(ValueKind::kRange);
    v.items_ = {std::move(lower), std::move(upper), std::move(step)};
    v.range_ = std::move(options);
    return v;
  }

  ValueKind kind() const { return kind_; }
  bool is_error() const { return kind_ == ValueKind::kError; }
  bool is_ssa() const { return kind_ == ValueKind::kSsa; }
  bool is_constant() const { return kind_ == ValueKind::kConstant; }
  bool is_tuple() const { return kind_ == ValueKind::kTuple; }
  bool is_aggregate() const { return kind_ == ValueKind::kAggregate; }
  bool is_host() const { return kind_ == ValueKind::kHost; }
  bool is_none() const { return is_constant() && IsNone(constant_); }

  // Of kSsa.
  ValueId id() const { return id_; }
  const vm::Type& type() const { return type_; }
  // Of a scalar kSsa: its value where that is known at compile time. A fact about it, not a different kind of value.
  const std::optional<Constant>& known() const { return known_; }
  void set_known(std::optional<Constant> known) { known_ = std::move(known); }
  // Of a descriptor: its shape and strides as values, in `items`.
  void set_items(std::vector<Value> items) { items_ = std::move(items); }

  // Where an argument of the call that is being lowered is written, for messages about it; no line for other values.
  const SourceSpan& span() const { return span_; }
  void set_span(const SourceSpan& span) { span_ = span; }

  const Constant& constant() const { return constant_; }      // of kConstant
  const std::vector<Value>& items() const { return items_; }  // of kTuple, kAggregate, kMethod (self), ...
  std::vector<Value>& items() { return items_; }
  const std::vector<std::string>& fields() const { return fields_; }  // of kTuple (or empty), kAggregate
  const HostPtr& host() const { return host_; }                       // of kHost, kMethod, kAggregate
  const std::string& name() const { return name_; }                   // of kMethod
  const std::shared_ptr<const RangeOptions>& range() const { return range_; }
  const Expr* lambda() const { return lambda_; }  // of kLambda
  const void* owner() const { return owner_; }    // of kLambda

  // The constant that this is or is known to be.
  std::optional<Constant> AsConstant() const {
    if (is_constant()) return constant_;
    if (is_ssa()) return known_;
    return std::nullopt;
  }
  // The integer that this is or is known to be.
  std::optional<Int> AsKnownInt() const {
    std::optional<Constant> c = AsConstant();
    return c ? AsInt(*c) : std::nullopt;
  }

  // For messages: "tile<64xf32>", "constant 4", "tuple of 3", "module 'math'".
  std::string Describe() const;
  // A key that is equal for values which compile to the same code: types of run-time values, contents of others.
  std::string Key() const;
  // Appends the ids of all run-time values inside, in order.
  void Flatten(std::vector<ValueId>* ids) const;
  // A value of the same structure over other ids, taken from the front of `ids`. Known constants are dropped.
  Value Unflatten(absl::Span<const ValueId>* ids) const;
  // True if both have the same structure and the same types of run-time values, and equal constants elsewhere.
  bool SameStructure(const Value& other) const { return Key() == other.Key(); }
  // True if nothing but run-time values, tuples of them, and equal constants distinguishes the two.
  bool Identical(const Value& other) const;

 private:
  explicit Value(ValueKind kind) : kind_(kind) {}

  ValueKind kind_ = ValueKind::kError;
  ValueId id_;
  vm::Type type_;
  std::optional<Constant> known_;
  Constant constant_;
  SourceSpan span_;
  std::vector<Value> items_;
  std::vector<std::string> fields_;
  HostPtr host_;
  std::string name_;
  std::shared_ptr<const RangeOptions> range_;
  const Expr* lambda_ = nullptr;
  const void* owner_ = nullptr;
};

// The name of a class: "Pair".
std::string ClassName(const HostValue& cls);

// What tl.range and tl.static_range say beyond the bounds.
struct RangeOptions {
  bool is_static = false;  // unrolled while compiling
  int64_t num_stages = 0;
  int64_t unroll = 0;
  bool flatten = false;
  bool warp_specialize = false;
  bool disallow_acc_multi_buffer = false;
};

}  // namespace trivet::frontend
