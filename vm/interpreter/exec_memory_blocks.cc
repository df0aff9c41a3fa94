// Block pointers and tensor descriptors: boxes of a strided tensor instead of one pointer an element.
//
// Both are words in the frame: a block pointer holds base, shape, strides and offsets; a descriptor base, padding,
// shape and strides, and its ops bring the offsets. Strides count elements. What lies inside the tensor is itself a
// box, so its first and last address tell whether all of it may be accessed.
#include <algorithm>
#include <limits>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "vm/bytecode/builder.h"
#include "vm/interpreter/atomic_ops.h"
#include "vm/interpreter/elementwise.h"
#include "vm/interpreter/exec_memory.h"

namespace trivet::vm {
namespace {

using Words = absl::InlinedVector<int64_t, 8>;

// --- Making them.

struct RankPayload {
  int rank;
};

// Copies a scalar i32 or i64 operand as a 64-bit word.
struct WordsPayload {
  int rank;
  std::vector<bool> is_i32;  // by operand
  int64_t padding;
};

int64_t ReadWord(const ExecContext& cx, const Instr& at, int operand, bool is_i32) {
  return is_i32 ? *cx.Operand<int32_t>(at, operand) : *cx.Operand<int64_t>(at, operand);
}

void ExecMakeBlockPtr(ExecContext& cx, const Instr& at) {
  const auto& payload = at.payload<WordsPayload>();
  int64_t* out = cx.Result<int64_t>(at);
  for (size_t i = 0; i < payload.is_i32.size(); ++i) out[i] = ReadWord(cx, at, static_cast<int>(i), payload.is_i32[i]);
}

void ExecMakeDesc(ExecContext& cx, const Instr& at) {
  const auto& payload = at.payload<WordsPayload>();
  int64_t* out = cx.Result<int64_t>(at);
  out[0] = *cx.Operand<int64_t>(at, 0);
  out[1] = payload.padding;
  for (size_t i = 1; i < payload.is_i32.size(); ++i) {
    out[i + 1] = ReadWord(cx, at, static_cast<int>(i), payload.is_i32[i]);
  }
}

void ExecAdvance(ExecContext& cx, const Instr& at) {
  const int rank = at.payload<RankPayload>().rank;
  int64_t* out = cx.Result<int64_t>(at);
  std::copy_n(cx.Operand<int64_t>(at, 0), 1 + 3 * rank, out);
  for (int i = 0; i < rank; ++i) out[1 + 2 * rank + i] += *cx.Operand<int32_t>(at, 1 + i);
}

WordsPayload MakeWords(PrepareContext& cx) {
  WordsPayload payload{cx.result_type().rank(), {}, 0};
  for (size_t i = 0; i < cx.op().operands.size(); ++i) {
    const Type& type = cx.operand_type(static_cast<int>(i));
    payload.is_i32.push_back(!type.is_pointer() && type.element_bytes() == 4);
  }
  return payload;
}

// --- Boxes.

// What is the same each time an op runs.
struct BoxPayload {
  AccessSite site;
  Type::Shape extents;        // of the block, or of one row of a gather
  std::vector<bool> checked;  // by axis: may lie outside the tensor
  int64_t count = 0;          // elements of the tile
  uint64_t zero_bits = 0;     // padding, by kind
  uint64_t nan_bits = 0;
  Padding padding = Padding::kUndefined;  // of a block load; a descriptor brings its own
  bool is_bool = false;
};

// A tensor and where in it a block begins.
struct Box {
  uint64_t base;
  const int64_t* shape;
  const int64_t* strides;
  Words offsets;
};

// The part of a box that lies inside the tensor, by axis in coordinates of the block: [begin, end).
struct Inside {
  Words begin;
  Words end;
  bool is_empty = false;
  bool is_all = true;
};

Inside Clip(const BoxPayload& payload, const Box& box) {
  Inside inside;
  for (size_t i = 0; i < payload.extents.size(); ++i) {
    const int64_t extent = payload.extents[i];
    int64_t begin = 0;
    int64_t end = extent;
    if (payload.checked[i]) {
      // Offsets are sums of 32-bit numbers or 64-bit words of the kernel's, so subtract without overflow.
      const __int128 offset = box.offsets[i];
      begin = static_cast<int64_t>(std::clamp<__int128>(-offset, 0, extent));
      end = static_cast<int64_t>(std::clamp<__int128>(box.shape[i] - offset, 0, extent));
    }
    inside.is_empty |= begin >= end;
    inside.is_all &= begin == 0 && end == extent;
    inside.begin.push_back(begin);
    inside.end.push_back(end);
  }
  return inside;
}

// True if every address of the box may be accessed, by its least and its greatest.
bool MayAccessBox(ExecContext& cx, const BoxPayload& payload, const Box& box, const Inside& inside, int64_t size) {
  __int128 least = box.base;
  __int128 greatest = box.base;
  for (size_t i = 0; i < payload.extents.size(); ++i) {
    const __int128 a = (static_cast<__int128>(box.offsets[i]) + inside.begin[i]) * box.strides[i] * size;
    const __int128 b = (static_cast<__int128>(box.offsets[i]) + inside.end[i] - 1) * box.strides[i] * size;
    least += std::min(a, b);
    greatest += std::max(a, b);
  }
  if (least < 0 || greatest >= (static_cast<__int128>(1) << 63)) return false;
  const auto address = static_cast<uint64_t>(least);
  return MayAccess(cx, payload.site, address, static_cast<uint64_t>(greatest) - address + static_cast<uint64_t>(size));
}

// Calls visit(address, element) for the first element of each row of the last axis, row-major; address wraps.
template <typename Visit>
void ForEachRow(const BoxPayload& payload, const Box& box, const Inside& inside, int64_t size, const Visit& visit) {
  const auto rank = payload.extents.size();
  Words index = inside.begin;
  for (;;) {
    uint64_t address = box.base;
    int64_t element = 0;
    for (size_t i = 0; i < rank; ++i) {
      const uint64_t position = static_cast<uint64_t>(box.offsets[i]) + static_cast<uint64_t>(index[i]);
      address += position * static_cast<uint64_t>(box.strides[i]) * static_cast<uint64_t>(size);
      element = element * payload.extents[i] + index[i];
    }
    if (!visit(address, element)) return;
    size_t axis = rank - 1;
    for (;;) {
      if (axis == 0) return;
      --axis;
      if (++index[axis] < inside.end[axis]) break;
      index[axis] = inside.begin[axis];
    }
  }
}

uint64_t PaddingBits(const BoxPayload& payload, Padding padding) {
  return padding == Padding::kNan ? payload.nan_bits : payload.zero_bits;
}

void ObserveBox(ExecContext& cx, const Instr& at, const BoxPayload& payload, const Box& box, const Inside& inside,
                int64_t size, bool is_atomic) {
  std::vector<uint64_t> addresses(static_cast<size_t>(payload.count), 0);
  std::vector<uint8_t> active(static_cast<size_t>(payload.count), 0);
  if (!inside.is_empty) {
    const size_t last = payload.extents.size() - 1;
    const auto stride = static_cast<uint64_t>(box.strides[last]) * static_cast<uint64_t>(size);
    ForEachRow(payload, box, inside, size, [&](uint64_t address, int64_t element) {
      for (int64_t i = 0; i < inside.end[last] - inside.begin[last]; ++i) {
        addresses[static_cast<size_t>(element + i)] = address + static_cast<uint64_t>(i) * stride;
        active[static_cast<size_t>(element + i)] = 1;
      }
      return true;
    });
  }
  const MemoryEvent event{cx.program->EventAt(at), addresses, active, static_cast<int32_t>(size)};
  if (is_atomic) {
    cx.observer->OnAtomic(event);
  } else if (payload.site.writes) {
    cx.observer->OnStore(event);
  } else {
    cx.observer->OnLoad(event);
  }
}

// Runs row(address, stride in bytes, element, n) for the rows inside, where n elements may be accessed. Traps at the
// first element that may not.
template <typename Row>
void AccessBox(ExecContext& cx, const Instr& at, const BoxPayload& payload, const Box& box, const Inside& inside,
               int64_t size, const Row& row) {
  if (inside.is_empty) return;
  const size_t last = payload.extents.size() - 1;
  const int64_t n = inside.end[last] - inside.begin[last];
  const auto stride = static_cast<int64_t>(static_cast<uint64_t>(box.strides[last]) * static_cast<uint64_t>(size));
  // Strides count elements, so all are aligned if the first is.
  const bool is_aligned = box.base % static_cast<uint64_t>(size) == 0;
  const bool is_safe = is_aligned && MayAccessBox(cx, payload, box, inside, size);
  ForEachRow(payload, box, inside, size, [&](uint64_t address, int64_t element) {
    if (is_safe) {
      row(address, stride, element, n);
      return true;
    }
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t here = address + static_cast<uint64_t>(i) * static_cast<uint64_t>(stride);
      if (!MayAccess(cx, payload.site, here, static_cast<uint64_t>(size))) {
        TrapAccess(cx, at, payload.site, here, size, element + i);
        return false;
      }
      if (!is_aligned) {
        TrapMisaligned(cx, at, payload.site, here, size, element + i);
        return false;
      }
      row(here, stride, element + i, int64_t{1});
    }
    return true;
  });
}

template <typename T>
void LoadBox(ExecContext& cx, const Instr& at, const BoxPayload& payload, const Box& box, Padding padding, T* out) {
  const Inside inside = Clip(payload, box);
  ++cx.reads;
  if (cx.observer != nullptr) ObserveBox(cx, at, payload, box, inside, sizeof(T), false);
  int64_t count = 1;
  for (int64_t extent : payload.extents) count *= extent;
  if (!inside.is_all) std::fill_n(out, count, static_cast<T>(PaddingBits(payload, padding)));
  AccessBox(cx, at, payload, box, inside, sizeof(T), [&](uint64_t address, int64_t stride, int64_t element, int64_t n) {
    if (stride == sizeof(T)) {
      std::memcpy(out + element, reinterpret_cast<const void*>(address), static_cast<size_t>(n) * sizeof(T));
      return;
    }
    for (int64_t i = 0; i < n; ++i) out[element + i] = LoadElement<T>(address + static_cast<uint64_t>(i * stride));
  });
  if constexpr (sizeof(T) == 1) {
    if (payload.is_bool) std::for_each_n(out, count, [](T& x) { x = x != 0; });
  }
}

template <typename T>
void StoreBox(ExecContext& cx, const Instr& at, const BoxPayload& payload, const Box& box, const T* values) {
  const Inside inside = Clip(payload, box);
  if (cx.observer != nullptr) ObserveBox(cx, at, payload, box, inside, sizeof(T), false);
  AccessBox(cx, at, payload, box, inside, sizeof(T), [&](uint64_t address, int64_t stride, int64_t element, int64_t n) {
    if (stride == sizeof(T)) return StoreBytes(cx, address, values + element, static_cast<size_t>(n) * sizeof(T));
    for (int64_t i = 0; i < n; ++i) {
      StoreBytes(cx, address + static_cast<uint64_t>(i * stride), values + element + i, sizeof(T));
    }
  });
}

Box BlockBox(const ExecContext& cx, const Instr& at, size_t rank) {
  const int64_t* words = cx.Operand<int64_t>(at, 0);
  const int64_t* offsets = words + 1 + 2 * rank;
  return {static_cast<uint64_t>(words[0]), words + 1, words + 1 + rank, Words(offsets, offsets + rank)};
}

// Offsets are the i32 operands from `first_offset` on.
Box DescBox(const ExecContext& cx, const Instr& at, size_t rank, int first_offset) {
  const int64_t* words = cx.Operand<int64_t>(at, 0);
  Box box{static_cast<uint64_t>(words[0]), words + 2, words + 2 + rank, {}};
  for (size_t i = 0; i < rank; ++i) box.offsets.push_back(*cx.Operand<int32_t>(at, first_offset + static_cast<int>(i)));
  return box;
}

Padding DescPadding(const ExecContext& cx, const Instr& at) {
  return static_cast<Padding>(cx.Operand<int64_t>(at, 0)[1]);
}

template <typename T>
void ExecBlockLoad(ExecContext& cx, const Instr& at) {
  const auto& payload = at.payload<BoxPayload>();
  LoadBox<T>(cx, at, payload, BlockBox(cx, at, payload.extents.size()), payload.padding, cx.Result<T>(at));
}

template <typename T>
void ExecBlockStore(ExecContext& cx, const Instr& at) {
  const auto& payload = at.payload<BoxPayload>();
  StoreBox<T>(cx, at, payload, BlockBox(cx, at, payload.extents.size()), cx.Operand<T>(at, BlockStoreOp::In::value));
}

template <typename T>
void ExecDescLoad(ExecContext& cx, const Instr& at) {
  const auto& payload = at.payload<BoxPayload>();
  const Box box = DescBox(cx, at, payload.extents.size(), DescLoadOp::In::offsets);
  LoadBox<T>(cx, at, payload, box, DescPadding(cx, at), cx.Result<T>(at));
}

template <typename T>
void ExecDescStore(ExecContext& cx, const Instr& at) {
  const auto& payload = at.payload<BoxPayload>();
  const Box box = DescBox(cx, at, payload.extents.size(), DescStoreOp::In::offsets);
  StoreBox<T>(cx, at, payload, box, cx.Operand<T>(at, DescStoreOp::In::value));
}

// desc<1xN>: one box of a row for each entry of `rows`.
struct RowsPayload {
  BoxPayload box;
  int64_t num_rows;
};

template <typename T>
void ExecDescGather(ExecContext& cx, const Instr& at) {
  const auto& payload = at.payload<RowsPayload>();
  const int32_t* rows = cx.Operand<int32_t>(at, DescGatherOp::In::rows);
  Box box = DescBox(cx, at, 0, 0);
  box.strides = box.shape + 2;
  box.offsets = {0, *cx.Operand<int32_t>(at, DescGatherOp::In::column)};
  const int64_t width = payload.box.extents[1];
  for (int64_t i = 0; i < payload.num_rows && !cx.stop; ++i) {
    box.offsets[0] = rows[i];
    LoadBox<T>(cx, at, payload.box, box, DescPadding(cx, at), cx.Result<T>(at) + i * width);
  }
}

template <typename T>
void ExecDescScatter(ExecContext& cx, const Instr& at) {
  const auto& payload = at.payload<RowsPayload>();
  const int32_t* rows = cx.Operand<int32_t>(at, DescScatterOp::In::rows);
  Box box = DescBox(cx, at, 0, 0);
  box.strides = box.shape + 2;
  box.offsets = {0, *cx.Operand<int32_t>(at, DescScatterOp::In::column)};
  const int64_t width = payload.box.extents[1];
  for (int64_t i = 0; i < payload.num_rows && !cx.stop; ++i) {
    box.offsets[0] = rows[i];
    StoreBox<T>(cx, at, payload.box, box, cx.Operand<T>(at, DescScatterOp::In::value) + i * width);
  }
}

struct DescReducePayload {
  BoxPayload box;
  AtomicCombiner combiner;
};

void ExecDescReduce(ExecContext& cx, const Instr& at) {
  const auto& [payload, combiner] = at.payload<DescReducePayload>();
  const Box box = DescBox(cx, at, payload.extents.size(), DescReduceOp::In::offsets);
  const std::byte* values = cx.Operand<std::byte>(at, DescReduceOp::In::value);
  const Inside inside = Clip(payload, box);
  if (cx.observer != nullptr) ObserveBox(cx, at, payload, box, inside, combiner.element_bytes, true);
  AccessBox(cx, at, payload, box, inside, combiner.element_bytes,
            [&](uint64_t address, int64_t stride, int64_t element, int64_t n) {
              for (int64_t i = 0; i < n; ++i) {
                const uint64_t here = address + static_cast<uint64_t>(i * stride);
                if (combiner.combine(here, values + (element + i) * combiner.element_bytes, nullptr)) ++cx.writes;
              }
            });
}

BoxPayload MakeBox(PrepareContext& cx, bool writes, const char* verb) {
  const Type& type = cx.operand_type(0);
  BoxPayload payload;
  payload.site = MakeSite(cx, 0, writes, verb);
  payload.extents = type.shape();
  payload.checked.assign(type.shape().size(), true);
  payload.count = type.num_elements();
  payload.is_bool = IsBool(type.dtype());
  if (IsFloat(type.dtype())) {
    payload.nan_bits = static_cast<uint64_t>(BitsOf(type.dtype(), std::numeric_limits<double>::quiet_NaN()));
  }
  return payload;
}

BoxPayload MakeBlockBox(PrepareContext& cx, bool writes, int boundary_check) {
  BoxPayload payload = MakeBox(cx, writes, writes ? "block store" : "block load");
  payload.checked.assign(payload.extents.size(), false);
  for (int64_t axis : cx.op().ints_attr(boundary_check)) payload.checked[static_cast<size_t>(axis)] = true;
  return payload;
}

template <typename Payload>
auto ByWidth(PrepareContext& cx, Payload payload, auto handler_of) {
  return VisitWidth(cx.operand_type(0).element_bytes(), [&]<typename U>(TypeTag<U>) {
    return MakePrepared(handler_of.template operator()<U>(), std::move(payload));
  });
}

}  // namespace

