// Loads and stores through tiles of pointers, and the arithmetic of such pointers.
//
// A tile's pointers are mostly rows that lie contiguously in one allocation. So they are looked at as a whole first:
// one vector loop tells whether they are contiguous (then it is one copy), another where the least and the greatest
// point (then one check of the allocation serves all). Only what remains is checked element by element.
#include "vm/interpreter/exec_memory.h"

#include <algorithm>
#include <atomic>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "vm/interpreter/element_dispatch.h"
#include "vm/interpreter/elementwise.h"
#include "vm/numerics/independent_loop.h"

namespace trivet::vm {

AccessSite MakeSite(PrepareContext& cx, int pointer, bool writes, const char* verb) {
  const ValueId value = cx.op().operand(pointer);
  return {cx.SourceParameter(value), cx.IsForeign(value), writes, verb};
}

bool FindAccessRange(ExecContext& cx, const AccessSite& site, uint64_t address, uint64_t size_bytes) {
  const auto size = static_cast<int64_t>(size_bytes);
  const MemoryRange* range = cx.memory->FindRange(address, size, site.writes);
  // Reading may go through the ranges of writable storages only, which serve the stores that follow too.
  if (range != nullptr) {
    cx.last_range = *range;
    return true;
  }
  // What touches a storage of the launch has to lie inside one that permits it, whatever else the process could do.
  if (!site.is_foreign || cx.memory->Overlaps(address, size)) return false;
  MemoryRange& foreign = cx.foreign_range;
  if (!foreign.Holds(address, size_bytes)) foreign = FindProcessMapping(address);
  return foreign.Holds(address, size_bytes) && (foreign.is_writable || !site.writes);
}

void TrapAccess(ExecContext& cx, const Instr& at, const AccessSite& site, uint64_t address, int64_t size_bytes,
                int64_t element) {
  constexpr uint64_t kNullPage = 4096;
  const absl::string_view param =
      site.source_parameter < 0 ? absl::string_view() : cx.program->ParamName(site.source_parameter);
  if (address < kNullPage) {
    return cx.RaiseTrap(at, TrapKind::kNullPointer,
                        absl::StrCat(site.verb, " through a null pointer", param.empty() ? "" : ": ", param), element,
                        address);
  }
  const Allocation* allocation = cx.memory->Find(address, size_bytes);
  if (allocation != nullptr && site.writes) {
    return cx.RaiseTrap(at, TrapKind::kReadOnly,
                        absl::StrCat(site.verb, " to read-only memory: ", DescribeAddress(*allocation, address)),
                        element, address);
  }
  allocation = cx.memory->FindOverlapping(address, size_bytes);
  if (allocation != nullptr) {
    return cx.RaiseTrap(at, TrapKind::kOutOfBounds,
                        absl::StrCat(site.verb, " is out of bounds: the ", size_bytes, " bytes at ",
                                     DescribeAddress(*allocation, address), " are partly outside ", allocation->name,
                                     ", shape [", absl::StrJoin(allocation->shape, ", "), "]"),
                        element, address);
  }
  if (!param.empty()) allocation = cx.memory->FindByName(param);
  if (allocation == nullptr && !site.is_foreign) allocation = cx.memory->FindNearest(address);
  if (allocation == nullptr) {
    const std::string who = param.empty() ? std::string("pointer") : std::string(param);
    return cx.RaiseTrap(at, TrapKind::kOutOfBounds,
                        absl::StrCat(site.verb, " is out of bounds: ", who, " points to address 0x", absl::Hex(address),
                                     ", which is no memory of this launch"),
                        element, address);
  }
  cx.RaiseTrap(at, TrapKind::kOutOfBounds,
               absl::StrCat(site.verb, " is out of bounds: ", DescribeAddress(*allocation, address),
                            " is outside shape [", absl::StrJoin(allocation->shape, ", "), "]"),
               element, address);
}

void TrapMisaligned(ExecContext& cx, const Instr& at, const AccessSite& site, uint64_t address, int64_t size_bytes,
                    int64_t element) {
  const Allocation* allocation = cx.memory->Find(address, size_bytes);
  const std::string where = allocation != nullptr ? DescribeAddress(*allocation, address) : "its address";
  cx.RaiseTrap(at, TrapKind::kMisaligned,
               absl::StrCat(site.verb, " is misaligned: ", where, " is not at a multiple of ", size_bytes, " bytes"),
               element, address);
}

namespace {

// --- Looking at pointers.

// True if pointers[i] == pointers[0] + i * size for all n >= 1.
bool AreContiguous(const uint64_t* pointers, int64_t n, uint64_t size) {
  const uint64_t first = pointers[0];
  if (pointers[n - 1] != first + static_cast<uint64_t>(n - 1) * size) return false;
  uint64_t difference = 0;
  for (int64_t i = 0; i < n; ++i) difference |= pointers[i] ^ (first + static_cast<uint64_t>(i) * size);
  return difference == 0;
}

struct Extent {
  uint64_t least;
  uint64_t greatest;
  uint64_t bits;  // that are set in any
};

Extent FindExtent(const uint64_t* pointers, int64_t n) {
  // As signed numbers, which vector units compare; addresses beyond 2^63 are in no allocation anyway.
  const auto* p = reinterpret_cast<const int64_t*>(pointers);
  int64_t least = p[0];
  int64_t greatest = p[0];
  uint64_t bits = 0;
  for (int64_t i = 0; i < n; ++i) {
    least = std::min(least, p[i]);
    greatest = std::max(greatest, p[i]);
    bits |= pointers[i];
  }
  return {static_cast<uint64_t>(least), static_cast<uint64_t>(greatest), bits};
}

// The active lanes of a mask when they are one interval.
struct Interval {
  int64_t begin;
  int64_t end;
  bool is_all_active;  // no active lane is outside
};

Interval FindInterval(const uint8_t* mask, int64_t n) {
  const auto* first = static_cast<const uint8_t*>(std::memchr(mask, 1, static_cast<size_t>(n)));
  if (first == nullptr) return {0, 0, true};
  const int64_t begin = first - mask;
  const auto* stop = static_cast<const uint8_t*>(std::memchr(first, 0, static_cast<size_t>(n - begin)));
  if (stop == nullptr) return {begin, n, true};
  const int64_t end = stop - mask;
  return {begin, end, std::memchr(stop, 1, static_cast<size_t>(n - end)) == nullptr};
}

// --- The two directions. Touch copies contiguous elements, Each those of separate pointers; all may be accessed.

template <typename T>
struct Loading {
  using Element = T;
  static void Touch(ExecContext&, uint64_t address, T* out, int64_t n) {
    std::memcpy(out, reinterpret_cast<const void*>(address), static_cast<size_t>(n) * sizeof(T));
  }
  static void Each(ExecContext&, const uint64_t* pointers, T* out, int64_t n) {
    for (int64_t i = 0; i < n; ++i) out[i] = LoadElement<T>(pointers[i]);
  }
};

template <typename T>
struct Storing {
  using Element = const T;
  static void Touch(ExecContext& cx, uint64_t address, const T* values, int64_t n) {
    StoreBytes(cx, address, values, static_cast<size_t>(n) * sizeof(T));
  }
  static void Each(ExecContext& cx, const uint64_t* pointers, const T* values, int64_t n) {
    if (cx.compare_stores) {
      for (int64_t i = 0; i < n; ++i) StoreBytes(cx, pointers[i], values + i, sizeof(T));
      return;
    }
    for (int64_t i = 0; i < n; ++i) StoreElement<T>(pointers[i], values[i]);
    ++cx.writes;
  }
};

struct AccessPayload {
  AccessSite site;
  int64_t count;  // elements
  int64_t row;    // elements that tend to be contiguous; divides count
  bool is_bool;
};

// n >= 1 pointers, all active, the first of them lane `lane`. Stops at the first that may not be accessed.
template <typename Direction>
void AccessRun(ExecContext& cx, const Instr& at, const AccessPayload& payload, const uint64_t* pointers,
               typename Direction::Element* elements, int64_t n, int64_t lane) {
  using Element = typename Direction::Element;
  constexpr uint64_t kSize = sizeof(Element);
  if (AreContiguous(pointers, n, kSize) && IsAligned<Element>(pointers[0]) &&
      MayAccess(cx, payload.site, pointers[0], static_cast<uint64_t>(n) * kSize)) {
    return Direction::Touch(cx, pointers[0], elements, n);
  }
  const Extent extent = FindExtent(pointers, n);
  if (IsAligned<Element>(extent.bits) &&
      MayAccess(cx, payload.site, extent.least, extent.greatest - extent.least + kSize)) {
    for (int64_t i = 0; i < n; i += payload.row) {
      const int64_t m = std::min(payload.row, n - i);
      if (AreContiguous(pointers + i, m, kSize)) {
        Direction::Touch(cx, pointers[i], elements + i, m);
      } else {
        Direction::Each(cx, pointers + i, elements + i, m);
      }
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    const int64_t element = payload.count == 1 ? -1 : lane + i;
    if (!MayAccess(cx, payload.site, pointers[i], kSize)) {
      return TrapAccess(cx, at, payload.site, pointers[i], kSize, element);
    }
    if (!IsAligned<Element>(pointers[i])) {
      return TrapMisaligned(cx, at, payload.site, pointers[i], kSize, element);
    }
    Direction::Touch(cx, pointers[i], elements + i, 1);
  }
}

// The active lanes among all, where at least one is not.
template <typename Direction>
void AccessMasked(ExecContext& cx, const Instr& at, const AccessPayload& payload, const uint64_t* pointers,
                  const uint8_t* mask, typename Direction::Element* elements) {
  for (int64_t row = 0; row < payload.count && !cx.stop; row += payload.row) {
    Interval active = FindInterval(mask + row, payload.row);
    int64_t begin = row + active.begin;
    while (begin < row + active.end && !cx.stop) {
      AccessRun<Direction>(cx, at, payload, pointers + begin, elements + begin, row + active.end - begin, begin);
      if (active.is_all_active) break;
      // The next interval of this row.
      const int64_t from = row + active.end;
      const Interval next = FindInterval(mask + from, row + payload.row - from);
      begin = from + next.begin;
      active = {begin - row, from - row + next.end, next.is_all_active};
    }
  }
}

void Observe(ExecContext& cx, const Instr& at, const AccessPayload& payload, const uint64_t* pointers,
             const uint8_t* mask, int element_bytes) {
  const auto n = static_cast<size_t>(payload.count);
  const MemoryEvent event{cx.program->EventAt(at), {pointers, n}, {mask, mask == nullptr ? 0 : n}, element_bytes};
  payload.site.writes ? cx.observer->OnStore(event) : cx.observer->OnLoad(event);
}

template <typename T>
void ExecLoad(ExecContext& cx, const Instr& at) {
  const auto& payload = at.payload<AccessPayload>();
  const auto* pointers = cx.Operand<uint64_t>(at, LoadOp::In::ptr);
  const uint8_t* mask = cx.HasOperand(at, LoadOp::In::mask) ? cx.Operand<uint8_t>(at, LoadOp::In::mask) : nullptr;
  T* out = cx.Result<T>(at);
  ++cx.reads;
  if (cx.observer != nullptr) Observe(cx, at, payload, pointers, mask, sizeof(T));
  const auto n = static_cast<size_t>(payload.count);
  if (mask == nullptr || std::memchr(mask, 0, n) == nullptr) {
    AccessRun<Loading<T>>(cx, at, payload, pointers, out, payload.count, 0);
  } else {
    if (cx.HasOperand(at, LoadOp::In::other)) {
      std::memcpy(out, cx.Operand<T>(at, LoadOp::In::other), n * sizeof(T));
    } else {
      std::memset(out, 0, n * sizeof(T));
    }
    AccessMasked<Loading<T>>(cx, at, payload, pointers, mask, out);
  }
  if constexpr (sizeof(T) == 1) {
    if (payload.is_bool) std::for_each_n(out, n, [](T& x) { x = x != 0; });
  }
}

// One element without mask: what locks and flags are read with. Atomic.
template <typename T>
void ExecLoadOne(ExecContext& cx, const Instr& at) {
  const auto& payload = at.payload<AccessPayload>();
  const uint64_t address = *cx.Operand<uint64_t>(at, LoadOp::In::ptr);
  ++cx.reads;
  if (cx.observer != nullptr) Observe(cx, at, payload, &address, nullptr, sizeof(T));
  if (!MayAccess(cx, payload.site, address, sizeof(T))) {
    return TrapAccess(cx, at, payload.site, address, sizeof(T), -1);
  }
  if (!IsAligned<T>(address)) return TrapMisaligned(cx, at, payload.site, address, sizeof(T), -1);
  T value = __atomic_load_n(reinterpret_cast<const T*>(address), __ATOMIC_ACQUIRE);
  if (payload.is_bool) value = value != 0;
  *cx.Result<T>(at) = value;
}

template <typename T>
void ExecStore(ExecContext& cx, const Instr& at) {
  const auto& payload = at.payload<AccessPayload>();
  const auto* pointers = cx.Operand<uint64_t>(at, StoreOp::In::ptr);
  const T* values = cx.Operand<T>(at, StoreOp::In::value);
  const uint8_t* mask = cx.HasOperand(at, StoreOp::In::mask) ? cx.Operand<uint8_t>(at, StoreOp::In::mask) : nullptr;
  if (cx.observer != nullptr) Observe(cx, at, payload, pointers, mask, sizeof(T));
  if (mask == nullptr || std::memchr(mask, 0, static_cast<size_t>(payload.count)) == nullptr) {
    AccessRun<Storing<T>>(cx, at, payload, pointers, values, payload.count, 0);
  } else {
    AccessMasked<Storing<T>>(cx, at, payload, pointers, mask, values);
  }
}

template <typename T>
void ExecStoreOne(ExecContext& cx, const Instr& at) {
  const auto& payload = at.payload<AccessPayload>();
  const uint64_t address = *cx.Operand<uint64_t>(at, StoreOp::In::ptr);
  const T value = *cx.Operand<T>(at, StoreOp::In::value);
  if (cx.observer != nullptr) Observe(cx, at, payload, &address, nullptr, sizeof(T));
  if (!MayAccess(cx, payload.site, address, sizeof(T))) {
    return TrapAccess(cx, at, payload.site, address, sizeof(T), -1);
  }
  if (!IsAligned<T>(address)) return TrapMisaligned(cx, at, payload.site, address, sizeof(T), -1);
  T* to = reinterpret_cast<T*>(address);
  if (cx.compare_stores && __atomic_load_n(to, __ATOMIC_RELAXED) == value) return;
  __atomic_store_n(to, value, __ATOMIC_RELEASE);
  ++cx.writes;
}

AccessPayload MakeAccess(PrepareContext& cx, bool writes, const char* verb) {
  const Type& type = cx.operand_type(0);
  AccessPayload payload{MakeSite(cx, 0, writes, verb), cx.operand_count(0), cx.operand_count(0), false};
  payload.is_bool = type.pointer_depth() == 1 && IsBool(type.dtype());
  // Short rows are not worth looking at one by one.
  if (cx.lanes() == 1 && type.rank() > 1 && type.dim(-1) >= 8) payload.row = type.dim(-1);
  return payload;
}

struct AddPtrPayload {
  int64_t count;
  int shift;  // element size is 1 << shift
};

template <typename Offset>
void ExecAddPtr(ExecContext& cx, const Instr& at) {
  const auto payload = at.payload<AddPtrPayload>();
  const uint64_t* pointers = cx.Operand<uint64_t>(at, AddPtrOp::In::ptr);
  const Offset* offsets = cx.Operand<Offset>(at, AddPtrOp::In::offset);
  uint64_t* out = cx.Result<uint64_t>(at);
  TRIVET_INDEPENDENT_LOOP
  for (int64_t i = 0; i < payload.count; ++i) {
    out[i] = pointers[i] + (static_cast<uint64_t>(static_cast<int64_t>(offsets[i])) << payload.shift);
  }
}

// ThreadSanitizer doesn't know fences. It would only report races of kernels that rest on one.
#pragma GCC diagnostic push
#ifdef __SANITIZE_THREAD__
#pragma GCC diagnostic ignored "-Wtsan"
#endif
void ExecBarrier(ExecContext&, const Instr&) { std::atomic_thread_fence(std::memory_order_seq_cst); }
#pragma GCC diagnostic pop

}  // namespace

absl::StatusOr<PreparedOp> PrepareAddPtr(PrepareContext& cx) {
  const int size = cx.operand_type(AddPtrOp::In::ptr).Pointee().element_bytes();
  const AddPtrPayload payload{cx.result_count(), __builtin_ctz(static_cast<unsigned>(size))};
  return VisitElement(cx.operand_type(AddPtrOp::In::offset).dtype(), [&]<typename T>() -> PreparedOp {
    if constexpr (std::is_integral_v<T>) return MakePrepared(&ExecAddPtr<T>, payload);
    return {};
  });
}

absl::StatusOr<PreparedOp> PrepareLoad(PrepareContext& cx) {
  const AccessPayload payload = MakeAccess(cx, false, "load");
  const bool is_one = payload.count == 1 && !cx.has_operand(LoadOp::In::mask);
  return VisitWidth(cx.result_type().element_bytes(), [&]<typename U>(TypeTag<U>) {
    return MakePrepared(is_one ? &ExecLoadOne<U> : &ExecLoad<U>, payload);
  });
}

absl::StatusOr<PreparedOp> PrepareStore(PrepareContext& cx) {
  const AccessPayload payload = MakeAccess(cx, true, "store");
  const bool is_one = payload.count == 1 && !cx.has_operand(StoreOp::In::mask);
  return VisitWidth(cx.operand_type(StoreOp::In::value).element_bytes(), [&]<typename U>(TypeTag<U>) {
    return MakePrepared(is_one ? &ExecStoreOne<U> : &ExecStore<U>, payload);
  });
}

absl::StatusOr<PreparedOp> PrepareBarrier(PrepareContext&) { return PreparedOp{&ExecBarrier, nullptr}; }

}  // namespace trivet::vm
