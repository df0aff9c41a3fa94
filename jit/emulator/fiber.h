// A thread of execution with its own stack that runs until it switches to another: what a GPU thread is here.
//
// Switching saves the registers that the ABI preserves and the stack pointer, and nothing else: no signal mask, no
// rounding mode. A fiber that is not resumed any more is just forgotten, so its frames must not own anything when they
// switch away.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#if !defined(__x86_64__) || !defined(__ELF__)
#define TRIVET_FIBER_UCONTEXT 1
#include <ucontext.h>
#endif

namespace trivet::jit {

class Fiber {
 public:
  using Entry = void (*)(void*);

  Fiber() = default;
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber() { Forget(); }

  // Makes the fiber start `entry(argument)` when it is switched to. `entry` must not return. `stack` is its lowest
  // byte.
  void Prepare(void* stack, size_t stack_bytes, Entry entry, void* argument);

  // Stops running `from`, which is the one that calls, and continues with `to`.
  static void Switch(Fiber& from, Fiber& to);

 private:
  // Tells AddressSanitizer that the frames that are still on the stack are gone.
  void Forget();

#ifdef TRIVET_FIBER_UCONTEXT
  ucontext_t context_;
#else
  void* stack_pointer_ = nullptr;
#endif
  void* stack_ = nullptr;  // null: the fiber has the stack of its thread
  size_t stack_bytes_ = 0;
};

// Stacks for fibers, each with an unmapped page below, so that an overflow is a signal rather than damage. They are
// large because code that is not optimised keeps every value in its frame; only what is touched takes memory.
class FiberStacks {
 public:
  static constexpr size_t kStackBytes = size_t{2} << 20;

  FiberStacks() = default;
  FiberStacks(const FiberStacks&) = delete;
  FiberStacks& operator=(const FiberStacks&) = delete;
  ~FiberStacks();

  // Makes sure that there are at least `count` stacks; false when memory for them is refused.
  bool Reserve(int count);

  // The lowest byte of stack `index`.
  void* stack(int index) const { return stacks_[static_cast<size_t>(index)]; }

 private:
  std::vector<void*> stacks_;
};

}  // namespace trivet::jit
