// The extension module trivet._trivet: the frontend, modules of bytecode, and launches on the interpreter.
//
// Errors of the libraries become Python exceptions here and nowhere else. The package defines the exception classes
// (trivet/errors.py); this file throws ValueError and RuntimeError with a prefix-free message, or returns diagnostics.
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdlib>
#include <memory>

#include "absl/strings/str_cat.h"
#include "frontend/builtins.h"
#include "frontend/compiler.h"
#include "python/bindings/gpu.h"
#include "python/bindings/py_module.h"
#include "python/bindings/python_host.h"
#include "vm/base/options.h"
#include "vm/bytecode/parser.h"
#include "vm/bytecode/printer.h"
#include "vm/bytecode/reader.h"
#include "vm/bytecode/text_form.h"
#include "vm/bytecode/verifier.h"
#include "vm/bytecode/writer.h"
#include "vm/interpreter/execute.h"

namespace py = pybind11;

namespace trivet::python {
namespace {

// ("r", type) | ("c", object) | ("t", [specs], [field names])
frontend::ArgumentSpec SpecOf(const py::tuple& spec) {
  frontend::ArgumentSpec out;
  const std::string kind = spec[0].cast<std::string>();
  if (kind == "r") {
    out.kind = frontend::ArgumentSpec::Kind::kRuntime;
    out.type = TypeOfObject(spec[1]);
    out.is_read_only = out.type.is_pointer() && spec[1].attr("const").cast<bool>();
  } else if (kind == "d") {
    out.kind = frontend::ArgumentSpec::Kind::kRuntime;
    out.type = vm::Type::Desc(spec[2].cast<std::vector<int64_t>>(), TypeOfObject(spec[1]).dtype());
  } else if (kind == "c") {
    out.kind = frontend::ArgumentSpec::Kind::kConstant;
    out.constant = WrapObject(spec[1]);
  } else {
    out.kind = frontend::ArgumentSpec::Kind::kTuple;
    for (py::handle item : spec[1]) out.items.push_back(SpecOf(py::reinterpret_borrow<py::tuple>(item)));
    out.fields = spec[2].cast<std::vector<std::string>>();
  }
  return out;
}

// Gives (module or None, [diagnostics as text], [(function, name, value)] of the globals used).
py::tuple Compile(const py::object& kernel, const py::list& specs,
                  const std::vector<std::pair<std::string, std::string>>& options, bool allow_plain_globals,
                  const std::string& portability) {
  PythonHost host;
  frontend::CompileRequest request;
  request.kernel = WrapObject(kernel);
  for (py::handle spec : specs) request.arguments.push_back(SpecOf(py::reinterpret_borrow<py::tuple>(spec)));
  request.options = options;
  request.allow_plain_globals = allow_plain_globals;
  request.portability = portability == "error"  ? frontend::Portability::kError
                        : portability == "warn" ? frontend::Portability::kWarn
                                                : frontend::Portability::kOff;
  DropKeptExceptions();
  absl::StatusOr<frontend::CompileResult> compiled = frontend::Compile(host, request);
  RethrowPendingException();
  if (!compiled.ok()) RethrowKeptException();
  frontend::CompileResult result = ValueOrThrow(std::move(compiled));
  py::list globals;
  for (const frontend::GlobalUse& use : result.globals) {
    globals.append(py::make_tuple(UnwrapObject(use.function), use.name, UnwrapObject(use.value)));
  }
  if (!result.diagnostics.empty()) {
    py::list texts;
    for (const frontend::Diagnostic& d : result.diagnostics.all()) {
      const bool is_last = &d == &result.diagnostics.all().back();
      const std::string rest = is_last ? result.diagnostics.Rest() : "";
      texts.append(py::make_tuple(d.file, d.span.line, d.Column(), d.message,
                                  d.ToString() + (rest.empty() ? "" : "\n\n" + rest)));
    }
    return py::make_tuple(py::none(), texts, globals);
  }
  return py::make_tuple(std::make_shared<PyModule>(std::move(result.module)), py::list(), globals);
}

class PythonPrintSink : public vm::PrintSink {
 public:
  explicit PythonPrintSink(py::object write) : write_(std::move(write)) {}
  void Write(absl::string_view text) override {
    py::gil_scoped_acquire gil;
    if (failed_) return;
    try {
      write_(py::str(text.data(), text.size()));
    } catch (py::error_already_set& error) {
      failed_ = true;
      error.discard_as_unraisable("writing a kernel's output");
    }
  }

