#include "python/bindings/python_host.h"

#include <pybind11/stl.h>

#include <exception>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "python/bindings/ast_convert.h"
#include "python/bindings/py_module.h"

namespace py = pybind11;

namespace trivet::python {

using frontend::HostKind;
using frontend::HostPtr;

namespace {

// What RegisterClasses was told. Leaked on purpose: the interpreter may be gone before static destructors run.
struct Classes {
  py::object constexpr_class, dtype, pointer_type, block_type, builtin, jit_function, constexpr_function;
  py::dict python_functions;  // Python's own functions: object -> "py.len"
  py::object language;        // the module trivet.language
};
Classes* classes = nullptr;

std::string Str(py::handle h) { return Utf8(py::str(h)); }

// Exceptions that came up while this thread compiles; see RethrowKeptException and RethrowPendingException.
struct Exceptions {
  std::exception_ptr kept;     // behind the last status of function_def()
  std::exception_ptr pending;  // the first that the frontend has no way to hear of, KeyboardInterrupt above all
};
// Never destroyed: the interpreter may be gone before static destructors run.
Exceptions& ThreadExceptions() {
  thread_local Exceptions* const exceptions = new Exceptions;
  return *exceptions;
}

void SetPending(std::exception_ptr exception) {
  if (ThreadExceptions().pending == nullptr) ThreadExceptions().pending = std::move(exception);
}

// Runs `work`, turning a Python exception into a Status.
template <typename Work>
auto Guarded(const Work& work) -> absl::StatusOr<decltype(work())> {
  try {
    return work();
  } catch (py::error_already_set& error) {
    if (error.matches(PyExc_KeyboardInterrupt)) SetPending(std::current_exception());
    return absl::InvalidArgumentError(Str(error.value().is_none() ? error.type() : error.value()));
  } catch (const py::cast_error& error) {
    return absl::InternalError(error.what());
  }
}

// `work`, whose exception is also kept for RethrowKeptException.
template <typename Work>
auto KeepingException(Work work) {
  return [work = std::move(work)] {
    try {
      return work();
    } catch (py::error_already_set&) {
      ThreadExceptions().kept = std::current_exception();
      throw;
    }
  };
}

// The result of `work`, or `otherwise` if it raises: the compilation goes on to its end, and raises then.
template <typename Result, typename Work>
Result OrPending(Result otherwise, const Work& work) {
  try {
    return work();
  } catch (py::error_already_set&) {
    SetPending(std::current_exception());
    return otherwise;
  }
}

// True for NumPy's numbers, which are objects of their own: np.int64(3).
bool IsNumpyNumber(const py::object& object) {
  return PyType_Check(object.ptr()) == 0 && py::hasattr(object, "dtype") && py::hasattr(object, "item") &&
         py::hasattr(object, "ndim") && py::isinstance<py::int_>(object.attr("ndim")) &&
         object.attr("ndim").cast<int>() == 0;
}

// Unwraps tl.constexpr, perhaps several times.
py::object Unwrap(py::object object, bool* was_constexpr) {
  *was_constexpr = false;
  while (py::isinstance(object, classes->constexpr_class)) {
    *was_constexpr = true;
    object = object.attr("value");
  }
  return object;
}

class PythonValue : public frontend::HostValue {
 public:
  explicit PythonValue(py::object object) : object_(Unwrap(std::move(object), &is_constexpr_)) {
    // Host functions such as triton.cdiv name the function that stands for them inside kernels.
    if (PyCallable_Check(object_.ptr()) != 0 && py::hasattr(object_, "__trivet_kernel__")) {
      object_ = object_.attr("__trivet_kernel__");
    }
    kind_ = Classify();
    if (kind_ == HostKind::kObject && IsNumpyNumber(object_)) {
      object_ = object_.attr("item")();
      kind_ = Classify();
    }
  }

  const py::object& object() const { return object_; }

  HostKind kind() const override { return kind_; }
  bool is_constexpr() const override { return is_constexpr_; }

