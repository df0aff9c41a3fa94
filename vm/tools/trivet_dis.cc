// trivet-dis: the disassembler. A bytecode file (.tvbc) as text (.tvt).
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "vm/bytecode/printer.h"
#include "vm/bytecode/reader.h"
#include "vm/tools/tool_files.h"

namespace trivet::vm {
namespace {

constexpr char kTool[] = "trivet-dis";
constexpr char kUsage[] = R"(usage: trivet-dis FILE.tvbc [-o FILE.tvt] [--loc] [--no-verify]

Disassembles tile bytecode into the text form (docs/text-form.md). With --loc, trivet-as makes the same module of it.

  FILE.tvbc       the bytecode; "-" for standard input
  -o FILE.tvt     where to write; standard output without it
  --loc           writes the place in the source after each op: loc("add.py":12:5)
  --no-verify     also shows a module that the verifier refuses
  --help          this text

Exit code: 0; 1 if the file is damaged, not legal or can't be read; 2 if the command line is wrong.
)";

struct Options {
  std::string input;
  std::string output = "-";
  bool locations = false;
  bool verify = true;
};

absl::Status Disassemble(const Options& options) {
  absl::StatusOr<std::string> content = ReadToolFile(options.input);
  if (!content.ok()) return content.status();
  const auto bytes = absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(content->data()), content->size());
  absl::StatusOr<Module> module = options.verify ? ReadModule(bytes) : ReadModuleUnverified(bytes);
  if (!module.ok()) return absl::InvalidArgumentError(absl::StrCat(options.input, ": ", module.status().message()));
  return WriteToolFile(options.output, Print(*module, {.locations = options.locations}));
}

int Main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const absl::string_view arg = argv[i];
    if (arg == "--help" || arg == "-h") {
      std::fputs(kUsage, stdout);
      return 0;
    }
    if (arg == "-o") {
      if (++i == argc) return ToolError(kTool, "-o needs a file name", 2);
      options.output = argv[i];
    } else if (arg == "--loc") {
      options.locations = true;
    } else if (arg == "--no-verify") {
      options.verify = false;
    } else if (arg.size() > 1 && arg[0] == '-') {
      return ToolError(kTool, absl::StrCat("option ", arg, " is not known; see trivet-dis --help"), 2);
    } else if (!options.input.empty()) {
      return ToolError(kTool, absl::StrCat("one input file, not both ", options.input, " and ", arg), 2);
    } else {
      options.input = std::string(arg);
    }
  }
  if (options.input.empty()) return ToolError(kTool, "an input file is needed; see trivet-dis --help", 2);
  const absl::Status status = Disassemble(options);
  return status.ok() ? 0 : ToolError(kTool, status.message(), 1);
}

}  // namespace
}  // namespace trivet::vm

int main(int argc, char** argv) { return trivet::vm::Main(argc, argv); }
