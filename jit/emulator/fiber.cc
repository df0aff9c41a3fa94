#include "jit/emulator/fiber.h"

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace trivet::jit {

#ifdef TRIVET_FIBER_UCONTEXT

namespace {

// makecontext passes ints only.
void Start(unsigned entry_high, unsigned entry_low, unsigned argument_high, unsigned argument_low) {
  const auto join = [](unsigned high, unsigned low) { return (static_cast<uintptr_t>(high) << 32) | low; };
  reinterpret_cast<Fiber::Entry>(join(entry_high, entry_low))(
      reinterpret_cast<void*>(join(argument_high, argument_low)));
}

}  // namespace

void Fiber::Prepare(void* stack, size_t stack_bytes, Entry entry, void* argument) {
  Forget();
  stack_ = stack;
  stack_bytes_ = stack_bytes;
  getcontext(&context_);
  context_.uc_stack.ss_sp = stack;
  context_.uc_stack.ss_size = stack_bytes;
  context_.uc_link = nullptr;
  const auto entry_bits = reinterpret_cast<uintptr_t>(entry);
  const auto argument_bits = reinterpret_cast<uintptr_t>(argument);
  makecontext(&context_, reinterpret_cast<void (*)()>(Start), 4, static_cast<unsigned>(entry_bits >> 32),
              static_cast<unsigned>(entry_bits), static_cast<unsigned>(argument_bits >> 32),
              static_cast<unsigned>(argument_bits));
}

void Fiber::Switch(Fiber& from, Fiber& to) { swapcontext(&from.context_, &to.context_); }

void Fiber::Forget() {
  if (stack_ != nullptr) ASAN_UNPOISON_MEMORY_REGION(stack_, stack_bytes_);
}

#else

// trivet_switch_fiber(save, stack): pushes what the System V ABI preserves, stores the stack pointer in *save, and
// continues on `stack`, which was saved in the same way or made by Prepare. trivet_start_fiber is where a fresh
// fiber continues: r12 has its argument, r13 its entry.
asm(R"(
.text
.p2align 4
.type trivet_switch_fiber, @function
trivet_switch_fiber:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size trivet_switch_fiber, .-trivet_switch_fiber
.p2align 4
.type trivet_start_fiber, @function
trivet_start_fiber:
  movq %r12, %rdi
  call *%r13
  ud2
.size trivet_start_fiber, .-trivet_start_fiber
)");

extern "C" void trivet_switch_fiber(void** save, void* stack);
extern "C" void trivet_start_fiber();

void Fiber::Prepare(void* stack, size_t stack_bytes, Entry entry, void* argument) {
  Forget();
  stack_ = stack;
  stack_bytes_ = stack_bytes;
  const uintptr_t top = (reinterpret_cast<uintptr_t>(stack) + stack_bytes) & ~uintptr_t{15};
  // r15 r14 r13 r12 rbx rbp, return address; two words above keep the alignment of a call and end a backtrace.
  auto* words = reinterpret_cast<uintptr_t*>(top) - 9;
  for (int i = 0; i < 9; ++i) words[i] = 0;
  words[2] = reinterpret_cast<uintptr_t>(entry);
  words[3] = reinterpret_cast<uintptr_t>(argument);
  words[6] = reinterpret_cast<uintptr_t>(&trivet_start_fiber);
  stack_pointer_ = words;
}

void Fiber::Switch(Fiber& from, Fiber& to) { trivet_switch_fiber(&from.stack_pointer_, to.stack_pointer_); }

void Fiber::Forget() {
  if (stack_ == nullptr) return;
  [[maybe_unused]] const char* top = static_cast<char*>(stack_) + stack_bytes_;
  ASAN_UNPOISON_MEMORY_REGION(stack_pointer_, static_cast<size_t>(top - static_cast<char*>(stack_pointer_)));
}

#endif

FiberStacks::~FiberStacks() {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  for (void* stack : stacks_) munmap(static_cast<char*>(stack) - page, kStackBytes + page);
}

bool FiberStacks::Reserve(int count) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  while (stacks_.size() < static_cast<size_t>(count)) {
    void* memory = mmap(nullptr, kStackBytes + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    char* lowest = static_cast<char*>(memory) + page;
    if (mprotect(lowest, kStackBytes, PROT_READ | PROT_WRITE) != 0) {
      munmap(memory, kStackBytes + page);
      return false;
    }
    stacks_.push_back(lowest);
  }
  return true;
}

}  // namespace trivet::jit
