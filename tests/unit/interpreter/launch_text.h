// Launches a kernel given as text over arrays: what the tests of scheduler, memory and atomics share.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "vm/bytecode/parser.h"
#include "vm/bytecode/verifier.h"
#include "vm/interpreter/execute.h"

namespace trivet::vm::testing {

// Collects what is printed.
class StringSink final : public PrintSink {
 public:
  void Write(absl::string_view written) override { text.append(written.data(), written.size()); }
  std::string text;
};

class TextKernel {
 public:
  explicit TextKernel(const std::string& text) {
    absl::StatusOr<Module> module = Parse(text);
    EXPECT_TRUE(module.ok()) << module.status().message();
    if (!module.ok()) return;
    const absl::Status verified = VerifyModule(*module);
    EXPECT_TRUE(verified.ok()) << verified.message();
    if (!verified.ok()) return;
    auto loaded = Executable::Load(*std::move(module));
    EXPECT_TRUE(loaded.ok()) << loaded.status().message();
    if (loaded.ok()) executable_ = *loaded;
  }

  // Adds an argument: a whole array, as a tensor of one axis.
  template <typename T>
  TextKernel& Array(const char* name, std::vector<T>& data, DType dtype, bool is_writable = true) {
    const auto base = reinterpret_cast<uint64_t>(data.data());
    request.memory.Add({name,
                        base,
                        static_cast<int64_t>(data.size() * sizeof(T)),
                        base,
                        dtype,
                        {static_cast<int64_t>(data.size())},
                        {1},
                        is_writable});
    return Word(base);
  }
  TextKernel& Word(uint64_t word) {
    request.arguments.push_back({{word}});
    return *this;
  }

  LaunchResult Run(int64_t programs, Schedule schedule = Schedule::kInOrder) {
    if (executable_ == nullptr) return {absl::InternalError("not loaded"), {}, 0};
    request.grid = {programs, 1, 1};
    request.options.schedule = schedule;
    request.memory.Seal();
    return Launch(*executable_, request);
  }

  const Executable& executable() const { return *executable_; }

  LaunchRequest request;

 private:
  std::shared_ptr<const Executable> executable_;
};

}  // namespace trivet::vm::testing
