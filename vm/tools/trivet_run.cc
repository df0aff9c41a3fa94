// trivet-run: launches a kernel of a bytecode file on the interpreter, with arguments from files and the command line.
#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "vm/base/status.h"
#include "vm/bytecode/builder.h"
#include "vm/bytecode/parser.h"
#include "vm/bytecode/reader.h"
#include "vm/bytecode/verifier.h"
#include "vm/interpreter/execute.h"
#include "vm/tools/npy.h"
#include "vm/tools/tool_files.h"

namespace trivet::vm {
namespace {

constexpr char kTool[] = "trivet-run";
constexpr char kUsage[] =
    R"(usage: trivet-run FILE [--kernel NAME] [--grid X[,Y[,Z]]] [--arg VALUE]... [--save PARAMETER=FILE.npy]...
                  [--schedule threads|in_order|random|round_robin] [--threads N] [--seed N] [--max-steps N]

Runs a kernel of FILE (.tvbc, or .tvt in the text form) on the reference interpreter.

  --kernel NAME   which kernel; needed if the file has several
  --grid X,Y,Z    programs along each axis (default 1)
  --arg VALUE     one for each parameter, in order:
                    x.npy               a tensor, read from a NumPy file, which never changes
                    zeros:f32:64x128    a new tensor; also ones:
                    1000  0.5  true     a scalar, as in the text form
  --save P=FILE   afterwards, writes the tensor of parameter P (name or number from 0) to FILE.npy
  --schedule      how programs take turns (default threads)
  --threads N     of the schedule threads; 0: one a core (default)
  --seed N        of the schedule random
  --max-steps N   stops after N ops, all programs together; 0: no limit (default)
  --help          this text

What the kernel prints goes to standard output.

Exit code: 0; 1 if a file is wrong or the kernel fails; 2 if the command line is wrong.
)";

struct Options {
  std::string input;
  std::string kernel;
  std::array<int64_t, 3> grid{1, 1, 1};
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> saves;
  LaunchOptions launch;
};

absl::Status BadOption(absl::string_view option, absl::string_view value, absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat(option, " ", value, ": expected ", expected));
}

absl::Status SetOption(absl::string_view option, const std::string& value, Options* options) {
  if (option == "--kernel") {
    options->kernel = value;
  } else if (option == "--arg") {
    options->arguments.push_back(value);
  } else if (option == "--save") {
    const std::pair<std::string, std::string> save = absl::StrSplit(value, absl::MaxSplits('=', 1));
    if (save.first.empty() || save.second.empty()) return BadOption(option, value, "PARAMETER=FILE.npy");
    options->saves.push_back(save);
  } else if (option == "--grid") {
    const std::vector<std::string> extents = absl::StrSplit(value, ',');
    if (extents.size() > 3) return BadOption(option, value, "at most three numbers");
    for (size_t i = 0; i < extents.size(); ++i) {
      if (!absl::SimpleAtoi(extents[i], &options->grid[i])) return BadOption(option, value, "numbers such as 8,8");
    }
  } else if (option == "--schedule") {
    constexpr std::pair<absl::string_view, Schedule> kSchedules[] = {{"threads", Schedule::kThreads},
                                                                     {"in_order", Schedule::kInOrder},
                                                                     {"random", Schedule::kRandom},
                                                                     {"round_robin", Schedule::kRoundRobin}};
    for (const auto& [name, schedule] : kSchedules) {
      if (value != name) continue;
      options->launch.schedule = schedule;
      return absl::OkStatus();
    }
    return BadOption(option, value, "threads, in_order, random or round_robin");
  } else if (option == "--threads") {
    if (!absl::SimpleAtoi(value, &options->launch.threads)) return BadOption(option, value, "a number");
  } else if (option == "--seed") {
    if (!absl::SimpleAtoi(value, &options->launch.seed)) return BadOption(option, value, "a number");
  } else if (option == "--max-steps") {
    if (!absl::SimpleAtoi(value, &options->launch.max_steps)) return BadOption(option, value, "a number");
  } else {
    return absl::InvalidArgumentError(absl::StrCat("option ", option, " is not known; see trivet-run --help"));
  }
  return absl::OkStatus();
}

