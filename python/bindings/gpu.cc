#include "python/bindings/gpu.h"

#include "python/bindings/py_module.h"

#ifdef TRIVET_WITH_GPU

#include <pybind11/stl.h>

#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "jit/runtime/build_id.h"
#include "jit/runtime/cross_check.h"
#include "jit/runtime/disk_cache.h"
#include "jit/runtime/kernel_cache.h"
#include "jit/runtime/mirrored_memory.h"
#include "vm/bytecode/writer.h"

namespace trivet::python {
namespace {

// A tier that can't is an exception of its own (trivet/errors.py, TierRefusal), known by this prefix-free class.
class Refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

[[noreturn]] void ThrowLaunchError(const absl::Status& status) {
  const std::string message = vm::PrintableText(status.message());
  if (absl::IsUnimplemented(status) || absl::IsResourceExhausted(status)) throw Refusal(message);
  if (absl::IsInvalidArgument(status)) throw py::value_error(message);
  throw std::runtime_error(message);
}

// One for the process, made when a GPU is first used, and never destroyed: captured graphs may outlive Python.
jit::KernelCache& Cache(const jit::CudaDriver& driver) {
  static jit::KernelCache* const cache = [&] {
    auto* disk = new jit::DiskCache(jit::DiskCache::DefaultDirectory(), jit::DiskCache::DefaultMaxBytes());
    jit::KernelCache::Settings settings;
    settings.compile = jit::Compile;
    settings.compiler_version = jit::BuildId();
    settings.disk = disk;
    settings.warn = [](absl::string_view message) {
      std::fprintf(stderr, "trivet: %s\n", std::string(message).c_str());
    };
    return new jit::KernelCache(driver, std::move(settings));
  }();
  return *cache;
}

const jit::CudaDriver& Driver() {
  const auto driver = jit::CudaDriver::Get();
  if (!driver.ok()) ThrowLaunchError(driver.status());
  return **driver;
}

// facts: a list of (divisibility, value or None), one for each parameter of the bytecode.
jit::CompileOptions OptionsOf(const PyModule& module, const std::string& target, int num_warps, int num_stages,
                              int num_ctas, int max_registers,
                              const std::vector<std::pair<int64_t, std::optional<int64_t>>>& facts,
                              const std::string& libdevice_path) {
  jit::CompileOptions options;
  options.kernel = module.kernel();
  options.target = target;
  options.num_warps = num_warps;
  options.num_stages = num_stages;
  options.num_ctas = num_ctas;
  options.max_registers = max_registers;
  options.libdevice_path = libdevice_path;
  for (const auto& [divisibility, value] : facts) options.parameters.push_back({divisibility, value});
  return options;
}

std::string TargetOf(int device) {
  const auto facts = Driver().FindDevice(device);
  if (!facts.ok()) ThrowLaunchError(facts.status());
  const int capability = (*facts)->compute_capability();
  return absl::StrCat("sm_", capability, capability == 90 ? "a" : "");
}

// A kernel compiled for a device, and how to launch it.
class PyGpuKernel {
 public:
  explicit PyGpuKernel(std::shared_ptr<const jit::GpuKernel> kernel) : kernel_(std::move(kernel)) {}

  // words: for each parameter of the bytecode, its 64-bit words.
  void Launch(int device, uint64_t stream, const std::array<int64_t, 3>& grid, const py::list& words) const {
    // A launch is small: parameters live on the stack.
    std::vector<uint64_t> values;
    for (py::handle parameter : words) {
      for (py::handle word : py::reinterpret_borrow<py::list>(parameter)) values.push_back(py::cast<uint64_t>(word));
    }
    values.push_back(0);  // diagnostics
    std::vector<void*> parameters;
    for (uint64_t& value : values) parameters.push_back(&value);
    absl::Status status;
    {
      py::gil_scoped_release release;
      status = kernel_->Launch(device, reinterpret_cast<jit::cuda::Stream>(stream), {grid[0], grid[1], grid[2]},
                               parameters.data());
    }
    if (!status.ok()) ThrowLaunchError(status);
  }

  py::tuple Resources(int device) const {
    const auto loaded = kernel_->Load(device);
    if (!loaded.ok()) ThrowLaunchError(loaded.status());
    return py::make_tuple(loaded->registers, loaded->local_bytes / 4, kernel_->compiled().shared_bytes);
  }
  py::bytes Cubin(int device) const {
    auto cubin = kernel_->Cubin(device);
    if (!cubin.ok()) ThrowLaunchError(cubin.status());
    return py::bytes(*cubin);
  }
  const jit::CompiledKernel& compiled() const { return kernel_->compiled(); }

