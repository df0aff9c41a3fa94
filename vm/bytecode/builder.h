// Builder: appends ops to a region of a function. The frontend and tests make code with it.
#pragma once

#include <cstring>

#include "vm/bytecode/module.h"

namespace trivet::vm {

// The raw bits of `value` as an element of type `dtype`; what `constant` holds. Bits above the element's width are
// zero. Integers wrap (a float is truncated first; one that is not finite gives 0), i1 is whether it is not zero,
// floats round as vm/numerics does by default: to nearest even, f8 saturating.
int64_t BitsOf(DType dtype, double value);
int64_t BitsOf(DType dtype, int64_t value);

// The value of an element of a float type from its bits, exactly. Requires IsFloat(dtype).
double ValueOf(DType dtype, int64_t bits);
// The value of an element of an integer type or i1; u64 above 2^63 comes out negative.
int64_t IntValueOf(DType dtype, int64_t bits);

class Builder {
 public:
  Builder(Function* function, RegionId region) : function_(function), region_(region) {}

  Function& function() { return *function_; }
  RegionId region() const { return region_; }
  void set_region(RegionId region) { region_ = region; }
  // Where ops made from now on come from.
  void set_location(Location location) { location_ = location; }
  const Location& location() const { return location_; }
  const Type& type(ValueId value) const { return function_->type(value); }

  // Appends an op with results of the given types. Attributes not given are zero, empty or absent, by their kind.
  OpId Create(Op op, absl::Span<const ValueId> operands, absl::Span<const Type> result_types,
              absl::InlinedVector<Attribute, 1> attrs = {}, absl::Span<const RegionId> regions = {});
  // As Create, for an op with one result; gives that.
  ValueId Create1(Op op, absl::Span<const ValueId> operands, Type result_type,
                  absl::InlinedVector<Attribute, 1> attrs = {}, absl::Span<const RegionId> regions = {});

  // A scalar or tile constant.
  ValueId Constant(Type type, int64_t bits) { return Create1(Op::kConstant, {}, std::move(type), {bits}); }
  ValueId ConstantI(Type type, int64_t value) { return Constant(type, BitsOf(type.dtype(), value)); }
  ValueId ConstantF(Type type, double value) { return Constant(type, BitsOf(type.dtype(), value)); }
  // An elementwise op whose result has the type of its first operand.
  ValueId Elementwise(Op op, absl::Span<const ValueId> operands, absl::InlinedVector<Attribute, 1> attrs = {}) {
    return Create1(op, operands, function_->type(operands[0]), std::move(attrs));
  }

 private:
  Function* function_;
  RegionId region_;
  Location location_;
};

}  // namespace trivet::vm
