#include "tests/fuzz/support/run_bounded.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "vm/base/check.h"
#include "vm/bytecode/builder.h"
#include "vm/bytecode/verifier.h"
#include "vm/interpreter/execute.h"
#include "vm/interpreter/program.h"

namespace trivet::vm {
namespace {

constexpr int64_t kMemoryBytes = 1 << 16;

class KeepOutput : public PrintSink {
 public:
  void Write(absl::string_view written) override { text.append(written.data(), written.size()); }
  std::string text;
};

// Reads every operand before and every result after each op, in all functions that are active.
class ReadEverything : public Observer {
 public:
  void OnOpStart(const OpEvent& event) override {
    const std::vector<ProgramFrame> frames = event.program->Frames();
    TRIVET_CHECK(frames.front().function == event.function && frames.front().op == event.op, "the event's place");
    for (size_t depth = 0; depth < frames.size(); ++depth) {
      const Operation& op = event.module->function(frames[depth].function).op(frames[depth].op);
      for (ValueId operand : op.operands) Read(event, frames[depth].function, depth, operand);
    }
  }
  void OnOpEnd(const OpEvent& event) override {
    for (ValueId result : event.module->function(event.function).op(event.op).results) {
      Read(event, event.function, 0, result);
    }
  }
  void OnLoad(const MemoryEvent& event) override { Touch(event); }
  void OnStore(const MemoryEvent& event) override { Touch(event); }
  void OnAtomic(const MemoryEvent& event) override { Touch(event); }

 private:
  void Read(const OpEvent& event, FunctionId function, size_t depth, ValueId value) {
    if (value.is_none()) return;
    const absl::Span<const uint8_t> bytes = event.program->ReadValue(depth, value);
    const auto size = static_cast<size_t>(event.module->function(function).type(value).value_bytes());
    TRIVET_CHECK(bytes.size() == size, "a value that is used can be read");
    for (uint8_t byte : bytes) sum_ += byte;
  }
  void Touch(const MemoryEvent& event) {
    TRIVET_CHECK(event.active.empty() || event.active.size() == event.addresses.size(), "a flag for each address");
    for (uint64_t address : event.addresses) sum_ += address;
    for (uint8_t active : event.active) sum_ += active;
  }

  uint64_t sum_ = 0;
};

// What a launch did.
struct Outcome {
  LaunchResult result;
  std::vector<uint64_t> memory;
  std::string output;

  bool is_cut_short() const { return result.trap.has_value() && result.trap->kind == TrapKind::kStepLimit; }
};

bool MakesWildPointers(const Module& module) {
  for (const Function& function : module.functions) {
    for (uint32_t v = 0; v < function.num_values(); ++v) {
      if (function.type(ValueId(v)).pointer_depth() > 1) return true;
    }
    for (uint32_t i = 0; i < function.num_ops(); ++i) {
      if (function.op(OpId(i)).opcode == Op::kIntToPtr) return true;
    }
  }
  return false;
}

// Makes values of any type out of a pointer to the shared memory.
class ArgumentMaker {
 public:
  ArgumentMaker(Builder* builder, ValueId memory) : b_(*builder), memory_(memory) {}

  ValueId Make(const Type& type) {
    if (type.is_number()) return b_.ConstantI(type, 1);
    const ValueId base = b_.Create1(Op::kBitcast, {memory_}, Type::Pointer(type.dtype()));
    if (type.is_scalar()) return base;
    if (type.is_tile()) return b_.Create1(Op::kSplat, {base}, type);
    const bool is_desc = type.is_desc();
    std::vector<ValueId> operands = {base};
    for (int64_t extent : type.shape()) operands.push_back(Number(is_desc ? DType::kI32 : DType::kI64, extent));
    int64_t stride = 1;
    std::vector<ValueId> strides;
    for (int axis = type.rank() - 1; axis >= 0; --axis) {
      strides.insert(strides.begin(), Number(DType::kI64, stride));
      stride *= type.dim(axis);
    }
    operands.insert(operands.end(), strides.begin(), strides.end());
    if (is_desc) return b_.Create1(Op::kMakeDesc, operands, type);
    std::vector<int64_t> order;
    for (int axis = type.rank() - 1; axis >= 0; --axis) {
      operands.push_back(Number(DType::kI32, 0));
      order.push_back(axis);
    }
    return b_.Create1(Op::kMakeBlockPtr, operands, type, {order});
  }

