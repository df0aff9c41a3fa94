#include "vm/interpreter/frame.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "vm/base/check.h"
#include "vm/base/status.h"

namespace trivet::vm {
namespace {

using Time = int64_t;
constexpr Time kNever = -1;
constexpr Time kForever = std::numeric_limits<Time>::max() / 2;

// [first, last], both inclusive.
struct Span {
  Time first;
  Time last;
};

bool Meet(const std::vector<Span>& a, const std::vector<Span>& b) {
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].last < b[j].first) {
      ++i;
    } else if (b[j].last < a[i].first) {
      ++j;
    } else {
      return true;
    }
  }
  return false;
}

// More slots than this are not shared at all: placing them takes quadratic time.
constexpr size_t kMaxSharedSlots = 6000;

// Orders `times` and joins what touches.
void Normalise(std::vector<Span>& times) {
  std::sort(times.begin(), times.end(), [](const Span& a, const Span& b) { return a.first < b.first; });
  size_t last = 0;
  for (size_t i = 1; i < times.size(); ++i) {
    if (times[i].first <= times[last].last + 1) {
      times[last].last = std::max(times[last].last, times[i].last);
    } else {
      times[++last] = times[i];
    }
  }
  times.resize(last + 1);
}

// True for ops that compute element i of the result from elements i of the operands.
bool IsElementwise(const Operation& op, const Function& function) {
  constexpr TypeRule kElementwise[] = {TypeRule::kSameInteger,    TypeRule::kSameFloat,    TypeRule::kIntFloat,
                                       TypeRule::kFloatInt,       TypeRule::kFloatToI32,   TypeRule::kFloatToBool,
                                       TypeRule::kCompareInteger, TypeRule::kCompareFloat, TypeRule::kCast,
                                       TypeRule::kAddPtr};
  const TypeRule rule = op.info().rule;
  if (rule == TypeRule::kSelect) {
    return function.type(op.operand(SelectOp::In::condition)).shape() == function.type(op.result()).shape();
  }
  return std::find(std::begin(kElementwise), std::end(kElementwise), rule) != std::end(kElementwise);
}

class LayoutBuilder {
 public:
  explicit LayoutBuilder(const FrameRequest& request) : request_(request), fn_(*request.function) {}

  absl::StatusOr<FrameLayout> Build();

 private:
  // A value, a for's counter of iterations, or a result of the root.
  struct Cell {
    uint64_t size_bytes = 0;
    uint64_t alignment = 8;
    Time defined = kNever;
    Time last_use = kNever;
    std::vector<Span> more;    // other times when it is written or must be kept
    size_t extended_loop = 0;  // 1 + the loop whose end it was last made to reach
    size_t group = 0;          // union-find
  };
  struct Loop {
    OpId op;
    Time begin;
    std::vector<size_t> live_in;  // cells defined before and used inside
  };
  // Cells in one slot.
  struct Group {
    std::vector<Span> times;
    uint64_t size_bytes = 0;
    uint64_t alignment = 8;
    uint64_t offset = 0;
    bool is_used = false;
  };
  enum class ScopeKind { kRoot, kIf, kFor, kWhileBefore, kWhileAfter };
  struct Scope {
    ScopeKind kind;
    OpId op;
  };

  // A cell that is never defined stands for all values from outside the root.
  size_t CellOf(ValueId value) const {
    return std::min<size_t>(layout_.SameAs(value).index() - layout_.first_value, outside_cell_);
  }
  void CoverValues();
  void FindSameBits(RegionId region);
  void Define(size_t cell, Time time) { cells_[cell].defined = cells_[cell].last_use = time; }
  void DefineAll(absl::Span<const ValueId> values, Time time) {
    for (ValueId value : values) Define(CellOf(value), time);
  }
  void Use(ValueId value, Time time);
  void UseAll(absl::Span<const ValueId> values, Time time) {
    for (ValueId value : values) Use(value, time);
  }
  void UseInside(RegionId region, Time time);
  // `values` are copied to `targets` at op `p`.
  void Copy(absl::Span<const ValueId> values, absl::Span<const ValueId> targets, Time p);
  void Prefer(size_t a, size_t b) { preferences_.emplace_back(a, b); }

