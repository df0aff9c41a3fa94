// trivet-opt: runs passes over tile bytecode and prints the result as text.
#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "jit/passes/pass_manager.h"
#include "vm/base/status.h"
#include "vm/bytecode/parser.h"
#include "vm/bytecode/printer.h"
#include "vm/bytecode/reader.h"
#include "vm/bytecode/verifier.h"
#include "vm/tools/tool_files.h"

namespace trivet::jit {
namespace {

constexpr char kTool[] = "trivet-opt";
constexpr char kUsage[] = R"(usage: trivet-opt FILE [option..]

Runs passes (docs/passes.md) over tile bytecode and prints the result in the text form.

  FILE                  .tvt or .tvbc; "-" for text from standard input
  --passes=A,B,..       these passes, in this order; without it the default pipeline
  --facts=F,F,..        what is known of the kernel's arguments, by name: x:16 (a multiple of 16, of pointers in
                        bytes), n=1 (exactly 1), n>0 (positive)
  --dump-after=P        prints the module after each run of the pass P, or of all passes: "all"
  --stop-after=P        ends after the last run of the pass P
  --bisect=N            ends after N passes
  --remarks             says what the passes decided, on standard error
  --time                prints time and counters of each pass on standard error
  --loc                 prints locations
  --analysis[=TRUST]    prints what the analyses find about each value instead, without running a pass. TRUST: nothing
                        (default), remainders, arithmetic (jit/analysis/axis_info.h)
  --list                prints the default pipeline, one pass a line
  --markdown            prints docs/passes.md
  --coverage            prints docs/coverage.md
  --help                this text

Exit code: 0; 1 if the input is wrong or can't be read, or a pass fails; 2 if the command line is wrong.
)";

struct Options {
  std::string input;
  std::string passes;
  bool has_passes = false;
  std::vector<std::string> facts;
  PassOptions pass_options;
  bool remarks = false;
  bool time = false;
  bool locations = false;
  bool analysis = false;
  Trust trust = Trust::kNothing;
};