 private:
  ValueId Number(DType dtype, int64_t value) { return b_.ConstantI(Type::Scalar(dtype), value); }

  Builder& b_;
  ValueId memory_;
};

// A kernel (ptr<u8>) that calls function `callee`.
Function Caller(const Module& module, uint32_t callee) {
  const Function& target = module.functions[callee];
  Function function;
  function.name = absl::StrCat("run ", callee);
  function.is_kernel = true;
  function.body = function.AddRegion();
  const ValueId memory = function.AddParam(function.body, Type::Pointer(DType::kU8), "memory");
  Builder builder(&function, function.body);
  ArgumentMaker maker(&builder, memory);
  std::vector<ValueId> arguments;
  for (ValueId param : target.params()) arguments.push_back(maker.Make(target.type(param)));
  builder.Create(Op::kCall, arguments, target.result_types, {int64_t{callee}});
  builder.Create(Op::kReturn, {}, {});
  return function;
}

// The words of one kernel argument: a pointer to the memory, a tensor there, or the number 1.
KernelArgument ArgumentFor(const Type& type, uint64_t memory) {
  if (type.is_pointer()) return {{memory}};
  if (!type.is_desc()) return {{static_cast<uint64_t>(BitsOf(type.dtype(), int64_t{1}))}};
  KernelArgument argument{{memory, 0}};
  for (int64_t extent : type.shape()) argument.words.push_back(static_cast<uint64_t>(extent));
  uint64_t stride = 1;
  std::vector<uint64_t> strides;
  for (int axis = type.rank() - 1; axis >= 0; --axis) {
    strides.insert(strides.begin(), stride);
    stride *= static_cast<uint64_t>(type.dim(axis));
  }
  argument.words.insert(argument.words.end(), strides.begin(), strides.end());
  return argument;
}

// Launches a kernel on `memory`, all zeros at first.
Outcome RunOnce(const Executable& executable, const Function& kernel, int64_t max_steps, std::vector<uint64_t>& memory,
                Observer* observer) {
  std::fill(memory.begin(), memory.end(), 0);
  const auto base = reinterpret_cast<uint64_t>(memory.data());
  LaunchRequest request;
  request.kernel = kernel.name;
  for (ValueId param : kernel.params()) request.arguments.push_back(ArgumentFor(kernel.type(param), base));
  request.memory.Add({"memory", base, kMemoryBytes, base, DType::kU8, {kMemoryBytes}, {1}, true});
  request.memory.Seal();
  KeepOutput output;
  request.options.schedule = Schedule::kInOrder;
  request.options.max_steps = max_steps;
  request.options.print_sink = &output;
  request.options.observer = observer;
  LaunchResult result = Launch(executable, request);
  return {std::move(result), memory, std::move(output.text)};
}

}  // namespace

absl::Status RunBounded(const Module& module, int64_t max_steps) {
  if (MakesWildPointers(module)) return absl::OkStatus();
  Module runnable = module;
  for (uint32_t i = 0; i < module.functions.size(); ++i) {
    if (!module.functions[i].is_kernel) runnable.functions.push_back(Caller(module, i));
  }
  const absl::Status legal = VerifyModule(runnable);
  TRIVET_CHECK(legal.ok(), legal.message());
  const absl::StatusOr<std::shared_ptr<const Executable>> executable = Executable::Load(std::move(runnable));
  if (!executable.ok()) return executable.status();

  std::vector<uint64_t> memory(kMemoryBytes / 8);
  for (const Function& function : (*executable)->module().functions) {
    if (!function.is_kernel) continue;
    const Outcome plain = RunOnce(**executable, function, max_steps, memory, nullptr);
    ReadEverything observer;
    const Outcome observed = RunOnce(**executable, function, max_steps, memory, &observer);
    // The decoded form for observers takes other steps, and may not fit where the other does.
    const bool is_resource = observed.result.status.code() == absl::StatusCode::kResourceExhausted;
    if (plain.is_cut_short() || is_resource) continue;
    TRIVET_CHECK(plain.result.status == observed.result.status, "observers don't change how a launch ends");
    TRIVET_CHECK(plain.memory == observed.memory, "observers don't change memory");
    TRIVET_CHECK(plain.output == observed.output, "observers don't change what is printed");
  }
  return absl::OkStatus();
}

}  // namespace trivet::vm
