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

  // Makes the fiber start `entry(argument)` when it is switched to. `entry` must not return. `stack` is its lowest byte.
  void Prepare(void* stack, size_t stack_bytes, Entry entry, void* argument);

  // Stops running `from`, which is the one that calls, and continues with `to`.
  static void Switch(Fiber& from, Fiber& to);

 private:
#ifdef TRIVET_FIBER_UCONTEXT
  ucontext_t context_;
#else
  void* stack_pointer_ = nullptr;
#endif
};

// Stacks for fibers, each with an unmapped page below, so that an overflow is a signal rather than damage.
class FiberStacks {
 public:
  static constexpr size_t kStackBytes = size_t{256} << 10;

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