 private:
  py::object write_;
  bool failed_ = false;
};

vm::Schedule ScheduleOf(const std::string& name) {
  if (name == "threads") return vm::Schedule::kThreads;
  if (name == "in_order") return vm::Schedule::kInOrder;
  if (name == "random") return vm::Schedule::kRandom;
  if (name == "round_robin") return vm::Schedule::kRoundRobin;
  throw py::value_error("schedule must be 'threads', 'in_order', 'random' or 'round_robin', found '" + name + "'");
}

// The class of trivet/errors.py that a trap becomes.
const char* ErrorClassOf(vm::TrapKind kind) {
  switch (kind) {
    case vm::TrapKind::kOutOfBounds:
    case vm::TrapKind::kNullPointer:
    case vm::TrapKind::kIndex:
      return "OutOfBoundsError";
    case vm::TrapKind::kAssert:
    case vm::TrapKind::kAssume:
      return "KernelAssertionError";
    case vm::TrapKind::kDeadlock:
      return "DeadlockError";
    case vm::TrapKind::kNone:
    case vm::TrapKind::kReadOnly:
    case vm::TrapKind::kMisaligned:
    case vm::TrapKind::kZeroStep:
    case vm::TrapKind::kEndlessLoop:
    case vm::TrapKind::kStepLimit:
    case vm::TrapKind::kInterrupted:
    case vm::TrapKind::kUnsupported:
    case vm::TrapKind::kStack:
      break;
  }
  return "KernelError";
}

// Runs the grid. Gives None, or (name of the exception class, message) of a trap. Other errors are exceptions.
py::object Launch(PyModule& module, const std::array<int64_t, 3>& grid, const py::list& arguments,
                  const py::list& allocations, const std::string& schedule, int threads, uint64_t seed,
                  int64_t max_steps, const py::object& write) {
  vm::LaunchRequest request;
  request.kernel = module.kernel();
  request.grid = grid;
  for (py::handle words : arguments) request.arguments.push_back({words.cast<std::vector<uint64_t>>()});
  for (py::handle a : allocations) request.memory.Add(AllocationOf(py::reinterpret_borrow<py::tuple>(a)));
  request.memory.Seal();
  request.options.schedule = ScheduleOf(schedule);
  request.options.threads = threads;
  request.options.seed = seed;
  request.options.max_steps = max_steps;
  PythonPrintSink sink(write);
  request.options.print_sink = &sink;
  bool interrupted = false;
  request.options.interrupted = [&] {
    py::gil_scoped_acquire gil;
    interrupted = interrupted || PyErr_CheckSignals() != 0;
    return interrupted;
  };
  const std::shared_ptr<const vm::Executable> executable = module.executable();
  vm::LaunchResult result;
  {
    py::gil_scoped_release release;
    result = vm::Launch(*executable, request);
  }
  if (interrupted) throw py::error_already_set();
  if (result.trap) return py::make_tuple(ErrorClassOf(result.trap->kind), result.trap->message);
  ThrowIfError(result.status);
  return py::none();
}

py::bytes ToBytes(const std::vector<uint8_t>& bytes) {
  return py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

const char* OptionTypeText(vm::OptionType type) {
  switch (type) {
    case vm::OptionType::kChoice:
      return "choice";
    case vm::OptionType::kInteger:
      return "integer";
    case vm::OptionType::kFlag:
      return "flag";
    case vm::OptionType::kText:
      return "text";
  }
  return "";
}

// A launch asks for its settings; most find them as the launch before did.
py::dict OptionTexts() {
  struct Last {
    std::vector<std::string> texts;
    py::dict dict;
  };
  static Last* const last = new Last;  // never destroyed: the interpreter may be gone before static destructors run
  bool is_same = !last->texts.empty();
  last->texts.resize(vm::AllOptions().size());
  for (const vm::OptionInfo& info : vm::AllOptions()) {
    std::string& text = last->texts[static_cast<size_t>(info.option)];
    const char* now = std::getenv(info.variable);
    if (now == nullptr || *now == '\0') now = info.default_text;
    if (text == now) continue;
    text = now;
    is_same = false;
  }
  if (is_same) return last->dict;
  py::dict dict;
  for (const vm::OptionInfo& info : vm::AllOptions()) {
    // The environment is bytes; what is not UTF-8 in it survives as in os.environ.
    const std::string& text = last->texts[static_cast<size_t>(info.option)];
    dict[info.variable] = py::reinterpret_steal<py::object>(
        PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"));
  }
  last->dict = dict;
  return dict;
}

}  // namespace

PYBIND11_MODULE(_trivet, m) {
  m.doc() = "Trivet's C++ core: frontend, tile bytecode, reference interpreter.";

  py::class_<PyModule, std::shared_ptr<PyModule>>(m, "Module", "A verified module of tile bytecode.")
      .def(
          "to_bytes", [](const PyModule& self) { return ToBytes(vm::WriteModule(self.module())); }, "The .tvbc file.")
      .def(
          "to_text",
          [](const PyModule& self, bool locations) {
            return vm::Print(self.module(), vm::PrintOptions{.locations = locations});
          },
          py::arg("locations") = false, "The text form (.tvt).")
      .def_property_readonly("kernel", &PyModule::kernel, "Name of the kernel.")
      .def_property_readonly("metadata",
                             [](const PyModule& self) {
                               py::dict out;
                               for (const auto& [k, v] : self.module().metadata) out[py::str(k)] = v;
                               return out;
                             })
      .def_property_readonly(
          "parameters",
          [](const PyModule& self) {
            py::list out;
            for (const vm::Function& f : self.module().functions) {
              if (!f.is_kernel) continue;
              for (ValueId id : f.params()) out.append(py::make_tuple(f.value(id).name, f.type(id).ToString()));
              break;
            }
            return out;
          },
          "(name, type) of each parameter of the kernel.");

  RegisterGpu(m);
  m.def("register_classes", &RegisterClasses);
  m.def("compile", &Compile, py::arg("kernel"), py::arg("specs"), py::arg("options"),
        py::arg("allow_plain_globals") = false, py::arg("portability") = "off");
  m.def("launch", &Launch, py::arg("module"), py::arg("grid"), py::arg("arguments"), py::arg("allocations"),
        py::arg("schedule"), py::arg("threads"), py::arg("seed"), py::arg("max_steps"), py::arg("write"));
  m.def(
      "read",
      [](const py::bytes& bytes) {
        const std::string_view view = bytes;
        return std::make_shared<PyModule>(
            ValueOrThrow(vm::ReadModule({reinterpret_cast<const uint8_t*>(view.data()), view.size()})));
      },
      "Reads and verifies a .tvbc file.");
  m.def(
      "parse",
      [](const std::string& text, const std::string& file) {
        vm::Module module = ValueOrThrow(vm::Parse(text, file));
        ThrowIfError(vm::VerifyModule(module));
        return std::make_shared<PyModule>(std::move(module));
      },
      "Parses and verifies the text form.");
  m.def(
      "builtins",
      [] {
        py::dict out;
        for (const frontend::Builtin& b : frontend::AllBuiltins()) out[py::str(b.name)] = b.signature;
        return out;
      },
      "Signature of each operation that the frontend knows.");
  m.def(
      "options",
      [] {
        py::list out;
        for (const vm::OptionInfo& info : vm::AllOptions()) {
          out.append(py::make_tuple(info.name, info.variable, OptionTypeText(info.type), info.default_text,
                                    info.choices, info.doc));
        }
        return out;
      },
      "(name, variable, type, default, choices, doc) of each environment variable that Trivet obeys.");
  m.def("option_texts", &OptionTexts,
        "Text of each option's variable, or its default. The same dictionary as long as no text changes: don't change "
        "it.");
  m.def("unknown_variables", &vm::UnknownVariables, "Variables that begin with TRIVET_ and are no options.");
  m.def(
      "dtypes",
      [] {
        py::list out;
        for (const vm::DTypeInfo& info : vm::AllDTypes()) {
          out.append(
              py::make_tuple(info.triton_name, info.bits, info.storage_bytes, static_cast<int>(info.dtype_class)));
        }
        return out;
      },
      "(name, bits, storage bytes, class) of each element type; class 1 bool, 2 signed, 3 unsigned, 4 float.");
}

}  // namespace trivet::python