absl::StatusOr<PreparedOp> PrepareMakeBlockPtr(PrepareContext& cx) {
  return MakePrepared(&ExecMakeBlockPtr, MakeWords(cx));
}

absl::StatusOr<PreparedOp> PrepareMakeDesc(PrepareContext& cx) {
  WordsPayload payload = MakeWords(cx);
  payload.padding = cx.op().int_attr(MakeDescOp::At::padding);
  return MakePrepared(&ExecMakeDesc, std::move(payload));
}

absl::StatusOr<PreparedOp> PrepareAdvance(PrepareContext& cx) {
  return MakePrepared(&ExecAdvance, RankPayload{cx.result_type().rank()});
}

absl::StatusOr<PreparedOp> PrepareBlockLoad(PrepareContext& cx) {
  BoxPayload payload = MakeBlockBox(cx, false, BlockLoadOp::At::boundary_check);
  payload.padding = cx.op().enum_attr<Padding>(BlockLoadOp::At::padding);
  return ByWidth(cx, std::move(payload), []<typename U>() { return &ExecBlockLoad<U>; });
}

absl::StatusOr<PreparedOp> PrepareBlockStore(PrepareContext& cx) {
  return ByWidth(cx, MakeBlockBox(cx, true, BlockStoreOp::At::boundary_check),
                 []<typename U>() { return &ExecBlockStore<U>; });
}

