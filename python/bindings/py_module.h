// What the files of the extension share: a module of bytecode as Python holds it, and statuses as exceptions.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vm/base/status.h"
#include "vm/bytecode/module.h"
#include "vm/bytecode/text_form.h"
#include "vm/interpreter/execute.h"

namespace trivet::python {

namespace py = pybind11;

// A Python string as UTF-8. Lone surrogates, which UTF-8 has no bytes for, come out as an escape: "\\ud800".
inline std::string Utf8(py::handle text) {
  Py_ssize_t size = 0;
  if (const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size)) return {data, static_cast<size_t>(size)};
  PyErr_Clear();
  return py::cast<std::string>(text.attr("encode")("utf-8", "backslashreplace"));
}

inline void ThrowIfError(const absl::Status& status) {
  if (status.ok()) return;
  const std::string message = vm::PrintableText(status.message());  // Python wants UTF-8
  if (status.code() == absl::StatusCode::kInvalidArgument) throw py::value_error(message);
  throw std::runtime_error(message);
}

template <typename T>
T ValueOrThrow(absl::StatusOr<T> value) {
  ThrowIfError(value.status());
  return *std::move(value);
}

// A verified module and, once something was launched, its decoded form.
class PyModule {
 public:
  explicit PyModule(vm::Module module) : module_(std::move(module)) {}

  const vm::Module& module() const { return module_; }
  const std::shared_ptr<const vm::Executable>& executable() {
    if (executable_ == nullptr) executable_ = ValueOrThrow(vm::Executable::Load(module_));
    return executable_;
  }
  std::string kernel() const {
    for (const vm::Function& f : module_.functions) {
      if (f.is_kernel) return f.name;
    }
    return "";
  }

 private:
  vm::Module module_;
  std::shared_ptr<const vm::Executable> executable_;
};

// (name, storage base, storage bytes, view base, dtype, shape, strides, writable)
inline vm::Allocation AllocationOf(const py::tuple& t) {
  vm::Allocation a;
  a.name = t[0].cast<std::string>();
  a.storage_base = t[1].cast<uint64_t>();
  a.storage_bytes = t[2].cast<int64_t>();
  a.view_base = t[3].cast<uint64_t>();
  a.dtype = vm::DTypeFromTriton(t[4].cast<std::string>());
  a.shape = t[5].cast<std::vector<int64_t>>();
  a.strides = t[6].cast<std::vector<int64_t>>();
  a.is_writable = t[7].cast<bool>();
  return a;
}

}  // namespace trivet::python
