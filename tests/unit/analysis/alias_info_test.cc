// From which arguments pointers come.
#include "jit/analysis/alias_info.h"

#include "gtest/gtest.h"
#include "vm/bytecode/parser.h"
#include "vm/bytecode/verifier.h"

namespace trivet::jit {
namespace {

class AliasAnalysisTest : public testing::Test {
 protected:
  AliasAnalysisTest() {
    module_ = *vm::Parse(R"(kernel @k(%x: ptr<f32>, %y: ptr<f32>, %table: ptr<ptr<f32>>, %c: i1, %n: i32) {
  %p = addptr %x, %n
  %q = addptr %y, %n
  %either = select %c, %p, %q : ptr<f32>
  %loaded = load %table, _, _ : ptr<f32>
  %address = ptr_to_int %p : i64
  %one = constant 1 : i64
  %next = addi %address, %one
  %back = int_to_ptr %next : ptr<f32>
  %made_up = int_to_ptr %one : ptr<f32>
  %zero = constant 0 : i32
  %step = constant 1 : i32
  %end = for %zero, %n, %step, %p : ptr<f32> {
  ^(%i: i32, %moving: ptr<f32>):
    yield %q
  }
  return
}
)");
    EXPECT_TRUE(vm::VerifyModule(module_).ok()) << vm::VerifyModule(module_).message();
    aliases_ = AliasAnalysis::Run(module_.functions[0]);
  }

  ValueId Named(absl::string_view name) const {
    for (uint32_t i = 0; i < module_.functions[0].num_values(); ++i) {
      if (module_.functions[0].value(ValueId(i)).name == name) return ValueId(i);
    }
    ADD_FAILURE() << name;
    return ValueId(0);
  }
  bool MayAlias(absl::string_view a, absl::string_view b, bool distinct) const {
    return aliases_.MayAlias(Named(a), Named(b), distinct);
  }

  vm::Module module_;
  AliasAnalysis aliases_;
};

TEST_F(AliasAnalysisTest, BasesAreFollowed) {
  EXPECT_EQ(aliases_.Get(Named("p")).parameter(), 0);
  EXPECT_EQ(aliases_.Get(Named("q")).parameter(), 1);
  EXPECT_EQ(aliases_.Get(Named("either")).parameters, 0b11u);
  EXPECT_EQ(aliases_.Get(Named("moving")).parameters, 0b11u);
  EXPECT_EQ(aliases_.Get(Named("end")).parameters, 0b11u);
  EXPECT_EQ(aliases_.Get(Named("back")).parameter(), 0) << "through an integer";
}

TEST_F(AliasAnalysisTest, WhatComesFromMemoryOrNumbersIsUnknown) {
  EXPECT_TRUE(aliases_.Get(Named("loaded")).is_unknown);
  EXPECT_TRUE(aliases_.Get(Named("made_up")).is_unknown);
  EXPECT_TRUE(MayAlias("loaded", "p", true));
}

TEST_F(AliasAnalysisTest, ArgumentsAreOneTensorUnlessTheLaunchSaysOtherwise) {
  EXPECT_TRUE(MayAlias("p", "q", false));
  EXPECT_FALSE(MayAlias("p", "q", true));
  EXPECT_TRUE(MayAlias("p", "either", true));
  EXPECT_TRUE(MayAlias("p", "x", true));
}

}  // namespace
}  // namespace trivet::jit