  void Walk(RegionId region);
  void Visit(OpId id);
  void VisitFor(const Operation& op, OpId id, Time p);
  void VisitWhile(const Operation& op, OpId id, Time p);
  void VisitTerminator(const Operation& op, Time p);
  void OpenLoop(OpId id, Time p) { loops_.push_back({id, 2 * p, {}}); }
  void CloseLoop(Time end);
  absl::Span<const ValueId> CarriedParams(OpId loop) const;
  const Scope& InnermostLoop() const;

  size_t Find(size_t cell);
  void Unite(size_t a, size_t b, bool must);
  void MakeGroups();
  absl::Status Place();

  const FrameRequest& request_;
  const Function& fn_;
  FrameLayout layout_;
  std::vector<Cell> cells_;  // values, the one of outside, results of the root, counters
  size_t outside_cell_ = 0;
  std::vector<std::pair<size_t, size_t>> preferences_;  // loops first
  std::vector<std::pair<size_t, size_t>> in_place_;
  std::vector<std::pair<size_t, size_t>> must_unite_;
  std::vector<Loop> loops_;
  std::vector<Scope> scopes_;
  std::vector<size_t> result_cells_;
  std::vector<size_t> param_cells_;
  std::vector<Group> groups_;
  Time clock_ = 0;
};

// Finds the values of the root. They are numbered one after another, so what is around a region costs nothing.
void LayoutBuilder::CoverValues() {
  uint32_t first = std::numeric_limits<uint32_t>::max();
  uint32_t end = 0;
  const auto cover = [&](absl::Span<const ValueId> values) {
    for (ValueId value : values) {
      first = std::min(first, value.index());
      end = std::max(end, value.index() + 1);
    }
  };
  cover(fn_.region(request_.root).params);
  fn_.ForEachOp(request_.root, [&](OpId id) {
    cover(fn_.op(id).results);
    for (RegionId region : fn_.op(id).regions) cover(fn_.region(region).params);
  });
  const size_t count = end > first ? end - first : 0;
  layout_.first_value = count > 0 ? first : 0;
  layout_.slots.assign(count, kNoSlot);
  outside_cell_ = count;
  cells_.resize(count + 1);
  for (uint32_t i = 0; i < count; ++i) {
    const ValueId value(layout_.first_value + i);
    const Type& type = fn_.type(value);
    layout_.same_as.push_back(value);
    cells_[i].size_bytes = SlotBytes(type, request_.lanes);
    cells_[i].alignment = SlotAlignment(type, request_.lanes);
  }
}

void LayoutBuilder::FindSameBits(RegionId region) {
  for (OpId id : fn_.region(region).ops) {
    const Operation& op = fn_.op(id);
    if (IsSameBits(op.opcode)) {
      layout_.same_as[op.result().index() - layout_.first_value] = layout_.SameAs(op.operand(0));
    }
    if (op.info().effects != OpEffects::kControl) continue;
    for (RegionId inner : op.regions) FindSameBits(inner);
  }
}

void LayoutBuilder::Use(ValueId value, Time time) {
  if (value.is_none()) return;
  const size_t index = CellOf(value);
  Cell& cell = cells_[index];
  if (cell.defined == kNever) return;  // a constant, or from outside
  cell.last_use = std::max(cell.last_use, time);
  // The outermost loop that began after the definition keeps the value to its end.
  auto loop =
      std::upper_bound(loops_.begin(), loops_.end(), cell.defined, [](Time t, const Loop& l) { return t <= l.begin; });
  if (loop == loops_.end()) return;
  const size_t number = 1 + static_cast<size_t>(loop->begin);
  if (cell.extended_loop == number) return;
  cell.extended_loop = number;
  loop->live_in.push_back(index);
}