absl::StatusOr<PreparedOp> PrepareDescLoad(PrepareContext& cx) {
  return ByWidth(cx, MakeBox(cx, false, "descriptor load"), []<typename U>() { return &ExecDescLoad<U>; });
}

absl::StatusOr<PreparedOp> PrepareDescStore(PrepareContext& cx) {
  return ByWidth(cx, MakeBox(cx, true, "descriptor store"), []<typename U>() { return &ExecDescStore<U>; });
}

absl::StatusOr<PreparedOp> PrepareDescGather(PrepareContext& cx) {
  RowsPayload payload{MakeBox(cx, false, "descriptor gather"), cx.operand_count(DescGatherOp::In::rows)};
  return ByWidth(cx, std::move(payload), []<typename U>() { return &ExecDescGather<U>; });
}

absl::StatusOr<PreparedOp> PrepareDescScatter(PrepareContext& cx) {
  RowsPayload payload{MakeBox(cx, true, "descriptor scatter"), cx.operand_count(DescScatterOp::In::rows)};
  return ByWidth(cx, std::move(payload), []<typename U>() { return &ExecDescScatter<U>; });
}

absl::StatusOr<PreparedOp> PrepareDescReduce(PrepareContext& cx) {
  const DType dtype = cx.operand_type(DescReduceOp::In::value).dtype();
  DescReducePayload payload{MakeBox(cx, true, "descriptor reduce"),
                            CombinerOf(cx.op().enum_attr<AtomicOp>(DescReduceOp::At::kind), dtype)};
  return MakePrepared(&ExecDescReduce, std::move(payload));
}

}  // namespace trivet::vm
