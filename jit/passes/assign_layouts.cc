#include "jit/passes/assign_layouts.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "jit/passes/dot_layouts.h"
#include "vm/base/status.h"

namespace trivet::jit {
namespace {

using vm::Function;
using vm::Op;
using vm::Operation;
using vm::Type;
using vm::TypeRule;

// How an op's operands and results lie relative to each other.
enum class Shaping {
  kSame,       // all tiles in one layout
  kReshape,    // the same index bits under another shape
  kBroadcast,  // the operand lacks the axes that are repeated
  kTrans,
  kReduce,
  kJoin,
  kSplit,
  kDot,
  kFree,  // through shared memory: operands as they are, results as they are wanted
  kControl,
};

Shaping ShapingOf(const Operation& op) {
  switch (op.info().rule) {
    case TypeRule::kExpandDims:
    case TypeRule::kReshape:
      return Shaping::kReshape;
    case TypeRule::kBroadcast:
      return Shaping::kBroadcast;
    case TypeRule::kTrans:
      return Shaping::kTrans;
    case TypeRule::kReduce:
      return Shaping::kReduce;
    case TypeRule::kJoin:
      return Shaping::kJoin;
    case TypeRule::kSplit:
      return Shaping::kSplit;
    case TypeRule::kDot:
      return Shaping::kDot;
    case TypeRule::kSameTypeAxis:
      return op.opcode == Op::kFlip ? Shaping::kFree : Shaping::kSame;
    case TypeRule::kCat:
    case TypeRule::kSlice:
    case TypeRule::kInsertSlice:
    case TypeRule::kGather:
    case TypeRule::kExtract:
    case TypeRule::kHistogram:
    case TypeRule::kTopK:
    case TypeRule::kDotScaled:
    case TypeRule::kAnyValues:
    case TypeRule::kMakeBlockPtr:
    case TypeRule::kAdvance:
    case TypeRule::kBlockLoad:
    case TypeRule::kBlockStore:
    case TypeRule::kMakeDesc:
    case TypeRule::kDescLoad:
    case TypeRule::kDescStore:
    case TypeRule::kDescGather:
    case TypeRule::kDescScatter:
    case TypeRule::kDescReduce:
      return Shaping::kFree;
    case TypeRule::kFor:
    case TypeRule::kWhile:
    case TypeRule::kIf:
    case TypeRule::kTerminator:
    case TypeRule::kCall:
      return Shaping::kControl;
    default:
      return Shaping::kSame;
  }
}

// Ops whose result is cheaper to compute again than to move between threads.
bool IsCheap(const Operation& op) {
  switch (op.info().rule) {
    case TypeRule::kConstant:
    case TypeRule::kArange:
    case TypeRule::kSplat:
    case TypeRule::kSameInteger:
    case TypeRule::kCompareInteger:
    case TypeRule::kCompareFloat:
    case TypeRule::kSelect:
    case TypeRule::kCast:
    case TypeRule::kBitcast:
    case TypeRule::kPtrToInt:
    case TypeRule::kIntToPtr:
    case TypeRule::kAddPtr:
    case TypeRule::kHint:
    case TypeRule::kExpandDims:
    case TypeRule::kReshape:
    case TypeRule::kBroadcast:
    case TypeRule::kTrans:
      return true;
    default:
      return op.opcode == Op::kAddF || op.opcode == Op::kSubF || op.opcode == Op::kMulF || op.opcode == Op::kNegF;
  }
}

bool IsMemoryAccess(Op op) {
  return op == Op::kLoad || op == Op::kStore || op == Op::kAtomicRmw || op == Op::kAtomicCas;
}
bool HasScalarRegion(Op op) { return op == Op::kReduce || op == Op::kScan || op == Op::kMapElementwise; }

TileLayout BroadcastOperand(const TileLayout& result, absl::Span<const int64_t> operand_shape) {
  TileLayout layout = result;
  for (int axis = 0; axis < result.rank(); ++axis) {
    if (operand_shape[static_cast<size_t>(axis)] == 1 && result.shape()[static_cast<size_t>(axis)] != 1) {
      layout = layout.Collapsed(axis);
    }
  }
  return layout;
}

std::vector<int64_t> Inverse(absl::Span<const int64_t> order) {
  std::vector<int64_t> out(order.size());
  for (size_t i = 0; i < order.size(); ++i) out[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return out;
}

// The two halves of a new last axis of extent 2 in neighbouring registers.
TileLayout Joined(const TileLayout& half) {
  const auto shifted = [](std::vector<uint32_t> bases) {
    for (uint32_t& base : bases) base <<= 1;
    return bases;
  };
  std::vector<uint32_t> registers = shifted(half.register_bases());
  registers.insert(registers.begin(), 1);
  Extents shape = half.shape();
  shape.push_back(2);
  return TileLayout(std::move(shape), std::move(registers), shifted(half.lane_bases()), shifted(half.warp_bases()));
}

// `layout`, but with the last axis (of extent 2) in registers, so that a split needs no exchange.
TileLayout WithLastAxisInRegisters(const TileLayout& layout) {
  const auto without = [](std::vector<uint32_t> bases) {
    std::replace(bases.begin(), bases.end(), 1u, 0u);
    return bases;
  };
  std::vector<uint32_t> registers = layout.register_bases();
  if (std::find(registers.begin(), registers.end(), 1u) != registers.end()) return layout;
  registers.insert(registers.begin(), 1);
  return TileLayout(layout.shape(), std::move(registers), without(layout.lane_bases()), without(layout.warp_bases()));
}

// Bytes of consecutive addresses along `axis` that a warp touches at once: by the first registers, then by the lanes.
int64_t RunBytes(const TileLayout& layout, int axis, int element_bytes) {
  const AxisBits bits = layout.axis_bits(axis);
  int run = std::countr_zero(static_cast<unsigned>(layout.VectorLength(axis)));
  bool grows = true;
  while (grows && run < bits.bits) {
    const uint32_t next = uint32_t{1} << (bits.shift + run);
    grows = std::find(layout.lane_bases().begin(), layout.lane_bases().end(), next) != layout.lane_bases().end();
    if (grows) ++run;
  }
  return int64_t{element_bytes} << run;
}

class Assigner {
 public:
  Assigner(Function& fn, const AxisInfoAnalysis& axis_info, const LayoutOptions& options)
      : fn_(fn), axis_info_(axis_info), options_(options) {}

  absl::StatusOr<LayoutResult> Run();

 private:
  struct Class {
    std::optional<TileLayout> layout;
    int64_t weight = -1;
  };

  bool IsTile(ValueId v) const { return !v.is_none() && fn_.type(v).is_tile(); }
  bool IsFlexible(ValueId v) const { return v.index() < flexible_.size() && flexible_[v.index()]; }
  TileLayout Default(ValueId v) const { return DefaultLayout(fn_.type(v).shape(), options_.num_warps); }

  // --- classes
  uint32_t Find(uint32_t v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }
  void Unify(ValueId a, ValueId b) {
    if (!IsTile(a) || !IsTile(b) || IsFlexible(a) || IsFlexible(b)) return;
    parent_[Find(b.index())] = Find(a.index());
  }
  void UnifyAll(absl::Span<const ValueId> values) {
    ValueId first;
    for (ValueId v : values) {
      if (!IsTile(v) || IsFlexible(v)) continue;
      if (first) Unify(first, v);
      if (!first) first = v;
    }
  }
  void UnifyLists(absl::Span<const ValueId> a, absl::Span<const ValueId> b) {
    for (size_t i = 0; i < a.size() && i < b.size(); ++i) Unify(a[i], b[i]);
  }
  std::optional<TileLayout>& ClassOf(ValueId v) { return classes_[Find(v.index())].layout; }
  const TileLayout& LayoutOfClass(ValueId v) { return *ClassOf(v); }
  void Propose(ValueId v, const TileLayout& layout, int64_t weight) {
    if (!IsTile(v) || IsFlexible(v)) return;
    Class& c = classes_[Find(v.index())];
    if (weight > c.weight) c = {layout, weight};
  }
  bool Derive(ValueId v, const TileLayout& layout) {
    if (!IsTile(v) || IsFlexible(v) || ClassOf(v)) return false;
    ClassOf(v) = layout;
    return true;
  }

  absl::Status CheckExtents() const;
  void FindFlexible(RegionId region);
  void CollectClasses(RegionId region);
  // `loop`: the innermost loop around an op, `parent`: the op whose region it is in.
  void CollectControl(const Operation& op);
  void CollectTerminator(const Operation& op);
  void ProposeLayouts();
  bool DeriveFromNeighbours();
  void DecideClasses();
  TileLayout AccessLayout(const Operation& op) const;

  // --- rewriting
  // `value` in layout `want`: itself, a clone or a conversion.
  ValueId Get(ValueId value, const TileLayout& want);
  ValueId GetForOperandOfClone(const Operation& op, ValueId operand, const TileLayout& result);
  ValueId NewValueLike(ValueId value, int layout);
  void InsertAfter(ValueId value, OpId op);
  void Rewrite(RegionId region);
  void RewriteOp(OpId id);
  void RewriteControl(OpId id);
  void WantAll(OpId id, const TileLayout& layout);
  void Want(OpId id, size_t operand, const TileLayout& layout) {
    const ValueId wanted = Get(fn_.op(id).operands[operand], layout);
    fn_.op(id).operands[operand] = wanted;
  }
  // Tiles that no op constrains take their class's layout, or the default.
  void WantAnything(OpId id);
  // The layout in which a tile of kSame shaping is computed.
  TileLayout LayoutForSame(const Operation& op);
  void SetResults(const Operation& op, const TileLayout& layout) {
    for (ValueId result : op.results) {
      if (IsTile(result)) layouts_.Set(result, layouts_.Intern(layout));
    }
  }
  void SetResultsToClass(const Operation& op) {
    for (ValueId result : op.results) {
      if (IsTile(result)) layouts_.Set(result, layouts_.Intern(LayoutOfClass(result)));
    }
  }
  void Relink(RegionId region);

  Function& fn_;
  const AxisInfoAnalysis& axis_info_;
  const LayoutOptions& options_;

  std::vector<bool> flexible_;
  std::vector<uint32_t> parent_;
  std::vector<Class> classes_;
  std::vector<OpId> def_;           // of each value; none for parameters
  std::vector<RegionId> param_of_;  // of each parameter
  std::vector<OpId> parents_;       // the ops around the one looked at, outermost first
  LayoutTable layouts_;
  std::vector<absl::InlinedVector<ValueId, 3>> original_operands_;  // of each op, before any was rewritten
  std::vector<ValueId> origin_;
  std::map<std::pair<uint32_t, int>, ValueId> copies_;  // (value, layout)
  std::vector<std::vector<OpId>> after_op_;
  std::vector<std::vector<OpId>> at_start_;  // of regions
};

absl::Status Assigner::CheckExtents() const {
  for (uint32_t i = 0; i < fn_.num_values(); ++i) {
    const Type& type = fn_.type(ValueId(i));
    for (int64_t extent : type.shape()) {
      if (!std::has_single_bit(static_cast<uint64_t>(extent))) {
        return absl::UnimplementedError(
            absl::StrCat(type.ToString(), ": extents that are not powers of two are not lowered yet"));
      }
    }
  }
  return absl::OkStatus();
}

void Assigner::FindFlexible(RegionId region) {
  for (ValueId param : fn_.region(region).params) param_of_[param.index()] = region;
  for (OpId id : fn_.region(region).ops) {
    const Operation& op = fn_.op(id);
    for (ValueId result : op.results) def_[result.index()] = id;
    if (HasScalarRegion(op.opcode)) continue;
    for (RegionId inner : op.regions) FindFlexible(inner);
    if (op.results.size() != 1 || !IsTile(op.result()) || !IsCheap(op)) continue;
    flexible_[op.result().index()] =
        std::all_of(op.operands.begin(), op.operands.end(), [&](ValueId v) { return !IsTile(v) || IsFlexible(v); });
  }
}

void Assigner::CollectTerminator(const Operation& op) {
  if (parents_.empty()) return;  // return
  const auto loop = std::find_if(parents_.rbegin(), parents_.rend(), [&](OpId id) {
    return fn_.op(id).opcode == Op::kFor || fn_.op(id).opcode == Op::kWhile;
  });
  const Operation& parent = fn_.op(parents_.back());
  switch (op.opcode) {
    case Op::kYield:
      if (parent.opcode == Op::kWhile) return UnifyLists(fn_.region(parent.regions[0]).params, op.operands);
      return UnifyLists(parent.results, op.operands);
    case Op::kCondition:
      UnifyLists(parent.results, op.variadic());
      return UnifyLists(fn_.region(parent.regions[1]).params, op.variadic());
    case Op::kBreak:
      return UnifyLists(fn_.op(*loop).results, op.operands);
    case Op::kContinue: {
      const absl::Span<const ValueId> params = fn_.region(fn_.op(*loop).regions[0]).params;
      return UnifyLists(fn_.op(*loop).opcode == Op::kFor ? params.subspan(1) : params, op.operands);
    }
    default:
      return;
  }
}

void Assigner::CollectControl(const Operation& op) {
  if (op.info().is_terminator()) return CollectTerminator(op);
  if (op.opcode == Op::kFor) {
    const absl::Span<const ValueId> carried = absl::MakeConstSpan(fn_.region(op.regions[0]).params).subspan(1);
    UnifyLists(carried, op.variadic());
    UnifyLists(carried, op.results);
  }
  if (op.opcode == Op::kWhile) UnifyLists(fn_.region(op.regions[0]).params, op.variadic());
}

void Assigner::CollectClasses(RegionId region) {
  for (OpId id : fn_.region(region).ops) {
    const Operation& op = fn_.op(id);
    switch (ShapingOf(op)) {
      case Shaping::kSame:
        UnifyAll(op.operands);
        UnifyAll(op.results);
        if (!op.results.empty() && !op.operands.empty()) {
          for (ValueId operand : op.operands) Unify(op.result(), operand);
        }
        break;
      case Shaping::kReduce:
        UnifyAll(op.operands);
        UnifyAll(op.results);
        break;
      case Shaping::kDot:
        Unify(op.result(), op.operand(vm::DotOp::In::acc));
        break;
      case Shaping::kControl:
        CollectControl(op);
        break;
      default:
        break;
    }
    if (HasScalarRegion(op.opcode)) continue;
    parents_.push_back(id);
    for (RegionId inner : op.regions) CollectClasses(inner);
    parents_.pop_back();
  }
}

// The best layout for a load, store or atomic through a tile of pointers.
TileLayout Assigner::AccessLayout(const Operation& op) const {
  const ValueId pointer = op.operand(0);
  const Type pointee = fn_.type(pointer).Pointee();
  return CoalescedLayout(pointee.shape(), pointee.element_bytes(), &axis_info_.Get(pointer), options_.num_warps);
}

void Assigner::ProposeLayouts() {
  fn_.ForEachOp([&](OpId id) {
    const Operation& op = fn_.op(id);
    if (IsMemoryAccess(op.opcode) && IsTile(op.operand(0))) {
      const TileLayout layout = AccessLayout(op);
      const Type pointee = fn_.type(op.operand(0)).Pointee();
      const int64_t weight = pointee.num_elements() * pointee.element_bytes();
      for (ValueId v : op.results) Propose(v, layout, weight);
      for (ValueId v : op.operands) Propose(v, layout, weight);
    } else if (op.opcode == Op::kDot) {
      const auto mma = MmaLayouts(fn_, op, options_.num_warps, options_.compute_capability);
      if (mma) Propose(op.result(), mma->result, int64_t{1} << 40);
    } else if (op.opcode == Op::kBlockLoad || op.opcode == Op::kDescLoad || op.opcode == Op::kDescGather) {
      const Type& type = fn_.type(op.result());
      Propose(op.result(), CoalescedLayout(type.shape(), type.element_bytes(), nullptr, options_.num_warps),
              type.num_elements() * type.element_bytes());
    } else if (op.opcode == Op::kBlockStore || op.opcode == Op::kDescStore || op.opcode == Op::kDescReduce) {
      const Type& type = fn_.type(op.operand(1));
      Propose(op.operand(1), CoalescedLayout(type.shape(), type.element_bytes(), nullptr, options_.num_warps),
              type.num_elements() * type.element_bytes());
    }
  });
}

bool Assigner::DeriveFromNeighbours() {
  bool changed = false;
  fn_.ForEachOp([&](OpId id) {
    const Operation& op = fn_.op(id);
    if (op.results.empty() || op.operands.empty() || !IsTile(op.operand(0))) return;
    const ValueId x = op.operand(0);
    const ValueId result = op.result();
    const bool knows_x = !IsFlexible(x) && ClassOf(x).has_value();
    const bool knows_result = IsTile(result) && !IsFlexible(result) && ClassOf(result).has_value();
    switch (ShapingOf(op)) {
      case Shaping::kReshape:
        if (knows_x) changed |= Derive(result, LayoutOfClass(x).Reshaped(fn_.type(result).shape()));
        if (knows_result) changed |= Derive(x, LayoutOfClass(result).Reshaped(fn_.type(x).shape()));
        break;
      case Shaping::kBroadcast:
        if (knows_result) changed |= Derive(x, BroadcastOperand(LayoutOfClass(result), fn_.type(x).shape()));
        break;
      case Shaping::kTrans:
        if (knows_x) changed |= Derive(result, LayoutOfClass(x).Transposed(op.ints_attr(vm::TransOp::At::order)));
        if (knows_result) {
          changed |= Derive(x, LayoutOfClass(result).Transposed(Inverse(op.ints_attr(vm::TransOp::At::order))));
        }
        break;
      case Shaping::kReduce:
        if (knows_x && IsTile(result)) {
          changed |=
              Derive(result, LayoutOfClass(x).WithoutAxis(static_cast<int>(op.int_attr(vm::ReduceOp::At::axis))));
        }
        break;
      case Shaping::kJoin:
        if (knows_x) changed |= Derive(result, Joined(LayoutOfClass(x)));
        break;
      case Shaping::kSplit:
        if (knows_x) {
          const TileLayout half = WithLastAxisInRegisters(LayoutOfClass(x)).WithoutAxis(fn_.type(x).rank() - 1);
          for (ValueId r : op.results) changed |= Derive(r, half);
        }
        break;
      default:
        break;
    }
  });
  return changed;
}

void Assigner::DecideClasses() {
  ProposeLayouts();
  while (DeriveFromNeighbours()) continue;
  for (uint32_t i = 0; i < parent_.size(); ++i) {
    const ValueId v(i);
    if (Derive(v, Default(v))) {
      while (DeriveFromNeighbours()) continue;
    }
  }
}

ValueId Assigner::NewValueLike(ValueId value, int layout) {
  const Type type = fn_.type(value);
  const std::string name = fn_.value(value).name;
  const ValueId copy = fn_.AddValue(type, name);
  origin_.push_back(origin_[value.index()]);
  layouts_.Set(copy, layout);
  return copy;
}

void Assigner::InsertAfter(ValueId value, OpId op) {
  const OpId def = def_[value.index()];
  if (def) {
    if (after_op_.size() <= def.index()) after_op_.resize(def.index() + 1);
    after_op_[def.index()].push_back(op);
  } else {
    at_start_[param_of_[value.index()].index()].push_back(op);
  }
}

ValueId Assigner::GetForOperandOfClone(const Operation& op, ValueId operand, const TileLayout& result) {
  const Type::Shape shape = fn_.type(operand).shape();
  switch (ShapingOf(op)) {
    case Shaping::kReshape:
      return Get(operand, result.Reshaped(shape));
    case Shaping::kBroadcast:
      return Get(operand, BroadcastOperand(result, shape));
    case Shaping::kTrans:
      return Get(operand, result.Transposed(Inverse(op.ints_attr(vm::TransOp::At::order))));
    default:
      return Get(operand, result);
  }
}

ValueId Assigner::Get(ValueId value, const TileLayout& want) {
  if (!IsTile(value)) return value;
  const int index = layouts_.Intern(want);
  if (layouts_.IndexOf(value) == index) return value;
  const auto found = copies_.find({value.index(), index});
  if (found != copies_.end()) return found->second;
  if (!IsFlexible(value)) {
    const ValueId copy = NewValueLike(value, index);
    Operation convert;
    convert.opcode = Op::kConvertLayout;
    if (def_[value.index()]) convert.location = fn_.op(def_[value.index()]).location;
    convert.operands = {value};
    convert.results = {copy};
    InsertAfter(value, fn_.AddOp(std::move(convert)));
    copies_[{value.index(), index}] = copy;
    return copy;
  }
  const OpId def = def_[value.index()];
  Operation op = fn_.op(def);  // a copy: the function grows below
  op.operands = original_operands_[def.index()];
  if (layouts_.IndexOf(value) < 0) layouts_.Set(value, index);
  const bool is_first = layouts_.IndexOf(value) == index;
  for (ValueId& operand : op.operands) {
    if (IsTile(operand)) operand = GetForOperandOfClone(op, operand, want);
  }
  if (is_first) {
    fn_.op(def).operands = op.operands;
    return value;
  }
  const ValueId copy = NewValueLike(value, index);
  op.results = {copy};
  InsertAfter(value, fn_.AddOp(std::move(op)));
  copies_[{value.index(), index}] = copy;
  return copy;
}

void Assigner::WantAll(OpId id, const TileLayout& layout) {
  for (size_t i = 0; i < fn_.op(id).operands.size(); ++i) {
    if (IsTile(fn_.op(id).operands[i])) Want(id, i, layout);
  }
}

void Assigner::WantAnything(OpId id) {
  for (size_t i = 0; i < fn_.op(id).operands.size(); ++i) {
    const ValueId v = fn_.op(id).operands[i];
    if (IsTile(v) && IsFlexible(v) && !layouts_.Has(v)) Want(id, i, Default(v));
  }
}

TileLayout Assigner::LayoutForSame(const Operation& op) {
  std::optional<TileLayout> layout;
  if (!op.results.empty() && IsTile(op.result())) layout = LayoutOfClass(op.result());
  for (ValueId v : op.operands) {
    if (!layout && IsTile(v) && !IsFlexible(v)) layout = LayoutOfClass(v);
  }
  if (!IsMemoryAccess(op.opcode) || !IsTile(op.operand(0))) {
    if (layout) return *layout;
    for (ValueId v : op.operands) {
      if (IsTile(v)) return Default(v);
    }
    return TileLayout();
  }
  const TileLayout best = AccessLayout(op);
  if (!layout) return best;
  if (!IsFlexible(op.operand(0))) return *layout;  // moving the addresses would cost as much as moving the data
  const int bytes = fn_.type(op.operand(0)).Pointee().element_bytes();
  const AxisInfo& info = axis_info_.Get(op.operand(0));
  const int axis = static_cast<int>(
      std::max_element(info.contiguity.begin(), info.contiguity.end(), [](int64_t a, int64_t b) { return a <= b; }) -
      info.contiguity.begin());
  const bool is_close = RunBytes(*layout, axis, bytes) >= std::min<int64_t>(128, RunBytes(best, axis, bytes)) &&
                        2 * layout->VectorLength(axis) >= best.VectorLength(axis);
  return is_close ? *layout : best;
}

void Assigner::RewriteControl(OpId id) {
  const Operation op = fn_.op(id);  // a copy: the function grows below
  const auto want_class = [&](size_t operand, ValueId target) {
    if (IsTile(target)) Want(id, operand, LayoutOfClass(target));
  };
  const auto want_lists = [&](size_t first, absl::Span<const ValueId> targets) {
    for (size_t i = 0; i < targets.size(); ++i) want_class(first + i, targets[i]);
  };
  const auto params = [&](OpId loop) {
    const Operation& l = fn_.op(loop);
    const auto& all = fn_.region(l.regions[0]).params;
    return std::vector<ValueId>(all.begin() + (l.opcode == Op::kFor ? 1 : 0), all.end());
  };
  const auto loop = std::find_if(parents_.rbegin(), parents_.rend(), [&](OpId p) {
    return fn_.op(p).opcode == Op::kFor || fn_.op(p).opcode == Op::kWhile;
  });
  switch (op.opcode) {
    case Op::kFor:
      want_lists(3, params(id));
      break;
    case Op::kWhile:
      want_lists(0, params(id));
      break;
    case Op::kYield:
      if (fn_.op(parents_.back()).opcode == Op::kWhile) {
        want_lists(0, params(parents_.back()));
      } else {
        want_lists(
            0, std::vector<ValueId>(fn_.op(parents_.back()).results.begin(), fn_.op(parents_.back()).results.end()));
      }
      break;
    case Op::kCondition:
      want_lists(1,
                 std::vector<ValueId>(fn_.op(parents_.back()).results.begin(), fn_.op(parents_.back()).results.end()));
      break;
    case Op::kBreak:
      want_lists(0, std::vector<ValueId>(fn_.op(*loop).results.begin(), fn_.op(*loop).results.end()));
      break;
    case Op::kContinue:
      want_lists(0, params(*loop));
      break;
    case Op::kReturn:
    case Op::kCall:
      for (size_t i = 0; i < op.operands.size(); ++i) {
        if (IsTile(op.operands[i])) Want(id, i, Default(op.operands[i]));
      }
      break;
    default:
      break;
  }
  if (op.opcode == Op::kCall) {
    for (ValueId r : op.results) {
      if (IsTile(r)) layouts_.Set(r, layouts_.Intern(Default(r)));
    }
  } else {
    SetResultsToClass(op);
  }
  for (RegionId inner : op.regions) {
    for (ValueId param : fn_.region(inner).params) {
      if (IsTile(param)) layouts_.Set(param, layouts_.Intern(LayoutOfClass(param)));
    }
  }
}

void Assigner::RewriteOp(OpId id) {
  const Operation op = fn_.op(id);  // a copy: the function grows below
  if (op.results.size() == 1 && IsTile(op.result()) && IsFlexible(op.result())) return;  // made when wanted
  const bool has_tile_result = !op.results.empty() && IsTile(op.result());
  switch (ShapingOf(op)) {
    case Shaping::kSame: {
      const TileLayout layout = LayoutForSame(op);
      WantAll(id, layout);
      SetResults(op, layout);
      break;
    }
    case Shaping::kReshape:
    case Shaping::kBroadcast:
    case Shaping::kTrans: {
      const TileLayout layout = LayoutOfClass(op.result());
      const ValueId operand = GetForOperandOfClone(op, op.operand(0), layout);
      fn_.op(id).operands[0] = operand;
      SetResults(op, layout);
      break;
    }
    case Shaping::kReduce: {
      TileLayout layout = Default(op.operand(0));
      for (size_t i = op.operands.size(); i-- > 0;) {
        if (!IsFlexible(op.operands[i])) layout = LayoutOfClass(op.operands[i]);
      }
      WantAll(id, layout);
      if (has_tile_result) SetResults(op, layout.WithoutAxis(static_cast<int>(op.int_attr(vm::ReduceOp::At::axis))));
      break;
    }
    case Shaping::kJoin: {
      const bool is_tile = IsTile(op.operand(0));
      TileLayout half = is_tile ? Default(op.operand(0)) : TileLayout();
      for (size_t i = 2; is_tile && i-- > 0;) {
        if (!IsFlexible(op.operands[i])) half = LayoutOfClass(op.operands[i]);
      }
      if (is_tile) WantAll(id, half);
      SetResults(op, is_tile ? Joined(half) : Default(op.result()));
      break;
    }
    case Shaping::kSplit: {
      const ValueId x = op.operand(0);
      const TileLayout layout = WithLastAxisInRegisters(IsFlexible(x) ? Default(x) : LayoutOfClass(x));
      WantAll(id, layout);
      if (has_tile_result) SetResults(op, layout.WithoutAxis(fn_.type(x).rank() - 1));
      break;
    }
    case Shaping::kDot: {
      const auto mma = MmaLayouts(fn_, op, options_.num_warps, options_.compute_capability);
      const TileLayout result = mma ? mma->result : LayoutOfClass(op.result());
      Want(id, vm::DotOp::In::acc, result);
      if (mma) {
        Want(id, vm::DotOp::In::a, mma->a);
        Want(id, vm::DotOp::In::b, mma->b);
      } else {
        WantAnything(id);
      }
      SetResults(op, result);
      break;
    }
    case Shaping::kFree:
      if (op.opcode == Op::kGather || op.opcode == Op::kInsertSlice) {
        // The index, and the tile that is changed, lie as the result does.
        const size_t operand =
            op.opcode == Op::kGather ? size_t{vm::GatherOp::In::index} : size_t{vm::InsertSliceOp::In::x};
        Want(id, operand, LayoutOfClass(op.result()));
      } else if (op.opcode == Op::kDotScaled) {
        Want(id, vm::DotScaledOp::In::acc, LayoutOfClass(op.result()));
      } else if (op.opcode == Op::kBlockStore || op.opcode == Op::kDescStore || op.opcode == Op::kDescReduce ||
                 op.opcode == Op::kDescScatter) {
        const Type type = fn_.type(op.operand(1));
        const TileLayout best = CoalescedLayout(type.shape(), type.element_bytes(), nullptr, options_.num_warps);
        Want(id, 1, best);
      } else if (op.opcode == Op::kHistogram && !op.operand(vm::HistogramOp::In::mask).is_none()) {
        const TileLayout layout = IsFlexible(op.operand(0)) ? Default(op.operand(0)) : LayoutOfClass(op.operand(0));
        WantAll(id, layout);
      }
      WantAnything(id);
      SetResultsToClass(op);
      break;
    case Shaping::kControl:
      RewriteControl(id);
      break;
  }
}

void Assigner::Rewrite(RegionId region) {
  const std::vector<OpId> ops = fn_.region(region).ops;
  for (OpId id : ops) {
    RewriteOp(id);
    if (HasScalarRegion(fn_.op(id).opcode)) continue;
    parents_.push_back(id);
    const auto regions = fn_.op(id).regions;
    for (RegionId inner : regions) Rewrite(inner);
    parents_.pop_back();
  }
}

void Assigner::Relink(RegionId region) {
  std::vector<OpId> ops = at_start_[region.index()];
  for (OpId id : fn_.region(region).ops) {
    const Operation& op = fn_.op(id);
    if (!HasScalarRegion(op.opcode)) {
      for (RegionId inner : op.regions) Relink(inner);
    }
    // A cheap value that nobody wants.
    const bool is_unused = op.results.size() == 1 && IsFlexible(op.result()) && !layouts_.Has(op.result());
    if (!is_unused) ops.push_back(id);
    if (id.index() < after_op_.size()) {
      ops.insert(ops.end(), after_op_[id.index()].begin(), after_op_[id.index()].end());
    }
  }
  fn_.region(region).ops = std::move(ops);
}

absl::StatusOr<LayoutResult> Assigner::Run() {
  TRIVET_RETURN_IF_ERROR(CheckExtents());
  const size_t n = fn_.num_values();
  flexible_.assign(n, false);
  parent_.resize(n);
  std::iota(parent_.begin(), parent_.end(), 0u);
  classes_.resize(n);
  def_.resize(n);
  param_of_.resize(n);
  at_start_.resize(fn_.num_regions());
  for (uint32_t i = 0; i < n; ++i) origin_.push_back(ValueId(i));
  for (uint32_t i = 0; i < fn_.num_ops(); ++i) original_operands_.push_back(fn_.op(OpId(i)).operands);
  FindFlexible(fn_.body);
  CollectClasses(fn_.body);
  DecideClasses();
  for (ValueId param : fn_.params()) {
    if (IsTile(param)) layouts_.Set(param, layouts_.Intern(Default(param)));
  }
  Rewrite(fn_.body);
  Relink(fn_.body);
  return LayoutResult{std::move(layouts_), std::move(origin_)};
}

}  // namespace

int LayoutTable::Intern(const TileLayout& layout) {
  const auto found = std::find(layouts_.begin(), layouts_.end(), layout);
  if (found != layouts_.end()) return static_cast<int>(found - layouts_.begin());
  layouts_.push_back(layout);
  return static_cast<int>(layouts_.size()) - 1;
}

void LayoutTable::Set(ValueId value, int index) {
  if (of_value_.size() <= value.index()) of_value_.resize(value.index() + 1, -1);
  of_value_[value.index()] = index;
}

TileLayout DefaultLayout(absl::Span<const int64_t> shape, int num_warps) {
  return CoalescedLayout(shape, 4, nullptr, num_warps);
}

TileLayout CoalescedLayout(absl::Span<const int64_t> shape, int element_bytes, const AxisInfo* info, int num_warps) {
  BlockedSpec spec;
  spec.num_warps = num_warps;
  for (size_t i = shape.size(); i-- > 0;) spec.order.push_back(static_cast<int>(i));
  int64_t elements = 1;
  for (int64_t extent : shape) elements *= extent;
  int64_t vector = 16 / element_bytes;
  if (info != nullptr && !shape.empty()) {
    const auto contiguity = [&](int axis) { return info->contiguity[static_cast<size_t>(axis)]; };
    std::stable_sort(spec.order.begin(), spec.order.end(), [&](int a, int b) { return contiguity(a) > contiguity(b); });
    const int axis = spec.order[0];
    const int64_t aligned = std::max<int64_t>(1, info->divisibility[static_cast<size_t>(axis)] / element_bytes);
    vector = std::min({vector, contiguity(axis), aligned});
  }
  // No vector so long that threads stay idle.
  vector = std::min(vector, std::max<int64_t>(1, elements / (int64_t{kWarpSize} * num_warps)));
  spec.vector_elements = static_cast<int>(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(1, vector))));
  return TileLayout::Blocked(shape, spec);
}

absl::StatusOr<LayoutResult> AssignLayouts(Function& function, const AxisInfoAnalysis& axis_info,
                                           const LayoutOptions& options) {
  return Assigner(function, axis_info, options).Run();
}

}  // namespace trivet::jit
