// trivet-as: the assembler. Text (.tvt) to a bytecode file (.tvbc).
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "vm/bytecode/parser.h"
#include "vm/bytecode/verifier.h"
#include "vm/bytecode/writer.h"
#include "vm/tools/tool_files.h"

namespace trivet::vm {
namespace {

constexpr char kTool[] = "trivet-as";
constexpr char kUsage[] = R"(usage: trivet-as FILE.tvt [-o FILE.tvbc] [--strip]

Assembles tile bytecode: reads the text form (docs/text-form.md), verifies it and writes a bytecode file.

  FILE.tvt        the text; "-" for standard input
  -o FILE.tvbc    where to write; "-" for standard output. Without it: the input's name with .tvbc for .tvt
  --strip         leaves out debug information: locations and names of values
  --help          this text

Exit code: 0; 1 if the text is wrong or a file can't be read or written; 2 if the command line is wrong.
)";

struct Options {
  std::string input;
  std::string output;
  bool strip = false;
};

// Reads, assembles, writes.
absl::Status Assemble(const Options& options) {
  absl::StatusOr<std::string> text = ReadToolFile(options.input);
  if (!text.ok()) return text.status();
  absl::StatusOr<Module> module = Parse(*text, options.input == "-" ? "<stdin>" : options.input);
  if (!module.ok()) return module.status();
  if (absl::Status status = VerifyModule(*module); !status.ok()) return status;
  const std::vector<uint8_t> bytes = WriteModule(*module, {.debug_info = !options.strip});
  return WriteToolFile(options.output, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
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
    } else if (arg == "--strip") {
      options.strip = true;
    } else if (arg.size() > 1 && arg[0] == '-') {
      return ToolError(kTool, absl::StrCat("option ", arg, " is not known; see trivet-as --help"), 2);
    } else if (!options.input.empty()) {
      return ToolError(kTool, absl::StrCat("one input file, not both ", options.input, " and ", arg), 2);
    } else {
      options.input = std::string(arg);
    }
  }
  if (options.input.empty()) return ToolError(kTool, "an input file is needed; see trivet-as --help", 2);
  if (options.output.empty() && options.input == "-") return ToolError(kTool, "-o is needed with standard input", 2);
  if (options.output.empty()) options.output = absl::StrCat(absl::StripSuffix(options.input, ".tvt"), ".tvbc");
  const absl::Status status = Assemble(options);
  if (status.ok()) return 0;
  // The parser's messages begin with the place, as compilers' do.
  if (absl::StrContains(status.message(), ": error: ")) {
    std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
    return 1;
  }
  return ToolError(kTool, status.message(), 1);
}

}  // namespace
}  // namespace trivet::vm

int main(int argc, char** argv) { return trivet::vm::Main(argc, argv); }