void Show(absl::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

absl::StatusOr<vm::Module> ReadInput(const std::string& path) {
  TRIVET_ASSIGN_OR_RETURN(const std::string content, vm::ReadToolFile(path));
  if (absl::EndsWith(path, ".tvbc")) {
    return vm::ReadModule({reinterpret_cast<const uint8_t*>(content.data()), content.size()});
  }
  TRIVET_ASSIGN_OR_RETURN(vm::Module module, vm::Parse(content, path == "-" ? "<stdin>" : path));
  TRIVET_RETURN_IF_ERROR(vm::VerifyModule(module));
  return module;
}

// "x:16", "n=1", "n>0" about a parameter of the module's kernels.
absl::Status AddFact(const vm::Module& module, absl::string_view text, ArgumentFacts* facts) {
  const size_t at = text.find_first_of(":=>");
  int64_t number = 0;
  if (at == absl::string_view::npos || !absl::SimpleAtoi(text.substr(at + 1), &number)) {
    return absl::InvalidArgumentError(absl::StrCat("facts are x:16, n=1 or n>0, not '", text, "'"));
  }
  for (const vm::Function& fn : module.functions) {
    if (!fn.is_kernel) continue;
    for (size_t i = 0; i < fn.params().size(); ++i) {
      if (fn.value(fn.params()[i]).name != text.substr(0, at)) continue;
      if (facts->parameters.size() <= i) facts->parameters.resize(i + 1);
      ArgumentFact& fact = facts->parameters[i];
      if (text[at] == ':') fact.divisibility = number;
      if (text[at] == '=') fact.constant = number;
      if (text[at] == '>') fact.is_positive = true;
      return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError(absl::StrCat("no kernel has a parameter '", text.substr(0, at), "'"));
}

// A line for each value that the analyses know something about.
std::string DescribeValues(const vm::Module& module, const ArgumentFacts& kernel_facts, Trust trust) {
  std::string text;
  for (const vm::Function& fn : module.functions) {
    const ArgumentFacts facts = fn.is_kernel ? kernel_facts : ArgumentFacts();
    const RangeAnalysis ranges = RangeAnalysis::Run(fn, facts);
    const AxisInfoAnalysis axes = AxisInfoAnalysis::Run(fn, facts, ranges, trust);
    const vm::ValueNames names(fn);
    absl::StrAppend(&text, "@", fn.name, "\n");
    for (uint32_t i = 0; i < fn.num_values(); ++i) {
      const ValueId value(i);
      const vm::Type& type = fn.type(value);
      absl::StrAppend(&text, "  ", names.Of(value), ": ", type.ToString(), "  ", axes.Get(value).ToString());
      if (type.is_integer()) absl::StrAppend(&text, ", range ", ranges.Get(value).ToString());
      absl::StrAppend(&text, "\n");
    }
  }
  return text;
}

// docs/coverage.md: which tier runs which op.
std::string Coverage() {
  constexpr const char* kRefused[] = {
#define TRIVET_LOWER(Name, Function) nullptr,
#define TRIVET_REFUSE(Name, reason) reason,
#include "jit/lowering/nvptx/lowering.def"
#undef TRIVET_LOWER
#undef TRIVET_REFUSE
  };
  constexpr vm::Op kOrder[] = {
#define TRIVET_LOWER(Name, Function) vm::Op::k##Name,
#define TRIVET_REFUSE(Name, reason) vm::Op::k##Name,
#include "jit/lowering/nvptx/lowering.def"
#undef TRIVET_LOWER
#undef TRIVET_REFUSE
  };
  static_assert(std::size(kOrder) == vm::kNumOps, "lowering.def has each op once");
  std::string out =
      "# Coverage\n\nPrinted from jit/lowering/nvptx/lowering.def by `trivet-opt --coverage`; don't edit.\n\n"
      "Which tier runs which op. A launch with an op that the GPU tier refuses goes to the interpreter, on copies of "
      "the device's\n"
      "memory. The GPU tier also refuses extents that are not powers of two, clusters, and the types and roundings "
      "that its lowering\n"
      "functions name.\n\n| op | interpreter | GPU |\n| --- | --- | --- |\n";
  for (size_t i = 0; i < std::size(kOrder); ++i) {
    absl::StrAppend(&out, "| `", vm::InfoOf(kOrder[i]).text, "` | yes | ", kRefused[i] == nullptr ? "yes" : kRefused[i],
                    " |\n");
  }
  return out;
}

std::string Markdown() {
  std::string text =
      "# Passes\n\nPrinted from jit/passes/passes.def by `trivet-opt --markdown`; don't edit.\n\n"
      "A pass is a function from tile bytecode to tile bytecode. After each one the module is legal and the "
      "interpreter\n"
      "computes the same bits. What must hold before and after stands at the top of each pass's file.\n\n"
      "| pass | file | accepts | leaves | what it does |\n| --- | --- | --- | --- | --- |\n";
  const auto level = [](vm::OpLevel of) { return of == vm::OpLevel::kPortable ? "portable" : "any level"; };
  for (const PassInfo& pass : AllPasses()) {
    std::string file = pass.name;
    for (char& c : file) c = c == '-' ? '_' : c;
    absl::StrAppend(&text, "| `", pass.name, "` | jit/passes/", file, ".cc | ", level(pass.level_in), " | ",
                    level(pass.level_out), " | ", pass.doc, " |\n");
  }
  absl::StrAppend(&text, "\n## The default pipeline\n\n");
  const PassPipeline pipeline = PassPipeline::Default();
  int number = 0;
  for (const PassInfo* pass : pipeline.passes()) {
    absl::StrAppend(&text, ++number, ". `", pass->name, "`\n");
  }
  return text;
}

absl::Status Optimise(Options options) {
  TRIVET_ASSIGN_OR_RETURN(vm::Module module, ReadInput(options.input));
  for (const std::string& fact : options.facts) {
    TRIVET_RETURN_IF_ERROR(AddFact(module, fact, &options.pass_options.facts));
  }
  if (options.analysis) {
    Show(DescribeValues(module, options.pass_options.facts, options.trust));
    return absl::OkStatus();
  }
  PassPipeline pipeline = PassPipeline::Default();
  if (options.has_passes) {
    TRIVET_ASSIGN_OR_RETURN(pipeline, PassPipeline::FromNames(options.passes));
  }
  options.pass_options.collect_remarks = options.remarks;
  TRIVET_ASSIGN_OR_RETURN(const PipelineReport report, pipeline.Run(module, options.pass_options));
  for (const Remark& remark : report.remarks) std::fprintf(stderr, "%s\n", remark.ToString(module).c_str());
  if (options.time) std::fputs(report.ToString().c_str(), stderr);
  Show(vm::Print(module, {.locations = options.locations}));
  return absl::OkStatus();
}

// One argument. An error for what is not known.
absl::Status ReadArgument(absl::string_view arg, Options* options) {
  const size_t equals = arg.find('=');
  const absl::string_view name = arg.substr(0, equals);
  const absl::string_view value = equals == absl::string_view::npos ? "" : arg.substr(equals + 1);
  if (name == "--passes") {
    options->passes = std::string(value);
    options->has_passes = true;
  } else if (name == "--facts") {
    options->facts = absl::StrSplit(value, ',', absl::SkipWhitespace());
  } else if (name == "--dump-after") {
    options->pass_options.dump_after = absl::StrSplit(value, ',', absl::SkipWhitespace());
  } else if (name == "--stop-after") {
    options->pass_options.stop_after = std::string(value);
  } else if (name == "--bisect") {
    if (!absl::SimpleAtoi(value, &options->pass_options.stop_at)) {
      return absl::InvalidArgumentError("--bisect needs a number of passes");
    }
  } else if (arg == "--remarks") {
    options->remarks = true;
  } else if (arg == "--time") {
    options->time = true;
  } else if (arg == "--loc") {
    options->locations = true;
  } else if (name == "--analysis") {
    options->analysis = true;
    if (value == "remainders") options->trust = Trust::kRemainders;
    if (value == "arithmetic") options->trust = Trust::kArithmetic;
  } else if (arg.size() > 1 && arg[0] == '-') {
    return absl::InvalidArgumentError(absl::StrCat("option ", arg, " is not known; see trivet-opt --help"));
  } else if (!options->input.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("one input file, not both ", options->input, " and ", arg));
  } else {
    options->input = std::string(arg);
  }
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const absl::string_view arg = argv[i];
    if (arg == "--help" || arg == "-h") return Show(kUsage), 0;
    if (arg == "--markdown") return Show(Markdown()), 0;
    if (arg == "--coverage") return Show(Coverage()), 0;
    if (arg == "--list") {
      const PassPipeline pipeline = PassPipeline::Default();
      for (const PassInfo* pass : pipeline.passes()) Show(absl::StrCat(pass->name, "\n"));
      return 0;
    }
    if (const absl::Status status = ReadArgument(arg, &options); !status.ok()) {
      return vm::ToolError(kTool, status.message(), 2);
    }
  }
  if (options.input.empty()) return vm::ToolError(kTool, "an input file is needed; see trivet-opt --help", 2);
  options.pass_options.dump = Show;
  const absl::Status status = Optimise(std::move(options));
  if (status.ok()) return 0;
  // The parser's messages begin with the place, as compilers' do.
  if (absl::StrContains(status.message(), ": error: ")) {
    std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
    return 1;
  }
  return vm::ToolError(kTool, status.message(), 1);
}

}  // namespace
}  // namespace trivet::jit

int main(int argc, char** argv) { return trivet::jit::Main(argc, argv); }
