// Atomics: each active element by itself, in row-major order, with the processor's atomic instructions.
//
// Order and scope say what other memory operations may be seen to move around them; the interpreter's are sequentially
// consistent, which is as strong as any.
#include <algorithm>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "vm/interpreter/atomic_ops.h"
#include "vm/interpreter/element_dispatch.h"
#include "vm/interpreter/elementwise.h"
#include "vm/interpreter/exec_memory.h"
#include "vm/numerics/float_ops.h"

namespace trivet::vm {
namespace {

// The unsigned integer that holds the bits of T.
template <typename T>
using BitsFor = std::conditional_t<
    sizeof(T) == 1, uint8_t,
    std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

template <AtomicOp kKind, typename T>
T Combine(T old, T value) {
  if constexpr (kKind == AtomicOp::kXchg) {
    return value;
  } else if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    if constexpr (kKind == AtomicOp::kAdd) return static_cast<T>(static_cast<U>(old) + static_cast<U>(value));
    if constexpr (kKind == AtomicOp::kAnd) return static_cast<T>(old & value);
    if constexpr (kKind == AtomicOp::kOr) return static_cast<T>(old | value);
    if constexpr (kKind == AtomicOp::kXor) return static_cast<T>(old ^ value);
    if constexpr (kKind == AtomicOp::kMax) return std::max(old, value);
    if constexpr (kKind == AtomicOp::kMin) return std::min(old, value);
  } else {
    const auto a = Widen(old);
    const auto b = Widen(value);
    if constexpr (kKind == AtomicOp::kAdd) return Round<T>(a + b);
    if constexpr (kKind == AtomicOp::kMax) return Round<T>(MaxNum(a, b));
    if constexpr (kKind == AtomicOp::kMin) return Round<T>(MinNum(a, b));
  }
  return old;  // bitwise kinds of floats: refused by the type rule
}

template <AtomicOp kKind, typename T>
bool CombineAt(uint64_t address, const void* value, void* old) {
  using Bits = BitsFor<T>;
  auto* memory = reinterpret_cast<Bits*>(address);
  const T operand = *static_cast<const T*>(value);
  Bits before = __atomic_load_n(memory, __ATOMIC_SEQ_CST);
  Bits after;
  do {
    after = std::bit_cast<Bits>(Combine<kKind, T>(std::bit_cast<T>(before), operand));
  } while (!__atomic_compare_exchange_n(memory, &before, after, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  if (old != nullptr) *static_cast<Bits*>(old) = before;
  return after != before;
}

template <AtomicOp kKind>
AtomicCombiner CombinerOfKind(DType dtype) {
  return VisitElement(dtype, []<typename T>() {
    return AtomicCombiner{&CombineAt<kKind, T>, static_cast<int>(sizeof(T))};
  });
}

struct AtomicPayload {
  AccessSite site;
  AtomicCombiner combiner;
  int64_t count;
};

// True if lane i may be accessed; else it has trapped.
bool CheckLane(ExecContext& cx, const Instr& at, const AccessSite& site, uint64_t address, int size, int64_t lane) {
  if (!MayAccess(cx, site, address, static_cast<uint64_t>(size))) {
    TrapAccess(cx, at, site, address, size, lane);
    return false;
  }
  if (address % static_cast<uint64_t>(size) == 0) return true;
  TrapMisaligned(cx, at, site, address, size, lane);
  return false;
}

void Observe(ExecContext& cx, const Instr& at, const uint64_t* pointers, const uint8_t* mask, int64_t count, int size) {
  const auto n = static_cast<size_t>(count);
  cx.observer->OnAtomic({cx.program->EventAt(at), {pointers, n}, {mask, mask == nullptr ? 0 : n}, size});
}

void ExecAtomicRmw(ExecContext& cx, const Instr& at) {
  const auto& payload = at.payload<AtomicPayload>();
  const int size = payload.combiner.element_bytes;
  const uint64_t* pointers = cx.Operand<uint64_t>(at, AtomicRmwOp::In::ptr);
  const std::byte* values = cx.Operand<std::byte>(at, AtomicRmwOp::In::value);
  const uint8_t* mask =
      cx.HasOperand(at, AtomicRmwOp::In::mask) ? cx.Operand<uint8_t>(at, AtomicRmwOp::In::mask) : nullptr;
  std::byte* out = cx.Result<std::byte>(at);
  ++cx.reads;
  if (cx.observer != nullptr) Observe(cx, at, pointers, mask, payload.count, size);
  for (int64_t i = 0; i < payload.count; ++i) {
    if (mask != nullptr && mask[i] == 0) {
      std::memset(out + i * size, 0, static_cast<size_t>(size));
      continue;
    }
    if (!CheckLane(cx, at, payload.site, pointers[i], size, payload.count == 1 ? -1 : i)) return;
    if (payload.combiner.combine(pointers[i], values + i * size, out + i * size)) ++cx.writes;
  }
}

template <typename U>
void ExecAtomicCas(ExecContext& cx, const Instr& at) {
  const auto& payload = at.payload<AtomicPayload>();
  const uint64_t* pointers = cx.Operand<uint64_t>(at, AtomicCasOp::In::ptr);
  const U* compares = cx.Operand<U>(at, AtomicCasOp::In::compare);
  const U* values = cx.Operand<U>(at, AtomicCasOp::In::value);
  U* out = cx.Result<U>(at);
  ++cx.reads;
  if (cx.observer != nullptr) Observe(cx, at, pointers, nullptr, payload.count, sizeof(U));
  for (int64_t i = 0; i < payload.count; ++i) {
    if (!CheckLane(cx, at, payload.site, pointers[i], sizeof(U), payload.count == 1 ? -1 : i)) return;
    U old = compares[i];
    const bool is_exchanged = __atomic_compare_exchange_n(reinterpret_cast<U*>(pointers[i]), &old, values[i], false,
                                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    if (is_exchanged && old != values[i]) ++cx.writes;
    out[i] = old;
  }
}

}  // namespace

AtomicCombiner CombinerOf(AtomicOp kind, DType dtype) {
  switch (kind) {
    case AtomicOp::kAdd:
      return CombinerOfKind<AtomicOp::kAdd>(dtype);
    case AtomicOp::kAnd:
      return CombinerOfKind<AtomicOp::kAnd>(dtype);
    case AtomicOp::kOr:
      return CombinerOfKind<AtomicOp::kOr>(dtype);
    case AtomicOp::kXor:
      return CombinerOfKind<AtomicOp::kXor>(dtype);
    case AtomicOp::kMax:
      return CombinerOfKind<AtomicOp::kMax>(dtype);
    case AtomicOp::kMin:
      return CombinerOfKind<AtomicOp::kMin>(dtype);
    case AtomicOp::kXchg:
      return CombinerOfKind<AtomicOp::kXchg>(dtype);
  }
  return {};
}

absl::StatusOr<PreparedOp> PrepareAtomicRmw(PrepareContext& cx) {
  AtomicPayload payload{MakeSite(cx, AtomicRmwOp::In::ptr, true, "atomic"), {}, cx.operand_count(0)};
  payload.combiner =
      CombinerOf(cx.op().enum_attr<AtomicOp>(AtomicRmwOp::At::kind), cx.operand_type(AtomicRmwOp::In::value).dtype());
  return MakePrepared(&ExecAtomicRmw, payload);
}

absl::StatusOr<PreparedOp> PrepareAtomicCas(PrepareContext& cx) {
  const AtomicPayload payload{MakeSite(cx, AtomicCasOp::In::ptr, true, "atomic"), {}, cx.operand_count(0)};
  return VisitWidth(cx.result_type().element_bytes(),
                    [&]<typename U>(TypeTag<U>) { return MakePrepared(&ExecAtomicCas<U>, payload); });
}

}  // namespace trivet::vm
