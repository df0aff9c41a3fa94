#include "tests/support/wrap_function.h"

#include "absl/strings/str_cat.h"
#include "vm/bytecode/builder.h"

namespace trivet::vm {
namespace {

Type PointersTo(const Type& elements, absl::Span<const int64_t> shape) {
  return elements.AsScalar().PointerTo().WithShape(shape);
}

// Pointers to the elements of a row-major tensor at `base`: a scalar for a scalar, else a tile of `type`'s shape.
ValueId Addresses(Builder& b, ValueId base, const Type& type) {
  if (!type.is_tile()) return base;
  const int64_t count = type.num_elements();
  const int64_t flat[] = {count};
  const ValueId index = b.Create1(Op::kArange, {}, Type::Tile(flat, DType::kI32), {int64_t{0}, count});
  const ValueId bases = b.Create1(Op::kSplat, {base}, PointersTo(type, flat));
  const ValueId addresses = b.Create1(Op::kAddPtr, {bases, index}, PointersTo(type, flat));
  return b.Create1(Op::kReshape, {addresses}, PointersTo(type, type.shape()), {int64_t{0}});
}

}  // namespace

absl::StatusOr<Module> WrapFunction(const Module& module, absl::string_view function) {
  Module out = module;
  const FunctionId callee = module.FindFunction(function);
  const Function& fn = module.function(callee);
  Function kernel;
  kernel.name = kWrapperName;
  kernel.is_kernel = true;
  kernel.body = kernel.AddRegion();
  std::vector<Type> types;
  for (ValueId p : fn.params()) types.push_back(fn.type(p));
  types.insert(types.end(), fn.result_types.begin(), fn.result_types.end());
  std::vector<ValueId> bases;
  for (const Type& type : types) {
    if (!type.is_value()) return absl::UnimplementedError(absl::StrCat("a value of type ", type.ToString()));
    bases.push_back(kernel.AddParam(kernel.body, type.AsScalar().PointerTo(), absl::StrCat("p", bases.size())));
  }
  Builder b(&kernel, kernel.body);
  std::vector<ValueId> arguments;
  for (size_t i = 0; i < fn.params().size(); ++i) {
    const ValueId operands[] = {Addresses(b, bases[i], types[i]), ValueId::None(), ValueId::None()};
    arguments.push_back(b.Create1(Op::kLoad, operands, types[i]));
  }
  const OpId call = b.Create(Op::kCall, arguments, fn.result_types, {static_cast<int64_t>(callee.index())});
  for (size_t i = 0; i < fn.result_types.size(); ++i) {
    const size_t at = fn.params().size() + i;
    const ValueId address = Addresses(b, bases[at], types[at]);
    const ValueId operands[] = {address, kernel.op(call).results[i], ValueId::None()};
    b.Create(Op::kStore, operands, {});
  }
  b.Create(Op::kReturn, {}, {});
  out.functions.push_back(std::move(kernel));
  return out;
}

}  // namespace trivet::vm
