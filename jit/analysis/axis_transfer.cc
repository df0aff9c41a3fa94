#include "jit/analysis/axis_transfer.h"

#include <algorithm>
#include <bit>

#include "vm/bytecode/builder.h"

namespace trivet::jit {

using vm::CmpPredicate;
using vm::HintKind;
using vm::Op;
using vm::Operation;
using vm::Type;
using vm::TypeRule;

namespace {

// Product of two powers of two, at most kMaxDivisibility.
int64_t Times(int64_t a, int64_t b) { return b > kMaxDivisibility / a ? kMaxDivisibility : a * b; }

size_t At(int axis) { return static_cast<size_t>(axis); }

// The largest aligned run along `axis` whose elements differ in their lowest bits only: it begins at a multiple of its
// length, so adding the position carries into nothing. Within it nothing wraps either, signed or not: the type's ends
// are multiples of 2^(width - 1).
int64_t CarryFreeRun(const AxisInfo& info, int axis, const Type& type) {
  const int bits = type.is_pointer() ? 64 : vm::InfoOf(type.dtype()).bits;
  int64_t run = std::min(info.contiguity[At(axis)], info.divisibility[At(axis)] / info.unit);
  if (bits <= 62) run = std::min(run, int64_t{1} << (bits - 1));
  return std::max<int64_t>(run, 1);
}

// One transfer: what all functions below share. Axes without a better idea keep what Unknown says.
class Transfer {
 public:
  Transfer(const AxisTransferInput& in, size_t index)
      : in_(in), type_(in.fn.type(in.op.results[index])), result_(AxisInfo::Unknown(type_)) {}

  AxisInfo Run() {
    Dispatch();
    // A claim about every element serves all axes.
    const int64_t of_all = result_.DivisibilityOfAll();
    for (int axis = 0; axis < result_.rank(); ++axis) {
      if (result_.contiguity[At(axis)] == 1) result_.divisibility[At(axis)] = of_all;
    }
    return result_;
  }

 private:
  void Dispatch();
  void ElementwiseConstancy();
  void Add();
  void Subtract();
  void Multiply();
  void Divide();
  void Remainder();
  void And();
  void OrXor();
  void ShiftLeft();
  void ShiftRight();
  void MinMax();
  void Compare();
  void Select();
  void Cast();
  void AddPtr();
  void Constant();
  void Arange();
  void Splat();
  void Broadcast();
  void ExpandDims();
  void Reshape();
  void Trans();
  void Join();
  void Cat();
  void Flip();
  void Slice();
  void Hint();
  void BlockPointer(bool has_offsets);

  const AxisInfo& arg(int i) const { return in_.operands[At(i)]; }
  const Type& arg_type(int i) const { return in_.fn.type(in_.op.operand(i)); }
  int rank() const { return result_.rank(); }
  int64_t extent(int axis) const { return type_.rank() == 0 ? 1 : type_.dim(axis); }
  // Operand `i` is not negative, not zero; or is trusted not to be, from this degree of trust on.
  bool IsNonNegative(int i, Trust from) const {
    return in_.trust >= from || in_.ranges.IsNonNegative(in_.op.operand(i));
  }
  bool IsNonZero(int i, Trust from) const { return in_.trust >= from || in_.ranges.IsNonZero(in_.op.operand(i)); }
  void Raise(AxisInfo::PerAxis& of, int axis, int64_t to) { of[At(axis)] = std::max(of[At(axis)], to); }
  // As operand `i` in all respects; another type or numbers of another width keep no constant.
  void Copy(int i) {
    result_ = arg(i);
    if (arg_type(i).AsScalar() != type_.AsScalar()) result_.constant.reset();
  }
  void DivisibilityOfEveryElement(int64_t divisibility) {
    for (int axis = 0; axis < rank(); ++axis) Raise(result_.divisibility, axis, divisibility);
  }