  std::string text() const override {
    switch (kind_) {
      case HostKind::kInt:
        return Str(py::reinterpret_steal<py::object>(PyNumber_Long(object_.ptr())));
      case HostKind::kString:
        return Utf8(object_);
      case HostKind::kBuiltin:
        if (object_.is(classes->constexpr_class)) return "constexpr";
        if (py::object name = classes->python_functions.attr("get")(object_, py::none()); !name.is_none())
          return Str(name);
        return Str(object_.attr("name"));
      case HostKind::kModule:
        return absl::StrCat("module '", Str(object_.attr("__name__")), "'");
      case HostKind::kClass:
        return absl::StrCat("class '", Str(object_.attr("__name__")), "'");
      case HostKind::kFunction:
        return absl::StrCat("function ", Str(object_.attr("__name__")), "()");
      case HostKind::kHostCall:
        if (PyType_Check(object_.ptr()) != 0) return absl::StrCat("class '", Str(object_.attr("__name__")), "'");
        break;
      default:
        break;
    }
    if (py::hasattr(object_, "__name__") && PyCallable_Check(object_.ptr()) != 0) {
      return absl::StrCat("the Python function ", Str(object_.attr("__name__")), "()");
    }
    if (kind_ == HostKind::kObject) {
      return absl::StrCat("a Python object of type '", Str(py::type::handle_of(object_).attr("__name__")), "'");
    }
    return Str(object_);
  }

  double number() const override { return py::cast<double>(object_); }
  vm::Type type() const override { return TypeOfObject(object_); }

  std::vector<HostPtr> items() const override {
    std::vector<HostPtr> out;
    for (py::handle item : object_) out.push_back(WrapObject(py::reinterpret_borrow<py::object>(item)));
    return out;
  }
  std::vector<std::string> field_names() const override {
    std::vector<std::string> names;
    if (py::hasattr(object_, "_fields")) {
      for (py::handle name : object_.attr("_fields")) names.push_back(Str(name));
    }
    return names;
  }
  std::string key() const override { return absl::StrCat(reinterpret_cast<uintptr_t>(object_.ptr())); }

  absl::StatusOr<HostPtr> GetAttribute(absl::string_view name) const override {
    const std::string attribute(name);
    return Guarded([&]() -> HostPtr {
      if (!py::hasattr(object_, attribute.c_str())) return nullptr;
      return WrapObject(object_.attr(attribute.c_str()));
    });
  }

  std::vector<std::string> attribute_names() const override {
    const absl::StatusOr<std::vector<std::string>> names =
        Guarded([&] { return py::cast<std::vector<std::string>>(object_.attr("__dir__")()); });
    return names.ok() ? *names : std::vector<std::string>();
  }
  bool FunctionFlag(absl::string_view flag) const override {
    if (flag != "library" || kind_ != HostKind::kFunction) return false;
    const absl::StatusOr<std::string> name = Guarded([&] { return Str(object_.attr("__module__")); });
    return name.ok() && absl::StartsWith(*name, "trivet.language.");
  }

  absl::StatusOr<HostPtr> Call(const std::vector<HostPtr>& arguments,
                               const std::vector<std::pair<std::string, HostPtr>>& keywords) const override {
    return Guarded([&] {
      py::list positional;
      for (const HostPtr& a : arguments) positional.append(UnwrapObject(a));
      py::dict named;
      for (const auto& [name, value] : keywords) named[py::str(name)] = UnwrapObject(value);
      return WrapObject(object_(*positional, **named));
    });
  }

  absl::StatusOr<HostPtr> Binary(absl::string_view op, const HostPtr& other) const override {
    return Guarded([&] {
      const py::module_ operators = py::module_::import("operator");
      if (op == "float()") return WrapObject(py::float_(object_));
      if (op == "isinstance" || op == "issubclass") {
        const py::object built_in = py::module_::import("builtins").attr(std::string(op).c_str());
        return WrapObject(built_in(object_, UnwrapObject(other)));
      }
      static const std::pair<const char*, const char*> kFunctions[] = {
          {"+", "add"},  {"-", "sub"},  {"*", "mul"},    {"/", "truediv"}, {"//", "floordiv"},
          {"%", "mod"},  {"**", "pow"}, {"@", "matmul"}, {"<<", "lshift"}, {">>", "rshift"},
          {"&", "and_"}, {"|", "or_"},  {"^", "xor"},    {"==", "eq"},     {"!=", "ne"},
          {"<", "lt"},   {"<=", "le"},  {">", "gt"},     {">=", "ge"},     {"[]", "getitem"}};
      const py::object right = UnwrapObject(other);
      for (const auto& [text, name] : kFunctions) {
        if (op == text) return WrapObject(operators.attr(name)(object_, right));
      }
      const bool contains = py::cast<bool>(operators.attr("contains")(right, object_));
      return WrapObject(py::bool_(contains == (op == "in")));
    });
  }

