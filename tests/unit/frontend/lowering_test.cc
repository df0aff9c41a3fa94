// The frontend without Python: trees built by hand, compiled over a fake host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/compiler.h"
#include "tests/support/ast_builder.h"
#include "tests/support/fake_host.h"
#include "vm/bytecode/printer.h"

namespace trivet::frontend {
namespace {

using ::testing::HasSubstr;
using vm::DType;
using vm::Type;

ArgumentSpec RunTime(Type type) {
  ArgumentSpec spec;
  spec.type = std::move(type);
  return spec;
}
ArgumentSpec CompileTime(HostPtr value) {
  ArgumentSpec spec;
  spec.kind = ArgumentSpec::Kind::kConstant;
  spec.constant = std::move(value);
  return spec;
}

const Type kI32 = Type::Scalar(DType::kI32);
const Type kPtrF32 = Type::Scalar(DType::kF32).PointerTo();

class LoweringTest : public ::testing::Test {
 protected:
  // A function that knows `tl`.
  std::shared_ptr<FakeValue> Make(FunctionDef def) {
    std::shared_ptr<FakeValue> function = FakeFunction(std::move(def));
    FakeFunctionSetup{function.get()}.Global("tl", tl_);
    return function;
  }

  absl::StatusOr<CompileResult> CompileKernel(const HostPtr& kernel, std::vector<ArgumentSpec> arguments) {
    CompileRequest request;
    request.kernel = kernel;
    request.arguments = std::move(arguments);
    return Compile(host_, request);
  }

  // The text of the module, or of the errors.
  std::string Text(const HostPtr& kernel, std::vector<ArgumentSpec> arguments) {
    absl::StatusOr<CompileResult> result = CompileKernel(kernel, std::move(arguments));
    if (!result.ok()) return std::string(result.status().message());
    if (!result->diagnostics.empty()) return result->diagnostics.ToString();
    return vm::Print(result->module, {.locations = false});
  }

  static ExprPtr Tl(const std::string& name) { return Attribute(Name("tl"), name); }

  FakeHost host_;
  HostPtr tl_ = FakeModule("tl", {{"arange", FakeBuiltin("arange")},
                                  {"load", FakeBuiltin("load")},
                                  {"store", FakeBuiltin("store")},
                                  {"reduce", FakeBuiltin("reduce")},
                                  {"range", FakeBuiltin("range")},
                                  {"static_print", FakeBuiltin("static_print")},
                                  {"float32", FakeType(Type::Scalar(DType::kF32))}});
};

TEST_F(LoweringTest, MaskedCopy) {
  // offsets = tl.arange(0, BLOCK); tl.store(x + offsets, 1, mask=offsets < n)
  HostPtr kernel =
      Make(MakeFunction("fill", {"x", "n", "BLOCK"},
                        List(Assign("offsets", Call(Tl("arange"), IntLiteral("0"), Name("BLOCK"))),
                             Do(WithKeyword(Call(Tl("store"), Binary("+", Name("x"), Name("offsets")), IntLiteral("1")),
                                            "mask", Compare(Name("offsets"), "<", Name("n")))))));
  EXPECT_EQ(Text(kernel, {RunTime(kPtrF32), RunTime(kI32), CompileTime(FakeInt("8", false))}),
            R"(kernel @fill(%x: ptr<f32>, %n: i32) {
  %offsets = arange end=8 : tile<8xi32>
  %0 = splat %x : tile<8xptr<f32>>
  %1 = addptr %0, %offsets : tile<8xptr<f32>>
  %2 = splat %n : tile<8xi32>
  %3 = cmpi %offsets, %2 predicate=lt : tile<8xi1>
  %4 = constant 1.0 : f32
  %5 = splat %4 : tile<8xf32>
  store %1, %5, %3
  return
}
)");
}

TEST_F(LoweringTest, LoopCarriesWhatItAssigns) {
  HostPtr kernel = Make(MakeFunction(
      "k", {"x", "n"},
      List(Assign("total", IntLiteral("0")),
           For("i", Call(Tl("range"), Name("n")), List(Assign("total", Binary("+", Name("total"), Name("i"))))),
           Do(Call(Tl("store"), Name("x"), Name("total"))))));
  const std::string text = Text(kernel, {RunTime(kPtrF32), RunTime(kI32)});
  EXPECT_THAT(text, HasSubstr("%total.1 = for %0, %n, %1, %total : i32 {\n  ^(%i: i32, %total.2: i32):\n"));
  EXPECT_THAT(text, HasSubstr("yield %total.3"));
}

TEST_F(LoweringTest, HelpersAreCompiledOnceForEachSetOfTypes) {
  std::shared_ptr<FakeValue> twice =
      Make(MakeFunction("twice", {"v"}, List(Return(Binary("+", Name("v"), Name("v"))))));
  std::shared_ptr<FakeValue> kernel =
      Make(MakeFunction("k", {"x", "n"},
                        List(Assign("a", Call(Name("twice"), Name("n"))), Assign("b", Call(Name("twice"), Name("a"))),
                             Assign("c", Call(Name("twice"), Call(Tl("load"), Name("x")))),
                             Do(Call(Tl("store"), Name("x"), Name("c"))))));
  FakeFunctionSetup{kernel.get()}.Global("twice", twice);
  absl::StatusOr<CompileResult> result = CompileKernel(kernel, {RunTime(kPtrF32), RunTime(kI32)});
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_TRUE(result->diagnostics.empty()) << result->diagnostics.ToString();
  ASSERT_EQ(result->module.functions.size(), 3u);  // the kernel, twice of i32, twice of f32
  EXPECT_EQ(result->module.functions[1].name, "twice");
  EXPECT_EQ(result->module.functions[2].name, "twice.1");
  // Looked up as globals, or as attributes of the module: the code depends on them.
  std::set<std::string> names;
  for (const GlobalUse& use : result->globals) names.insert(use.name);
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("tl", "twice", "load", "store"));
}

