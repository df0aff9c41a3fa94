// What a program is, in memory: a module of functions, each a tree of regions of ops over SSA values.
//
// Arrays are dense and owned by the function; ids index them. A region is one straight list of ops that ends in a
// terminator (yield, condition, break, continue, return). Ops removed by a pass leave their row behind, unlinked.
// The reader, the parser, the frontend and the passes make modules; verifier.h says what makes one legal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "vm/base/id.h"
#include "vm/bytecode/op_info.h"
#include "vm/bytecode/types.h"

namespace trivet::vm {

// Where in the author's source an op comes from. Line and column count from 1; line 0 means unknown.
struct Location {
  uint32_t file = 0;  // index into Module::files
  uint32_t line = 0;
  uint32_t column = 0;
  friend bool operator==(const Location&, const Location&) = default;
};

// The value of one attribute. Integers, booleans, enumerations, functions (their index) and raw bits are int64_t.
using Attribute = std::variant<int64_t, std::string, std::vector<int64_t>>;

struct Operation {
  Op opcode{};
  Location location;
  absl::InlinedVector<ValueId, 3> operands;  // an absent optional operand is ValueId::None()
  absl::InlinedVector<ValueId, 1> results;
  absl::InlinedVector<Attribute, 1> attrs;  // one for each AttrInfo of the row, in its order
  absl::InlinedVector<RegionId, 1> regions;

  const OpInfo& info() const { return InfoOf(opcode); }
  ValueId operand(int i) const { return operands[static_cast<size_t>(i)]; }
  ValueId result(int i = 0) const { return results[static_cast<size_t>(i)]; }
  // Operands of the variadic tail.
  absl::Span<const ValueId> variadic() const {
    return absl::MakeConstSpan(operands).subspan(static_cast<size_t>(info().num_fixed_operands()));
  }
  int64_t int_attr(int i) const { return std::get<int64_t>(attrs[static_cast<size_t>(i)]); }
  bool bool_attr(int i) const { return int_attr(i) != 0; }
  template <typename Enum>
  Enum enum_attr(int i) const {
    return static_cast<Enum>(int_attr(i));
  }
  const std::string& string_attr(int i) const { return std::get<std::string>(attrs[static_cast<size_t>(i)]); }
  const std::vector<int64_t>& ints_attr(int i) const {
    return std::get<std::vector<int64_t>>(attrs[static_cast<size_t>(i)]);
  }
};

struct Value {
  Type type;
  std::string name;  // the author's variable, or empty
};

struct Region {
  absl::InlinedVector<ValueId, 4> params;
  std::vector<OpId> ops;
};

// A kernel or a helper. Parameters are those of the body region; `return` gives `result_types`.
class Function {
 public:
  std::string name;
  bool is_kernel = false;
  std::vector<Type> result_types;
  Location location;
  RegionId body;

  // Makes an empty region.
  RegionId AddRegion();
  // Makes a value without definition; the caller puts it into an op's results or a region's parameters.
  ValueId AddValue(Type type, absl::string_view value_name = {});
  // Makes a parameter of `region`.
  ValueId AddParam(RegionId region, Type type, absl::string_view value_name = {});
  // Stores an op without linking it into a region.
  OpId AddOp(Operation op);
  // Stores an op and appends it to `region`.
  OpId AppendOp(RegionId region, Operation op);

  const Operation& op(OpId id) const { return ops_[id.index()]; }
  Operation& op(OpId id) { return ops_[id.index()]; }
  const Value& value(ValueId id) const { return values_[id.index()]; }
  Value& value(ValueId id) { return values_[id.index()]; }
  const Type& type(ValueId id) const { return values_[id.index()].type; }
  const Region& region(RegionId id) const { return regions_[id.index()]; }
  Region& region(RegionId id) { return regions_[id.index()]; }
  absl::Span<const ValueId> params() const { return regions_[body.index()].params; }

  size_t num_ops() const { return ops_.size(); }
  size_t num_values() const { return values_.size(); }
  size_t num_regions() const { return regions_.size(); }

  // Calls visit(OpId) for each linked op, outer before inner, in program order.
  template <typename Visitor>
  void ForEachOp(RegionId region_id, const Visitor& visit) const {
    for (OpId id : regions_[region_id.index()].ops) {
      visit(id);
      for (RegionId inner : ops_[id.index()].regions) ForEachOp(inner, visit);
    }
  }
  template <typename Visitor>
  void ForEachOp(const Visitor& visit) const {
    if (body) ForEachOp(body, visit);
  }

 private:
  std::vector<Operation> ops_;
  std::vector<Value> values_;
  std::vector<Region> regions_;
};

class Module {
 public:
  std::vector<std::string> files;  // source file names, for Location::file
  std::vector<Function> functions;
  // Launch options and notes of the author, such as num_warps = "4". Sorted by key, keys unique.
  std::vector<std::pair<std::string, std::string>> metadata;

  FunctionId FindFunction(absl::string_view name) const;
  const Function& function(FunctionId id) const { return functions[id.index()]; }
  Function& function(FunctionId id) { return functions[id.index()]; }
  // Index of `file` in files, added if new.
  uint32_t InternFile(absl::string_view file);
  // The metadata value of `key`, if there is one.
  std::optional<std::string> FindMetadata(absl::string_view key) const;
  void SetMetadata(absl::string_view key, absl::string_view value);
  // "matmul.py:31:21", or "" when unknown.
  std::string LocationToString(const Location& location) const;
};

// True if both modules have the same functions with the same ops, regions, types, names and locations. Unlinked ops
// and the numbering of ids don't count.
bool SameModule(const Module& a, const Module& b);

}  // namespace trivet::vm
