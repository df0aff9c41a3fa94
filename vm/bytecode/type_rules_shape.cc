// Type rules of the ops that change shapes, and of matrices. Shapes are row-major; [.., M, K] has at most one axis in
// front of M.
#include <algorithm>
#include <optional>

#include "vm/bytecode/type_rules.h"

namespace trivet::vm {
namespace {

using Shape = Type::Shape;

Shape WithoutAxis(const Shape& shape, int64_t axis) {
  Shape result = shape;
  result.erase(result.begin() + axis);
  return result;
}

// "x" with another shape is what `out` must be.
bool ResultShape(TypeChecker& check, const Slot& x, const Shape& shape) {
  return check.Is(check.Out(), x->WithShape(shape));
}

// `part` is a box of `whole`: starts, steps, one number an axis.
void CheckPart(TypeChecker& check, const Slot& whole, const Slot& part, int starts_attr, int steps_attr) {
  if (!check.Tile(whole) || !check.Tile(part)) return;
  check.SameElements(whole, part);
  if (!check.Require(whole->rank() == part->rank(), "ranks differ: ", whole.Describe(), ", ", part.Describe())) return;
  if (!check.Length(starts_attr, whole->rank()) || !check.Length(steps_attr, whole->rank())) return;
  const std::vector<int64_t>& starts = check.op().ints_attr(starts_attr);
  const std::vector<int64_t>& steps = check.op().ints_attr(steps_attr);
  for (int axis = 0; axis < whole->rank(); ++axis) {
    const int64_t start = starts[static_cast<size_t>(axis)];
    const int64_t step = steps[static_cast<size_t>(axis)];
    const int64_t extent = whole->dim(axis);
    if (!check.Require(step >= 1, "steps must be at least 1: axis ", axis, " has ", step)) continue;
    // start + (n - 1) * step < extent, without overflow.
    const bool inside = start >= 0 && start < extent && part->dim(axis) - 1 <= (extent - 1 - start) / step;
    check.Require(inside, "axis ", axis, " reaches outside: start ", start, ", step ", step, ", ", part.Describe(),
                  ", ", whole.Describe());
  }
}

bool IsFloat8(DType dtype) { return IsFloat(dtype) && InfoOf(dtype).bits == 8; }

// The element types that a dot of these inputs may sum in; empty if the pair has no dot.
std::vector<DType> Accumulators(DType a, DType b) {
  if (IsFloat8(a) && IsFloat8(b)) return {DType::kF32, DType::kF16};
  if (a != b) return {};
  switch (a) {
    case DType::kI8:
    case DType::kU8:
      return {DType::kI32};
    case DType::kF16:
    case DType::kBF16:
      return {DType::kF32, DType::kF16, DType::kBF16};
    case DType::kF32:
      return {DType::kF32};
    case DType::kF64:
      return {DType::kF64};
    case DType::kNone:
    case DType::kI1:
    case DType::kI16:
    case DType::kI32:
    case DType::kI64:
    case DType::kU16:
    case DType::kU32:
    case DType::kU64:
    case DType::kF8E4M3:
    case DType::kF8E5M2:
    case DType::kF8E4B8:
    case DType::kF8E5B16:
    case DType::kF8E4B15:
      return {};
  }
  return {};
}

// a, b, acc are tiles of one rank, 2 or 3, with the same batch extent.
bool CheckMatrices(TypeChecker& check, const Slot& a, const Slot& b, const Slot& acc) {
  bool sound = true;
  for (const Slot* slot : {&a, &b, &acc}) {
    sound &= check.Must((*slot)->is_tile() && (*slot)->is_number() && ((*slot)->rank() == 2 || (*slot)->rank() == 3),
                        *slot, "a tile of rank 2 or 3");
  }
  if (!sound) return false;
  if (!check.Require(a->rank() == b->rank() && a->rank() == acc->rank(), "ranks differ: ", a.Describe(), ", ",
                     b.Describe(), ", ", acc.Describe())) {
    return false;
  }
  if (a->rank() == 3) {
    check.SameExtent("batch", a->dim(0), a, b->dim(0), b);
    check.SameExtent("batch", a->dim(0), a, acc->dim(0), acc);
  }
  check.SameType(acc, check.Out());
  return true;
}

// Element types that hold one side of a scaled dot.
std::vector<DType> StorageOf(ScaledFormat format) {
  switch (format) {
    case ScaledFormat::kE2M1:
      return {DType::kU8};
    case ScaledFormat::kE4M3:
      return {DType::kF8E4M3, DType::kU8};
    case ScaledFormat::kE5M2:
      return {DType::kF8E5M2, DType::kU8};
    case ScaledFormat::kBF16:
      return {DType::kBF16};
    case ScaledFormat::kFP16:
      return {DType::kF16};
  }
  return {};
}

// A scale: u8 [.., rows, K / 32], of the side `of` whose logical K is `k`.
void CheckScale(TypeChecker& check, const Slot& scale, const Slot& of, int64_t rows, int64_t k) {
  if (!check.Require(k % 32 == 0, "K must be a multiple of 32 with ", scale.name(), ": it is ", k)) return;
  Shape shape = of->shape();
  shape[shape.size() - 2] = rows;
  shape[shape.size() - 1] = k / 32;
  check.Is(scale, Type::Tile(shape, DType::kU8));
}

}  // namespace

// x: a scalar. result: a tile of such elements.
void CheckSplat(TypeChecker& check) {
  if (!check.Scalar(check.In(0)) || !check.Tile(check.Out())) return;
  check.SameElements(check.In(0), check.Out());
}

// Extents of x are 1 or those of the result.
void CheckBroadcast(TypeChecker& check) {
  const Slot x = check.In(0);
  const Slot out = check.Out();
  if (!check.Tile(x) || !check.Tile(out)) return;
  check.SameElements(x, out);
  if (!check.Require(x->rank() == out->rank(), "ranks differ: ", x.Describe(), ", ", out.Describe())) return;
  for (int axis = 0; axis < x->rank(); ++axis) {
    check.Require(x->dim(axis) == 1 || x->dim(axis) == out->dim(axis), "axis ", axis,
                  " can't be repeated: ", x.Describe(), ", ", out.Describe());
  }
}

// x: [A.., B..]   result: [A.., 1, B..]
void CheckExpandDims(TypeChecker& check) {
  const Slot x = check.In(0);
  if (!check.Value(x) || !check.Range(ExpandDimsOp::At::axis, 0, x->rank())) return;
  Shape shape = x->shape();
  shape.insert(shape.begin() + check.op().int_attr(ExpandDimsOp::At::axis), 1);
  ResultShape(check, x, shape);
}

// As many elements; a scalar counts as one.
void CheckReshape(TypeChecker& check) {
  const Slot x = check.In(0);
  const Slot out = check.Out();
  if (!check.Value(x) || !check.Value(out)) return;
  check.SameElements(x, out);
  check.SameExtent("number of elements", x->num_elements(), x, out->num_elements(), out);
}

void CheckTrans(TypeChecker& check) {
  const Slot x = check.In(0);
  if (!check.Tile(x) || !check.Permutation(TransOp::At::order, x->rank())) return;
  Shape shape;
  for (int64_t axis : check.op().ints_attr(TransOp::At::order)) shape.push_back(x->dim(static_cast<int>(axis)));
  ResultShape(check, x, shape);
}

// lhs, rhs: [A..]   result: [A.., 2]
void CheckJoin(TypeChecker& check) {
  const Slot lhs = check.In(0);
  if (!check.Value(lhs) || !check.SameType(lhs, check.In(1))) return;
  Shape shape = lhs->shape();
  shape.push_back(2);
  ResultShape(check, lhs, shape);
}

// x: [A.., 2]   results: [A..]
void CheckSplit(TypeChecker& check) {
  const Slot x = check.In(0);
  if (!check.Tile(x)) return;
  if (!check.Require(x->dim(-1) == 2, "the last extent must be 2: ", x.Describe())) return;
  const Type half = x->WithShape(WithoutAxis(x->shape(), x->rank() - 1));
  check.Is(check.Out(0), half);
  check.Is(check.Out(1), half);
}

// Extents equal but along axis, where they add up.
void CheckCat(TypeChecker& check) {
  const Slot lhs = check.In(0);
  const Slot rhs = check.In(1);
  if (!check.Tile(lhs) || !check.Tile(rhs)) return;
  check.SameElements(lhs, rhs);
  if (!check.Require(lhs->rank() == rhs->rank(), "ranks differ: ", lhs.Describe(), ", ", rhs.Describe())) return;
  if (!check.Axis(CatOp::At::axis, lhs)) return;
  const auto axis = static_cast<int>(check.op().int_attr(CatOp::At::axis));
  for (int i = 0; i < lhs->rank(); ++i) {
    if (i != axis) check.SameExtent(absl::StrCat("axis ", i), lhs->dim(i), lhs, rhs->dim(i), rhs);
  }
  Shape shape = lhs->shape();
  shape[static_cast<size_t>(axis)] += rhs->dim(axis);
  ResultShape(check, lhs, shape);
}

// flip, sort: result as x. Pointers can be flipped, not sorted.
void CheckSameTypeAxis(TypeChecker& check) {
  static_assert(int{FlipOp::At::axis} == int{SortOp::At::axis});
  const Slot x = check.In(0);
  if (check.op().opcode == Op::kSort && !check.Number(x)) return;
  if (!check.Tile(x)) return;
  check.Axis(FlipOp::At::axis, x);
  check.SameType(x, check.Out());
}

// x: [A.., N, B..]   index: [A.., I, B..] of integers   result: shape of index, elements of x
void CheckGather(TypeChecker& check) {
  const Slot x = check.In(0);
  const Slot index = check.In(1);
  if (!check.Tile(x) || !check.Tile(index) || !check.WideInteger(index)) return;
  if (!check.Require(x->rank() == index->rank(), "ranks differ: ", x.Describe(), ", ", index.Describe())) return;
  if (!check.Axis(GatherOp::At::axis, x)) return;
  for (int i = 0; i < x->rank(); ++i) {
    if (i == check.op().int_attr(GatherOp::At::axis)) continue;
    check.SameExtent(absl::StrCat("axis ", i), x->dim(i), x, index->dim(i), index);
  }
  ResultShape(check, x, index->shape());
}

void CheckSlice(TypeChecker& check) {
  CheckPart(check, check.In(0), check.Out(), SliceOp::At::starts, SliceOp::At::steps);
}

void CheckInsertSlice(TypeChecker& check) {
  CheckPart(check, check.In(0), check.In(1), InsertSliceOp::At::starts, InsertSliceOp::At::steps);
  check.SameType(check.In(0), check.Out());
}

// x: a tile; indices: one scalar an axis.
void CheckExtract(TypeChecker& check) {
  const Slot x = check.In(0);
  if (!check.Tile(x)) return;
  if (check.Count(x->rank())) check.Scalars(0, x->rank(), {DType::kI32, DType::kI64}, "index");
  check.Is(check.Out(), x->AsScalar());
}

// x: integers [A..]   mask: i1 [A..]   result: i32 [bins]
void CheckHistogram(TypeChecker& check) {
  const Slot x = check.In(HistogramOp::In::x);
  const Slot out = check.Out();
  check.Tile(x) && check.WideInteger(x);
  if (check.Has(HistogramOp::In::mask)) {
    const Slot mask = check.In(HistogramOp::In::mask);
    check.Bool(mask) && check.SameShape(x, mask);
  }
  check.Must(out->is_tile() && out->rank() == 1 && out->is_number() && out->dtype() == DType::kI32, out,
             "a tile of i32 of rank 1");
}

// x: [A.., N, B..]   result: [A.., k, B..]   k <= N
void CheckTopK(TypeChecker& check) {
  const Slot x = check.In(0);
  const Slot out = check.Out();
  if (!check.Tile(x) || !check.Number(x) || !check.Tile(out)) return;
  check.SameElements(x, out);
  if (!check.Require(x->rank() == out->rank(), "ranks differ: ", x.Describe(), ", ", out.Describe())) return;
  if (!check.Axis(TopKOp::At::axis, x)) return;
  const auto axis = static_cast<int>(check.op().int_attr(TopKOp::At::axis));
  for (int i = 0; i < x->rank(); ++i) {
    if (i != axis) check.SameExtent(absl::StrCat("axis ", i), x->dim(i), x, out->dim(i), out);
  }
  check.Require(out->dim(axis) <= x->dim(axis), "k is ", out->dim(axis), ", more than the ", x->dim(axis),
                " elements along axis ", axis);
}

// a: [.., M, K]   b: [.., K, N]   acc, result: [.., M, N]
void CheckDot(TypeChecker& check) {
  const Slot a = check.In(DotOp::In::a);
  const Slot b = check.In(DotOp::In::b);
  const Slot acc = check.In(DotOp::In::acc);
  check.Range(DotOp::At::max_num_imprecise_acc, 0, INT32_MAX);
  if (!CheckMatrices(check, a, b, acc)) return;
  check.SameExtent("K", a->dim(-1), a, b->dim(-2), b);
  check.SameExtent("M", a->dim(-2), a, acc->dim(-2), acc);
  check.SameExtent("N", b->dim(-1), b, acc->dim(-1), acc);
  const std::vector<DType> accumulators = Accumulators(a->dtype(), b->dtype());
  if (!check.Require(!accumulators.empty(), "no dot of these element types: ", a.Describe(), ", ", b.Describe()))
    return;
  check.OneOf(acc, accumulators, absl::StrCat("for ", InfoOf(a->dtype()).text, " inputs"));
}

// a: [.., M, K]   b: [.., K, N]   a_scale: [.., M, K/32]   b_scale: [.., N, K/32]   acc, result: f32 [.., M, N]
// e2m1 has two elements a byte, along K; without k_pack along M (of a) or N (of b).
void CheckDotScaled(TypeChecker& check) {
  using In = DotScaledOp::In;
  using At = DotScaledOp::At;
  const Slot a = check.In(In::a);
  const Slot b = check.In(In::b);
  const Slot acc = check.In(In::acc);
  if (!CheckMatrices(check, a, b, acc)) return;
  const auto a_format = check.op().enum_attr<ScaledFormat>(At::a_format);
  const auto b_format = check.op().enum_attr<ScaledFormat>(At::b_format);
  check.OneOf(a, StorageOf(a_format),
              absl::StrCat("for format ", EnumText(AttrEnum::kScaledFormat, check.op().int_attr(At::a_format))));
  check.OneOf(b, StorageOf(b_format),
              absl::StrCat("for format ", EnumText(AttrEnum::kScaledFormat, check.op().int_attr(At::b_format))));
  check.Elements(acc, DType::kF32);
  int64_t m = a->dim(-2), a_k = a->dim(-1), b_k = b->dim(-2), n = b->dim(-1);
  if (a_format == ScaledFormat::kE2M1) (check.op().bool_attr(At::a_k_pack) ? a_k : m) *= 2;
  if (b_format == ScaledFormat::kE2M1) (check.op().bool_attr(At::b_k_pack) ? b_k : n) *= 2;
  check.SameExtent("K, unpacked,", a_k, a, b_k, b);
  check.SameExtent("M, unpacked,", m, a, acc->dim(-2), acc);
  check.SameExtent("N, unpacked,", n, b, acc->dim(-1), acc);
  if (check.Has(In::a_scale)) CheckScale(check, check.In(In::a_scale), a, m, a_k);
  if (check.Has(In::b_scale)) CheckScale(check, check.In(In::b_scale), b, n, b_k);
}

}  // namespace trivet::vm
