// A kernel as text, launched on memory of the fake device.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "jit/runtime/mirrored_memory.h"
#include "tests/unit/runtime/runtime_test_support.h"
#include "vm/bytecode/parser.h"
#include "vm/bytecode/verifier.h"

namespace trivet::jit {

// for each i < n: to[i] = 2 * from[i], 4 elements a program. n: the third argument.
inline constexpr char kDoubleText[] = R"(
kernel @double(%from: ptr<f32>, %to: ptr<f32>, %n: i32) {
  %pid = program_id axis=0 : i32
  %four = constant 4 : i32
  %start = muli %pid, %four
  %lanes = arange end=4 : tile<4xi32>
  %starts = splat %start : tile<4xi32>
  %i = addi %starts, %lanes
  %ns = splat %n : tile<4xi32>
  %mask = cmpi %i, %ns predicate=lt : tile<4xi1>
  %froms = splat %from : tile<4xptr<f32>>
  %p = addptr %froms, %i
  %v = load %p, %mask : tile<4xf32>
  %w = addf %v, %v
  %tos = splat %to : tile<4xptr<f32>>
  %q = addptr %tos, %i
  store %q, %w, %mask loc("double.py":9:3)
  return
}
)";

// An array in the fake device's memory.
template <typename T>
class DeviceArray {
 public:
  DeviceArray(const CudaDriver& driver, const std::vector<T>& values) : driver_(driver), size_(values.size()) {
    const ScopedContext scope = *ScopedContext::Enter(driver_, 0);
    EXPECT_EQ(driver_.api().cuMemAlloc(&address_, size_ * sizeof(T)), cuda::kSuccess);
    std::memcpy(reinterpret_cast<void*>(address_), values.data(), size_ * sizeof(T));
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { driver_.api().cuMemFree(address_); }

  uint64_t address() const { return address_; }
  T* data() const { return reinterpret_cast<T*>(address_); }
  std::vector<T> values() const { return {data(), data() + size_}; }
  vm::Allocation AsTensor(const char* name, vm::DType dtype) const {
    return {name, address_, static_cast<int64_t>(size_ * sizeof(T)), address_, dtype, {static_cast<int64_t>(size_)},
            {1},  true};
  }

 private:
  const CudaDriver& driver_;
  cuda::DevicePtr address_ = 0;
  size_t size_;
};

inline std::shared_ptr<const vm::Executable> Load(const std::string& text) {
  absl::StatusOr<vm::Module> module = vm::Parse(text, "kernel.tvt");
  EXPECT_TRUE(module.ok()) << module.status();
  EXPECT_TRUE(vm::VerifyModule(*module).ok()) << vm::VerifyModule(*module);
  return *vm::Executable::Load(*std::move(module));
}

}  // namespace trivet::jit