TEST_F(LoweringTest, DefaultsComeFromTheHost) {
  std::shared_ptr<FakeValue> add =
      Make(MakeFunction("add", {"v", "w"}, List(Return(Binary("+", Name("v"), Name("w"))))));
  FakeFunctionSetup{add.get()}.Default("w", FakeInt("5", false));
  std::shared_ptr<FakeValue> kernel =
      Make(MakeFunction("k", {"x", "n"}, List(Do(Call(Tl("store"), Name("x"), Call(Name("add"), Name("n")))))));
  FakeFunctionSetup{kernel.get()}.Global("add", add);
  EXPECT_THAT(Text(kernel, {RunTime(kPtrF32), RunTime(kI32)}), HasSubstr("constant 5 : i32"));
}

TEST_F(LoweringTest, BranchesOfConstantsAreNotLookedAt) {
  HostPtr kernel = Make(MakeFunction(
      "k", {"x", "FAST"},
      List(If(Name("FAST"), List(Do(Call(Tl("store"), Name("x"), IntLiteral("1")))), List(Do(Name("nonsense")))))));
  EXPECT_THAT(Text(kernel, {RunTime(kPtrF32), CompileTime(host_.MakeBool(true))}), HasSubstr("store %x"));
  EXPECT_THAT(Text(kernel, {RunTime(kPtrF32), CompileTime(host_.MakeBool(false))}),
              HasSubstr("k.py:4:5: error: 'nonsense' is not defined\n    4 | line 4\n      |     ^~"));
}

TEST_F(LoweringTest, GlobalsMustBeConstexpr) {
  const auto kernel_with = [&](bool is_constexpr) {
    std::shared_ptr<FakeValue> kernel =
        Make(MakeFunction("k", {"x"}, List(Do(Call(Tl("store"), Name("x"), Name("SIZE"))))));
    FakeFunctionSetup{kernel.get()}.Global("SIZE", FakeInt("3", is_constexpr));
    return kernel;
  };
  EXPECT_THAT(Text(kernel_with(true), {RunTime(kPtrF32)}), HasSubstr("constant 3.0 : f32"));
  EXPECT_THAT(Text(kernel_with(false), {RunTime(kPtrF32)}), HasSubstr("cannot access global variable 'SIZE'"));
}

TEST_F(LoweringTest, RecursionIsAnError) {
  std::shared_ptr<FakeValue> loop = Make(MakeFunction("loop", {"n"}, List(Return(Call(Name("loop"), Name("n"))))));
  FakeFunctionSetup{loop.get()}.Global("loop", loop);
  std::shared_ptr<FakeValue> kernel = Make(MakeFunction("k", {"n"}, List(Do(Call(Name("loop"), Name("n"))))));
  FakeFunctionSetup{kernel.get()}.Global("loop", loop);
  const std::string text = Text(kernel, {RunTime(kI32)});
  EXPECT_THAT(text, HasSubstr("loop.py:2:5: error: recursion: loop() calls itself"));
  EXPECT_THAT(text, HasSubstr("note: called from k.py:2:5 in k()"));
  FakeFunctionSetup{loop.get()}.Global("loop", nullptr);  // or they keep each other alive
}