// Regions of reduce, scan and map_elementwise may use values from around them.
void LayoutBuilder::UseInside(RegionId region, Time time) {
  fn_.ForEachOp(region, [&](OpId id) { UseAll(fn_.op(id).operands, time); });
}

void LayoutBuilder::Copy(absl::Span<const ValueId> values, absl::Span<const ValueId> targets, Time p) {
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t target = CellOf(targets[i]);
    cells_[target].more.push_back({2 * p + 1, 2 * p + 1});
    Prefer(CellOf(values[i]), target);
  }
}

absl::Span<const ValueId> LayoutBuilder::CarriedParams(OpId loop) const {
  const Operation& op = fn_.op(loop);
  absl::Span<const ValueId> params = fn_.region(op.regions[0]).params;
  return op.opcode == Op::kFor ? params.subspan(1) : params;
}

const LayoutBuilder::Scope& LayoutBuilder::InnermostLoop() const {
  size_t i = scopes_.size();
  do {
    --i;
  } while (scopes_[i].kind == ScopeKind::kIf);
  return scopes_[i];
}

void LayoutBuilder::Walk(RegionId region) {
  for (OpId id : fn_.region(region).ops) Visit(id);
}

void LayoutBuilder::CloseLoop(Time end) {
  const Loop loop = std::move(loops_.back());
  loops_.pop_back();
  for (size_t cell : loop.live_in) cells_[cell].last_use = std::max(cells_[cell].last_use, end);
}

void LayoutBuilder::VisitFor(const Operation& op, OpId id, Time p) {
  const Region& body = fn_.region(op.regions[0]);
  const absl::Span<const ValueId> carried = CarriedParams(id);
  const size_t counter = cells_.size();
  cells_.emplace_back().size_bytes = 8;
  Define(counter, 2 * p);
  layout_.counters[id] = static_cast<uint32_t>(counter);  // its cell, until slots are known

  OpenLoop(id, p);
  DefineAll(body.params, 2 * p + 1);
  scopes_.push_back({ScopeKind::kFor, id});
  Walk(op.regions[0]);
  scopes_.pop_back();
  const Time end = 2 * clock_++;
  Use(op.operand(ForOp::In::step), end);
  Use(body.params[0], end);
  cells_[counter].last_use = end;
  CloseLoop(end);
  for (size_t i = 0; i < carried.size(); ++i) {
    // Kept from the yield to the next iteration, and to the results.
    cells_[CellOf(carried[i])].more.push_back({end, end});
    Define(CellOf(op.result(static_cast<int>(i))), end + 1);
    must_unite_.emplace_back(CellOf(carried[i]), CellOf(op.result(static_cast<int>(i))));
    Prefer(CellOf(op.variadic()[i]), CellOf(carried[i]));
  }
}

void LayoutBuilder::VisitWhile(const Operation& op, OpId id, Time p) {
  const absl::Span<const ValueId> after = fn_.region(op.regions[1]).params;
  OpenLoop(id, p);
  DefineAll(fn_.region(op.regions[0]).params, 2 * p + 1);
  scopes_.push_back({ScopeKind::kWhileBefore, id});
  Walk(op.regions[0]);  // its condition defines the parameters of the second region
  scopes_.back().kind = ScopeKind::kWhileAfter;
  Walk(op.regions[1]);
  scopes_.pop_back();
  const Time end = 2 * clock_++;
  for (ValueId param : CarriedParams(id)) cells_[CellOf(param)].more.push_back({end, end});
  CloseLoop(end);
  for (size_t i = 0; i < after.size(); ++i) {
    Define(CellOf(op.result(static_cast<int>(i))), end + 1);
    must_unite_.emplace_back(CellOf(after[i]), CellOf(op.result(static_cast<int>(i))));
  }
  for (size_t i = 0; i < op.operands.size(); ++i) Prefer(CellOf(op.operands[i]), CellOf(CarriedParams(id)[i]));
}

