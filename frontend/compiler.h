// The frontend's entry: a @jit function and the types of its arguments in, a module of tile bytecode out.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "frontend/diagnostics.h"
#include "frontend/host_value.h"
#include "vm/bytecode/module.h"

namespace trivet::frontend {

// What one parameter of the kernel is bound to.
struct ArgumentSpec {
  enum class Kind : uint8_t { kRuntime, kConstant, kTuple };
  Kind kind = Kind::kRuntime;
  bool is_read_only = false;        // of kRuntime: a pointer to constant elements, "*kfp32"
  vm::Type type;                    // of kRuntime. A descriptor takes further parameters for its shape and strides.
  HostPtr constant;                 // of kConstant
  std::vector<ArgumentSpec> items;  // of kTuple
  std::vector<std::string> fields;  // of a named kTuple
};

// A global of a function, or an attribute of a module or class, that the compiled code depends on: recompile when it
// means something else.
struct GlobalUse {
  HostPtr function;
  std::string name;
  HostPtr value;
};

// What becomes of things that Trivet allows and Triton does not (docs/extensions.md).
enum class Portability : uint8_t { kOff, kWarn, kError };

struct CompileRequest {
  HostPtr kernel;  // HostKind::kFunction
  // By parameter, in order; the parameters of *args follow one another.
  std::vector<ArgumentSpec> arguments;
  // Copied into the module's metadata: num_warps, num_stages and the like.
  std::vector<std::pair<std::string, std::string>> options;
  bool allow_plain_globals = false;  // globals that are not tl.constexpr
  Portability portability = Portability::kOff;
  int64_t max_unrolled_ops = 2'000'000;  // guards against a static_range that never ends
};

struct CompileResult {
  // Verified. Meaningless unless diagnostics is empty.
  vm::Module module;
  Diagnostics diagnostics;
  std::vector<GlobalUse> globals;
};

// Compiles the kernel and every helper it calls for these argument types. Mistakes of the author come back as
// diagnostics; the status reports what is not the author's (source that can't be read).
absl::StatusOr<CompileResult> Compile(Host& host, const CompileRequest& request);

}  // namespace trivet::frontend
