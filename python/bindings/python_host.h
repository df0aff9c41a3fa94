// The frontend's view of Python objects (frontend/host_value.h) over CPython.
//
// The package tells which of its classes mean what (RegisterClasses); everything else is told by its Python type. A
// Python exception raised while the frontend asks something becomes a Status with its text.
#pragma once

#include <pybind11/pybind11.h>

#include "frontend/host_value.h"

namespace trivet::python {

// The package's classes, by name: constexpr, dtype, pointer_type, block_type, Builtin, JITFunction, ConstexprFunction.
// Called once, while the package is imported.
void RegisterClasses(const pybind11::dict& classes);

frontend::HostPtr WrapObject(pybind11::object object);
// The Python object of a host value made here.
pybind11::object UnwrapObject(const frontend::HostPtr& value);
// The type that a Python dtype, pointer_type or block_type stands for. Throws TypeError for other objects.
vm::Type TypeOfObject(pybind11::handle object);
pybind11::object ObjectOfType(const vm::Type& type);

// Python exceptions don't pass through the frontend; Compile throws them once it is done. Since DropKeptExceptions:
// the exception for which a function's source could not be read, if there was one,
void RethrowKeptException();
// and an exception that has nothing to do with the kernel, such as KeyboardInterrupt.
void RethrowPendingException();
void DropKeptExceptions();

class PythonHost : public frontend::Host {
 public:
  frontend::HostPtr MakeNone() override;
  frontend::HostPtr MakeBool(bool value) override;
  frontend::HostPtr MakeInt(absl::string_view decimal_digits) override;
  frontend::HostPtr MakeFloat(double value) override;
  frontend::HostPtr MakeString(absl::string_view text) override;
  frontend::HostPtr MakeType(const vm::Type& type) override;
  frontend::HostPtr MakeTuple(const std::vector<frontend::HostPtr>& items,
                              const std::vector<std::string>& fields) override;
  frontend::HostPtr LanguageMember(absl::string_view name) override;
  void Print(absl::string_view text) override;
  void Warn(absl::string_view text) override;
  absl::StatusOr<std::string> Format(const frontend::HostPtr& value, absl::string_view spec,
                                     absl::string_view conversion) override;
};

}  // namespace trivet::python
