#include "jit/analysis/range_info.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "jit/analysis/assumptions.h"
#include "jit/analysis/dataflow.h"
#include "vm/bytecode/builder.h"
#include "vm/bytecode/printer.h"

namespace trivet::jit {

using vm::CmpPredicate;
using vm::DType;
using vm::Op;
using vm::Operation;
using vm::Type;

namespace {

// Products and sums of two int64 are exact in it.
using Wide = __int128;

constexpr Range kAnything{std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};

// [lo, hi] if the type holds all of it, else what the type can hold: it may have wrapped.
Range Fit(DType dtype, Wide lo, Wide hi) {
  const Range full = Range::Full(dtype);
  if (dtype == DType::kU64 && lo < 0) return full;
  if (lo < full.lo || hi > full.hi) return full;
  return {static_cast<int64_t>(lo), static_cast<int64_t>(hi)};
}

Range Union(const Range& a, const Range& b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }

// Both hold. If they contradict each other, the code is not reached; the first then serves as well.
Range Intersect(const Range& a, const Range& b) {
  const Range both{std::max(a.lo, b.lo), std::min(a.hi, b.hi)};
  return both.lo <= both.hi ? both : a;
}

// True or false where the ranges decide the comparison for all pairs.
Range Compare(CmpPredicate predicate, const Range& a, const Range& b) {
  const auto decided = [](bool always, bool never) -> Range { return {always ? 1 : 0, never ? 0 : 1}; };
  switch (predicate) {
    case CmpPredicate::kEq:
      return decided(a.is_constant() && a == b, a.hi < b.lo || b.hi < a.lo);
    case CmpPredicate::kNe:
      return decided(a.hi < b.lo || b.hi < a.lo, a.is_constant() && a == b);
    case CmpPredicate::kLt:
      return decided(a.hi < b.lo, a.lo >= b.hi);
    case CmpPredicate::kLe:
      return decided(a.hi <= b.lo, a.lo > b.hi);
    case CmpPredicate::kGt:
      return decided(a.lo > b.hi, a.hi <= b.lo);
    case CmpPredicate::kGe:
      return decided(a.lo >= b.hi, a.hi < b.lo);
  }
  return {0, 1};
}

// Smallest 2^k - 1 that is at least x. Requires x >= 0.
int64_t AllOnesFrom(int64_t x) {
  int64_t ones = 0;
  while (ones < x) ones = ones * 2 + 1;
  return ones;
}

class RangeDataflow : public ForwardDataflow<Range> {
 public:
  RangeDataflow(const vm::Function& fn, const ArgumentFacts& facts)
      : ForwardDataflow(fn), argument_facts_(facts), assumptions_(fn) {}

 protected:
  Range Unknown(const Type& type) const override { return type.is_integer() ? Range::Full(type.dtype()) : kAnything; }

  Range Parameter(size_t index) const override {
    const Type& type = fn().type(fn().params()[index]);
    const Range full = Unknown(type);
    if (!type.is_integer() || type.dtype() == DType::kU64) return full;
    const ArgumentFact fact = argument_facts_.Of(index);
    if (fact.constant) return Intersect(full, {*fact.constant, *fact.constant});
    return fact.is_positive ? Intersect(full, {1, full.hi}) : full;
  }

  Range Join(const Range& a, const Range& b) const override { return Union(a, b); }

  // A bound that moves once is taken to move for ever.
  Range Widen(const Type& type, const Range& before, const Range& now) const override {
    const Range full = Unknown(type);
    return {now.lo < before.lo ? full.lo : now.lo, now.hi > before.hi ? full.hi : now.hi};
  }

  // Upwards, the counter stays below `upper`; downwards, above it. A loop that never runs leaves any range right.
  Range Counter(const Operation& loop) const override {
    const Range lower = Get(loop.operand(vm::ForOp::In::lower));
    const Range upper = Get(loop.operand(vm::ForOp::In::upper));
    const Range step = Get(loop.operand(vm::ForOp::In::step));
    const Type& type = fn().type(loop.operand(vm::ForOp::In::lower));
    const Range full = Unknown(type);
    if (type.dtype() == DType::kU64) return full;
    Range counter = full;
    if (step.lo > 0) counter = {lower.lo, std::max(lower.lo, upper.hi == full.lo ? full.lo : upper.hi - 1)};
    if (step.hi < 0) counter = {std::min(lower.hi, upper.lo == full.hi ? full.hi : upper.lo + 1), lower.hi};
    return counter;
  }