  absl::StatusOr<const frontend::FunctionDef*> function_def() const override {
    return Guarded(KeepingException([&]() -> const frontend::FunctionDef* {
      // The converted tree lives as long as the Python function.
      const py::object cached = object_.attr("_frontend_tree");
      if (!cached.is_none()) return cached.cast<py::capsule>().get_pointer<frontend::FunctionDef>();
      auto def = std::make_unique<frontend::FunctionDef>(ConvertFunction(object_.attr("_source")()));
      const py::object parameters = object_.attr("_parameter_kinds")();
      for (frontend::Parameter& p : def->parameters) {
        const py::tuple kind = parameters[py::str(p.name)];
        p.is_constexpr = kind[0].cast<bool>();
        p.annotation = kind[1].cast<std::string>();
        p.is_read_only = kind[2].cast<bool>();
      }
      frontend::FunctionDef* raw = def.release();
      object_.attr("_frontend_tree") = py::capsule(raw, [](void* p) { delete static_cast<frontend::FunctionDef*>(p); });
      return raw;
    }));
  }

  HostPtr LookUp(absl::string_view name) const override {
    return OrPending(HostPtr(), [&] {
      const py::tuple found = object_.attr("_look_up")(py::str(std::string(name)));
      return found[0].cast<bool>() ? WrapObject(found[1]) : nullptr;
    });
  }
  bool IsConstexprGlobal(absl::string_view name) const override {
    return OrPending(false,
                     [&] { return object_.attr("_is_constexpr_global")(py::str(std::string(name))).cast<bool>(); });
  }
  HostPtr DefaultOf(absl::string_view parameter) const override {
    return OrPending(HostPtr(), [&] {
      const py::tuple found = object_.attr("_default_of")(py::str(std::string(parameter)));
      return found[0].cast<bool>() ? WrapObject(found[1]) : nullptr;
    });
  }

 private:
  HostKind Classify() const {
    PyObject* raw = object_.ptr();
    if (object_.is_none()) return HostKind::kNone;
    if (PyBool_Check(raw) != 0) return HostKind::kBool;
    if (PyLong_Check(raw) != 0) return HostKind::kInt;
    if (PyFloat_Check(raw) != 0) return HostKind::kFloat;
    if (PyUnicode_Check(raw) != 0) return HostKind::kString;
    if (PyTuple_Check(raw) != 0 || PyList_Check(raw) != 0) return HostKind::kTuple;
    if (py::isinstance(object_, classes->jit_function)) return HostKind::kFunction;
    if (py::isinstance(object_, classes->builtin)) return HostKind::kBuiltin;
    if (py::isinstance(object_, classes->dtype)) return HostKind::kType;
    if (object_.is(classes->constexpr_class)) return HostKind::kBuiltin;
    if (py::isinstance(object_, classes->constexpr_function)) return HostKind::kHostCall;
    if (PyModule_Check(raw) != 0) return HostKind::kModule;
    if (PyCallable_Check(raw) != 0 && PyObject_Hash(raw) != -1 && classes->python_functions.contains(object_)) {
      return HostKind::kBuiltin;
    }
    PyErr_Clear();
    if (PyType_Check(raw) != 0) {
      const bool makes_type = PyObject_IsSubclass(raw, classes->dtype.ptr()) == 1;
      return makes_type || py::hasattr(object_, "is_compile_time") ? HostKind::kHostCall : HostKind::kClass;
    }
    if (PyFunction_Check(raw) != 0) return HostKind::kCallable;
    if (PyCallable_Check(raw) != 0 && py::hasattr(object_, "__self__")) {
      // Methods of compile-time values: "abc".upper, (8).bit_length, dtype.to_...
      const py::object self = object_.attr("__self__");
      PyObject* owner = self.ptr();
      if (PyLong_Check(owner) != 0 || PyFloat_Check(owner) != 0 || PyUnicode_Check(owner) != 0 ||
          py::isinstance(self, classes->dtype)) {
        return HostKind::kHostCall;
      }
      if (PyModule_Check(owner) != 0 && py::str(self.attr("__name__")).equal(py::str("math")))
        return HostKind::kHostCall;
      if (PyCFunction_Check(raw) != 0) return HostKind::kCallable;
    }
    return HostKind::kObject;
  }