void LayoutBuilder::VisitTerminator(const Operation& op, Time p) {
  UseAll(op.operands, 2 * p);
  if (op.opcode == Op::kReturn || (op.opcode == Op::kYield && scopes_.back().kind == ScopeKind::kRoot)) {
    for (size_t i = 0; i < op.operands.size(); ++i) {
      cells_[result_cells_[i]].more.push_back({2 * p + 1, 2 * p + 1});
      Prefer(CellOf(op.operands[i]), result_cells_[i]);
    }
  } else if (op.opcode == Op::kYield && scopes_.back().kind == ScopeKind::kIf) {
    Copy(op.operands, fn_.op(scopes_.back().op).results, p);
  } else if (op.opcode == Op::kYield) {
    Copy(op.operands, CarriedParams(scopes_.back().op), p);
  } else if (op.opcode == Op::kCondition) {
    const absl::Span<const ValueId> after = fn_.region(fn_.op(scopes_.back().op).regions[1]).params;
    DefineAll(after, 2 * p + 1);
    for (size_t i = 0; i < after.size(); ++i) Prefer(CellOf(op.variadic()[i]), CellOf(after[i]));
  } else if (op.opcode == Op::kBreak) {
    Copy(op.operands, fn_.op(InnermostLoop().op).results, p);
  } else if (op.opcode == Op::kContinue) {
    Copy(op.operands, CarriedParams(InnermostLoop().op), p);
  }
}

void LayoutBuilder::Visit(OpId id) {
  const Operation& op = fn_.op(id);
  if (IsSameBits(op.opcode) || IsArenaConstant(op.opcode)) {
    // A use of the result is a use of the operand.
    return;
  }
  const Time p = clock_++;
  if (op.info().is_terminator()) return VisitTerminator(op, p);
  UseAll(op.operands, 2 * p);
  if (op.opcode == Op::kFor) return VisitFor(op, id, p);
  if (op.opcode == Op::kWhile) return VisitWhile(op, id, p);
  if (op.opcode == Op::kIf) {
    scopes_.push_back({ScopeKind::kIf, id});
    Walk(op.regions[0]);
    Walk(op.regions[1]);
    scopes_.pop_back();
    return DefineAll(op.results, 2 * clock_++ + 1);
  }
  for (RegionId region : op.regions) UseInside(region, 2 * p);
  DefineAll(op.results, 2 * p);
  if (op.results.size() != 1) return;

  const size_t result = CellOf(op.result());
  const auto may_reuse = [&](ValueId operand) {
    if (operand.is_none() || cells_[CellOf(operand)].defined == kNever) return;
    if (fn_.type(operand).element_bytes() != fn_.type(op.result()).element_bytes()) return;
    in_place_.emplace_back(CellOf(operand), result);
  };
  const size_t before = in_place_.size();
  if (op.opcode == Op::kDot) may_reuse(op.operand(DotOp::In::acc));
  if (op.opcode == Op::kDotScaled) may_reuse(op.operand(DotScaledOp::In::acc));
  if (IsElementwise(op, fn_)) {
    for (ValueId operand : op.operands) may_reuse(operand);
  }
  if (in_place_.size() != before) Define(result, 2 * p + 1);
}

size_t LayoutBuilder::Find(size_t cell) {
  while (cells_[cell].group != cell) cell = cells_[cell].group = cells_[cells_[cell].group].group;
  return cell;
}

void LayoutBuilder::Unite(size_t a, size_t b, bool must) {
  if (cells_[a].defined == kNever || cells_[b].defined == kNever) return;
  a = Find(a);
  b = Find(b);
  if (a == b) return;
  if (groups_[a].size_bytes != groups_[b].size_bytes || groups_[a].alignment != groups_[b].alignment) return;
  if (!must && (request_.keep_values || Meet(groups_[a].times, groups_[b].times))) return;
  std::vector<Span>& times = groups_[a].times;
  times.insert(times.end(), groups_[b].times.begin(), groups_[b].times.end());
  Normalise(times);
  groups_[b].times.clear();
  groups_[b].is_used = false;
  cells_[b].group = a;
}