// The arguments of one launch and the tensors that they point to.
class Arguments {
 public:
  // Adds the argument that `text` gives for a parameter of this type.
  absl::Status Add(const std::string& name, const Type& type, const std::string& text) {
    if (type.is_scalar() && type.is_number()) {
      TRIVET_ASSIGN_OR_RETURN(const int64_t bits, ParseElement(type.dtype(), text));
      request_arguments_.push_back({{static_cast<uint64_t>(bits)}});
      return absl::OkStatus();
    }
    if (!type.is_scalar() || type.pointer_depth() != 1) {
      return absl::InvalidArgumentError(absl::StrCat("the command line can't make a ", type.ToString()));
    }
    TRIVET_ASSIGN_OR_RETURN(NpyArray array, MakeTensor(type.dtype(), text));
    tensors_.push_back({name, request_arguments_.size(), std::make_unique<NpyArray>(std::move(array)), type.dtype()});
    request_arguments_.push_back({{reinterpret_cast<uint64_t>(tensors_.back().array->bytes.data())}});
    return absl::OkStatus();
  }

  void MoveTo(LaunchRequest* request) {
    for (const Tensor& tensor : tensors_) {
      Allocation allocation;
      allocation.name = tensor.name;
      allocation.storage_base = allocation.view_base = reinterpret_cast<uint64_t>(tensor.array->bytes.data());
      allocation.storage_bytes = static_cast<int64_t>(tensor.array->bytes.size());
      allocation.dtype = tensor.dtype;
      allocation.shape = tensor.array->shape;
      int64_t stride = 1;
      for (size_t axis = allocation.shape.size(); axis-- > 0; stride *= allocation.shape[axis]) {
        allocation.strides.insert(allocation.strides.begin(), stride);
      }
      request->memory.Add(std::move(allocation));
    }
    request->memory.Seal();
    request->arguments = std::move(request_arguments_);
  }

  // The tensor of the parameter with this name or number; nullptr if there is none.
  const NpyArray* Find(absl::string_view parameter) const {
    for (const Tensor& tensor : tensors_) {
      if (tensor.name == parameter || absl::StrCat(tensor.index) == parameter) return tensor.array.get();
    }
    return nullptr;
  }

 private:
  struct Tensor {
    std::string name;
    size_t index;
    std::unique_ptr<NpyArray> array;  // stays where it is
    DType dtype;
  };

  static absl::StatusOr<NpyArray> MakeTensor(DType dtype, const std::string& text) {
    const int element_bytes = InfoOf(dtype).storage_bytes;
    if (absl::EndsWith(text, ".npy")) {
      TRIVET_ASSIGN_OR_RETURN(const std::string file, ReadToolFile(text));
      TRIVET_ASSIGN_OR_RETURN(NpyArray array, ParseNpy(file));
      if (array.descr.substr(2) != absl::StrCat(element_bytes)) {
        return absl::InvalidArgumentError(
            absl::StrCat("elements of type ", array.descr, " for a pointer to ", InfoOf(dtype).text));
      }
      return array;
    }
    const std::vector<std::string> parts = absl::StrSplit(text, ':');
    if (parts.size() != 3 || (parts[0] != "zeros" && parts[0] != "ones")) {
      return absl::InvalidArgumentError("a tensor is needed: x.npy, zeros:f32:64x128 or ones:f32:64x128");
    }
    if (DTypeFromText(parts[1]) != dtype && DTypeFromTriton(parts[1]) != dtype) {
      return absl::InvalidArgumentError(
          absl::StrCat("elements of type ", parts[1], " for a pointer to ", InfoOf(dtype).text));
    }
    NpyArray array;
    array.descr = NpyDescr(dtype);
    int64_t count = 1;
    for (absl::string_view part : absl::StrSplit(parts[2], 'x')) {
      int64_t extent;
      if (!absl::SimpleAtoi(part, &extent) || extent < 0 || __builtin_mul_overflow(count, extent, &count) ||
          count > (int64_t{1} << 36)) {
        return absl::InvalidArgumentError(absl::StrCat("'", parts[2], "' is not a shape such as 64x128"));
      }
      array.shape.push_back(extent);
    }
    const int64_t bits = parts[0] == "ones" ? BitsOf(dtype, int64_t{1}) : 0;
    const int64_t element = IsFloat(dtype) ? BitsOf(dtype, static_cast<double>(parts[0] == "ones")) : bits;
    array.bytes.resize(static_cast<size_t>(count * element_bytes));
    for (size_t i = 0; i < array.bytes.size(); i += static_cast<size_t>(element_bytes)) {
      std::memcpy(array.bytes.data() + i, &element, static_cast<size_t>(element_bytes));
    }
    return array;
  }

