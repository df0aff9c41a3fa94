// Whatever is legal runs to an end, a trap or its step limit: the zoo, the sample, and what fuzzers once broke.
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "tests/fuzz/support/run_bounded.h"
#include "tests/support/data_files.h"
#include "tests/support/op_zoo.h"
#include "vm/bytecode/reader.h"
#include "vm/bytecode/verifier.h"

namespace trivet::vm {
namespace {

TEST(FuzzRegressionsTest, EveryOpRuns) {
  for (const OpLevel level : {OpLevel::kPortable, OpLevel::kLowered}) {
    Module zoo = MakeOpZoo(level);
    // RunBounded would leave the whole zoo alone for the sake of one function.
    for (Function& function : zoo.functions) {
      Module module;
      module.files = zoo.files;
      module.functions.push_back(std::move(function));
      if (!VerifyModule(module).ok()) continue;  // zoo_call, without what it calls
      const absl::Status loaded = RunBounded(module, /*max_steps=*/500);
      EXPECT_TRUE(loaded.ok()) << loaded.message();
    }
  }
  const absl::Status loaded = RunBounded(MakeSampleModule(), /*max_steps=*/500);
  EXPECT_TRUE(loaded.ok()) << loaded.message();
}

TEST(FuzzRegressionsTest, ReadModule) {
  for (const std::string folder : {"tests/fuzz/regressions/read_module/", "tests/bytecode/golden/1.0/"}) {
    for (const std::string& name : ListDataFiles(folder)) {
      SCOPED_TRACE(folder + name);
      const absl::StatusOr<Module> module = ReadModule(ReadDataFile(folder + name), Limits::Fuzzing());
      if (module.ok()) (void)RunBounded(*module, /*max_steps=*/500);
    }
  }
}

}  // namespace
}  // namespace trivet::vm
