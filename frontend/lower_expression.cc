// Expressions.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "frontend/builtins.h"
#include "frontend/function_lowering.h"

namespace trivet::frontend {

using vm::DType;
using vm::Op;
using vm::Type;

Value FunctionLowering::LowerExpr(const Expr& expr) {
  SpanScope scope(this, expr.span);
  switch (expr.kind) {
    case ExprKind::kName:
      return LowerName(expr);
    case ExprKind::kNone:
      return Value::None();
    case ExprKind::kTrue:
      return Value::Of(true);
    case ExprKind::kFalse:
      return Value::Of(false);
    case ExprKind::kEllipsis:
      return Error("'...' is not supported in a kernel");
    case ExprKind::kInt: {
      std::optional<Int> value = IntFromString(expr.text);
      return value ? Value::Of(*value) : Error(absl::StrCat("integer constant too large: ", expr.text));
    }
    case ExprKind::kFloat:
      return Value::Of(expr.number);
    case ExprKind::kString:
      return Value::Of(expr.text);
    case ExprKind::kUnary: {
      Value operand = LowerExpr(*expr.a);
      if (expr.op == "not" && !operand.is_ssa() && !operand.is_constant() && !operand.is_error()) {
        return Value::Of(operand.is_tuple() && operand.items().empty());
      }
      if (operand.is_aggregate()) {
        const char* const method = expr.op == "-" ? "__neg__" : expr.op == "+" ? "__pos__" : "__invert__";
        return CallAggregate(operand, method, {}, absl::StrCat("has no operator ", expr.op));
      }
      return emitter_.Unary(expr.op, operand);
    }
    case ExprKind::kBinary: {
      Value a = LowerExpr(*expr.a);
      Value b = LowerExpr(*expr.b);
      return BinaryValues(expr.op, a, b);
    }
    case ExprKind::kBool:
      return LowerBool(expr);
    case ExprKind::kCompare:
      return LowerCompare(expr);
    case ExprKind::kCall:
      return LowerCall(expr);
    case ExprKind::kAttribute:
      return GetAttribute(LowerExpr(*expr.a), expr.name);
    case ExprKind::kSubscript: {
      Value value = LowerExpr(*expr.a);
      Value index = LowerExpr(*expr.b);
      return GetItem(value, index);
    }
    case ExprKind::kSlice: {
      const auto part = [this](const ExprPtr& e) { return e == nullptr ? Value::None() : LowerExpr(*e); };
      Value lower = part(expr.a), upper = part(expr.b), step = part(expr.c);
      return Value::Slice(lower, upper, step);
    }
    case ExprKind::kTuple:
    case ExprKind::kList: {
      std::vector<Value> items;
      for (const ExprPtr& item : expr.items) {
        if (item->kind != ExprKind::kStarred) {
          items.push_back(LowerExpr(*item));
          continue;
        }
        Value inner = LowerExpr(*item->a);
        if (!inner.is_tuple())
          return inner.is_error() ? inner : Error(absl::StrCat("cannot unpack ", inner.Describe()));
        items.insert(items.end(), inner.items().begin(), inner.items().end());
      }
      return Value::Tuple(std::move(items));
    }
    case ExprKind::kIfExp:
      return LowerIfExp(expr);
    case ExprKind::kStarred:
      return Error("a starred expression can't stand here");
    case ExprKind::kFString:
      return LowerFString(expr);
    case ExprKind::kFormatted:
      return Error("a format field outside an f-string");
    case ExprKind::kListComp:
      return LowerListComp(expr);
    case ExprKind::kNamedExpr: {
      AssignDecaying(expr, LowerExpr(*expr.a));
      return variables_[expr.name];
    }
    case ExprKind::kLambda:
      if (!AllowExtension("a lambda does not exist in Triton's kernels", "write a helper function with @triton.jit"))
        return Value();
      return Value::Lambda(&expr, this);
    case ExprKind::kUnsupported:
      return Error(
          absl::StrCat(expr.text, " is not supported in a kernel"),
          expr.text == "a dictionary" || expr.text == "a set" ? "use a tuple, or parameters of their own" : "");
  }
  return Value();
}

namespace {

// An instance of an aggregate made in Python, which kernels may read as they read a tl.constexpr.
bool IsAggregateInstance(const HostPtr& object) {
  if (object->kind() != HostKind::kObject) return false;
  absl::StatusOr<HostPtr> info = object->GetAttribute("_trivet_aggregate");
  return info.ok() && *info != nullptr;
}

}  // namespace

Value FunctionLowering::LowerName(const Expr& expr) {
  auto it = variables_.find(expr.name);
  if (it != variables_.end()) return it->second;
  if (auto why = unavailable_.find(expr.name); why != unavailable_.end()) {
    return Error(absl::StrCat("'", expr.name, "' is not defined here: ", why->second));
  }
  HostPtr host = host_function_->LookUp(expr.name);
  if (host == nullptr) {
    std::vector<std::string> names;
    for (const auto& [name, value] : variables_) names.push_back(name);
    return Error(absl::StrCat("'", expr.name, "' is not defined"), DidYouMean(expr.name, names));
  }
  switch (host->kind()) {
    case HostKind::kNone:
    case HostKind::kBool:
    case HostKind::kInt:
    case HostKind::kFloat:
    case HostKind::kString:
    case HostKind::kTuple:
    case HostKind::kObject:
      if (!host->is_constexpr() && !IsAggregateInstance(host) && !host_function_->IsConstexprGlobal(expr.name) &&
          !compilation_.request.allow_plain_globals) {
        return Error(absl::StrCat("cannot access global variable '", expr.name, "' from within a @jit function: it is ",
                                  "not a tl.constexpr"),
                     absl::StrCat("write ", expr.name, " = tl.constexpr(...), or pass it as a parameter"));
      }
      break;
    default:
      break;
  }
  compilation_.globals.push_back({host_function_, expr.name, host});
  return FromHost(host);
}

Value FunctionLowering::FromHost(const HostPtr& host) {
  if (host == nullptr) return Value();
  switch (host->kind()) {
    case HostKind::kNone:
      return Value::None();
    case HostKind::kBool:
      return Value::Of(host->text() == "1" || host->text() == "True");
    case HostKind::kInt: {
      std::optional<Int> value = IntFromString(host->text());
      return value ? Value::Of(*value) : Error(absl::StrCat("integer constant too large: ", host->text()));
    }
    case HostKind::kFloat:
      return Value::Of(host->number());
    case HostKind::kString:
      return Value::Of(host->text());
    case HostKind::kType:
      return Value::Of(host->type());
    case HostKind::kTuple: {
      std::vector<Value> items;
      for (const HostPtr& item : host->items()) items.push_back(FromHost(item));
      return Value::Tuple(std::move(items), host->field_names());
    }
    case HostKind::kObject:
      if (std::optional<Value> made = AggregateFromHost(host)) return *made;
      return Value::Host(host);
    default:
      return Value::Host(host);
  }
}

absl::StatusOr<HostPtr> FunctionLowering::MakeLanguageObject(absl::string_view cls,
                                                             const std::vector<HostPtr>& arguments) {
  const HostPtr found = host().LanguageMember(cls);
  if (found == nullptr) return absl::UnimplementedError(absl::StrCat("tl.", cls, " is missing"));
  return found->Call(arguments, {});
}

HostPtr FunctionLowering::ToHost(const Value& value, absl::string_view what) {
  if (value.is_host()) return value.host();
  if (value.is_aggregate() && !value.is_error()) return AggregateToHost(value, what);
  if (std::optional<Constant> c = value.AsConstant()) {
    if (IsNone(*c)) return host().MakeNone();
    if (const bool* b = std::get_if<bool>(&*c)) return host().MakeBool(*b);
    if (const Int* i = std::get_if<Int>(&*c)) return host().MakeInt(IntToString(*i));
    if (const double* d = std::get_if<double>(&*c)) return host().MakeFloat(*d);
    if (const std::string* s = std::get_if<std::string>(&*c)) return host().MakeString(*s);
    return host().MakeType(std::get<Type>(*c));
  }
  if (value.is_tuple()) {
    std::vector<HostPtr> items;
    for (const Value& item : value.items()) {
      HostPtr h = ToHost(item, what);
      if (h == nullptr) return nullptr;
      items.push_back(std::move(h));
    }
    return host().MakeTuple(items, value.fields());
  }
  if (!value.is_error()) Error(absl::StrCat(what, " must be known at compile time, found ", value.Describe()));
  return nullptr;
}

Value FunctionLowering::HostBinary(const std::string& op, const Value& a, const Value& b) {
  HostPtr left = ToHost(a, "the left operand"), right = ToHost(b, "the right operand");
  if (left == nullptr || right == nullptr) return Value();
  absl::StatusOr<HostPtr> result = left->Binary(op, right);
  if (!result.ok()) return Error(std::string(result.status().message()));
  return FromHost(*result);
}

Value FunctionLowering::BinaryValues(const std::string& op, const Value& a, const Value& b) {
  if (a.is_error() || b.is_error()) return Value();
  if (a.is_tuple() && b.is_tuple() && op == "+") {
    std::vector<Value> items = a.items();
    items.insert(items.end(), b.items().begin(), b.items().end());
    return Value::Tuple(std::move(items));
  }
  if (a.is_tuple() && b.AsKnownInt() && op == "*") {
    constexpr size_t kMaxItems = 100'000;
    std::vector<Value> items;
    for (Int i = 0; i < *b.AsKnownInt() && !a.items().empty(); ++i) {
      if (items.size() + a.items().size() > kMaxItems)
        return Error(absl::StrCat("a tuple of more than ", kMaxItems, " values"));
      items.insert(items.end(), a.items().begin(), a.items().end());
    }
    return Value::Tuple(std::move(items));
  }
  if (a.is_aggregate() || b.is_aggregate()) return AggregateOperator(op, a, b);
  if (a.is_host() || b.is_host()) {
    if (a.is_ssa() || b.is_ssa()) {
      return Error(absl::StrCat("operator ", op, " is not defined for ", a.Describe(), " and ", b.Describe()));
    }
    return HostBinary(op, a, b);
  }
  return emitter_.Binary(op, a, b);
}

Value FunctionLowering::LowerBool(const Expr& expr) {
  // Python's rule for what is known while compiling: `a and b` is a if a is false, else b; the rest is not looked at.
  const bool is_and = expr.op == "and";
  Value result = LowerExpr(*expr.items[0]);
  for (size_t i = 1; i < expr.items.size(); ++i) {
    if (result.is_error()) return result;
    std::optional<Constant> known = result.AsConstant();
    if (!known && !result.is_ssa()) known = Constant(result.is_host() || !result.items().empty());
    if (known) {
      if (IsTrue(*known) != is_and) return result;
      result = LowerExpr(*expr.items[i]);
      continue;
    }
    Value next = LowerExpr(*expr.items[i]);
    if (next.is_error()) return next;
    if (!next.is_ssa()) {
      if (!next.is_constant() || !IsNumber(next.constant())) {
        return Error(absl::StrCat("'", expr.op, "': expected a number or a tile, found ", next.Describe()));
      }
    }
    result = emitter_.Logical(expr.op, result, next);
  }
  return result;
}

Value FunctionLowering::CompareOne(const std::string& op, const Value& a, const Value& b) {
  if (a.is_error() || b.is_error()) return Value();
  if (op == "is" || op == "is not") {
    bool same = false;
    if (a.is_constant() && b.is_constant()) {
      same = a.constant().index() == b.constant().index() && a.constant() == b.constant();
    } else if (a.is_host() && b.is_host()) {
      same = a.host()->key() == b.host()->key();
    }
    return Value::Of(same == (op == "is"));
  }
  if (op == "in" || op == "not in") {
    if (b.is_tuple()) {
      bool found = false;
      for (const Value& item : b.items()) {
        Value equal = CompareOne("==", a, item);
        std::optional<Constant> known = equal.AsConstant();
        if (!known)
          return equal.is_error() ? equal : Error(absl::StrCat("'", op, "' needs values known at compile time"));
        found = found || IsTrue(*known);
      }
      return Value::Of(found == (op == "in"));
    }
    if (!a.is_ssa() && !b.is_ssa()) {
      return a.is_constant() && b.is_constant() ? emitter_.Compare(op, a, b) : HostBinary(op, a, b);
    }
    return Error(absl::StrCat("'", op, "' is not defined for ", a.Describe(), " and ", b.Describe()));
  }
  if (a.is_aggregate() || b.is_aggregate()) return AggregateOperator(op, a, b);
  if (a.is_tuple() && b.is_tuple() && (op == "==" || op == "!=")) {
    if (a.items().size() != b.items().size()) return Value::Of(op == "!=");
    Value all = Value::Of(true);
    for (size_t i = 0; i < a.items().size(); ++i) {
      Value equal = CompareOne("==", a.items()[i], b.items()[i]);
      if (equal.is_error()) return equal;
      if (std::optional<Constant> known = equal.AsConstant()) {
        if (!IsTrue(*known)) return Value::Of(op == "!=");
      } else {
        all = all.is_constant() ? equal : emitter_.Logical("and", all, equal);
      }
    }
    return op == "==" ? all : emitter_.Unary("not", all);
  }
  if (a.is_ssa() || b.is_ssa()) {
    // A tile never equals None or a string; Python compares such things by identity.
    const Value& other = a.is_ssa() ? b : a;
    if (!other.is_ssa() && !(other.is_constant() && IsNumber(other.constant())) && (op == "==" || op == "!=")) {
      return Value::Of(op == "!=");
    }
    return emitter_.Compare(op, a, b);
  }
  if (a.is_constant() && b.is_constant()) return emitter_.Compare(op, a, b);
  if (a.is_tuple() != b.is_tuple() && (op == "==" || op == "!=")) return Value::Of(op == "!=");
  return HostBinary(op, a, b);
}

Value FunctionLowering::LowerCompare(const Expr& expr) {
  // A chain a < b < c means a < b and b < c, with b evaluated once.
  Value left = LowerExpr(*expr.a);
  Value result;
  for (size_t i = 0; i < expr.ops.size(); ++i) {
    Value right = LowerExpr(*expr.items[i]);
    Value one = CompareOne(expr.ops[i], left, right);
    if (one.is_error()) return one;
    if (i == 0) {
      result = one;
    } else if (std::optional<Constant> known = result.AsConstant()) {
      if (IsTrue(*known)) result = one;
    } else {
      result = emitter_.Logical("and", result, one);
    }
    left = right;
  }
  return result;
}

Value FunctionLowering::LowerIfExp(const Expr& expr) {
  Value condition = LowerExpr(*expr.b);
  if (condition.is_error()) return condition;
  if (!condition.is_ssa() || condition.known()) {
    bool is_true = true;
    if (std::optional<Constant> known = condition.AsConstant()) is_true = IsTrue(*known);
    if (condition.is_tuple()) is_true = !condition.items().empty();
    return LowerExpr(is_true ? *expr.a : *expr.c);
  }
  {
    SpanScope scope(this, expr.b->span);
    condition = ToCondition(condition, "the condition of 'a if c else b'");
  }
  if (condition.is_error() || !Enter("'a if c else b'")) return Value();
  // As a real `if`: only one side runs, so a load in the other can't fault.
  const RegionId outer = emitter_.builder().region();
  const RegionId regions[] = {function().AddRegion(), function().AddRegion()};
  Value sides[2];
  for (int i = 0; i < 2; ++i) {
    emitter_.builder().set_region(regions[i]);
    sides[i] = Materialize(LowerExpr(i == 0 ? *expr.a : *expr.c));
  }
  Leave();
  emitter_.builder().set_region(outer);
  if (sides[0].is_error() || sides[1].is_error()) return Value();
  if (sides[0].is_ssa() && sides[1].is_ssa() && sides[0].type() != sides[1].type() && sides[0].type().is_number() &&
      sides[1].type().is_number() && sides[0].type().shape() == sides[1].type().shape()) {
    // Numbers of different types meet as in arithmetic.
    const Promotion p = Promote(sides[0].type().dtype(), false, sides[1].type().dtype(), false, false);
    for (int i = 0; i < 2 && p.dtype != DType::kNone; ++i) {
      emitter_.builder().set_region(regions[i]);
      sides[i] = emitter_.Cast(sides[i], p.dtype);
    }
    emitter_.builder().set_region(outer);
  }
  if (!sides[0].SameStructure(sides[1])) {
    return Error(absl::StrCat("both sides of 'a if c else b' must have one type, found ", sides[0].Describe(), " and ",
                              sides[1].Describe()));
  }
  std::vector<Type> types;
  for (int i = 0; i < 2; ++i) {
    std::vector<ValueId> ids;
    sides[i].Flatten(&ids);
    if (i == 0) {
      for (ValueId id : ids) types.push_back(function().type(id));
    }
    emitter_.builder().set_region(regions[i]);
    emitter_.builder().Create(Op::kYield, ids, {});
  }
  emitter_.builder().set_region(outer);
  const OpId op = emitter_.builder().Create(Op::kIf, {condition.id()}, types, {}, regions);
  const std::vector<ValueId> results(function().op(op).results.begin(), function().op(op).results.end());
  for (const Value& side : sides) {
    std::vector<ValueId> ids;
    side.Flatten(&ids);
    read_only().Follow(function(), ids, results);
  }
  absl::Span<const ValueId> rest = results;
  return sides[0].Unflatten(&rest);
}

Value FunctionLowering::CallLambda(const Value& lambda, const CallArguments& arguments) {
  constexpr int kMaxDepth = 100;
  const std::vector<ExprPtr>& parameters = lambda.lambda()->items;
  if (lambda.owner() != this) {
    return Error("a lambda can be called in the function that it is written in only",
                 "write a helper function with @triton.jit");
  }
  if (!arguments.keywords.empty() || arguments.positional.size() != parameters.size()) {
    return Error(absl::StrCat("the lambda takes ", Count(parameters.size(), "argument"), " by position, found ",
                              arguments.positional.size() + arguments.keywords.size()));
  }
  if (lambda_depth_ >= kMaxDepth) return Error("recursion: the lambda calls itself, directly or through others");
  // Its other names mean what they mean now, as in Python.
  const Variables outer = variables_;
  for (size_t i = 0; i < parameters.size(); ++i) variables_[parameters[i]->name] = arguments.positional[i];
  ++lambda_depth_;
  Value result = LowerExpr(*lambda.lambda()->a);
  --lambda_depth_;
  variables_ = outer;
  return result;
}

Value FunctionLowering::LowerFString(const Expr& expr) {
  std::string text;
  for (const ExprPtr& part : expr.items) {
    if (part->kind == ExprKind::kString) {
      text += part->text;
      continue;
    }
    Value value = LowerExpr(*part->a);
    if (value.is_error()) return value;
    if (value.is_ssa() && !value.known()) {
      text += TritonName(value.type());  // a run-time value shows its type
      continue;
    }
    HostPtr host_value = ToHost(value, "a value in an f-string");
    if (host_value == nullptr) return Value();
    absl::StatusOr<std::string> formatted = host().Format(host_value, part->text, part->name);
    if (!formatted.ok()) return Error(std::string(formatted.status().message()));
    text += *formatted;
  }
  return Value::Of(text);
}

Value FunctionLowering::LowerListComp(const Expr& expr) {
  Value iterable = LowerExpr(*expr.c);
  if (iterable.is_error()) return iterable;
  std::vector<Value> inputs;
  if (iterable.is_tuple()) {
    inputs = iterable.items();
  } else if (iterable.kind() == ValueKind::kRange) {
    std::optional<std::vector<Value>> values = ConstantRange(iterable, "a range in a comprehension");
    if (!values) return Value();
    inputs = *std::move(values);
  } else {
    return Error(absl::StrCat("a comprehension runs over a tuple or a constant range, not over ", iterable.Describe()));
  }
  const Variables saved = variables_;
  std::vector<Value> items;
  for (const Value& input : inputs) {
    if (!CountRound()) break;
    Assign(*expr.b, input);
    bool keep = true;
    for (const ExprPtr& condition : expr.items) {
      Value holds = LowerExpr(*condition);
      std::optional<Constant> known = holds.AsConstant();
      if (!known) {
        variables_ = saved;
        return holds.is_error() ? holds : Error("the condition of a comprehension must be known at compile time");
      }
      keep = keep && IsTrue(*known);
    }
    if (keep) items.push_back(LowerExpr(*expr.a));
  }
  variables_ = saved;
  return Value::Tuple(std::move(items));
}

bool FunctionLowering::HasMethod(const Value& self, absl::string_view name) {
  if (self.is_ssa() && self.type().is_desc()) return IsBuiltin(absl::StrCat("desc.", name));
  if (IsTensorMethod(name)) return true;
  HostPtr member = host().LanguageMember(name);
  return member != nullptr && member->kind() == HostKind::kFunction;
}

// --- attributes and indices
// --------------------------------------------------------------------------------------------

Value FunctionLowering::TypeAttribute(const Type& type, const std::string& name) {
  if (name == "scalar") return Value::Of(type.is_none() ? type : type.AsScalar());
  if (name == "element_ty") {
    return type.is_pointer() ? Value::Of(type.AsScalar().Pointee()) : Value::Of(type.AsScalar());
  }
  if (name == "name") return Value::Of(TritonName(type));
  if (name == "shape") {
    std::vector<Value> items;
    for (int64_t extent : type.shape()) items.push_back(Value::Of(Int{extent}));
    return Value::Tuple(std::move(items));
  }
  if (!type.is_none()) {
    const Type scalar = type.AsScalar();
    if (name == "primitive_bitwidth" || name == "int_bitwidth") {
      return Value::Of(Int{scalar.is_pointer() ? 64 : vm::InfoOf(scalar.dtype()).bits});
    }
    if (name == "itemsize") return Value::Of(Int{scalar.element_bytes()});
  }
  return Value::Method(Value::Of(type), name);
}

Value FunctionLowering::GetAttribute(const Value& value, const std::string& name) {
  if (value.is_error()) return value;
  if (value.is_aggregate()) return AggregateAttribute(value, name);
  if (value.is_ssa()) {
    const Type& type = value.type();
    if (name == "type") return Value::Of(type);
    if (name == "dtype") {
      // As in Triton: the type of one element.
      return Value::Of(type.is_value() ? type.AsScalar() : Type::Scalar(type.dtype()));
    }
    if (type.is_desc()) {
      const size_t rank = static_cast<size_t>(type.rank());
      const auto part = [&](size_t from) {
        const auto first = value.items().begin() + static_cast<std::ptrdiff_t>(from);
        return Value::Tuple({first, first + static_cast<std::ptrdiff_t>(rank)});
      };
      if (name == "block_shape") return TypeAttribute(type, "shape");
      if (name == "shape" && value.items().size() == 2 * rank) return part(0);
      if (name == "strides" && value.items().size() == 2 * rank) return part(rank);
      if (name == "ndim") return Value::Of(Int{type.rank()});
    }
    if (name == "shape") return TypeAttribute(type, "shape");
    if (name == "numel") return Value::Of(Int{type.num_elements()});
    if (name == "rank" || name == "ndim") return Value::Of(Int{type.rank()});
    if (name == "T") return CallBuiltin("trans", {{value}, {}, span_});
    if (name == "value" && value.known()) return value;
    if (HasMethod(value, name)) return Value::Method(value, name);
    if (type.is_desc()) {
      return Error(absl::StrCat(value.Describe(), " has no attribute '", name, "'"),
                   "a tensor descriptor has load, store, gather, scatter, atomic_add and the other atomics");
    }
    return Error(
        absl::StrCat(value.Describe(), " has no attribute '", name, "'"),
        type.is_pointer() ? "a kernel sees a tensor as a pointer: pass its sizes and strides as parameters" : "");
  }
  if (value.is_constant()) {
    if (name == "value") return value;  // of a tl.constexpr
    if (name == "type") {
      const HostPtr self = ToHost(value, "the value");
      absl::StatusOr<HostPtr> type = MakeLanguageObject("constexpr_type", {self});
      return type.ok() ? Value::Host(*type) : Error(std::string(type.status().message()));
    }
    if (const Type* type = std::get_if<Type>(&value.constant())) return TypeAttribute(*type, name);
    if (IsNumber(value.constant())) {
      if (name == "dtype") return Value::Of(Type::Scalar(DTypeOfNumber(value.constant())));
      if (name == "shape") return Value::Tuple({});
      if (name == "bit_length" || name == "is_integer") {
        HostPtr self = ToHost(value, "the value");
        absl::StatusOr<HostPtr> member = self->GetAttribute(name);
        if (member.ok() && *member != nullptr) return Value::Host(*member);
      }
      if (HasMethod(value, name)) return Value::Method(value, name);
    }
  }
  if (value.is_tuple()) {
    for (size_t i = 0; i < value.fields().size(); ++i) {
      if (value.fields()[i] == name) return value.items()[i];
    }
    if (name == "value") return value;
    if (name == "type") {
      std::vector<HostPtr> types, names;
      for (const Value& item : value.items()) {
        const Value type = GetAttribute(item, "type");
        if (type.is_error()) return type;
        types.push_back(ToHost(type, "a type"));
      }
      for (const std::string& field : value.fields()) names.push_back(host().MakeString(field));
      const HostPtr fields = names.empty() ? host().MakeNone() : host().MakeTuple(names, {});
      absl::StatusOr<HostPtr> made = MakeLanguageObject("tuple_type", {host().MakeTuple(types, {}), fields});
      return made.ok() ? Value::Host(*made) : Error(std::string(made.status().message()));
    }
  }
  if (value.is_host() || (value.is_constant() && std::holds_alternative<std::string>(value.constant()))) {
    HostPtr self = ToHost(value, "the value");
    if (AggregateInfo(self) != nullptr) {
      if (std::optional<Value> member = AggregateMember(self, nullptr, name)) return *member;
    }
    absl::StatusOr<HostPtr> member = self->GetAttribute(name);
    if (!member.ok()) return Error(std::string(member.status().message()));
    if (*member != nullptr) {
      // A number behind a module or class can change like a global.
      if (value.is_host()) compilation_.globals.push_back({self, name, *member});
      return FromHost(*member);
    }
    return Error(absl::StrCat(value.Describe(), " has no attribute '", name, "'"),
                 DidYouMean(name, self->attribute_names()));
  }
  return Error(absl::StrCat(value.Describe(), " has no attribute '", name, "'"));
}

Value FunctionLowering::GetItem(const Value& value, const Value& index) {
  if (value.is_error() || index.is_error()) return Value();
  if (value.is_aggregate()) return CallAggregate(value, "__getitem__", {index}, "can't be indexed");
  for (const Value& part : index.items()) {
    if (part.is_error()) return Value();
  }
  if (value.is_tuple()) {
    const int64_t size = static_cast<int64_t>(value.items().size());
    if (index.kind() == ValueKind::kSlice) {
      int64_t part[3] = {0, size, 1};
      for (size_t i = 0; i < 3; ++i) {
        if (index.items()[i].is_none()) continue;
        std::optional<int64_t> given = emitter_.RequireInt(index.items()[i], "a slice of a tuple");
        if (!given) return Value();
        part[i] = i < 2 && *given < 0 ? *given + size : *given;
      }
      if (part[2] <= 0) return Error("a slice of a tuple needs a positive step");
      std::vector<Value> items;
      for (int64_t i = std::max<int64_t>(part[0], 0); i < std::min(part[1], size); i += part[2]) {
        items.push_back(value.items()[static_cast<size_t>(i)]);
      }
      return Value::Tuple(std::move(items));
    }
    std::optional<int64_t> i = emitter_.RequireInt(index, "the index of a tuple");
    if (!i) return Value();
    const int64_t at = *i < 0 ? *i + size : *i;
    if (at < 0 || at >= size) return Error(absl::StrCat("index ", *i, " is outside a tuple of ", size));
    return value.items()[static_cast<size_t>(at)];
  }
  if (value.is_constant() && std::holds_alternative<std::string>(value.constant())) {
    const std::string& text = std::get<std::string>(value.constant());
    std::optional<int64_t> i = emitter_.RequireInt(index, "the index of a string");
    if (!i) return Value();
    const int64_t at = *i < 0 ? *i + static_cast<int64_t>(text.size()) : *i;
    if (at < 0 || at >= static_cast<int64_t>(text.size())) return Error("index outside the string");
    return Value::Of(std::string(1, text[static_cast<size_t>(at)]));
  }
  if (value.is_host()) {
    if (HostPtr key = ToHost(index, "the index"); key != nullptr) {
      absl::StatusOr<HostPtr> item = value.host()->Binary("[]", key);
      return item.ok() ? FromHost(*item) : Error(std::string(item.status().message()));
    }
    return Value();
  }
  if (!value.is_ssa() || !value.type().is_value())
    return Error(absl::StrCat("unsupported tensor index: ", value.Describe(), " can't be indexed"));
  return GetTileItem(value, index.is_tuple() ? index.items() : std::vector<Value>{index});
}

}  // namespace trivet::frontend
