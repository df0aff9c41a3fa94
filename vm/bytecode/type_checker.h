// TypeChecker: what a type rule sees of one op, and the sentences in which it says what is wrong.
//
// Operands and results are Slots, which know their name in the op table, so that a message reads
//
//   dot: K differs: a is tile<64x32xf16>, b is tile<16x64xf16>
//
// Each check reports at most once and returns whether it holds, so that a rule can stop where the rest makes no sense.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "vm/bytecode/module.h"

namespace trivet::vm {

// Where in the tree of regions an op stands.
struct OpContext {
  const Operation* parent = nullptr;  // the op whose region holds it; null in the body of the function
  int region_index = 0;               // which of the parent's regions
  const Operation* loop = nullptr;    // innermost `for` or `while` that break and continue mean; null if there is none
  bool in_scalar_region = false;  // inside the region of a reduce, scan or map_elementwise, which return can't leave
};

// One operand or result. Valid as long as the function is not changed.
class Slot {
 public:
  Slot(absl::string_view name, const Type* type, int index = -1) : name_(name), type_(type), index_(index) {}

  const Type& type() const { return *type_; }
  const Type* operator->() const { return type_; }
  // "a", or "inputs 2" in a variadic list.
  std::string name() const { return index_ < 0 ? std::string(name_) : absl::StrCat(name_, " ", index_); }
  // "a is tile<64x32xf16>".
  std::string Describe() const { return absl::StrCat(name(), " is ", type_->ToString()); }

 private:
  absl::string_view name_;
  const Type* type_;
  int index_;
};

class TypeChecker {
 public:
  TypeChecker(const Module& module, const Function& function, const Operation& op, const OpContext& context,
              std::vector<std::string>* problems)
      : module_(module), function_(function), op_(op), context_(context), problems_(problems) {}

  const Module& module() const { return module_; }
  const Function& function() const { return function_; }
  const Operation& op() const { return op_; }
  const OpContext& context() const { return context_; }

  // The fixed operand `i`. Requires that it is not absent.
  Slot In(int i) const {
    return Slot(op_.info().operands[static_cast<size_t>(i)].name, &function_.type(op_.operand(i)));
  }
  bool Has(int i) const { return !op_.operand(i).is_none(); }
  int num_variadic() const { return static_cast<int>(op_.variadic().size()); }
  // Element `i` of the variadic tail.
  Slot Variadic(int i) const {
    return Slot(op_.info().operands.back().name, &function_.type(op_.variadic()[static_cast<size_t>(i)]), i);
  }
  int num_results() const { return static_cast<int>(op_.results.size()); }
  Slot Out(int i = 0) const { return Slot("result", &function_.type(op_.result(i)), op_.results.size() == 1 ? -1 : i); }
  // A type that has no operand, such as a parameter of a region.
  static Slot Named(absl::string_view name, const Type& type, int index = -1) { return Slot(name, &type, index); }

  // Reports "<op>: " and the pieces, unless too much has been reported already. Returns false.
  template <typename... Pieces>
  bool Fail(const Pieces&... pieces) {
    if (problems_->size() < kMaxProblems) problems_->push_back(absl::StrCat(op_.info().text, ": ", pieces...));
    return false;
  }
  template <typename... Pieces>
  bool Require(bool condition, const Pieces&... pieces) {
    return condition || Fail(pieces...);
  }

  // --- Kinds: "x must be a tile: x is f32".
  bool Must(bool condition, const Slot& slot, absl::string_view be);
  bool Tile(const Slot& slot) { return Must(slot->is_tile(), slot, "a tile"); }
  bool Value(const Slot& slot) { return Must(slot->is_value(), slot, "a scalar or a tile"); }
  bool Scalar(const Slot& slot) { return Must(slot->is_scalar(), slot, "a scalar"); }
  bool Number(const Slot& slot) { return Must(slot->is_number(), slot, "numbers"); }
  bool Integer(const Slot& slot) { return Must(slot->is_integer(), slot, "integers"); }
  // Integers of at least 8 bits.
  bool WideInteger(const Slot& slot) {
    return Must(slot->is_integer() && !slot->is_bool(), slot, "integers other than i1");
  }
  bool Float(const Slot& slot) { return Must(slot->is_float(), slot, "floats"); }
  bool Bool(const Slot& slot) { return Must(slot->is_bool(), slot, "i1"); }
  bool Pointer(const Slot& slot) { return Must(slot->is_pointer(), slot, "pointers"); }
  bool BlockPtr(const Slot& slot) { return Must(slot->is_block_ptr(), slot, "a block pointer"); }
  bool Desc(const Slot& slot) { return Must(slot->is_desc(), slot, "a tensor descriptor"); }
  // Exactly this type.
  bool Is(const Slot& slot, const Type& type);
  // The element type, whatever the shape.
  bool Elements(const Slot& slot, DType dtype) {
    return Must(slot->is_number() && slot->dtype() == dtype, slot, InfoOf(dtype).text);
  }
  bool OneOf(const Slot& slot, absl::Span<const DType> allowed, absl::string_view why);

  // --- Two slots: "types differ: lhs is ..., rhs is ...".
  bool SameType(const Slot& a, const Slot& b);
  bool SameShape(const Slot& a, const Slot& b);
  // The same kind of elements (dtype and pointer depth), whatever the shapes.
  bool SameElements(const Slot& a, const Slot& b);
  // Compares two extents that `what` names.
  bool SameExtent(absl::string_view what, int64_t extent_a, const Slot& a, int64_t extent_b, const Slot& b);

  // --- Attributes: "axis must be within 0..1: it is 2".
  bool Range(int attr, int64_t least, int64_t most);
  // Axis attribute of an operand of this rank.
  bool Axis(int attr, const Slot& of) { return Range(attr, 0, of->rank() - 1); }
  // An INTS attribute with `count` elements.
  bool Length(int attr, int64_t count);
  // An INTS attribute that orders the axes 0..rank-1.
  bool Permutation(int attr, int rank);
  // An INTS attribute of different axes.
  bool Axes(int attr, int rank);
  absl::string_view AttrName(int attr) const { return op_.info().attrs[static_cast<size_t>(attr)].name; }

  // --- Variadic tails.
  // The tail has `count` values: "needs 6 offsets, has 4".
  bool Count(int64_t count);
  // Elements [from, from + count) of the tail are scalars of one of the given types.
  bool Scalars(int from, int count, absl::Span<const DType> allowed, absl::string_view what);

 private:
  static constexpr size_t kMaxProblems = 20;  // of one op

  const Module& module_;
  const Function& function_;
  const Operation& op_;
  const OpContext& context_;
  std::vector<std::string>* problems_;
};

}  // namespace trivet::vm
