// A kernel around a helper function, so that a tier that only runs kernels can be asked for the function's results.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "vm/bytecode/module.h"

namespace trivet::vm {

inline constexpr char kWrapperName[] = "wrapper";

// `module` with one more function: a kernel with a pointer for each parameter and each result of `function`, in this
// order. It loads the arguments (row-major), calls, and stores the results. Unimplemented for block pointers and
// descriptors.
absl::StatusOr<Module> WrapFunction(const Module& module, absl::string_view function);

}  // namespace trivet::vm
