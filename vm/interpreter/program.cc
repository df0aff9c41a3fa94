#include "vm/interpreter/program.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <numeric>
#include <utility>

#include "vm/base/check.h"

namespace trivet::vm {
namespace {

// Arenas kept for later launches of a kernel, in bytes.
constexpr uint64_t kMaxPooledBytes = uint64_t{16} << 20;

std::byte* AllocateAligned(size_t size_bytes) {
  const size_t rounded = (size_bytes + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
  void* data = std::aligned_alloc(kSlotAlignment, std::max(rounded, kSlotAlignment));
  TRIVET_CHECK(data != nullptr, "out of memory");
  return static_cast<std::byte*>(data);
}

template <typename T>
void FillConstant(const ArenaConstant& constant, std::byte* data) {
  T* elements = reinterpret_cast<T*>(data + constant.slot);
  const T first = static_cast<T>(constant.bits);
  if (constant.is_arange) {
    std::iota(elements, elements + constant.count, first);
  } else {
    std::fill_n(elements, constant.count, first);
  }
}

}  // namespace

void Arena::Free::operator()(std::byte* data) const { std::free(data); }

Arena::Arena(const DecodedKernel& kernel) : data_(AllocateAligned(kernel.arena_bytes)) {
  // Handlers may not depend on what is in dead slots, but runs should repeat exactly even if one does.
  std::memset(data(), 0, kernel.frame_bytes);
  for (const ArenaConstant& constant : kernel.constants) {
    switch (constant.element_bytes) {
      case 1:
        FillConstant<uint8_t>(constant, data());
        break;
      case 2:
        FillConstant<uint16_t>(constant, data());
        break;
      case 4:
        FillConstant<uint32_t>(constant, data());
        break;
      default:
        FillConstant<uint64_t>(constant, data());
        break;
    }
  }
}

Arena ArenaPool::Take() {
  {
    const std::lock_guard lock(mutex_);
    if (!arenas_.empty()) {
      Arena arena = std::move(arenas_.back());
      arenas_.pop_back();
      return arena;
    }
  }
  return Arena(kernel_);
}

void ArenaPool::Give(Arena arena) {
  const std::lock_guard lock(mutex_);
  if ((arenas_.size() + 1) * kernel_.arena_bytes <= kMaxPooledBytes) arenas_.push_back(std::move(arena));
}

void ExecContext::RaiseTrap(const Instr& at, TrapKind kind, std::string message, int64_t element, uint64_t address) {
  stop = true;
  if (trap.kind == TrapKind::kNone) trap = {kind, at.op, element, address, std::move(message)};
}

Program::Program(LaunchContext& launch) : launch_(launch), arena_(launch.arenas.Take()) {
  const DecodedKernel& kernel = launch.kernel;
  cx_.frame = arena_.data();
  cx_.scratch_stride = (kernel.scratch_bytes + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
  const size_t scratch_bytes = cx_.scratch_stride * static_cast<size_t>(kernel.region_depth + 1);
  if (scratch_bytes > 0) {
    scratch_memory_.reset(new std::byte[scratch_bytes + kSlotAlignment]);
    const auto address = reinterpret_cast<uintptr_t>(scratch_memory_.get());
    cx_.scratch = scratch_memory_.get() + (kSlotAlignment - address % kSlotAlignment);
  }
  cx_.grid = launch.grid;
  cx_.memory = &launch.request.memory;
  cx_.observer = launch.request.options.observer;
  cx_.program = this;
  cx_.print_sink = launch.print_sink;
  WriteArguments();
}

Program::~Program() {
  CountSteps();
  launch_.arenas.Give(std::move(arena_));
}

// The kernel's parameters keep their slots, so once an arena is enough.
void Program::WriteArguments() {
  const std::vector<KernelArgument>& arguments = launch_.request.arguments;
  const Function& kernel = launch_.kernel.function(0);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto size = static_cast<size_t>(kernel.type(kernel.params()[i]).value_bytes());
    WriteParam(i, {reinterpret_cast<const uint8_t*>(arguments[i].words.data()), size});
  }
}

void Program::WriteParam(size_t i, absl::Span<const uint8_t> bytes) {
  std::memcpy(cx_.frame + launch_.kernel.functions[0].param_slots[i], bytes.data(), bytes.size());
}

absl::Span<const uint8_t> Program::ReadResult(size_t i) const {
  const FunctionCode& code = launch_.kernel.functions[0];
  const int64_t size = launch_.kernel.function(0).result_types[i].value_bytes();
  return {cx_.At<const uint8_t>(code.result_slots[i]), static_cast<size_t>(size)};
}

void Program::Start(int64_t index) {
  const auto& grid = launch_.grid;
  cx_.program_id = {static_cast<int32_t>(index % grid[0]), static_cast<int32_t>(index / grid[0] % grid[1]),
                    static_cast<int32_t>(index / grid[0] / grid[1])};
  cx_.pc = launch_.kernel.functions[0].entry_pc;
  cx_.finished = false;
  cx_.compare_stores = false;
  if (cx_.observer != nullptr) cx_.observer->OnProgramStart(*this);
}

Program::Outcome Program::Resume(int64_t slice) {
  cx_.slice = slice;
  cx_.stop = false;
  if (cx_.observer == nullptr) {
    RunPlain();
  } else {
    RunObserved();
  }
  // Without a limit it is enough to count when this object goes.
  if (!cx_.finished || launch_.request.options.max_steps > 0) CountSteps();
  if (cx_.trap.kind != TrapKind::kNone) return Outcome::kTrapped;
  if (!cx_.finished) return Outcome::kPreempted;
  if (cx_.observer != nullptr) cx_.observer->OnProgramEnd(*this);
  return Outcome::kFinished;
}

void Program::RunPlain() {
  const Instr* code = launch_.kernel.code.data();
  int64_t steps = 0;
  do {
    const Instr& at = code[cx_.pc++];
    at.handler(cx_, at);
    ++steps;
  } while (!cx_.stop);
  cx_.steps += steps;
}

void Program::RunObserved() {
  const DecodedKernel& kernel = launch_.kernel;
  do {
    running_pc_ = cx_.pc++;
    const Instr& at = kernel.code[running_pc_];
    const InstrInfo info = kernel.info[running_pc_];
    const OpEvent event = EventAt(at);
    if (info.starts_op) cx_.observer->OnOpStart(event);
    at.handler(cx_, at);
    ++cx_.steps;
    if (info.ends_op && cx_.trap.kind == TrapKind::kNone) cx_.observer->OnOpEnd(event);
  } while (!cx_.stop);
}

void Program::CountSteps() {
  launch_.watch.CountSteps(cx_.steps - counted_steps_);
  counted_steps_ = cx_.steps;
}

uint64_t Program::TakeWrites() { return cx_.writes - std::exchange(taken_writes_, cx_.writes); }

uint64_t Program::HashState() const {
  // Four independent multiply-rotate chains over the frames, then mixed; the prime is 2^64 over the golden ratio.
  constexpr uint64_t kPrime = 0x9e3779b97f4a7c15u;
  const size_t words = launch_.kernel.frame_bytes / 8;
  uint64_t lane[4] = {cx_.pc, 1, 2, 3};
  const auto word = [&](size_t i) {
    uint64_t w;
    std::memcpy(&w, cx_.frame + 8 * i, 8);
    return w;
  };
  const auto mix = [&](uint64_t& h, uint64_t w) {
    h = (h ^ w) * kPrime;
    h ^= h >> 29;
  };
  size_t i = 0;
  for (; i + 4 <= words; i += 4) {
    for (size_t j = 0; j < 4; ++j) mix(lane[j], word(i + j));
  }
  for (; i < words; ++i) mix(lane[0], word(i));
  uint64_t tail = 0;
  std::memcpy(&tail, cx_.frame + 8 * words, launch_.kernel.frame_bytes % 8);
  mix(lane[0], tail);
  for (size_t j = 1; j < 4; ++j) mix(lane[0], lane[j]);
  return lane[0];
}

void Program::SetTrap(TrapKind kind, std::string message) {
  cx_.stop = true;
  if (cx_.trap.kind == TrapKind::kNone) cx_.trap = {kind, OpId::None(), -1, 0, std::move(message)};
}

std::vector<ProgramFrame> Program::Frames() const {
  const DecodedKernel& kernel = launch_.kernel;
  std::vector<ProgramFrame> frames;
  // A handler that traps has moved the counter on by one.
  const bool has_trapped = cx_.trap.kind != TrapKind::kNone && cx_.trap.op;
  uint32_t pc = has_trapped ? cx_.pc - 1 : cx_.pc;
  if (cx_.observer != nullptr && !cx_.stop) pc = running_pc_;
  if (cx_.finished) pc = cx_.pc - 1;
  for (;;) {
    const FunctionCode& function = kernel.functions[kernel.info[pc].function];
    frames.push_back({function.id, kernel.code[pc].op});
    if (function.link_slot == kNoSlot) break;
    pc = static_cast<uint32_t>(*cx_.At<const uint64_t>(function.link_slot)) - 1;  // the call
  }
  if (has_trapped) frames.front().op = cx_.trap.op;
  return frames;
}

absl::Span<const uint8_t> Program::ReadValue(ValueId value) const { return ReadValue(0, value); }

absl::Span<const uint8_t> Program::ReadValue(size_t depth, ValueId value) const {
  const std::vector<ProgramFrame> frames = Frames();
  if (depth >= frames.size()) return {};
  for (const FunctionCode& function : launch_.kernel.functions) {
    if (function.id != frames[depth].function || value.index() >= function.value_slots.size()) continue;
    const uint32_t slot = function.value_slots[value.index()];
    if (slot == kNoSlot) return {};
    const int64_t size = module().function(function.id).type(value).value_bytes();
    return {cx_.At<const uint8_t>(slot), static_cast<size_t>(size)};
  }
  return {};
}

void Program::PollInRegion() {
  cx_.slice = 64;
  CountSteps();
  if (launch_.watch.Permit(*this) && launch_.abort.load(std::memory_order_relaxed)) cx_.stop = true;
}

absl::string_view Program::ParamName(int index) const {
  const Function& kernel = launch_.kernel.function(0);
  return kernel.value(kernel.params()[static_cast<size_t>(index)]).name;
}

OpEvent Program::EventAt(const Instr& at) const {
  return {this, launch_.kernel.module, launch_.kernel.functions[launch_.kernel.info[running_pc_].function].id, at.op};
}

void Program::NotifyBranch(const Instr& at, bool taken) { cx_.observer->OnBranch(EventAt(at), taken); }

}  // namespace trivet::vm
