// Compiling a kernel for a GPU: the whole way from bytecode to PTX.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "vm/bytecode/module.h"

namespace trivet::jit {

// What is known of one kernel parameter in all launches that a compilation is for.
struct ParameterFacts {
  // The argument (an integer, or a pointer's address in bytes) is a multiple of it: a power of two.
  int64_t divisibility = 1;
  // The argument itself, of an integer that was specialised on.
  std::optional<int64_t> value;
};

struct CompileOptions {
  std::string kernel;            // may be empty if the module has one kernel
  std::string target = "sm_80";  // "sm_90a": what PTX is made for
  int num_warps = 4;
  int num_stages = 3;
  int num_ctas = 1;                        // of a cluster
  int max_registers = 0;                   // of a thread; 0: the assembler's choice
  std::vector<ParameterFacts> parameters;  // by parameter; missing ones have no facts
  std::string libdevice_path;  // of libdevice.10.bc; not part of the key. Empty: kernels that need it are refused

  // A text that is the same for two options only if they compile alike: part of the cache's key.
  std::string KeyText() const;
};

// A kernel, compiled. What the cache holds, and all that a launch needs.
struct CompiledKernel {
  std::string kernel_name;  // the name in ptx and cubin
  std::string target;
  int num_warps = 4;
  int num_ctas = 1;
  int64_t shared_bytes = 0;  // dynamic shared memory of a CTA
  std::string tile;          // the last tile-level function before LLVM IR, as text
  std::string llir;          // LLVM IR, as text
  std::string ptx;
  std::string cubin;         // machine code for `target`; empty until an assembler ran
  int cubin_capability = 0;  // of the devices that the cubin is for: 90

  int threads_per_cta() const { return 32 * num_warps; }

  // Calls visit(name, field) for each field: what is not here is not in the cache.
  template <typename Kernel, typename Visitor>
  static void VisitFields(Kernel& kernel, const Visitor& visit) {
    visit("kernel_name", kernel.kernel_name);
    visit("target", kernel.target);
    visit("num_warps", kernel.num_warps);
    visit("num_ctas", kernel.num_ctas);
    visit("shared_bytes", kernel.shared_bytes);
    visit("tile", kernel.tile);
    visit("llir", kernel.llir);
    visit("ptx", kernel.ptx);
    visit("cubin", kernel.cubin);
    visit("cubin_capability", kernel.cubin_capability);
  }
};

// The kernel of this name in `module`, or its only kernel if the name is empty. InvalidArgument if there is none, or
// several and no name.
absl::StatusOr<FunctionId> FindKernel(const vm::Module& module, absl::string_view name);

// Compiles `options.kernel` of a verified module. Errors: Unimplemented where this tier can't (an op, a type, an
// architecture), naming op, source line and reason: the launch falls back; InvalidArgument for options that don't fit;
// OutOfResources (jit/driver/resources.h) where it is known before loading.
absl::StatusOr<CompiledKernel> Compile(const vm::Module& module, const CompileOptions& options);

// What stands behind Compile, so that the runtime can be tested without a compiler.
using CompileFn =
    std::function<absl::StatusOr<CompiledKernel>(const vm::Module& module, const CompileOptions& options)>;

}  // namespace trivet::jit
