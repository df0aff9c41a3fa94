// The operations of the language that the frontend itself knows: tl.load, tl.dot, range, len, ...
//
// builtins.def lists them with their signatures; each has a handler BuiltinX in one of the builtins_*.cc.
#pragma once

#include <string>

#include "absl/types/span.h"
#include "frontend/function_lowering.h"

namespace trivet::frontend {

// A call with its arguments bound to the signature, defaults filled in.
struct BuiltinCall {
  absl::string_view name;
  std::vector<Value> arguments;                         // in the order of the signature
  std::vector<Value> variadic;                          // of *args
  std::vector<std::pair<std::string, Value>> keywords;  // of **changes
  const Value& operator[](size_t i) const { return arguments[i]; }
};

using BuiltinHandler = Value (*)(FunctionLowering& fl, BuiltinCall& call);

struct Builtin {
  const char* name;       // "load", "libdevice.tanh", "py.len"
  const char* signature;  // "pointer, mask=None, other=None, ..."
  BuiltinHandler handler;
};

// All of them, in the order of builtins.def.
absl::Span<const Builtin> AllBuiltins();

// True if there is an operation of that name.
bool IsBuiltin(absl::string_view name);

// True if tiles have the operation as a method: x.to, x.reshape.
bool IsTensorMethod(absl::string_view name);

// Python's isinstance, for a value of a kernel.
bool IsInstanceOf(const Value& value, const HostPtr& cls);

// The descriptor that lies in memory at `pointer`, of an element type and with these blocks.
Value DescriptorInMemory(FunctionLowering& fl, const Value& pointer, const Value& block_shape, const vm::Type& element);

// What a class that @aggregate made consists of; nullptr for others.
HostPtr AggregateInfo(const HostPtr& cls);

// dtype.is_fp8(), dtype.is_ptr(), ...
Value CallTypeMethod(FunctionLowering& fl, const vm::Type& type, const std::string& name,
                     const CallArguments& arguments);

}  // namespace trivet::frontend