  const AxisTransferInput& in_;
  const Type& type_;
  AxisInfo result_;
};

// Equal operands give equal results.
void Transfer::ElementwiseConstancy() {
  for (int axis = 0; axis < rank(); ++axis) {
    int64_t run = PowerOfTwoIn(extent(axis));
    for (int i = 0; i < static_cast<int>(in_.op.operands.size()); ++i) {
      // A scalar condition of a select is the same for all.
      if (arg_type(i).rank() == type_.rank()) run = std::min(run, arg(i).constancy[At(axis)]);
    }
    result_.constancy[At(axis)] = run;
  }
}

// A run plus the same number everywhere is a run.
void Transfer::Add() {
  ElementwiseConstancy();
  const AxisInfo &a = arg(0), &b = arg(1);
  for (int axis = 0; axis < rank(); ++axis) {
    const int64_t run = std::max(std::min(a.contiguity[At(axis)], b.constancy[At(axis)]),
                                 std::min(a.constancy[At(axis)], b.contiguity[At(axis)]));
    result_.contiguity[At(axis)] = run;
    result_.divisibility[At(axis)] = std::min(a.DivisibilityAt(axis, run), b.DivisibilityAt(axis, run));
  }
}

void Transfer::Subtract() {
  ElementwiseConstancy();
  const AxisInfo &a = arg(0), &b = arg(1);
  for (int axis = 0; axis < rank(); ++axis) {
    const int64_t run = std::min(a.contiguity[At(axis)], b.constancy[At(axis)]);
    result_.contiguity[At(axis)] = run;
    result_.divisibility[At(axis)] = std::min(a.DivisibilityAt(axis, run), b.DivisibilityAt(axis, run));
  }
}

void Transfer::Multiply() {
  if (arg(0).constant == 1) return Copy(1);
  if (arg(1).constant == 1) return Copy(0);
  ElementwiseConstancy();
  DivisibilityOfEveryElement(Times(arg(0).DivisibilityOfAll(), arg(1).DivisibilityOfAll()));
}

// In a carry-free run that is shorter than a power of two in the divisor, all elements have the quotient of the first:
// [s, s + K) has no multiple of K inside. Rounding is towards zero, so the run must not be negative.
void Transfer::Divide() {
  if (arg(1).constant == 1) return Copy(0);
  ElementwiseConstancy();
  const AxisInfo &a = arg(0), &b = arg(1);
  for (int axis = 0; axis < rank(); ++axis) {
    int64_t run = 1;
    if (IsNonNegative(0, Trust::kArithmetic)) {
      run = std::min({CarryFreeRun(a, axis, type_), b.constancy[At(axis)], b.DivisibilityAt(axis, 1)});
    }
    Raise(result_.constancy, axis, run);
    if (b.constant && *b.constant > 0 && std::has_single_bit(static_cast<uint64_t>(*b.constant))) {
      result_.divisibility[At(axis)] = std::max<int64_t>(1, a.DivisibilityAt(axis, run) / *b.constant);
    }
  }
}

// The same runs: the first element has a remainder that is a multiple of K and at most divisor - K.
void Transfer::Remainder() {
  ElementwiseConstancy();
  if (!IsNonZero(1, Trust::kRemainders)) return;  // the remainder may be all ones
  const AxisInfo &a = arg(0), &b = arg(1);
  for (int axis = 0; axis < rank(); ++axis) {
    int64_t run = 1;
    if (IsNonNegative(0, Trust::kRemainders)) {
      run = std::min({CarryFreeRun(a, axis, type_), b.constancy[At(axis)], b.DivisibilityAt(axis, 1)});
    }
    result_.contiguity[At(axis)] = run;
    result_.divisibility[At(axis)] = std::min(a.DivisibilityAt(axis, run), b.DivisibilityAt(axis, 1));
  }
}

// x & mask: low bits that the mask keeps still count up; low bits that it clears no longer tell elements apart.
void Transfer::And() {
  ElementwiseConstancy();
  for (int axis = 0; axis < rank(); ++axis) {
    for (int side : {0, 1}) {
      const AxisInfo &x = arg(side), &mask = arg(1 - side);
      const int64_t carry_free = CarryFreeRun(x, axis, type_);
      const int64_t cleared = std::min({carry_free, mask.constancy[At(axis)], mask.DivisibilityAt(axis, 1)});
      Raise(result_.constancy, axis, cleared);
      const int64_t kept_bits = mask.constant ? PowerOfTwoIn(~*mask.constant) : 1;
      const int64_t kept = std::min(carry_free, kept_bits);
      if (kept > 1) {
        result_.contiguity[At(axis)] = kept;
        result_.divisibility[At(axis)] = x.DivisibilityAt(axis, kept);
        break;
      }
      Raise(result_.divisibility, axis, std::max(x.DivisibilityAt(axis, cleared), mask.DivisibilityAt(axis, 1)));
    }
  }
}

// x | y, x ^ y: where the low bits of y are clear, those of x count up; where `or` sets them, all elements are equal.
void Transfer::OrXor() {
  ElementwiseConstancy();
  for (int axis = 0; axis < rank(); ++axis) {
    int64_t run = 1;
    for (int side : {0, 1}) {
      const AxisInfo &x = arg(side), &y = arg(1 - side);
      const int64_t carry_free = CarryFreeRun(x, axis, type_);
      run = std::max(run, std::min({carry_free, y.constancy[At(axis)], y.DivisibilityAt(axis, 1)}));
      if (in_.op.opcode == Op::kOrI && y.constant) {
        Raise(result_.constancy, axis, std::min(carry_free, PowerOfTwoIn(~*y.constant)));
      }
    }
    result_.contiguity[At(axis)] = run;
    result_.divisibility[At(axis)] = std::min(arg(0).DivisibilityAt(axis, run), arg(1).DivisibilityAt(axis, run));
  }
}

// A multiplication, if the distance is known; at least no power of two is lost.
void Transfer::ShiftLeft() {
  const std::optional<int64_t> by = arg(1).constant;
  if (by == 0) return Copy(0);
  ElementwiseConstancy();
  const int64_t factor = by && *by > 0 && *by < 62 ? int64_t{1} << *by : 1;
  DivisibilityOfEveryElement(Times(arg(0).DivisibilityOfAll(), factor));
}

// A division by a power of two that rounds down, so runs may be negative.
void Transfer::ShiftRight() {
  const std::optional<int64_t> by = arg(1).constant;
  if (by == 0) return Copy(0);
  ElementwiseConstancy();
  if (!by || *by < 0 || *by >= 62) return;
  const int64_t divisor = int64_t{1} << *by;
  for (int axis = 0; axis < rank(); ++axis) {
    const int64_t run = std::min(CarryFreeRun(arg(0), axis, type_), divisor);
    Raise(result_.constancy, axis, run);
    result_.divisibility[At(axis)] = std::max<int64_t>(1, arg(0).DivisibilityAt(axis, run) / divisor);
  }
}

void Transfer::MinMax() {
  ElementwiseConstancy();
  DivisibilityOfEveryElement(std::min(arg(0).DivisibilityOfAll(), arg(1).DivisibilityOfAll()));
}

// run < bound, where the run begins at a multiple of K and the bound is one: the bound does not lie inside, so the run
// is all below or all not. The same for >=, and with sides swapped for > and <=.
void Transfer::Compare() {
  ElementwiseConstancy();
  const auto predicate = in_.op.enum_attr<CmpPredicate>(vm::CmpIOp::At::predicate);
  if (predicate == CmpPredicate::kEq || predicate == CmpPredicate::kNe) return;
  const int side = predicate == CmpPredicate::kLt || predicate == CmpPredicate::kGe ? 0 : 1;
  const AxisInfo &run = arg(side), &bound = arg(1 - side);
  for (int axis = 0; axis < rank(); ++axis) {
    Raise(result_.constancy, axis,
          std::min({CarryFreeRun(run, axis, arg_type(side)), bound.constancy[At(axis)],
                    std::max<int64_t>(1, bound.DivisibilityAt(axis, 1) / bound.unit)}));
  }
}

// Runs of one condition keep the runs that both sides have.
void Transfer::Select() {
  if (in_.ranges.IsAlwaysTrue(in_.op.operand(0))) return Copy(1);
  if (in_.ranges.IsAlwaysFalse(in_.op.operand(0))) return Copy(2);
  const AxisInfo &condition = arg(0), &a = arg(1), &b = arg(2);
  const bool is_scalar_choice = arg_type(0).rank() == 0;
  result_ = JoinAxisInfo(a, b);
  if (is_scalar_choice) return;
  ElementwiseConstancy();
  for (int axis = 0; axis < rank(); ++axis) {
    const int64_t run = std::min(result_.contiguity[At(axis)], condition.constancy[At(axis)]);
    result_.contiguity[At(axis)] = run;
    result_.divisibility[At(axis)] = std::min(a.DivisibilityAt(axis, run), b.DivisibilityAt(axis, run));
  }
}

// An integer as one of more bits: runs that may wrap in the narrow type are cut to those that can't.
AxisInfo Widened(AxisInfo info, const Type& from, Trust trust) {
  info.constant.reset();
  if (trust == Trust::kArithmetic) return info;
  for (int axis = 0; axis < info.rank(); ++axis) {
    const int64_t run = CarryFreeRun(info, axis, from);
    info.divisibility[At(axis)] = info.DivisibilityAt(axis, run);
    info.contiguity[At(axis)] = run;
  }
  return info;
}

void Transfer::Cast() {
  const Type& from = arg_type(0);
  if (from == type_) return Copy(0);
  ElementwiseConstancy();
  if (!from.is_integer() || !type_.is_integer() || type_.is_bool()) return;
  if (vm::InfoOf(from.dtype()).bits < vm::InfoOf(type_.dtype()).bits) {
    result_ = Widened(arg(0), from, in_.trust);
  } else {
    Copy(0);  // claims are modulo a power of two already
  }
}

// As addi, with bytes: the offset is extended to 64 bits, then counts elements.
void Transfer::AddPtr() {
  ElementwiseConstancy();
  const Type& offset_type = arg_type(vm::AddPtrOp::In::offset);
  const AxisInfo& ptr = arg(vm::AddPtrOp::In::ptr);
  AxisInfo offset = arg(vm::AddPtrOp::In::offset);
  if (vm::InfoOf(offset_type.dtype()).bits < 64) offset = Widened(offset, offset_type, in_.trust);
  for (int axis = 0; axis < rank(); ++axis) {
    const int64_t run = std::max(std::min(ptr.contiguity[At(axis)], offset.constancy[At(axis)]),
                                 std::min(ptr.constancy[At(axis)], offset.contiguity[At(axis)]));
    result_.contiguity[At(axis)] = run;
    result_.divisibility[At(axis)] =
        std::min(ptr.DivisibilityAt(axis, run), Times(offset.DivisibilityAt(axis, run), ptr.unit));
  }
}

void Transfer::Constant() {
  for (int axis = 0; axis < rank(); ++axis) result_.constancy[At(axis)] = PowerOfTwoIn(extent(axis));
  if (!type_.is_integer()) return;
  result_.constant = vm::IntValueOf(type_.dtype(), in_.op.int_attr(vm::ConstantOp::At::value));
  DivisibilityOfEveryElement(PowerOfTwoIn(*result_.constant));
}

void Transfer::Arange() {
  const int64_t start = in_.op.int_attr(vm::ArangeOp::At::start);
  const int64_t run = PowerOfTwoIn(extent(0));
  result_.contiguity[0] = run;
  // Runs begin at start, start + run, ...
  result_.divisibility[0] = run == extent(0) ? PowerOfTwoIn(start) : std::min(PowerOfTwoIn(start), run);
}

void Transfer::Splat() {
  result_.constant = arg(0).constant;
  DivisibilityOfEveryElement(arg(0).DivisibilityOfAll());
  for (int axis = 0; axis < rank(); ++axis) result_.constancy[At(axis)] = PowerOfTwoIn(extent(axis));
}

void Transfer::Broadcast() {
  Copy(0);
  for (int axis = 0; axis < rank(); ++axis) {
    if (arg_type(0).dim(axis) == extent(axis)) continue;
    result_.contiguity[At(axis)] = 1;
    result_.constancy[At(axis)] = PowerOfTwoIn(extent(axis));
  }
}

void Transfer::ExpandDims() {
  const auto axis = static_cast<std::ptrdiff_t>(in_.op.int_attr(vm::ExpandDimsOp::At::axis));
  const int64_t of_all = arg(0).DivisibilityOfAll();
  Copy(0);
  result_.contiguity.insert(result_.contiguity.begin() + axis, 1);
  result_.divisibility.insert(result_.divisibility.begin() + axis, of_all);
  result_.constancy.insert(result_.constancy.begin() + axis, 1);
}

// Axes fall into groups of equal size, as in 8x(4x2) -> (8x4)x2: each group is one line of elements in row-major order.
void Transfer::Reshape() {
  const AxisInfo& x = arg(0);
  result_.constant = x.constant;
  const int64_t of_all = x.DivisibilityOfAll();
  DivisibilityOfEveryElement(of_all);
  if (in_.op.bool_attr(vm::ReshapeOp::At::allow_reorder) && !x.constant) return;
  const Type::Shape &from = arg_type(0).shape(), &to = type_.shape();
  size_t i = 0;
  size_t j = 0;
  while (i < from.size() || j < to.size()) {
    const size_t first_from = i;
    const size_t first_to = j;
    int64_t size_from = i < from.size() ? from[i++] : 1;
    int64_t size_to = j < to.size() ? to[j++] : 1;
    while (size_from != size_to) {
      if (size_from < size_to) {
        size_from *= from[i++];
      } else {
        size_to *= to[j++];
      }
    }
    // The line: runs of the innermost axis, and longer runs of equal elements where whole axes are equal.
    int64_t contiguity = 1;
    int64_t divisibility = of_all;
    int64_t constancy = 1;
    int64_t length = 1;
    for (size_t axis = i; axis-- > first_from;) {
      if (from[axis] == 1) continue;
      if (length == 1) {
        contiguity = x.contiguity[axis];
        divisibility = x.divisibility[axis];
      }
      if (constancy == length) constancy *= x.constancy[axis];
      length *= from[axis];
    }
    int64_t stride = 1;
    for (size_t axis = j; axis-- > first_to;) {
      const int64_t most = PowerOfTwoIn(to[axis]);
      if (stride == 1 && to[axis] > 1) {
        const int64_t run = std::min(contiguity, most);
        result_.contiguity[axis] = run;
        result_.divisibility[axis] = run == contiguity ? divisibility : std::min(divisibility, Times(run, x.unit));
        result_.constancy[axis] = std::min(constancy, most);
      } else if (constancy % stride == 0) {
        result_.constancy[axis] = std::min(constancy / stride, most);
      }
      stride *= to[axis];
    }
  }
}

void Transfer::Trans() {
  result_.constant = arg(0).constant;
  const std::vector<int64_t>& order = in_.op.ints_attr(vm::TransOp::At::order);
  for (size_t axis = 0; axis < order.size(); ++axis) {
    const auto from = static_cast<size_t>(order[axis]);
    result_.contiguity[axis] = arg(0).contiguity[from];
    result_.divisibility[axis] = arg(0).divisibility[from];
    result_.constancy[axis] = arg(0).constancy[from];
  }
}

// The axes of both sides, and a last one whose two elements have nothing in common. (Scalars: that axis alone.)
void Transfer::Join() {
  const AxisInfo both = JoinAxisInfo(arg(0), arg(1));
  result_.constant = both.constant;
  for (int axis = 0; axis + 1 < rank(); ++axis) {
    result_.contiguity[At(axis)] = both.contiguity[At(axis)];
    result_.divisibility[At(axis)] = both.divisibility[At(axis)];
    result_.constancy[At(axis)] = both.constancy[At(axis)];
  }
  result_.divisibility[At(rank() - 1)] = both.DivisibilityOfAll();
  if (both.constant) result_.constancy[At(rank() - 1)] = 2;
}

// Runs stay aligned, since they divide the extent of the first part.
void Transfer::Cat() {
  if (in_.op.bool_attr(vm::CatOp::At::can_reorder)) {
    return DivisibilityOfEveryElement(std::min(arg(0).DivisibilityOfAll(), arg(1).DivisibilityOfAll()));
  }
  result_ = JoinAxisInfo(arg(0), arg(1));
  const auto axis = static_cast<int>(in_.op.int_attr(vm::CatOp::At::axis));
  const int64_t most = std::min(PowerOfTwoIn(arg_type(0).dim(axis)), PowerOfTwoIn(arg_type(1).dim(axis)));
  result_.constancy[At(axis)] = std::min(result_.constancy[At(axis)], most);
}

// Runs of equal elements survive; runs that count up now count down.
void Transfer::Flip() {
  const auto axis = static_cast<int>(in_.op.int_attr(vm::FlipOp::At::axis));
  Copy(0);
  result_.divisibility[At(axis)] = arg(0).DivisibilityAt(axis, 1);
  result_.contiguity[At(axis)] = 1;
}

// A part that begins at a multiple of a run, without gaps, keeps it.
void Transfer::Slice() {
  const std::vector<int64_t>& starts = in_.op.ints_attr(vm::SliceOp::At::starts);
  const std::vector<int64_t>& steps = in_.op.ints_attr(vm::SliceOp::At::steps);
  const AxisInfo& x = arg(0);
  result_.constant = x.constant;
  for (int axis = 0; axis < rank(); ++axis) {
    int64_t most = 1;
    if (steps[At(axis)] == 1) most = std::min(PowerOfTwoIn(starts[At(axis)]), PowerOfTwoIn(extent(axis)));
    const int64_t run = std::min(x.contiguity[At(axis)], most);
    result_.contiguity[At(axis)] = run;
    result_.divisibility[At(axis)] = x.DivisibilityAt(axis, run);
    result_.constancy[At(axis)] = x.constant ? PowerOfTwoIn(extent(axis)) : std::min(x.constancy[At(axis)], most);
  }
}

// The author's promise, taken on trust. The three kinds belong together, so a multiple is one of the run's first
// element even if the contiguity is only promised further on.
void Transfer::Hint() {
  Copy(0);
  const std::vector<int64_t>& values = in_.op.ints_attr(vm::HintOp::At::values);
  for (int axis = 0; axis < std::min(rank(), static_cast<int>(values.size())); ++axis) {
    const int64_t promised = PowerOfTwoIn(values[At(axis)]);
    const int64_t most = PowerOfTwoIn(extent(axis));
    switch (in_.op.enum_attr<HintKind>(vm::HintOp::At::kind)) {
      case HintKind::kMultipleOf:
        Raise(result_.divisibility, axis, promised);
        break;
      case HintKind::kMaxContiguous:
        Raise(result_.contiguity, axis, std::min(promised, most));
        break;
      case HintKind::kMaxConstancy:
        Raise(result_.constancy, axis, std::min(promised, most));
        break;
    }
  }
}

// What the tile of pointers has that the block stands for: origin + sum over axes of index * stride.
void Transfer::BlockPointer(bool has_offsets) {
  const int64_t unit = result_.unit;
  int64_t origin = arg(0).divisibility[0];
  const auto shape = [&](int axis) -> const AxisInfo& { return arg(1 + axis); };
  const auto stride = [&](int axis) -> const AxisInfo& { return arg(1 + rank() + axis); };
  const auto offset = [&](int axis) -> const AxisInfo& { return arg(1 + 2 * rank() + axis); };
  for (int axis = 0; axis < rank(); ++axis) {
    result_.stride_divisibility[At(axis)] = Times(stride(axis).divisibility[0], unit);
    result_.constancy[At(axis)] = std::min(PowerOfTwoIn(extent(axis)), shape(axis).divisibility[0]);
    if (!has_offsets) continue;
    origin = std::min(origin, Times(offset(axis).divisibility[0], result_.stride_divisibility[At(axis)]));
    result_.constancy[At(axis)] = std::min(result_.constancy[At(axis)], offset(axis).divisibility[0]);
  }
  for (int axis = 0; axis < rank(); ++axis) {
    int64_t divisibility = origin;
    for (int other = 0; other < rank(); ++other) {
      if (extent(other) == 1) continue;
      if (other != axis || stride(axis).constant != 1) {
        divisibility = std::min(divisibility, result_.stride_divisibility[At(other)]);
      }
    }
    if (stride(axis).constant == 1) {
      const int64_t run = PowerOfTwoIn(extent(axis));
      result_.contiguity[At(axis)] = run;
      if (run != extent(axis)) divisibility = std::min(divisibility, Times(run, unit));
    }
    result_.divisibility[At(axis)] = divisibility;
  }
}

void Transfer::Dispatch() {
  switch (in_.op.opcode) {
    case Op::kConstant:
      return Constant();
    case Op::kArange:
      return Arange();
    case Op::kAddI:
      return Add();
    case Op::kSubI:
      return Subtract();
    case Op::kMulI:
      return Multiply();
    case Op::kDivI:
      return Divide();
    case Op::kRemI:
      return Remainder();
    case Op::kAndI:
      return And();
    case Op::kOrI:
    case Op::kXorI:
      return OrXor();
    case Op::kShl:
      return ShiftLeft();
    case Op::kShr:
      return ShiftRight();
    case Op::kMinI:
    case Op::kMaxI:
      return MinMax();
    case Op::kCmpI:
      return Compare();
    case Op::kSelect:
      return Select();
    case Op::kCast:
      return Cast();
    case Op::kBitcast:
      if (type_.is_pointer() && arg(0).unit == result_.unit) return Copy(0);
      ElementwiseConstancy();
      if (type_.is_pointer()) DivisibilityOfEveryElement(arg(0).DivisibilityOfAll());
      return;
    case Op::kPtrToInt:
    case Op::kIntToPtr:
      ElementwiseConstancy();
      return DivisibilityOfEveryElement(arg(0).DivisibilityOfAll());
    case Op::kAddPtr:
      return AddPtr();
    case Op::kSplat:
      return Splat();
    case Op::kBroadcast:
      return Broadcast();
    case Op::kExpandDims:
      return ExpandDims();
    case Op::kReshape:
      return Reshape();
    case Op::kTrans:
      return Trans();
    case Op::kJoin:
      return Join();
    case Op::kCat:
      return Cat();
    case Op::kFlip:
      return Flip();
    case Op::kSlice:
      return Slice();
    case Op::kSplit:
      result_.constant = arg(0).constant;
      for (int axis = 0; axis < rank() && axis + 1 < arg(0).rank(); ++axis) {
        result_.contiguity[At(axis)] = arg(0).contiguity[At(axis)];
        result_.divisibility[At(axis)] = arg(0).divisibility[At(axis)];
        result_.constancy[At(axis)] = arg(0).constancy[At(axis)];
      }
      return DivisibilityOfEveryElement(arg(0).DivisibilityOfAll());
    case Op::kGather:
    case Op::kExtract:
    case Op::kSort:
    case Op::kTopK:
      result_.constant = arg(0).constant;
      if (type_.is_integer() || type_.is_pointer()) DivisibilityOfEveryElement(arg(0).DivisibilityOfAll());
      return;
    case Op::kInsertSlice:
      return DivisibilityOfEveryElement(std::min(arg(0).DivisibilityOfAll(), arg(1).DivisibilityOfAll()));
    case Op::kHint:
      return Hint();
    case Op::kMakeBlockPtr:
      return BlockPointer(/*has_offsets=*/true);
    case Op::kMakeDesc:
      return BlockPointer(/*has_offsets=*/false);
    case Op::kAdvance:
      result_ = MoveBlock(arg(0), in_.operands.subspan(1));
      return;
    default:
      break;
  }
  switch (in_.op.info().rule) {
    case TypeRule::kSameInteger:
    case TypeRule::kSameFloat:
    case TypeRule::kIntFloat:
    case TypeRule::kFloatInt:
    case TypeRule::kFloatToI32:
    case TypeRule::kFloatToBool:
    case TypeRule::kCompareFloat:
      return ElementwiseConstancy();
    default:  // program ids, loads, reductions, dots: nothing is known
      return;
  }
}

}  // namespace

AxisInfo TransferAxisInfo(const AxisTransferInput& in, size_t index) { return Transfer(in, index).Run(); }

AxisInfo JoinAxisInfo(const AxisInfo& a, const AxisInfo& b) {
  AxisInfo joined = a;
  for (int axis = 0; axis < a.rank(); ++axis) {
    const int64_t run = std::min(a.contiguity[At(axis)], b.contiguity[At(axis)]);
    joined.contiguity[At(axis)] = run;
    joined.divisibility[At(axis)] = std::min(a.DivisibilityAt(axis, run), b.DivisibilityAt(axis, run));
    joined.constancy[At(axis)] = std::min(a.constancy[At(axis)], b.constancy[At(axis)]);
  }
  for (size_t axis = 0; axis < a.stride_divisibility.size(); ++axis) {
    joined.stride_divisibility[axis] = std::min(a.stride_divisibility[axis], b.stride_divisibility[axis]);
  }
  if (a.constant != b.constant) joined.constant.reset();
  return joined;
}

AxisInfo MoveBlock(AxisInfo block, absl::Span<const AxisInfo> offsets) {
  int64_t moved = kMaxDivisibility;
  for (int axis = 0; axis < block.rank(); ++axis) {
    moved = std::min(moved, Times(offsets[At(axis)].divisibility[0], block.stride_divisibility[At(axis)]));
    block.constancy[At(axis)] = std::min(block.constancy[At(axis)], offsets[At(axis)].divisibility[0]);
  }
  for (int64_t& divisibility : block.divisibility) divisibility = std::min(divisibility, moved);
  return block;
}

int64_t PowerOfTwoIn(int64_t value) {
  if (value == 0) return kMaxDivisibility;
  return std::min(kMaxDivisibility, int64_t{1} << std::min(62, std::countr_zero(static_cast<uint64_t>(value))));
}

}  // namespace trivet::jit