void LayoutBuilder::MakeGroups() {
  groups_.resize(cells_.size());
  for (size_t i = 0; i < cells_.size(); ++i) {
    cells_[i].group = i;
    if (cells_[i].defined == kNever) continue;
    Group& group = groups_[i];
    group.is_used = true;
    group.size_bytes = cells_[i].size_bytes;
    group.alignment = cells_[i].alignment;
    group.times = std::move(cells_[i].more);
    group.times.push_back({cells_[i].defined, cells_[i].last_use});
    Normalise(group.times);
  }
  for (auto [a, b] : must_unite_) Unite(a, b, true);
  for (auto [a, b] : preferences_) Unite(a, b, false);
  for (auto [a, b] : in_place_) Unite(a, b, false);
}

// First fit in order of first times. An op's operands and results never overlap in part: for this purpose what is
// written at 2p + 1 counts from 2p.
absl::Status LayoutBuilder::Place() {
  std::vector<size_t> order;
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (groups_[i].is_used && groups_[i].size_bytes > 0) order.push_back(i);
  }
  for (size_t i : order) {
    for (Span& span : groups_[i].times) span.first &= ~Time{1};
  }
  const auto first_time = [&](size_t i) { return groups_[i].times.front().first; };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return first_time(a) < first_time(b); });
  const bool share = !request_.keep_values && order.size() <= kMaxSharedSlots;

  uint64_t end = request_.begin;
  std::vector<size_t> placed;  // those that may still be in the way
  std::vector<std::pair<uint64_t, uint64_t>> taken;
  for (size_t i : order) {
    Group& group = groups_[i];
    const auto align = [&](uint64_t offset) {
      return (offset + group.alignment - 1) / group.alignment * group.alignment;
    };
    if (!share) {
      group.offset = align(end);
    } else {
      std::erase_if(placed, [&](size_t j) { return groups_[j].times.back().last < first_time(i); });
      taken.clear();
      for (size_t j : placed) {
        if (Meet(groups_[j].times, group.times))
          taken.emplace_back(groups_[j].offset, groups_[j].offset + groups_[j].size_bytes);
      }
      std::sort(taken.begin(), taken.end());
      group.offset = align(request_.begin);
      for (auto [from, to] : taken) {
        if (group.offset + group.size_bytes <= from) break;
        group.offset = std::max(group.offset, align(to));
      }
      placed.push_back(i);
    }
    end = std::max(end, group.offset + group.size_bytes);
    if (end > kMaxFrameBytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("@", fn_.name, ": its values need more than ", kMaxFrameBytes, " bytes at a time"));
    }
  }
  layout_.end = end;
  return absl::OkStatus();
}

absl::StatusOr<FrameLayout> LayoutBuilder::Build() {
  CoverValues();
  FindSameBits(request_.root);

  clock_ = 1;
  DefineAll(fn_.region(request_.root).params, 0);
  // What the root gives: of a function its result types, of a region what its yield names.
  const Operation& last = fn_.op(fn_.region(request_.root).ops.back());
  std::vector<Type> result_types = request_.root == fn_.body ? fn_.result_types : std::vector<Type>();
  if (request_.root != fn_.body) {
    for (ValueId value : last.operands) result_types.push_back(fn_.type(value));
  }
  for (const Type& type : result_types) {
    result_cells_.push_back(cells_.size());
    Cell& cell = cells_.emplace_back();
    cell.size_bytes = SlotBytes(type, request_.lanes);
    cell.alignment = SlotAlignment(type, request_.lanes);
  }
  scopes_.push_back({ScopeKind::kRoot, OpId::None()});
  Walk(request_.root);
  const Time end = 2 * clock_ + 1;
  for (size_t cell : result_cells_) Define(cell, end);
  if (request_.pin_params) {
    for (ValueId param : fn_.region(request_.root).params) cells_[CellOf(param)].last_use = kForever;
  }

  MakeGroups();
  TRIVET_RETURN_IF_ERROR(Place());
  const auto slot = [&](size_t cell) {
    return cells_[cell].defined == kNever ? kNoSlot : static_cast<uint32_t>(groups_[Find(cell)].offset);
  };
  for (size_t i = 0; i < layout_.slots.size(); ++i) layout_.slots[i] = slot(i);
  for (size_t cell : result_cells_) layout_.result_slots.push_back(slot(cell));
  for (auto& [op, cell] : layout_.counters) cell = slot(cell);
  return std::move(layout_);
}

}  // namespace