  bool is_constexpr_ = false;
  py::object object_;
  HostKind kind_ = HostKind::kObject;
};

}  // namespace

void RegisterClasses(const py::dict& given) {
  classes = new Classes{given["constexpr"], given["dtype"],       given["pointer_type"],      given["block_type"],
                        given["Builtin"],   given["JITFunction"], given["ConstexprFunction"], given["python_functions"],
                        given["language"]};
}

void RethrowPendingException() {
  if (std::exception_ptr pending = std::exchange(ThreadExceptions().pending, nullptr)) std::rethrow_exception(pending);
}
void RethrowKeptException() {
  if (std::exception_ptr kept = std::exchange(ThreadExceptions().kept, nullptr)) std::rethrow_exception(kept);
}
void DropKeptExceptions() { ThreadExceptions() = {}; }

HostPtr WrapObject(py::object object) { return std::make_shared<PythonValue>(std::move(object)); }

py::object UnwrapObject(const HostPtr& value) { return static_cast<const PythonValue*>(value.get())->object(); }

vm::Type TypeOfObject(py::handle object) {
  if (py::isinstance(object, classes->pointer_type)) {
    const vm::Type element = TypeOfObject(object.attr("element_ty"));
    if (element.is_none()) return vm::Type::Pointer(vm::DType::kI8);
    return element.PointerTo();
  }
  if (py::isinstance(object, classes->block_type)) {
    return TypeOfObject(object.attr("element_ty")).WithShape(py::cast<std::vector<int64_t>>(object.attr("shape")));
  }
  const std::string name = Str(object.attr("name"));
  if (name == "void") return vm::Type();
  const vm::DType dtype = vm::DTypeFromTriton(name);
  if (dtype == vm::DType::kNone) throw py::type_error("not an element type that Trivet knows: " + name);
  return vm::Type::Scalar(dtype);
}

py::object ObjectOfType(const vm::Type& type) {
  if (type.is_none()) return classes->dtype(py::str("void"));
  if (type.is_tile())
    return classes->block_type(ObjectOfType(type.AsScalar()),
                               py::cast(std::vector<int64_t>(type.shape().begin(), type.shape().end())));
  if (type.is_pointer()) return classes->pointer_type(ObjectOfType(type.Pointee()));
  return classes->dtype(py::str(vm::InfoOf(type.dtype()).triton_name));
}

HostPtr PythonHost::MakeNone() { return WrapObject(py::none()); }
HostPtr PythonHost::MakeBool(bool value) { return WrapObject(py::bool_(value)); }
HostPtr PythonHost::MakeInt(absl::string_view digits) {
  return WrapObject(py::reinterpret_steal<py::object>(PyLong_FromString(std::string(digits).c_str(), nullptr, 10)));
}
HostPtr PythonHost::MakeFloat(double value) { return WrapObject(py::float_(value)); }
HostPtr PythonHost::MakeString(absl::string_view text) { return WrapObject(py::str(std::string(text))); }
HostPtr PythonHost::MakeType(const vm::Type& type) { return WrapObject(ObjectOfType(type)); }
HostPtr PythonHost::MakeTuple(const std::vector<HostPtr>& items, const std::vector<std::string>& fields) {
  py::list list;
  for (const HostPtr& item : items) list.append(UnwrapObject(item));
  if (!fields.empty()) {
    const py::object made = py::module_::import("collections").attr("namedtuple")("tuple", py::cast(fields));
    return WrapObject(made(*list));
  }
  return WrapObject(py::tuple(list));
}

HostPtr PythonHost::LanguageMember(absl::string_view name) {
  const std::string attribute(name);
  if (!py::hasattr(classes->language, attribute.c_str())) return nullptr;
  return WrapObject(classes->language.attr(attribute.c_str()));
}

void PythonHost::Print(absl::string_view text) {
  py::module_::import("sys").attr("stdout").attr("write")(py::str(std::string(text)));
}

void PythonHost::Warn(absl::string_view text) {
  py::module_::import("warnings").attr("warn")(py::str(std::string(text)));
}

absl::StatusOr<std::string> PythonHost::Format(const HostPtr& value, absl::string_view spec,
                                               absl::string_view conversion) {
  return Guarded([&] {
    py::object object = UnwrapObject(value);
    if (conversion == "r" || conversion == "a") object = py::repr(object);
    if (conversion == "s") object = py::str(object);
    return Str(py::module_::import("builtins").attr("format")(object, py::str(std::string(spec))));
  });
}

}  // namespace trivet::python