  std::vector<Tensor> tensors_;
  std::vector<KernelArgument> request_arguments_;
};

absl::StatusOr<Module> ReadInput(const std::string& path) {
  TRIVET_ASSIGN_OR_RETURN(const std::string content, ReadToolFile(path));
  if (absl::EndsWith(path, ".tvt")) {
    TRIVET_ASSIGN_OR_RETURN(Module module, Parse(content, path));
    TRIVET_RETURN_IF_ERROR(VerifyModule(module));
    return module;
  }
  absl::StatusOr<Module> module =
      ReadModule(absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(content.data()), content.size()));
  if (!module.ok()) return absl::InvalidArgumentError(absl::StrCat(path, ": ", module.status().message()));
  return module;
}

// The kernel that is meant.
absl::StatusOr<const Function*> FindKernel(const Module& module, absl::string_view name) {
  std::vector<const Function*> kernels;
  for (const Function& function : module.functions) {
    if (function.is_kernel && (name.empty() || function.name == name)) kernels.push_back(&function);
  }
  if (kernels.size() == 1) return kernels[0];
  if (kernels.empty()) return absl::NotFoundError(name.empty() ? "no kernel" : absl::StrCat("no kernel '", name, "'"));
  return absl::InvalidArgumentError(absl::StrCat(
      "several kernels, --kernel names one: ",
      absl::StrJoin(kernels, ", ", [](std::string* out, const Function* f) { absl::StrAppend(out, f->name); })));
}

absl::Status Run(const Options& options) {
  TRIVET_ASSIGN_OR_RETURN(Module module, ReadInput(options.input));
  TRIVET_ASSIGN_OR_RETURN(const Function* kernel, FindKernel(module, options.kernel));
  const absl::Span<const ValueId> params = kernel->params();
  if (options.arguments.size() != params.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(kernel->name, " takes ", params.size(), " --arg, found ", options.arguments.size(), ": ",
                     absl::StrJoin(params, ", ", [&](std::string* out, ValueId param) {
                       absl::StrAppend(out, kernel->value(param).name, ": ", kernel->type(param).ToString());
                     })));
  }
  Arguments arguments;
  for (size_t i = 0; i < params.size(); ++i) {
    const absl::Status status =
        arguments.Add(kernel->value(params[i]).name, kernel->type(params[i]), options.arguments[i]);
    if (!status.ok())
      return absl::Status(status.code(), absl::StrCat("--arg ", options.arguments[i], ": ", status.message()));
  }
  for (const auto& [parameter, path] : options.saves) {
    if (arguments.Find(parameter) == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("--save ", parameter, "=", path, ": no such tensor parameter"));
    }
  }
  LaunchRequest request;
  request.kernel = kernel->name;
  request.grid = options.grid;
  request.options = options.launch;
  arguments.MoveTo(&request);
  TRIVET_ASSIGN_OR_RETURN(const std::shared_ptr<const Executable> executable, Executable::Load(std::move(module)));
  TRIVET_RETURN_IF_ERROR(Launch(*executable, request).status);
  for (const auto& [parameter, path] : options.saves) {
    TRIVET_RETURN_IF_ERROR(WriteToolFile(path, FormatNpy(*arguments.Find(parameter))));
  }
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--help" || arg == "-h") {
      std::fputs(kUsage, stdout);
      return 0;
    }
    if (!absl::StartsWith(arg, "-")) {
      if (!options.input.empty())
        return ToolError(kTool, absl::StrCat("one file, not both ", options.input, " and ", arg), 2);
      options.input = arg;
      continue;
    }
    if (++i == argc)
      return ToolError(kTool, absl::StrCat("option ", arg, " needs a value or is not known; see trivet-run --help"), 2);
    const absl::Status status = SetOption(arg, argv[i], &options);
    if (!status.ok()) return ToolError(kTool, status.message(), 2);
  }
  if (options.input.empty()) return ToolError(kTool, "a file is needed; see trivet-run --help", 2);
  const absl::Status status = Run(options);
  return status.ok() ? 0 : ToolError(kTool, status.message(), 1);
}

}  // namespace
}  // namespace trivet::vm

int main(int argc, char** argv) { return trivet::vm::Main(argc, argv); }
