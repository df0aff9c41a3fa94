// unroll: repeats the body of a `for` as often as its author asked for (unroll=N).
//
// Before: any level. After: the same; no loop has unroll > 1 but those with a remark that says why. Keeps: order and
// number of iterations. With U for the factor:
//
//   trip count known, at most U     the bodies one after another, without a loop
//   trip count known                a loop over groups of U, then the bodies that are left
//   otherwise                       a loop over whole groups, then the old loop over what is left. This needs a
//                                   constant positive step and a lower bound that is not negative, so that the number
//                                   of groups can't overflow.
#include <algorithm>
#include <optional>
#include <vector>

#include "jit/passes/pass.h"
#include "jit/passes/rewrite.h"
#include "vm/bytecode/builder.h"

namespace trivet::jit {
namespace {

using vm::Function;
using vm::Op;
using vm::Operation;
using vm::Type;
using ValueList = std::vector<ValueId>;

// Unrolled bodies beyond this many ops help nobody.
constexpr int64_t kMaxUnrolledOps = 20000;

class Unroller {
 public:
  Unroller(Function& fn, PassContext& cx) : fn_(fn), cx_(cx), replacements_(fn) {}

  int64_t Run() {
    // Ranges are of the function as it was; values made since have none, and are not asked about.
    ranges_ = &cx_.ranges();
    num_old_values_ = fn_.num_values();
    Walk(fn_.body);
    return unrolled_;
  }

 private:
  void Walk(RegionId region) {
    const std::vector<OpId> old_ops = std::move(fn_.region(region).ops);
    std::vector<OpId> ops;
    for (OpId id : old_ops) {
      replacements_.Apply(fn_.op(id));
      const auto regions = fn_.op(id).regions;
      for (RegionId inner : regions) Walk(inner);  // inner loops first
      if (fn_.op(id).opcode == Op::kFor && fn_.op(id).int_attr(vm::ForOp::At::unroll) > 1 && Unroll(id, ops)) {
        ++unrolled_;
        continue;
      }
      ops.push_back(id);
    }
    fn_.region(region).ops = std::move(ops);
  }

  std::optional<int64_t> ConstantOf(ValueId value) const {
    if (value.index() >= num_old_values_) return std::nullopt;
    const Range range = ranges_->Get(value);
    return range.is_constant() ? std::optional<int64_t>(range.lo) : std::nullopt;
  }

  bool Refuse(OpId loop, absl::string_view why) {
    cx_.Note(loop, "the loop is not unrolled: ", why);
    return false;
  }

  // Replaces the loop by what is appended to `ops`.
  bool Unroll(OpId id, std::vector<OpId>& ops) {
    const Operation loop = fn_.op(id);
    const RegionId body = loop.regions[0];
    const int64_t factor = loop.int_attr(vm::ForOp::At::unroll);
    if (LeavesToLoop(fn_, body)) return Refuse(id, "it has a break or continue");
    if (fn_.op(fn_.region(body).ops.back()).opcode != Op::kYield) return Refuse(id, "its body ends in a return");
    int64_t size = 0;
    fn_.ForEachOp(body, [&](OpId) { ++size; });
    if (size > kMaxUnrolledOps / factor) return Refuse(id, "its body is too large");
    const Type counter = fn_.type(loop.operand(vm::ForOp::In::lower));
    const std::optional<int64_t> lower = ConstantOf(loop.operand(vm::ForOp::In::lower));
    const std::optional<int64_t> upper = ConstantOf(loop.operand(vm::ForOp::In::upper));
    const std::optional<int64_t> step = ConstantOf(loop.operand(vm::ForOp::In::step));
    if (counter.dtype() == vm::DType::kU64) return Refuse(id, "its counter is u64");
    if (!step || *step == 0) return Refuse(id, "its step is not known");
    const __int128 group = static_cast<__int128>(*step) * factor;
    const Range full = Range::Full(counter.dtype());
    if (group < full.lo || group > full.hi) return Refuse(id, "a group of iterations is longer than its counter");
    location_ = loop.location;
    ops_ = &ops;
    ValueList carried(loop.variadic().begin(), loop.variadic().end());
    if (lower && upper) {
      const int64_t trips = TripCount(*lower, *upper, *step);
      const int64_t groups = trips <= factor ? 0 : trips / factor;
      if (groups > 0) {
        const ValueId end = Constant(counter, *lower + groups * factor * *step);
        carried = GroupLoop(loop, loop.operand(vm::ForOp::In::lower), end, carried, factor, *step);
      }
      for (int64_t trip = groups * factor; trip < trips; ++trip) {
        carried = CopyBody(body, Constant(counter, *lower + trip * *step), carried, ops);
      }
    } else {
      const bool is_safe = *step > 0 && loop.operand(vm::ForOp::In::lower).index() < num_old_values_ &&
                           ranges_->Get(loop.operand(vm::ForOp::In::lower)).lo >= 0;
      if (!is_safe) return Refuse(id, "the number of groups might overflow");
      // Whole groups lie in [lower, end), end = lower + (max(lower, upper) - lower) / group * group.
      const ValueId from = loop.operand(vm::ForOp::In::lower);
      const ValueId length = Make(Op::kSubI, {Make(Op::kMaxI, {from, loop.operand(vm::ForOp::In::upper)}), from});
      const ValueId size_of_group = Constant(counter, static_cast<int64_t>(group));
      const ValueId groups = Make(Op::kDivI, {length, size_of_group});
      const ValueId end = Make(Op::kAddI, {from, Make(Op::kMulI, {groups, size_of_group})});
      carried = GroupLoop(loop, from, end, carried, factor, *step);
      Operation rest = loop;
      rest.operands[vm::ForOp::In::lower] = end;
      std::copy(carried.begin(), carried.end(), rest.operands.begin() + rest.info().num_fixed_operands());
      rest.attrs[vm::ForOp::At::unroll] = int64_t{0};
      ops.push_back(fn_.AddOp(std::move(rest)));
      cx_.Note(id, "unrolled by ", factor, ", with a loop over the rest");
      return true;
    }
    for (size_t i = 0; i < carried.size(); ++i) replacements_.Set(loop.results[i], carried[i]);
    cx_.Note(id, "unrolled by ", factor);
    return true;
  }