TEST_F(LoweringTest, MistakesInTheLibraryShowAtTheAuthorsCall) {
  std::shared_ptr<FakeValue> zeros =
      Make(MakeFunction("zeros", {"n"}, List(Return(Call(Tl("arange"), IntLiteral("0"), Name("n"))))));
  FakeFunctionSetup{zeros.get()}.MarkAsLibrary();
  std::shared_ptr<FakeValue> kernel =
      Make(MakeFunction("k", {"n"}, List(Do(IntLiteral("1")), Do(Call(Name("zeros"), Name("n"))))));
  FakeFunctionSetup{kernel.get()}.Global("zeros", zeros);
  const std::string text = Text(kernel, {RunTime(kI32)});
  EXPECT_THAT(
      text,
      HasSubstr("k.py:3:5: error: arange's arguments: end must be an integer constant (tl.constexpr), found i32"));
  EXPECT_THAT(text, HasSubstr("note: in zeros() of the language's library, zeros.py:2"));
}

TEST_F(LoweringTest, SourceThatCannotBeReadIsAStatusForTheKernelAndAnErrorForAHelper) {
  std::shared_ptr<FakeValue> lost = Make(MakeFunction("lost", {}, {}));
  FakeFunctionSetup{lost.get()}.ForgetSource();
  EXPECT_EQ(CompileKernel(lost, {}).status().code(), absl::StatusCode::kNotFound);
  std::shared_ptr<FakeValue> kernel = Make(MakeFunction("k", {}, List(Do(Call(Name("lost"))))));
  FakeFunctionSetup{kernel.get()}.Global("lost", lost);
  EXPECT_THAT(Text(kernel, {}), HasSubstr("k.py:2:5: error: the source of function lost() can't be read"));
}

TEST_F(LoweringTest, IndependentMistakesAreAllReported) {
  HostPtr kernel =
      Make(MakeFunction("k", {"x"},
                        List(Assign("a", Name("first")), Assign("b", Binary("+", Name("a"), IntLiteral("1"))),
                             Do(Name("second")), If(Name("third"), List(Do(Name("fourth"))), List(Do(Name("b")))))));
  absl::StatusOr<CompileResult> result = CompileKernel(kernel, {RunTime(kPtrF32)});
  ASSERT_TRUE(result.ok());
  std::vector<uint32_t> lines;
  for (const Diagnostic& d : result->diagnostics.all()) lines.push_back(d.span.line);
  EXPECT_THAT(lines, ::testing::ElementsAre(2, 4, 5, 6));
}

TEST_F(LoweringTest, StaticPrintGoesToTheHost) {
  HostPtr kernel = Make(
      MakeFunction("k", {"x"}, List(Do(Call(Tl("static_print"), StringLiteral("x is"), Name("x"), IntLiteral("3"))))));
  Text(kernel, {RunTime(kPtrF32)});
  EXPECT_EQ(host_.printed, "x is pointer<fp32> 3\n");
}

TEST_F(LoweringTest, TupleArgumentsAreFlattened) {
  ArgumentSpec tuple;
  tuple.kind = ArgumentSpec::Kind::kTuple;
  tuple.items = {RunTime(kPtrF32), CompileTime(FakeInt("2", false))};
  tuple.fields = {"pointer", "count"};
  HostPtr kernel = Make(MakeFunction(
      "k", {"p"}, List(Do(Call(Tl("store"), Attribute(Name("p"), "pointer"), Attribute(Name("p"), "count"))))));
  EXPECT_EQ(Text(kernel, {tuple}), R"(kernel @k(%"p.pointer": ptr<f32>) {
  %0 = constant 2.0 : f32
  store %"p.pointer", %0, _
  return
}
)");
}

TEST_F(LoweringTest, TheSameInputGivesTheSameModule) {
  const auto compile = [&] {
    return Text(Make(MakeFunction("k", {"x", "n"},
                                  List(Assign("a", Call(Tl("arange"), IntLiteral("0"), IntLiteral("4"))),
                                       Do(Call(Tl("store"), Binary("+", Name("x"), Name("a")), Name("n")))))),
                {RunTime(kPtrF32), RunTime(kI32)});
  };
  EXPECT_EQ(compile(), compile());
}

}  // namespace
}  // namespace trivet::frontend