  Range Transfer(const Operation& op, size_t index) const override {
    const Type& type = fn().type(op.results[index]);
    if (!type.is_integer()) return Unknown(type);
    const DType dtype = type.dtype();
    const Range full = Range::Full(dtype);
    const auto in = [&](int i) { return Get(op.operand(i)); };
    switch (op.opcode) {
      case Op::kConstant: {
        const int64_t value = vm::IntValueOf(dtype, op.int_attr(vm::ConstantOp::At::value));
        return {value, value};
      }
      case Op::kArange:
        return {op.int_attr(vm::ArangeOp::At::start), op.int_attr(vm::ArangeOp::At::end) - 1};
      case Op::kProgramId:
        return {0, full.hi - 1};
      case Op::kNumPrograms:
        return {1, full.hi};
      case Op::kAddI:
        return Fit(dtype, Wide{in(0).lo} + in(1).lo, Wide{in(0).hi} + in(1).hi);
      case Op::kSubI:
        return Fit(dtype, Wide{in(0).lo} - in(1).hi, Wide{in(0).hi} - in(1).lo);
      case Op::kMulI:
        return Product(dtype, in(0), in(1));
      case Op::kDivI:
        return Quotient(dtype, in(0), in(1));
      case Op::kRemI:
        return Remainder(dtype, in(0), in(1));
      case Op::kAndI:
        if (in(0).is_constant() && in(1).is_constant()) return {in(0).lo & in(1).lo, in(0).lo & in(1).lo};
        return And(dtype, in(0), in(1));
      case Op::kOrI:
      case Op::kXorI:
        if (in(0).is_constant() && in(1).is_constant()) {
          const int64_t bits = op.opcode == Op::kOrI ? in(0).lo | in(1).lo : in(0).lo ^ in(1).lo;
          return {bits, bits};
        }
        if (in(0).lo < 0 || in(1).lo < 0) return full;
        return {op.opcode == Op::kOrI ? std::max(in(0).lo, in(1).lo) : 0, AllOnesFrom(std::max(in(0).hi, in(1).hi))};
      case Op::kShl:
        if (!in(1).is_constant() || in(1).lo < 0 || in(1).lo > 62) return full;
        return Product(dtype, in(0), {int64_t{1} << in(1).lo, int64_t{1} << in(1).lo});
      case Op::kShr:
        return ShiftedRight(dtype, in(0), in(1));
      case Op::kMinI:
        if (dtype == DType::kU64 && (in(0).lo < 0 || in(1).lo < 0)) return full;
        return {std::min(in(0).lo, in(1).lo), std::min(in(0).hi, in(1).hi)};
      case Op::kMaxI:
        if (dtype == DType::kU64 && (in(0).lo < 0 || in(1).lo < 0)) return full;
        return {std::max(in(0).lo, in(1).lo), std::max(in(0).hi, in(1).hi)};
      case Op::kAbsI:
        if (in(0).lo >= 0) return in(0);
        if (in(0).lo == full.lo) return full;
        return {0, std::max(-in(0).lo, in(0).hi)};
      case Op::kClz:
      case Op::kPopc:
      case Op::kFfs:
        return {0, vm::InfoOf(fn().type(op.operand(0)).dtype()).bits};
      case Op::kCmpI:
        return Comparison(op);
      case Op::kSelect:
        if (in(0) == Range{1, 1}) return in(1);
        if (in(0) == Range{0, 0}) return in(2);
        return Union(in(1), in(2));
      case Op::kCast:
        return Cast(op, dtype);
      case Op::kSplat:
      case Op::kBroadcast:
      case Op::kExpandDims:
      case Op::kReshape:
      case Op::kTrans:
      case Op::kSplit:
      case Op::kFlip:
      case Op::kGather:
      case Op::kSlice:
      case Op::kExtract:
      case Op::kSort:
      case Op::kTopK:
      case Op::kHint:
        return in(0);
      case Op::kJoin:
      case Op::kCat:
      case Op::kInsertSlice:
        return Union(in(0), in(1));
      case Op::kHistogram:
        return {0, fn().type(op.operand(0)).num_elements()};
      default:  // nothing is known: loads, atomics, reductions, calls
        return full;
    }
  }

  Range Refine(ValueId value, Range range) const override {
    const Type& type = fn().type(value);
    if (!type.is_integer() || type.dtype() == DType::kU64) return range;
    const Range full = Range::Full(type.dtype());
    for (const Assumption& assumed : assumptions_.Of(value)) {
      if (assumed.modulus != 0) continue;
      const int64_t bound = assumed.bound;
      switch (assumed.predicate) {
        case CmpPredicate::kEq:
          range = Intersect(range, {bound, bound});
          break;
        case CmpPredicate::kNe:
          if (bound == range.lo && range.lo < range.hi) ++range.lo;
          if (bound == range.hi && range.lo < range.hi) --range.hi;
          break;
        case CmpPredicate::kLt:
          if (bound > full.lo) range = Intersect(range, {full.lo, bound - 1});
          break;
        case CmpPredicate::kLe:
          range = Intersect(range, {full.lo, bound});
          break;
        case CmpPredicate::kGt:
          if (bound < full.hi) range = Intersect(range, {bound + 1, full.hi});
          break;
        case CmpPredicate::kGe:
          range = Intersect(range, {bound, full.hi});
          break;
      }
    }
    return range;
  }

 private:
  static Range Product(DType dtype, const Range& a, const Range& b) {
    const Wide corners[] = {Wide{a.lo} * b.lo, Wide{a.lo} * b.hi, Wide{a.hi} * b.lo, Wide{a.hi} * b.hi};
    return Fit(dtype, *std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4));
  }