  static int64_t TripCount(int64_t lower, int64_t upper, int64_t step) {
    const __int128 distance = step > 0 ? static_cast<__int128>(upper) - lower : static_cast<__int128>(lower) - upper;
    const __int128 stride = step > 0 ? step : -static_cast<__int128>(step);
    return distance <= 0 ? 0 : static_cast<int64_t>((distance + stride - 1) / stride);
  }

  OpId Append(Operation op, std::vector<OpId>& to) {
    op.location = location_;
    const OpId id = fn_.AddOp(std::move(op));
    to.push_back(id);
    return id;
  }
  ValueId Constant(const Type& type, int64_t value) {
    Operation op;
    op.opcode = Op::kConstant;
    op.attrs = {vm::BitsOf(type.dtype(), value)};
    op.results = {fn_.AddValue(type)};
    return fn_.op(Append(std::move(op), *ops_)).result();
  }
  ValueId Make(Op opcode, std::initializer_list<ValueId> operands) {
    Operation op;
    op.opcode = opcode;
    op.operands.assign(operands.begin(), operands.end());
    op.results = {fn_.AddValue(Type(fn_.type(op.operand(0))))};
    return fn_.op(Append(std::move(op), *ops_)).result();
  }

  // Appends a copy of the body to `to`, with this counter and these carried values; gives the next carried values.
  ValueList CopyBody(RegionId body, ValueId counter, const ValueList& carried, std::vector<OpId>& to) {
    const vm::Region region = fn_.region(body);
    ValueMap values;
    values[region.params[0]] = counter;
    if (fn_.value(counter).name.empty()) fn_.value(counter).name = fn_.value(region.params[0]).name;
    for (size_t i = 0; i < carried.size(); ++i) values[region.params[i + 1]] = carried[i];
    for (size_t i = 0; i + 1 < region.ops.size(); ++i) to.push_back(CloneOp(fn_, region.ops[i], fn_, values));
    ValueList next;
    for (ValueId value : fn_.op(region.ops.back()).operands) {
      const auto found = values.find(value);
      next.push_back(found == values.end() ? value : found->second);
    }
    return next;
  }

  // A loop from `lower` to `upper` whose body is `factor` copies of the old one's.
  ValueList GroupLoop(const Operation& old, ValueId lower, ValueId upper, const ValueList& carried, int64_t factor,
                      int64_t step) {
    const Type counter = fn_.type(lower);
    Operation loop = old;
    loop.operands = {lower, upper, Constant(counter, step * factor)};
    loop.operands.insert(loop.operands.end(), carried.begin(), carried.end());
    loop.attrs[vm::ForOp::At::unroll] = int64_t{0};
    const RegionId region = fn_.AddRegion();
    loop.regions = {region};
    loop.results.clear();
    const std::vector<ValueId> old_params(fn_.region(old.regions[0]).params.begin(),
                                          fn_.region(old.regions[0]).params.end());
    for (ValueId param : old_params) {
      const vm::Value value = fn_.value(param);
      fn_.AddParam(region, value.type, value.name);
    }
    for (ValueId result : old.results) {
      const vm::Value value = fn_.value(result);
      loop.results.push_back(fn_.AddValue(value.type, value.name));
    }
    std::vector<OpId> body;
    std::vector<OpId>* const outside = ops_;
    ops_ = &body;
    const ValueId first = fn_.region(region).params[0];
    ValueList round(fn_.region(region).params.begin() + 1, fn_.region(region).params.end());
    for (int64_t i = 0; i < factor; ++i) {
      const ValueId at = i == 0 ? first : Make(Op::kAddI, {first, Constant(counter, step * i)});
      round = CopyBody(old.regions[0], at, round, body);
    }
    Operation yield;
    yield.opcode = Op::kYield;
    yield.operands.assign(round.begin(), round.end());
    Append(std::move(yield), body);
    ops_ = outside;
    fn_.region(region).ops = std::move(body);
    const OpId made = Append(std::move(loop), *ops_);
    return ValueList(fn_.op(made).results.begin(), fn_.op(made).results.end());
  }

  Function& fn_;
  PassContext& cx_;
  Replacements replacements_;
  const RangeAnalysis* ranges_ = nullptr;
  size_t num_old_values_ = 0;
  vm::Location location_;
  std::vector<OpId>* ops_ = nullptr;
  int64_t unrolled_ = 0;
};

}  // namespace

absl::StatusOr<PassResult> UnrollLoops(Function& fn, PassContext& cx) {
  const int64_t unrolled = Unroller(fn, cx).Run();
  cx.Count("loops", unrolled);
  return PassResult{.changed = unrolled > 0};
}

}  // namespace trivet::jit
