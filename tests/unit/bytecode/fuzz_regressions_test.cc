// Inputs that the fuzzers once broke something with, and the golden and invalid files, under the fuzzer's property.
#include <string>

#include "gtest/gtest.h"
#include "tests/support/data_files.h"
#include "tests/support/read_module_property.h"

namespace trivet::vm {
namespace {

TEST(FuzzRegressionsTest, ReadModule) {
  for (const std::string folder :
       {"tests/fuzz/regressions/read_module/", "tests/bytecode/invalid/", "tests/bytecode/golden/1.0/"}) {
    for (const std::string& name : ListDataFiles(folder)) {
      SCOPED_TRACE(folder + name);
      CheckReadModuleProperty(ReadDataFile(folder + name));
    }
  }
}

}  // namespace
}  // namespace trivet::vm
