// What a handler sees: the frame it works in, the program it belongs to, memory, and how to trap.
//
// Decoding turns each op into an Instr: a handler (a plain function for exactly these element types and extents), the
// frame offsets of operands and results, and whatever its Prepare function computed. A handler runs typed, contiguous
// loops over the whole tile. It allocates nothing, throws nothing and returns nothing: what can be checked beforehand
// was, and what cannot raises a trap.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "absl/strings/string_view.h"
#include "vm/base/id.h"
#include "vm/interpreter/memory.h"
#include "vm/interpreter/observer.h"

namespace trivet::vm {

class PrintSink;
struct Instr;
class ExecContext;

using Handler = void (*)(ExecContext& cx, const Instr& at);

// Offset of an absent optional operand.
inline constexpr uint32_t kNoSlot = 0xffffffffu;
// Alignment of every tile in a frame, and of scratch memory. Scalars, block pointers and descriptors have 8.
inline constexpr size_t kSlotAlignment = 64;

// One decoded op.
struct Instr {
  Handler handler = nullptr;
  const uint32_t* slots = nullptr;  // frame offsets: operands, then results
  const void* data = nullptr;       // what Prepare made; handlers cast it to their own struct
  uint32_t num_operands = 0;
  OpId op;  // in the function that is being run

  template <typename T>
  const T& payload() const {
    return *static_cast<const T*>(data);
  }
};

// Why a program stopped.
enum class TrapKind : uint8_t {
  kNone,
  kOutOfBounds,
  kNullPointer,
  kReadOnly,
  kMisaligned,
  kIndex,
  kZeroStep,
  kAssert,
  kAssume,
  kStepLimit,
  kInterrupted,
  kDeadlock,
  kEndlessLoop,
  kUnsupported,
  kStack,
};

// A fault of the running kernel, completed with names and places by the scheduler.
struct Trap {
  TrapKind kind = TrapKind::kNone;
  OpId op;
  int64_t element = -1;  // flat index of the lane, or -1
  uint64_t address = 0;
  std::string message;
};

// Per running program; owned by the worker that runs it.
class ExecContext {
 public:
  // First element of the value at frame offset `slot`.
  template <typename T>
  T* At(uint32_t slot) const {
    return reinterpret_cast<T*>(frame + slot);
  }
  template <typename T>
  const T* Operand(const Instr& at, int i) const {
    return At<const T>(at.slots[i]);
  }
  bool HasOperand(const Instr& at, int i) const { return at.slots[i] != kNoSlot; }
  template <typename T>
  T* Result(const Instr& at, int i = 0) const {
    return At<T>(at.slots[at.num_operands + static_cast<uint32_t>(i)]);
  }
  // Scratch memory of the worker, at least as large as any Prepare asked for (PrepareContext::RequireScratch). Not
  // kept between handlers; but while a region runs, its handlers have other scratch memory than the op around it.
  template <typename T>
  T* Scratch() const {
    return reinterpret_cast<T*>(scratch);
  }

  // Stops the program after this handler. The first trap counts.
  void RaiseTrap(const Instr& at, TrapKind kind, std::string message, int64_t element = -1, uint64_t address = 0);
  bool stopped() const { return stop; }

  std::byte* frame = nullptr;
  uint32_t pc = 0;
  bool stop = false;  // trapped, preempted or finished: leave the dispatch loop
  std::byte* scratch = nullptr;
  size_t scratch_stride = 0;  // from one nesting of regions to the next
  std::array<int32_t, 3> program_id{};
  std::array<int32_t, 3> grid{1, 1, 1};
  const AllocationRegistry* memory = nullptr;
  MemoryRange last_range;     // where the last access went; most go there again
  MemoryRange foreign_range;  // the same of accesses outside every allocation
  Observer* observer = nullptr;
  Program* program = nullptr;
  PrintSink* print_sink = nullptr;
  // Stores and atomics that changed memory bump this: deadlock detection asks whether anything still happens.
  uint64_t writes = 0;
  // Loads and atomics bump this: a loop that changes nothing waits for others if it reads, and is endless if not.
  uint64_t reads = 0;
  // Set once a program seems to wait: stores then look whether they change anything before they bump `writes`.
  bool compare_stores = false;
  bool finished = false;  // returned from the kernel
  int64_t steps = 0;      // ops run
  int64_t slice = 0;      // back edges and calls until the program is preempted
  Trap trap;
};

}  // namespace trivet::vm
