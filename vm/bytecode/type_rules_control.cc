// Type rules of the ops with regions, of what ends a region, and of calls, output and hints.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "vm/bytecode/type_rules.h"

namespace trivet::vm {
namespace {

using Types = std::vector<Type>;

Types TypesOf(const Function& function, absl::Span<const ValueId> values) {
  Types types;
  types.reserve(values.size());
  for (ValueId value : values) types.push_back(function.type(value));
  return types;
}

// Compares a list of types with `expected_size` types at(0), at(1), ...: "number of values differs: 1, results of the
// for are 2", "types differ: number 0 of the values is f32, of the results of the for i32".
template <typename At>
void SameTypes(TypeChecker& check, absl::string_view what, const Types& have, absl::string_view expected_what,
               size_t expected_size, const At& at) {
  if (have.size() != expected_size) {
    check.Fail("number of ", what, " differs: ", have.size(), ", ", expected_what, " are ", expected_size);
    return;
  }
  for (size_t i = 0; i < have.size(); ++i) {
    const Type& expected = at(i);
    check.Require(have[i] == expected, "types differ: number ", i, " of the ", what, " is ", have[i].ToString(),
                  ", of the ", expected_what, " ", expected.ToString());
  }
}

void SameTypes(TypeChecker& check, absl::string_view what, const Types& have, absl::string_view expected_what,
               const Types& expected) {
  SameTypes(check, what, have, expected_what, expected.size(), [&](size_t i) -> const Type& { return expected[i]; });
}

// As SameTypes with the types of values. Looks at the first only if their number is right: a loop may have thousands of
// results and thousands of breaks.
void SameTypes(TypeChecker& check, absl::string_view what, const Types& have, absl::string_view expected_what,
               const Function& function, absl::Span<const ValueId> expected) {
  SameTypes(check, what, have, expected_what, expected.size(),
            [&](size_t i) -> const Type& { return function.type(expected[i]); });
}

// As SameTypes with `pack` copies of the element type of each tile: (a, b), 2 -> (a, a, b, b).
void SameElementTypes(TypeChecker& check, absl::string_view what, const Types& have, absl::string_view expected_what,
                      const Types& tiles, int64_t pack) {
  const auto count = static_cast<size_t>(std::clamp<int64_t>(pack, 1, kMaxTileElements));
  SameTypes(check, what, have, expected_what, tiles.size() * count,
            [&](size_t i) -> Type { return tiles[i / count].AsScalar(); });
}

Types OperandTypes(const TypeChecker& check) { return TypesOf(check.function(), check.op().variadic()); }
Types ResultTypes(const TypeChecker& check) { return TypesOf(check.function(), check.op().results); }
Types ParamTypes(const TypeChecker& check, int region) {
  return TypesOf(check.function(), check.function().region(check.op().regions[static_cast<size_t>(region)]).params);
}

// At least one input, all tiles of numbers of one shape.
bool CheckInputs(TypeChecker& check) {
  if (!check.Require(check.num_variadic() > 0, "needs at least one input")) return false;
  bool sound = true;
  for (int i = 0; i < check.num_variadic(); ++i) {
    const Slot input = check.Variadic(i);
    if (!check.Tile(input) || !check.Number(input)) {
      sound = false;
    } else if (i > 0) {
      sound &= check.SameShape(check.Variadic(0), input);
    }
  }
  return sound;
}

// The region (a.., b..) -> (c..) of a reduce or scan.
void CheckCombine(TypeChecker& check, const Types& inputs) {
  SameTypes(check, "parameters of the region", ParamTypes(check, 0), "elements of the inputs, twice,",
            2 * inputs.size(), [&](size_t i) -> Type { return inputs[i % inputs.size()].AsScalar(); });
}

// A yield gives what its parent needs.
void CheckYield(TypeChecker& check) {
  if (!check.Require(check.context().parent != nullptr, "the body of a function ends in return")) return;
  const Operation& parent = *check.context().parent;
  const Types values = OperandTypes(check);
  const Types inputs = TypesOf(check.function(), parent.variadic());
  const Types results = TypesOf(check.function(), parent.results);
  const TypeRule rule = parent.info().rule;
  if (rule == TypeRule::kReduce || rule == TypeRule::kScan) {
    SameElementTypes(check, "values", values, "elements of the inputs", inputs, 1);
  } else if (rule == TypeRule::kMapElementwise) {
    SameElementTypes(check, "values", values, "elements of the results", results,
                     parent.int_attr(MapElementwiseOp::At::pack));
  } else if (rule == TypeRule::kWhile) {
    SameTypes(check, "values", values, "carried values of the while", inputs);
  } else {
    SameTypes(check, "values", values, absl::StrCat("results of the ", parent.info().text), results);
  }
}

bool IsWhileCondition(const OpContext& context) {
  return context.parent != nullptr && context.parent->opcode == Op::kWhile && context.region_index == 0;
}

}  // namespace

// inputs: [A.., N, B..]   results: [A.., B..], a scalar if nothing is left.
void CheckReduce(TypeChecker& check) {
  if (!CheckInputs(check)) return;
  const Types inputs = OperandTypes(check);
  if (check.Axis(ReduceOp::At::axis, check.Variadic(0))) {
    Type::Shape shape = inputs[0].shape();
    shape.erase(shape.begin() + check.op().int_attr(ReduceOp::At::axis));
    Types expected;
    for (const Type& input : inputs) expected.push_back(input.WithShape(shape));
    SameTypes(check, "results", ResultTypes(check), "inputs without the axis", expected);
  }
  CheckCombine(check, inputs);
}

// results: as inputs.
void CheckScan(TypeChecker& check) {
  if (!CheckInputs(check)) return;
  check.Axis(ScanOp::At::axis, check.Variadic(0));
  SameTypes(check, "results", ResultTypes(check), "inputs", OperandTypes(check));
  CheckCombine(check, OperandTypes(check));
}

// Region: `pack` elements of the first input, of the second, ...  ->  `pack` elements of the first result, ...
// results: tiles of numbers of the inputs' shape.
void CheckMapElementwise(TypeChecker& check) {
  if (!CheckInputs(check)) return;
  const Slot first = check.Variadic(0);
  if (!check.Range(MapElementwiseOp::At::pack, 1, first->num_elements())) return;
  const int64_t pack = check.op().int_attr(MapElementwiseOp::At::pack);
  check.Require(first->num_elements() % pack == 0, "pack is ", pack, ", which does not divide the ",
                first->num_elements(), " elements");
  check.Require(check.num_results() > 0, "needs at least one result");
  for (int i = 0; i < check.num_results(); ++i) check.Number(check.Out(i)) && check.SameShape(first, check.Out(i));
  SameElementTypes(check, "parameters of the region", ParamTypes(check, 0), "elements of the inputs",
                   OperandTypes(check), pack);
}

void CheckNoTypes(TypeChecker&) {}

// lower, upper, step: one integer scalar type; inits, results and carried parameters: one list of types.
void CheckFor(TypeChecker& check) {
  using In = ForOp::In;
  using At = ForOp::At;
  const Slot lower = check.In(In::lower);
  check.Range(At::num_stages, 0, INT32_MAX);
  check.Range(At::unroll, 0, INT32_MAX);
  check.Scalar(lower) && check.WideInteger(lower);
  check.SameType(lower, check.In(In::upper));
  check.SameType(lower, check.In(In::step));
  const Types inits = OperandTypes(check);
  SameTypes(check, "results", ResultTypes(check), "initial values", inits);
  Types params = {lower.type()};
  params.insert(params.end(), inits.begin(), inits.end());
  SameTypes(check, "parameters of the region", ParamTypes(check, 0), "counter and carried values", params);
}

// inits, parameters of the first region: one list. Parameters of the second region, results: another.
void CheckWhile(TypeChecker& check) {
  SameTypes(check, "parameters of the first region", ParamTypes(check, 0), "initial values", OperandTypes(check));
  SameTypes(check, "parameters of the second region", ParamTypes(check, 1), "results", ResultTypes(check));
}

// condition: one i1. What the regions yield is checked at their ends.
void CheckIf(TypeChecker& check) {
  check.Is(check.In(IfOp::In::condition), Type::Scalar(DType::kI1));
  for (int region : {0, 1}) {
    SameTypes(check, absl::StrCat("parameters of region ", region), ParamTypes(check, region), "parameters of an if",
              {});
  }
}

// The region must be one that this op may end, and take its values.
void CheckTerminator(TypeChecker& check) {
  const Operation& op = check.op();
  const OpContext& context = check.context();
  if (op.opcode != Op::kCondition && IsWhileCondition(context)) {
    check.Fail("the first region of a while ends in condition");
    return;
  }
  if (op.opcode == Op::kYield) return CheckYield(check);
  if (op.opcode == Op::kCondition) {
    if (!check.Require(IsWhileCondition(context), "only ends the first region of a while")) return;
    check.Is(check.In(ConditionOp::In::condition), Type::Scalar(DType::kI1));
    SameTypes(check, "values", OperandTypes(check), "results of the while",
              TypesOf(check.function(), context.parent->results));
    return;
  }
  if (op.opcode == Op::kReturn) {
    if (!check.Require(!context.in_scalar_region, "can't leave the region of a reduce, scan or map_elementwise"))
      return;
    SameTypes(check, "values", OperandTypes(check), absl::StrCat("results of @", check.function().name),
              check.function().result_types);
    return;
  }
  // break, continue
  if (!check.Require(context.parent != nullptr && context.loop != nullptr, "is not inside a loop")) return;
  const bool next_of_while = op.opcode == Op::kContinue && context.loop->opcode == Op::kWhile;
  SameTypes(check, "values", OperandTypes(check),
            absl::StrCat(next_of_while ? "carried values of the " : "results of the ", context.loop->info().text),
            check.function(), next_of_while ? context.loop->variadic() : absl::MakeConstSpan(context.loop->results));
}

// arguments, results: as the callee declares.
void CheckCall(TypeChecker& check) {
  const Function& callee = check.module().functions[static_cast<size_t>(check.op().int_attr(CallOp::At::callee))];
  check.Require(!callee.is_kernel, "@", callee.name, " is a kernel");
  if (callee.body.is_none() || callee.body.index() >= callee.num_regions()) return;  // reported there
  const absl::Span<const ValueId> params = callee.params();
  for (size_t i = 0; i < std::min(params.size(), check.op().operands.size()); ++i) {
    if (params[i].index() >= callee.num_values()) return;  // reported there, too
  }
  SameTypes(check, "arguments", OperandTypes(check), absl::StrCat("parameters of @", callee.name), callee, params);
  SameTypes(check, "results", ResultTypes(check), absl::StrCat("results of @", callee.name), callee.result_types);
}

// print: scalars and tiles; is_signed: one 0 or 1 a value, or nothing.
void CheckAnyValues(TypeChecker& check) {
  for (int i = 0; i < check.num_variadic(); ++i) check.Value(check.Variadic(i));
  const std::vector<int64_t>& is_signed = check.op().ints_attr(PrintOp::At::is_signed);
  if (is_signed.empty() || !check.Length(PrintOp::At::is_signed, check.num_variadic())) return;
  for (int64_t flag : is_signed) check.Require(flag == 0 || flag == 1, "is_signed holds 0 or 1: it holds ", flag);
}

// assert, assume. condition: i1, scalar or tile; mask: i1 of that shape.
void CheckAssert(TypeChecker& check) {
  static_assert(int{AssertOp::In::condition} == int{AssumeOp::In::condition});
  const Slot condition = check.In(AssertOp::In::condition);
  check.Bool(condition);
  if (check.op().opcode != Op::kAssert || !check.Has(AssertOp::In::mask)) return;
  const Slot mask = check.In(AssertOp::In::mask);
  check.Bool(mask) && check.SameShape(condition, mask);
}

// values: one number an axis, or one for a scalar.
void CheckSameType(TypeChecker& check) { check.SameType(check.In(0), check.Out()); }

void CheckHint(TypeChecker& check) {
  const Slot x = check.In(HintOp::In::x);
  check.SameType(x, check.Out());
  if (!check.Value(x) || !check.Length(HintOp::At::values, std::max(x->rank(), 1))) return;
  for (int64_t value : check.op().ints_attr(HintOp::At::values)) {
    check.Require(value >= 1, "values must be at least 1: one is ", value);
  }
}

}  // namespace trivet::vm