bool IsSameBits(Op op) {
  constexpr Op kSameBits[] = {Op::kReshape, Op::kExpandDims, Op::kHint,    Op::kConvertLayout,
                              Op::kBitcast, Op::kPtrToInt,   Op::kIntToPtr};
  return std::find(std::begin(kSameBits), std::end(kSameBits), op) != std::end(kSameBits);
}

absl::StatusOr<FrameLayout> LayOutFrame(const FrameRequest& request) { return LayoutBuilder(request).Build(); }

std::vector<Move> SequenceMoves(std::vector<Move> moves, size_t* scratch_bytes) {
  std::erase_if(moves, [](const Move& move) { return move.to == move.from || move.size_bytes == 0; });
  absl::flat_hash_map<uint32_t, size_t> readers;  // of a slot, among the moves not yet done
  absl::flat_hash_map<uint32_t, size_t> writer;   // the move that overwrites a slot
  for (size_t i = 0; i < moves.size(); ++i) {
    ++readers[moves[i].from];
    writer[moves[i].to] = i;
  }
  std::vector<Move> sequence;
  std::vector<bool> done(moves.size(), false);
  std::vector<size_t> ready;  // moves whose target nobody needs any more
  const auto is_needed = [&](uint32_t slot) {
    auto found = readers.find(slot);
    return found != readers.end() && found->second > 0;
  };
  const auto run_ready = [&] {
    while (!ready.empty()) {
      const size_t i = ready.back();
      ready.pop_back();
      done[i] = true;
      sequence.push_back(moves[i]);
      if (moves[i].from == kScratchSlot || --readers[moves[i].from] > 0) continue;
      auto next = writer.find(moves[i].from);
      if (next != writer.end()) ready.push_back(next->second);
    }
  };
  for (size_t i = 0; i < moves.size(); ++i) {
    if (!is_needed(moves[i].to)) ready.push_back(i);
  }
  run_ready();
  // Only cycles are left, where each slot has one reader: save what the first move overwrites, for its reader.
  for (size_t i = 0; i < moves.size(); ++i) {
    if (done[i]) continue;
    sequence.push_back({kScratchSlot, moves[i].to, moves[i].size_bytes});
    *scratch_bytes = std::max<size_t>(*scratch_bytes, moves[i].size_bytes);
    size_t reader = i;
    while (moves[reader].from != moves[i].to) reader = writer[moves[reader].from];
    moves[reader].from = kScratchSlot;
    ready.push_back(i);
    run_ready();
  }
  return sequence;
}

void RunMoves(const ExecContext& cx, const std::vector<Move>& moves) {
  for (const Move& move : moves) {
    std::byte* to = move.to == kScratchSlot ? cx.scratch : cx.frame + move.to;
    const std::byte* from = move.from == kScratchSlot ? cx.scratch : cx.frame + move.from;
    switch (move.size_bytes) {
      case 4:
        std::memcpy(to, from, 4);
        break;
      case 8:
        std::memcpy(to, from, 8);
        break;
      default:
        std::memcpy(to, from, move.size_bytes);
    }
  }
}

}  // namespace trivet::vm
