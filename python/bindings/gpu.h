// GPU tiers, as Python sees them: the driver, compiled kernels, launches.
#pragma once

#include <pybind11/pybind11.h>

namespace trivet::python {

// Adds the classes and functions to the module. Without LLVM there is only `gpu_problem`, which says so.
void RegisterGpu(pybind11::module_& m);

}  // namespace trivet::python
