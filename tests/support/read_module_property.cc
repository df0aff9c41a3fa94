#include "tests/support/read_module_property.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "vm/base/check.h"
#include "vm/bytecode/parser.h"
#include "vm/bytecode/printer.h"
#include "vm/bytecode/reader.h"
#include "vm/bytecode/writer.h"

namespace trivet::vm {

bool CheckReadModuleProperty(absl::Span<const uint8_t> bytes) {
  const Limits limits = Limits::Fuzzing();
  const absl::StatusOr<Module> module = ReadModule(bytes, limits);
  if (!module.ok()) {
    TRIVET_CHECK(absl::StartsWith(module.status().message(), "byte 0x"), module.status().message());
    return false;
  }
  // A file may be written larger than the fuzzing limit, and strings grow when they are quoted.
  const std::vector<uint8_t> written = WriteModule(*module);
  const absl::StatusOr<Module> again = ReadModule(written);
  TRIVET_CHECK(again.ok(), again.status().message());
  TRIVET_CHECK(SameModule(*module, *again), "the module changed on its way through bytes");
  TRIVET_CHECK(WriteModule(*again) == written, "the same module gave other bytes");

  const std::string text = Print(*module);
  const absl::StatusOr<Module> parsed = Parse(text);
  TRIVET_CHECK(parsed.ok(), parsed.status().message());
  TRIVET_CHECK(SameModule(*module, *parsed), "the module changed on its way through text");
  return true;
}

}  // namespace trivet::vm
