// Values that come from nowhere: constant, arange, program_id, num_programs; and splat, which fills in the same way.
#include <algorithm>
#include <numeric>

#include "vm/interpreter/elementwise.h"

namespace trivet::vm {
namespace {

struct FillPayload {
  uint64_t bits;
  int64_t count;
};

template <typename U>
void FillConstant(ExecContext& cx, const Instr& at) {
  const FillPayload& payload = at.payload<FillPayload>();
  std::fill_n(cx.Result<U>(at), payload.count, static_cast<U>(payload.bits));
}

template <typename U>
void FillOne(ExecContext& cx, const Instr& at) {
  *cx.Result<U>(at) = static_cast<U>(at.payload<FillPayload>().bits);
}

template <typename U>
void FillSplat(ExecContext& cx, const Instr& at) {
  const U value = *cx.Operand<U>(at, 0);
  std::fill_n(cx.Result<U>(at), at.payload<CountPayload>().count, value);
}

struct ArangePayload {
  int32_t start;
  int64_t count;
};

void FillArange(ExecContext& cx, const Instr& at) {
  const ArangePayload& payload = at.payload<ArangePayload>();
  int32_t* out = cx.Result<int32_t>(at);
  for (int64_t i = 0; i < payload.count; ++i) out[i] = payload.start + static_cast<int32_t>(i);
}

template <int kAxis>
void StoreProgramId(ExecContext& cx, const Instr& at) {
  std::fill_n(cx.Result<int32_t>(at), at.payload<CountPayload>().count, cx.program_id[kAxis]);
}

template <int kAxis>
void StoreNumPrograms(ExecContext& cx, const Instr& at) {
  std::fill_n(cx.Result<int32_t>(at), at.payload<CountPayload>().count, cx.grid[kAxis]);
}

}  // namespace

absl::StatusOr<PreparedOp> PrepareConstant(PrepareContext& cx) {
  const FillPayload payload{static_cast<uint64_t>(cx.op().int_attr(ConstantOp::At::value)), cx.result_count()};
  return VisitWidth(cx.result_type().element_bytes(), [&]<typename U>(TypeTag<U>) {
    return MakePrepared(payload.count == 1 ? &FillOne<U> : &FillConstant<U>, payload);
  });
}

absl::StatusOr<PreparedOp> PrepareArange(PrepareContext& cx) {
  const auto start = static_cast<int32_t>(cx.op().int_attr(ArangeOp::At::start));
  return MakePrepared(&FillArange, ArangePayload{start, cx.result_count()});
}

absl::StatusOr<PreparedOp> PrepareProgramId(PrepareContext& cx) {
  constexpr Handler kHandlers[] = {&StoreProgramId<0>, &StoreProgramId<1>, &StoreProgramId<2>};
  const int64_t axis = cx.op().int_attr(ProgramIdOp::At::axis);
  return MakePrepared(kHandlers[axis], CountPayload{cx.result_count()});
}

absl::StatusOr<PreparedOp> PrepareNumPrograms(PrepareContext& cx) {
  constexpr Handler kHandlers[] = {&StoreNumPrograms<0>, &StoreNumPrograms<1>, &StoreNumPrograms<2>};
  const int64_t axis = cx.op().int_attr(NumProgramsOp::At::axis);
  return MakePrepared(kHandlers[axis], CountPayload{cx.result_count()});
}

absl::StatusOr<PreparedOp> PrepareSplat(PrepareContext& cx) {
  const CountPayload payload{cx.result_count()};
  return VisitWidth(cx.result_type().element_bytes(),
                    [&]<typename U>(TypeTag<U>) { return MakePrepared(&FillSplat<U>, payload); });
}

}  // namespace trivet::vm