 private:
  std::shared_ptr<const jit::GpuKernel> kernel_;
};

jit::DeviceLaunch DeviceLaunchOf(PyModule& module, int device, uint64_t stream, const std::array<int64_t, 3>& grid,
                                 const py::list& words, const py::list& allocations) {
  jit::DeviceLaunch launch;
  launch.device = device;
  launch.stream = reinterpret_cast<jit::cuda::Stream>(stream);
  launch.request.kernel = module.kernel();
  launch.request.grid = grid;
  for (py::handle parameter : words) launch.request.arguments.push_back({parameter.cast<std::vector<uint64_t>>()});
  for (py::handle a : allocations) launch.request.memory.Add(AllocationOf(py::reinterpret_borrow<py::tuple>(a)));
  launch.request.memory.Seal();
  return launch;
}

// Runs a launch on device memory by the interpreter. Gives None or the message of a trap.
py::object LaunchMirrored(PyModule& module, int device, uint64_t stream, const std::array<int64_t, 3>& grid,
                          const py::list& words, const py::list& allocations) {
  const jit::DeviceLaunch launch = DeviceLaunchOf(module, device, stream, grid, words, allocations);
  const std::shared_ptr<const vm::Executable> executable = module.executable();
  absl::Status status;
  std::string trap;
  {
    py::gil_scoped_release release;
    status = [&]() -> absl::Status {
      TRIVET_ASSIGN_OR_RETURN(jit::MirroredMemory memory, jit::MirroredMemory::Copy(Driver(), module.module(), launch));
      const vm::LaunchResult result = vm::Launch(*executable, memory.request());
      if (result.trap) {
        trap = result.trap->message;
        return absl::OkStatus();
      }
      TRIVET_RETURN_IF_ERROR(result.status);
      return memory.WriteBack();
    }();
  }
  if (!status.ok()) ThrowLaunchError(status);
  return trap.empty() ? py::object(py::none()) : py::object(py::str(trap));
}

// (is equal, report as text)
py::tuple CrossCheckLaunch(PyModule& module, const PyGpuKernel& kernel, int device, uint64_t stream,
                           const std::array<int64_t, 3>& grid, const py::list& words, const py::list& allocations) {
  const jit::DeviceLaunch launch = DeviceLaunchOf(module, device, stream, grid, words, allocations);
  const auto report = jit::CrossCheck(Driver(), *module.executable(), launch, [&]() -> absl::Status {
    kernel.Launch(device, stream, grid, words);
    return absl::OkStatus();
  });
  if (!report.ok()) ThrowLaunchError(report.status());
  return py::make_tuple(report->is_equal(), report->ToString());
}

}  // namespace

void RegisterGpu(py::module_& m) {
  py::register_exception<Refusal>(m, "GpuRefusal", PyExc_RuntimeError);
  m.def(
      "gpu_problem",
      []() -> py::object {
        const auto driver = jit::CudaDriver::Get();
        if (!driver.ok()) return py::str(vm::PrintableText(driver.status().message()));
        if ((*driver)->devices().empty()) return py::str("there is no CUDA device");
        return py::none();
      },
      "Why no GPU can be used; None if one can.");
  m.def(
      "gpu_devices",
      [] {
        py::list out;
        for (const jit::DeviceFacts& d : Driver().devices()) {
          py::dict facts;
          facts["name"] = d.name;
          facts["compute_capability"] = d.compute_capability();
          facts["memory_bytes"] = d.memory_bytes;
#define TRIVET_DEVICE_ATTRIBUTE(field, number, doc) facts[#field] = d.field;
#include "jit/driver/device_attributes.def"
#undef TRIVET_DEVICE_ATTRIBUTE
          out.append(facts);
        }
        return out;
      },
      "Facts about each device.");
  py::class_<PyGpuKernel>(m, "GpuKernel", "A kernel compiled for GPUs of one architecture.")
      .def("launch", &PyGpuKernel::Launch, py::arg("device"), py::arg("stream"), py::arg("grid"), py::arg("words"))
      .def("resources", &PyGpuKernel::Resources,
           "(registers, spilled registers, bytes of shared memory); loads the kernel.")
      .def("cubin", &PyGpuKernel::Cubin)
      .def_property_readonly("ptx", [](const PyGpuKernel& k) { return k.compiled().ptx; })
      .def_property_readonly("llir", [](const PyGpuKernel& k) { return k.compiled().llir; })
      .def_property_readonly("tile", [](const PyGpuKernel& k) { return k.compiled().tile; });
  m.def(
      "gpu_kernel",
      [](const PyModule& module, int device, int num_warps, int num_stages, int num_ctas, int max_registers,
         const std::vector<std::pair<int64_t, std::optional<int64_t>>>& facts, const std::string& libdevice_path) {
        const auto options =
            OptionsOf(module, TargetOf(device), num_warps, num_stages, num_ctas, max_registers, facts, libdevice_path);
        const std::vector<uint8_t> bytes = vm::WriteModule(module.module());
        absl::StatusOr<std::shared_ptr<const jit::GpuKernel>> kernel;
        {
          py::gil_scoped_release release;
          kernel = Cache(Driver()).Get(module.module(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                                       options);
        }
        if (!kernel.ok()) ThrowLaunchError(kernel.status());
        return PyGpuKernel(*kernel);
      },
      "The kernel of a module for a device: from a cache, or compiled.");
  m.def(
      "gpu_compile",
      [](const PyModule& module, const std::string& target, int num_warps, int num_stages, int num_ctas,
         int max_registers, const std::vector<std::pair<int64_t, std::optional<int64_t>>>& facts,
         const std::string& libdevice_path) {
        const auto options =
            OptionsOf(module, target, num_warps, num_stages, num_ctas, max_registers, facts, libdevice_path);
        absl::StatusOr<jit::CompiledKernel> compiled;
        {
          py::gil_scoped_release release;
          compiled = jit::Compile(module.module(), options);
        }
        if (!compiled.ok()) ThrowLaunchError(compiled.status());
        py::dict out;
        out["tile"] = compiled->tile;
        out["llir"] = compiled->llir;
        out["ptx"] = compiled->ptx;
        out["shared_bytes"] = compiled->shared_bytes;
        return out;
      },
      "Compiles for an architecture; needs no GPU.");
  m.def("gpu_launch_mirrored", &LaunchMirrored);
  m.def("gpu_cross_check", &CrossCheckLaunch);
}

}  // namespace trivet::python

#else

namespace trivet::python {

void RegisterGpu(py::module_& m) {
  m.def("gpu_problem", [] { return "this build has no GPU tiers: it was made without LLVM 22"; });
}

}  // namespace trivet::python

#endif
