// Modules as text: spelling of names and constants, determinism, and modules that no verifier would accept.
#include "vm/bytecode/printer.h"

#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vm/bytecode/builder.h"

namespace trivet::vm {
namespace {

using ::testing::HasSubstr;

const Type kF32 = Type::Scalar(DType::kF32);
const Type kI32 = Type::Scalar(DType::kI32);

// A module with one helper @f without parameters and ops.
Module OneFunction() {
  Module module;
  module.functions.emplace_back();
  module.functions[0].name = "f";
  module.functions[0].body = module.functions[0].AddRegion();
  return module;
}

TEST(PrinterTest, WritesAnOpALine) {
  Module module = OneFunction();
  Function& function = module.functions[0];
  const ValueId x = function.AddParam(function.body, Type::Tile({4, 2}, DType::kF32), "x");
  Builder builder(&function, function.body);
  function.value(builder.Elementwise(Op::kAddF, {x, x})).name = "sum";
  builder.Create(Op::kReturn, {}, {});
  EXPECT_EQ(Print(module),
            "func @f(%x: tile<4x2xf32>) {\n"
            "  %sum = addf %x, %x : tile<4x2xf32>\n"
            "  return\n"
            "}\n");
}

TEST(PrinterTest, LeavesOutLocationsOnRequest) {
  Module module = OneFunction();
  Function& function = module.functions[0];
  function.location = {module.InternFile("k.py"), 3, 1};
  Builder builder(&function, function.body);
  builder.set_location({0, 4, 5});
  builder.Create(Op::kReturn, {}, {});
  EXPECT_EQ(Print(module), "func @f() loc(\"k.py\":3:1) {\n  return loc(\"k.py\":4:5)\n}\n");
  EXPECT_EQ(Print(module, {.locations = false}), "func @f() {\n  return\n}\n");
}

TEST(PrinterTest, KeepsNamesApart) {
  Module module = OneFunction();
  Function& function = module.functions[0];
  const ValueId first = function.AddParam(function.body, kI32, "x");
  const ValueId second = function.AddParam(function.body, kI32, "x");
  const ValueId dotted = function.AddParam(function.body, kI32, "x.1");
  const ValueId digits = function.AddParam(function.body, kI32, "0");
  const ValueId unnamed = function.AddParam(function.body, kI32);
  const ValueNames names(function);
  EXPECT_EQ(names.Of(first), "%x");
  EXPECT_EQ(names.Of(second), "%x.1");
  EXPECT_EQ(names.Of(dotted), "%\"x.1\"");
  EXPECT_EQ(names.Of(digits), "%\"0\"");
  EXPECT_EQ(names.Of(unnamed), "%0");
  EXPECT_EQ(names.Of(ValueId::None()), "_");
}

TEST(PrinterTest, SpellsElementsSoThatTheyReadBack) {
  EXPECT_EQ(PrintElement(DType::kF32, BitsOf(DType::kF32, 0.1)), "0.1");
  EXPECT_EQ(PrintElement(DType::kF32, BitsOf(DType::kF32, 1e20)), "1e+20");
  EXPECT_EQ(PrintElement(DType::kF32, BitsOf(DType::kF32, 16777216.0)), "16777216.0");
  EXPECT_EQ(PrintElement(DType::kF16, 0x8000), "-0.0");
  EXPECT_EQ(PrintElement(DType::kF64, BitsOf(DType::kF64, 1.0 / 3.0)), "0.3333333333333333");
  EXPECT_EQ(PrintElement(DType::kI8, 0xff), "-1");
  EXPECT_EQ(PrintElement(DType::kU8, 0xff), "255");
  EXPECT_EQ(PrintElement(DType::kI1, 1), "true");
  EXPECT_EQ(PrintElement(DType::kI64, std::numeric_limits<int64_t>::min()), "-9223372036854775808");
}

TEST(PrinterTest, SpellsOtherBitsRaw) {
  EXPECT_EQ(PrintElement(DType::kBF16, 0x7fc0), "nan");
  EXPECT_EQ(PrintElement(DType::kBF16, 0x7fc1), "0x7fc1");
  EXPECT_EQ(PrintElement(DType::kBF16, 0xffc0), "0xffc0");
  EXPECT_EQ(PrintElement(DType::kF32, 0x7f800001), "0x7f800001");
  EXPECT_EQ(PrintElement(DType::kI8, 0x100), "0x100") << "bits above the element's width";
  EXPECT_EQ(PrintElement(DType::kI1, 2), "0x2");
}

TEST(PrinterTest, PrintsWhatNoVerifierWouldAccept) {
  Module module = OneFunction();
  Function& function = module.functions[0];
  const ValueId undefined = function.AddValue(kF32, "x");
  Builder builder(&function, function.body);
  builder.Create1(Op::kAddF, {undefined, ValueId::None()}, kF32, {int64_t{77}});
  builder.Create(Op::kCall, {}, {}, {int64_t{9}});
  builder.Create1(Op::kConstant, {}, Type::Pointer(DType::kF32), {int64_t{16}});
  const std::string text = Print(module);
  EXPECT_THAT(text, HasSubstr("%0 = addf %undefined.0, _ rounding=77 : f32\n"));
  EXPECT_THAT(text, HasSubstr("call callee=9\n"));
  EXPECT_THAT(text, HasSubstr("%1 = constant 0x10 : ptr<f32>\n"));
}

TEST(PrinterTest, PrintsOneOp) {
  Module module = OneFunction();
  Function& function = module.functions[0];
  function.AddParam(function.body, kF32);
  Builder builder(&function, function.body);
  builder.ConstantF(kF32, 2.5);
  EXPECT_EQ(PrintOperation(module, function, function.region(function.body).ops[0]), "%1 = constant 2.5 : f32\n");
}

}  // namespace
}  // namespace trivet::vm
