#include "frontend/compiler.h"

#include "absl/strings/str_cat.h"
#include "frontend/function_lowering.h"
#include "vm/base/status.h"
#include "vm/bytecode/verifier.h"

namespace trivet::frontend {

using vm::DType;
using vm::Type;

namespace {

// The value of a kernel parameter; adds the parameters it takes to the body region.
Value BindArgument(FunctionLowering& lowering, vm::Function& function, const ArgumentSpec& spec,
                   const std::string& name, bool is_read_only) {
  switch (spec.kind) {
    case ArgumentSpec::Kind::kConstant:
      return lowering.FromHost(spec.constant);
    case ArgumentSpec::Kind::kTuple: {
      std::vector<Value> items;
      for (size_t i = 0; i < spec.items.size(); ++i) {
        const std::string part = i < spec.fields.size() ? spec.fields[i] : absl::StrCat(i);
        items.push_back(BindArgument(lowering, function, spec.items[i], absl::StrCat(name, ".", part), is_read_only));
      }
      return Value::Tuple(std::move(items), spec.fields);
    }
    case ArgumentSpec::Kind::kRuntime:
      break;
  }
  Value value = lowering.emitter().Wrap(function.AddParam(function.body, spec.type, name));
  if (is_read_only || spec.is_read_only) lowering.read_only().Mark(value.id(), name);
  if (spec.type.is_desc()) {
    std::vector<Value> parts;
    for (const auto& [what, dtype] : {std::pair("shape", DType::kI32), std::pair("stride", DType::kI64)}) {
      for (int i = 0; i < spec.type.rank(); ++i) {
        parts.push_back(lowering.emitter().Wrap(
            function.AddParam(function.body, Type::Scalar(dtype), absl::StrCat(name, ".", what, i))));
      }
    }
    value.set_items(std::move(parts));
  }
  return value;
}

}  // namespace

absl::StatusOr<CompileResult> Compile(Host& host, const CompileRequest& request) {
  TRIVET_ASSIGN_OR_RETURN(const FunctionDef* def, request.kernel->function_def());
  Compilation compilation{.host = host,
                          .request = request,
                          .diagnostics = {},
                          .files = {},
                          .helpers = {},
                          .helper_by_key = {},
                          .name_counts = {},
                          .globals = {},
                          .read_only = {},
                          .ops_made = 0,
                          .rounds = 0};
  compilation.helpers.push_back(std::make_unique<Helper>());
  compilation.helpers[0]->function = std::make_unique<vm::Function>();
  vm::Function* kernel = compilation.helpers[0]->function.get();
  kernel->name = compilation.UniqueName(def->name);
  kernel->is_kernel = true;
  kernel->location = {compilation.InternFile(def->file), def->span.line, def->span.column};
  kernel->body = kernel->AddRegion();

  FunctionLowering lowering(compilation, request.kernel, *def, kernel, kernel->body, nullptr, {});
  size_t next = 0;
  for (const Parameter& parameter : def->parameters) {
    if (parameter.is_variadic) {
      std::vector<Value> rest;
      for (; next < request.arguments.size(); ++next) {
        rest.push_back(BindArgument(lowering, *kernel, request.arguments[next],
                                    absl::StrCat(parameter.name, ".", rest.size()), parameter.is_read_only));
      }
      lowering.Bind(parameter.name, Value::Tuple(std::move(rest)));
      continue;
    }
    if (next >= request.arguments.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(def->name, "(): no argument for parameter '", parameter.name, "'"));
    }
    lowering.Bind(parameter.name,
                  BindArgument(lowering, *kernel, request.arguments[next++], parameter.name, parameter.is_read_only));
  }
  bool keeps_known = false;
  lowering.LowerFunction(/*is_kernel=*/true, &keeps_known);

  CompileResult result;
  result.diagnostics = std::move(compilation.diagnostics);
  result.globals = std::move(compilation.globals);
  if (!result.diagnostics.empty()) return result;
  result.module.files = std::move(compilation.files);
  for (std::unique_ptr<Helper>& helper : compilation.helpers)
    result.module.functions.push_back(std::move(*helper->function));
  for (const auto& [key, value] : request.options) result.module.SetMetadata(key, value);
  absl::Status verified = vm::VerifyModule(result.module);
  if (!verified.ok()) {
    // Our mistake, not the author's; still an error and not a crash.
    return absl::InternalError(
        absl::StrCat("the compiler made illegal bytecode for ", def->name, "(): ", verified.message()));
  }
  return result;
}

}  // namespace trivet::frontend
