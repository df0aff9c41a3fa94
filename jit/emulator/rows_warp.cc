// Operations of a warp: shuffles, votes, matches, reductions (PTX ISA, "Data Movement" and "Parallel Synchronization").
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "jit/emulator/cta.h"
#include "jit/emulator/rows.h"

namespace trivet::jit {

namespace {

// Calls `function(lane, call)` for each lane that takes part.
template <typename Function>
void ForLanes(const WarpCall& all, Function&& function) {
  for (uint32_t lanes = all.mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = std::countr_zero(lanes);
    function(lane, *all.calls[static_cast<size_t>(lane)]);
  }
}

// shfl.sync.{idx|bfly|up|down}.{i32|f32}{|p}(mask, value, lane or distance, clamp and segment mask), as the PTX ISA's
// pseudocode has it. Without a source in range a lane keeps its own value; `p` says whether there was one.
void ShuffleAll(const WarpCall& all) {
  ForLanes(all, [&](int lane, const Call& call) {
    const auto b = static_cast<int>(FromSlot<uint32_t>(call.in[2]) & 31);
    const uint32_t c = FromSlot<uint32_t>(call.in[3]);
    const auto clamp = static_cast<int>(c & 31);
    const auto segment = static_cast<int>((c >> 8) & 31);
    const int last = (lane & segment) | (clamp & ~segment);
    int source = 0;
    bool in_range = false;
    switch (call.site.choice[0]) {
      case 0:  // idx
        source = (lane & segment) | (b & ~segment);
        in_range = source <= last;
        break;
      case 1:  // bfly
        source = lane ^ b;
        in_range = source <= last;
        break;
      case 2:  // up
        source = lane - b;
        in_range = source >= last;
        break;
      case 3:  // down
        source = lane + b;
        in_range = source <= last;
        break;
    }
    if (!in_range) source = lane;
    const Call* from = all.calls[static_cast<size_t>(source)];
    if (from == nullptr) {
      call.cta.Fail(absl::StatusCode::kAborted, call.site,
                    absl::StrCat("lane ", lane, " asks for the value of lane ", source, ", which the mask leaves out"));
      return;
    }
    call.out[0] = from->in[1];
    if (call.site.choice[2] == 1) call.out[1] = in_range ? 1 : 0;
  });
}

// vote.{all|any|uni|ballot}.sync(mask, predicate)
void VoteAll(const WarpCall& all) {
  uint32_t ballot = 0;
  ForLanes(all, [&](int lane, const Call& call) { ballot |= static_cast<uint32_t>(call.in[1] & 1) << lane; });
  const uint64_t results[] = {ballot == all.mask, ballot != 0, ballot == all.mask || ballot == 0, ballot};
  ForLanes(all, [&](int, const Call& call) { call.out[0] = results[call.site.choice[0]]; });
}

// match.any.sync.{i32|i64}(mask, value): the lanes with the same value.
void MatchAnyAll(const WarpCall& all) {
  ForLanes(all, [&](int, const Call& call) {
    uint32_t same = 0;
    ForLanes(all, [&](int lane, const Call& other) {
      if (other.in[1] == call.in[1]) same |= uint32_t{1} << lane;
    });
    call.out[0] = same;
  });
}

// match.all.sync.{i32p|i64p}(mask, value): the mask and true when all are equal, otherwise 0 and false.
void MatchAllAll(const WarpCall& all) {
  const uint64_t value = all.calls[static_cast<size_t>(std::countr_zero(all.mask))]->in[1];
  bool same = true;
  ForLanes(all, [&](int, const Call& call) { same = same && call.in[1] == value; });
  ForLanes(all, [&](int, const Call& call) {
    call.out[0] = same ? all.mask : 0;
    call.out[1] = same ? 1 : 0;
  });
}

// redux.sync.{add|min|max|umin|umax|and|or|xor}(value, mask)
uint32_t Reduce(int op, uint32_t a, uint32_t b) {
  const auto x = static_cast<int32_t>(a);
  const auto y = static_cast<int32_t>(b);
  switch (op) {
    case 0:
      return a + b;
    case 1:
      return static_cast<uint32_t>(std::min(x, y));
    case 2:
      return static_cast<uint32_t>(std::max(x, y));
    case 3:
      return std::min(a, b);
    case 4:
      return std::max(a, b);
    case 5:
      return a & b;
    case 6:
      return a | b;
    default:
      return a ^ b;
  }
}

void ReduxAll(const WarpCall& all) {
  bool first = true;
  uint32_t total = 0;
  ForLanes(all, [&](int, const Call& call) {
    const auto value = FromSlot<uint32_t>(call.in[0]);
    total = first ? value : Reduce(call.site.choice[0], total, value);
    first = false;
  });
  ForLanes(all, [&](int, const Call& call) { call.out[0] = total; });
}

// redux.sync.{fmin|fmax}{|.abs}{|.NaN}(value, mask)
void ReduxFloatAll(const WarpCall& all) {
  const bool is_max = all.site.choice[0] == 1;
  const bool abs = all.site.choice[1] == 1;
  const bool keeps_nan = all.site.choice[2] == 1;
  float total = std::numeric_limits<float>::quiet_NaN();
  bool any_nan = false;
  ForLanes(all, [&](int, const Call& call) {
    auto value = FromSlot<float>(call.in[0]);
    if (abs) value = std::fabs(value);
    any_nan = any_nan || std::isnan(value);
    total = is_max ? std::fmax(total, value) : std::fmin(total, value);
  });
  if (keeps_nan && any_nan) total = std::numeric_limits<float>::quiet_NaN();
  ForLanes(all, [&](int, const Call& call) { call.out[0] = ToSlot(total); });
}

// elect.sync(mask): the lowest lane, and whether this is it.
void ElectAll(const WarpCall& all) {
  const int leader = std::countr_zero(all.mask);
  ForLanes(all, [&](int lane, const Call& call) {
    call.out[0] = static_cast<uint64_t>(leader);
    call.out[1] = lane == leader ? 1 : 0;
  });
}

void ActiveMaskAll(const WarpCall& all) {
  ForLanes(all, [&](int, const Call& call) { call.out[0] = all.mask; });
}

template <int kMaskOperand, void (*kCompute)(const WarpCall&)>
void Warp(const Call& call) {
  call.cta.WarpOperation(call, FromSlot<uint32_t>(call.in[kMaskOperand]), kCompute);
}

constexpr Row kRows[] = {
    {"shfl.sync.{idx|bfly|up|down}.{i32|f32}{|p}", Warp<0, ShuffleAll>},
    {"vote.{all|any|uni|ballot}.sync", Warp<0, VoteAll>},
    {"match.any.sync.{i32|i64}", Warp<0, MatchAnyAll>},
    {"match.all.sync.{i32|i64}p", Warp<0, MatchAllAll>},
    {"redux.sync.{add|min|max|umin|umax|and|or|xor}", Warp<1, ReduxAll>},
    {"redux.sync.{fmin|fmax}{|.abs}{|.NaN}", Warp<1, ReduxFloatAll>},
    {"elect.sync", Warp<0, ElectAll>},
    {"activemask", [](const Call& call) { call.cta.ConvergedOperation(call, ActiveMaskAll); }},
};

}  // namespace

std::span<const Row> WarpRows() { return kRows; }

}  // namespace trivet::jit