  // Truncated towards zero. A divisor that may be zero gives all ones: -1, or the largest unsigned number.
  static Range Quotient(DType dtype, const Range& a, const Range& b) {
    const Range full = Range::Full(dtype);
    if (b.Contains(0) || (dtype == DType::kU64 && (a.lo < 0 || b.lo < 0))) return full;
    const Wide corners[] = {Wide{a.lo} / b.lo, Wide{a.lo} / b.hi, Wide{a.hi} / b.lo, Wide{a.hi} / b.hi};
    return Fit(dtype, *std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4));
  }

  // Below the divisor in magnitude, at most the dividend in magnitude, with the dividend's sign.
  static Range Remainder(DType dtype, const Range& a, const Range& b) {
    const Range full = Range::Full(dtype);
    if (b.Contains(0) || (dtype == DType::kU64 && (a.lo < 0 || b.lo < 0))) return full;
    const Wide limit = std::max(b.lo < 0 ? -Wide{b.lo} : Wide{b.lo}, b.hi < 0 ? -Wide{b.hi} : Wide{b.hi}) - 1;
    return Fit(dtype, a.lo >= 0 ? Wide{0} : std::max(-limit, Wide{a.lo}),
               a.hi <= 0 ? Wide{0} : std::min(limit, Wide{a.hi}));
  }

  static Range And(DType dtype, const Range& a, const Range& b) {
    const Range full = Range::Full(dtype);
    if (a.lo >= 0 && b.lo >= 0) return {0, std::min(a.hi, b.hi)};
    if (a.lo >= 0) return {0, a.hi};
    if (b.lo >= 0) return {0, b.hi};
    return full;
  }

  static Range ShiftedRight(DType dtype, const Range& a, const Range& by) {
    if (dtype == DType::kU64 && a.lo < 0) return Range::Full(dtype);
    if (!by.is_constant() || by.lo < 0) return {std::min<int64_t>(a.lo, 0), std::max<int64_t>(a.hi, 0)};
    const int64_t amount = std::min<int64_t>(by.lo, 63);
    return {a.lo >> amount, a.hi >> amount};
  }

  Range Comparison(const Operation& op) const {
    const Type& type = fn().type(op.operand(0));
    const Range a = Get(op.operand(0));
    const Range b = Get(op.operand(1));
    if (!type.is_integer() || (type.dtype() == DType::kU64 && (a.lo < 0 || b.lo < 0))) return {0, 1};
    return Compare(op.enum_attr<CmpPredicate>(vm::CmpIOp::At::predicate), a, b);
  }

  Range Cast(const Operation& op, DType to) const {
    const Type& from = fn().type(op.operand(0));
    const Range full = Range::Full(to);
    if (!from.is_integer()) return full;
    const Range range = Get(op.operand(0));
    if (to == DType::kI1) return {range.Contains(0) ? 0 : 1, range == Range{0, 0} ? 0 : 1};
    if (from.dtype() == DType::kU64 && range.lo < 0) return full;
    return Fit(to, range.lo, range.hi);
  }

  const ArgumentFacts& argument_facts_;
  const Assumptions assumptions_;
};

}  // namespace

Range Range::Full(DType dtype) {
  const vm::DTypeInfo& info = vm::InfoOf(dtype);
  if (info.dtype_class == vm::DTypeClass::kFloat || info.bits == 64) return kAnything;
  if (info.dtype_class != vm::DTypeClass::kSigned) return {0, (int64_t{1} << info.bits) - 1};
  return {-(int64_t{1} << (info.bits - 1)), (int64_t{1} << (info.bits - 1)) - 1};
}

std::string Range::ToString() const { return absl::StrCat("[", lo, ", ", hi, "]"); }

RangeAnalysis RangeAnalysis::Run(const vm::Function& fn, const ArgumentFacts& facts) {
  RangeDataflow dataflow(fn, facts);
  dataflow.Solve();
  const std::vector<std::optional<Range>> found = std::move(dataflow).TakeFacts();
  RangeAnalysis analysis;
  analysis.ranges_.reserve(found.size());
  for (size_t i = 0; i < found.size(); ++i) {
    const Type& type = fn.type(ValueId(static_cast<uint32_t>(i)));
    const bool is_integer = type.is_integer();
    analysis.ranges_.push_back(found[i].value_or(is_integer ? Range::Full(type.dtype()) : kAnything));
    analysis.is_unsigned_.push_back(is_integer && !vm::IsSignedInteger(type.dtype()));
  }
  return analysis;
}

std::string RangeAnalysis::Why(const vm::Function& fn, ValueId value) const {
  const vm::ValueNames names(fn);
  std::string text = absl::StrCat(names.Of(value), " is ", Get(value).ToString());
  const OpId id = DefiningOps(fn)[value.index()];
  if (id.is_none()) return text;
  const char* separator = ": ";
  for (ValueId operand : fn.op(id).operands) {
    if (operand.is_none() || !fn.type(operand).is_integer()) continue;
    absl::StrAppend(&text, separator, names.Of(operand), " is ", Get(operand).ToString());
    separator = ", ";
  }
  return text;
}

}  // namespace trivet::jit
