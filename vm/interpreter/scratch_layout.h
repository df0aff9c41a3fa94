// Divides the worker's scratch memory into arrays. Prepare runs the same division over no memory to learn its size:
//
//   ScratchLayout layout(nullptr); Take all; cx.RequireScratch(layout.size_bytes());     when preparing
//   ScratchLayout layout(cx.Scratch<std::byte>()); float* sums = layout.Take<float>(n);  when running
#pragma once

#include <cstddef>
#include <cstdint>

#include "vm/interpreter/exec_context.h"

namespace trivet::vm {

class ScratchLayout {
 public:
  explicit ScratchLayout(std::byte* base) : base_(reinterpret_cast<uintptr_t>(base)) {}

  // The next `count` elements, aligned as values in a frame are.
  template <typename T>
  T* Take(int64_t count) {
    T* piece = reinterpret_cast<T*>(base_ + size_bytes_);
    size_bytes_ += (static_cast<size_t>(count) * sizeof(T) + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
    return piece;
  }
  size_t size_bytes() const { return size_bytes_; }

 private:
  uintptr_t base_;
  size_t size_bytes_ = 0;
};

}  // namespace trivet::vm
