// The table of host functions: its patterns name what LLVM knows, and its functions compute what PTX says.
#include "jit/emulator/rows.h"

#include <cmath>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "emulator_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "jit/emulator/host_functions.h"
#include "llvm/IR/Intrinsics.h"

namespace trivet::jit {
namespace {

TEST(EmulatorRows, PatternsMatchAlternativesNumbersAndRests) {
  std::array<int, 8> choice;
  EXPECT_TRUE(MatchesPattern("add.{rn|rz}{|.ftz}.f", "add.rz.ftz.f", choice));
  EXPECT_EQ(choice[0], 1);
  EXPECT_EQ(choice[1], 1);
  EXPECT_TRUE(MatchesPattern("add.{rn|rz}{|.ftz}.f", "add.rn.f", choice));
  EXPECT_EQ(choice[1], 0);
  EXPECT_FALSE(MatchesPattern("add.{rn|rz}{|.ftz}.f", "add.rm.f", choice));
  EXPECT_FALSE(MatchesPattern("add.{rn|rz}{|.ftz}.f", "add.rn.ff", choice));
  EXPECT_TRUE(MatchesPattern("x.{f|f32}", "x.f32", choice));  // the shorter one fits first, and is not enough
  EXPECT_EQ(choice[0], 1);
  EXPECT_TRUE(MatchesPattern("/*load.v#.b#~*/", "/*load.v4.b32.cg*/", choice));
  EXPECT_EQ(choice[0], 4);
  EXPECT_EQ(choice[1], 32);
  EXPECT_FALSE(MatchesPattern("/*load.v#.b#~*/", "/*load.v.b32*/", choice));
}

// All names of a pattern; "#" and "~" stand for themselves.
std::vector<std::string> Expand(absl::string_view pattern) {
  const size_t open = pattern.find('{');
  if (open == absl::string_view::npos) return {std::string(pattern)};
  const size_t close = pattern.find('}');
  std::vector<std::string> names;
  absl::string_view alternatives = pattern.substr(open + 1, close - open - 1);
  for (bool more = true; more;) {
    const size_t bar = alternatives.find('|');
    more = bar != absl::string_view::npos;
    for (const std::string& rest : Expand(pattern.substr(close + 1))) {
      names.push_back(absl::StrCat(pattern.substr(0, open), alternatives.substr(0, bar), rest));
    }
    if (more) alternatives.remove_prefix(bar + 1);
  }
  return names;
}

// A typo in a pattern would make an instruction unknown without anyone noticing.
TEST(EmulatorRows, EveryPatternNamesAnIntrinsicOfLlvm) {
  for (const std::span<const Row>& rows : {SpecialRegisterRows(), SynchronisationRows(), WarpRows(), ArithmeticRows(),
                                           ConversionRows(), MemoryRows(), MatrixRows()}) {
    for (const Row& row : rows) {
      const absl::string_view pattern = row.pattern;
      if (absl::StrContains(pattern, '#') || absl::StrContains(pattern, '~') || absl::StartsWith(pattern, "/*"))
        continue;
      int known = 0;
      for (const std::string& name : Expand(pattern)) {
        const std::string full = absl::StartsWith(name, "llvm.") ? name : "llvm.nvvm." + name;
        if (llvm::Intrinsic::lookupIntrinsicID(full) != llvm::Intrinsic::not_intrinsic) ++known;
      }
      EXPECT_GT(known, 0) << pattern;
    }
  }
}

// What the lowering calls must have an answer here, in both types.
TEST(EmulatorRows, EveryFunctionOfLibdeviceThatOpsNeedIsThere) {
  for (const char* name : {
#define TRIVET_LIBDEVICE(Op, name) name,
#include "jit/lowering/nvptx/libdevice.def"
#undef TRIVET_LIBDEVICE
       }) {
    EXPECT_NE(FindHostSymbol(absl::StrCat("__nv_", name)), nullptr) << name;
    EXPECT_NE(FindHostSymbol(absl::StrCat("__nv_", name, "f")), nullptr) << name;
  }
}

// --- Values -----------------------------------------------------------------------------------------------------

// The result of `call`, of LLVM type `type`, in the low bits.
uint64_t Evaluate(absl::string_view type, absl::string_view call) {
  std::vector<uint64_t> out(1);
  EmulatedLaunch launch;
  launch.arguments = {AddressOf(out)};
  const absl::Status status =
      RunText(absl::StrCat("declare float @__nv_expf(float)\ndeclare double @__nv_lgamma(double)\n"
                           "define ptx_kernel void @kernel(ptr addrspace(1) %out) {\n  %r = ",
                           call, "\n  store ", type, " %r, ptr addrspace(1) %out\n  ret void\n}"),
              launch);
  EXPECT_EQ(status, absl::OkStatus()) << call;
  return out[0];
}

float EvaluateFloat(absl::string_view call) {
  return std::bit_cast<float>(static_cast<uint32_t>(Evaluate("float", call)));
}

std::string Float(double x) { return absl::StrFormat("float 0x%016x", std::bit_cast<uint64_t>(x)); }

TEST(EmulatorRows, RoundingModes) {
  const auto add = [](absl::string_view mode) {
    return EvaluateFloat(absl::StrCat("call float @llvm.nvvm.add.", mode, ".f(", Float(1), ", ", Float(0x1p-30), ")"));
  };
  EXPECT_EQ(add("rn"), 1.0f);
  EXPECT_EQ(add("rz"), 1.0f);
  EXPECT_EQ(add("rm"), 1.0f);
  EXPECT_EQ(add("rp"), 1.0f + 0x1p-23f);
  EXPECT_EQ(EvaluateFloat(absl::StrCat("call float @llvm.nvvm.div.rm.f(", Float(-1), ", ", Float(3), ")")),
            -0x1.555556p-2f);
  EXPECT_EQ(EvaluateFloat(absl::StrCat("call float @llvm.nvvm.div.rz.f(", Float(-1), ", ", Float(3), ")")),
            -0x1.555554p-2f);
  EXPECT_EQ(EvaluateFloat(
                absl::StrCat("call float @llvm.nvvm.fma.rp.f(", Float(1), ", ", Float(1), ", ", Float(0x1p-40), ")")),
            1.0f + 0x1p-23f);
  EXPECT_EQ(EvaluateFloat(absl::StrCat("call float @llvm.nvvm.sqrt.rp.f(", Float(2), ")")), 0x1.6a09e8p0f);
  EXPECT_EQ(EvaluateFloat(absl::StrCat("call float @llvm.nvvm.add.rn.sat.f(", Float(1), ", ", Float(1), ")")), 1.0f);
  EXPECT_EQ(
      EvaluateFloat(absl::StrCat("call float @llvm.nvvm.mul.rn.ftz.f(", Float(0x1p-120), ", ", Float(0x1p-10), ")")),
      0.0f);
}

TEST(EmulatorRows, Approximations) {
  EXPECT_EQ(EvaluateFloat(absl::StrCat("call float @llvm.nvvm.ex2.approx.ftz.f32(", Float(0.5), ")")), std::exp2(0.5f));
  EXPECT_EQ(EvaluateFloat(absl::StrCat("call float @llvm.nvvm.lg2.approx.f(", Float(10), ")")), std::log2(10.0f));
  EXPECT_EQ(EvaluateFloat(absl::StrCat("call float @llvm.nvvm.rcp.approx.ftz.f(", Float(3), ")")), 1.0f / 3.0f);
  EXPECT_EQ(EvaluateFloat(absl::StrCat("call float @llvm.nvvm.rsqrt.approx.f(", Float(4), ")")), 0.5f);
  EXPECT_EQ(EvaluateFloat(absl::StrCat("call float @llvm.nvvm.div.full(", Float(1), ", ", Float(3), ")")), 1.0f / 3.0f);
  EXPECT_EQ(EvaluateFloat(absl::StrCat("call float @llvm.nvvm.tanh.approx.f32(", Float(0.25), ")")), std::tanh(0.25f));
  EXPECT_EQ(EvaluateFloat(absl::StrCat("call float @__nv_expf(", Float(1), ")")), std::exp(1.0f));
  EXPECT_EQ(Evaluate("double", "call double @__nv_lgamma(double 5.5)"), std::bit_cast<uint64_t>(std::lgamma(5.5)));
}

TEST(EmulatorRows, MinimumAndMaximum) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto call = [](absl::string_view name, double x, double y) {
    return EvaluateFloat(absl::StrCat("call float @llvm.nvvm.", name, "(", Float(x), ", ", Float(y), ")"));
  };
  EXPECT_EQ(call("fmin.f", nan, 2), 2.0f);
  EXPECT_TRUE(std::isnan(call("fmin.nan.f", nan, 2)));
  EXPECT_TRUE(std::signbit(call("fmin.f", 0.0, -0.0)));
  EXPECT_FALSE(std::signbit(call("fmax.f", -0.0, 0.0)));
  EXPECT_EQ(call("fmax.xorsign.abs.f", -3, 2), -3.0f);
  EXPECT_EQ(call("fmax.xorsign.abs.f", -3, -2), 3.0f);
  EXPECT_EQ(Evaluate("i32", "call i32 @llvm.nvvm.f2i.rn(float 2.5)"), 2u);
}

TEST(EmulatorRows, FloatsToIntegers) {
  EXPECT_EQ(Evaluate("i32", "call i32 @llvm.nvvm.f2i.rp(float 2.5)"), 3u);
  EXPECT_EQ(Evaluate("i32", "call i32 @llvm.nvvm.f2ui.rz(float -2.5)"), 0u);
  EXPECT_EQ(Evaluate("i32", "call i32 @llvm.nvvm.f2i.rz(float 0x46293E5940000000)"), 0x7fffffffu);
  EXPECT_EQ(Evaluate("i32", "call i32 @llvm.nvvm.f2i.rz(float 0x7FF8000000000000)"), 0u);
  EXPECT_EQ(Evaluate("i64", "call i64 @llvm.nvvm.d2ll.rz(double 0x7FF8000000000000)"), uint64_t{1} << 63);
  EXPECT_EQ(Evaluate("i64", "call i64 @llvm.nvvm.d2ull.rm(double 1.8e19)"), 18000000000000000000u);
}

TEST(EmulatorRows, IntegersToFloats) {
  EXPECT_EQ(EvaluateFloat("call float @llvm.nvvm.i2f.rz(i32 16777217)"), 16777216.0f);
  EXPECT_EQ(EvaluateFloat("call float @llvm.nvvm.i2f.rp(i32 16777217)"), 16777218.0f);
  EXPECT_EQ(EvaluateFloat("call float @llvm.nvvm.i2f.rm(i32 -16777217)"), -16777218.0f);
  EXPECT_EQ(EvaluateFloat("call float @llvm.nvvm.ull2f.rz(i64 -1)"), std::nextafter(0x1p64f, 0.0f));
}

TEST(EmulatorRows, NarrowFloats) {
  // The first operand goes to the upper half.
  EXPECT_EQ(Evaluate("<2 x half>", "call <2 x half> @llvm.nvvm.ff2f16x2.rn(float 1.0, float 2.0)"), 0x3c004000u);
  EXPECT_EQ(Evaluate("<2 x bfloat>", "call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rz(float 1.0, float -2.0)"), 0x3f80c000u);
  EXPECT_EQ(Evaluate("i16", "call i16 @llvm.nvvm.ff.to.e4m3x2.rn(float 1.0, float 1000.0)"), 0x387eu);
  EXPECT_EQ(Evaluate("i16", "call i16 @llvm.nvvm.ff.to.e5m2x2.rn.relu(float -1.0, float 2.0)"), 0x0040u);
  EXPECT_EQ(Evaluate("<2 x half>", "call <2 x half> @llvm.nvvm.e4m3x2.to.f16x2.rn(i16 14462)"), 0x3c005f00u);  // 0x387e
  EXPECT_EQ(Evaluate("i32", "call i32 @llvm.nvvm.f2tf32.rna(float 0x3FF0020000000000)"), 0x3f802000u);
  EXPECT_EQ(Evaluate("i16", "call i16 @llvm.nvvm.f2h.rn(float 65520.0)"), 0x7c00u);
}

TEST(EmulatorRows, SixteenBitArithmeticRoundsOnce) {
  // 2^-31 below a tie, and 2^-40 below one: rounded to f32 first, both would be ties, and go up to the even code.
  EXPECT_EQ(Evaluate("half", "call half @llvm.fma.f16(half 0xH3C01, half 0xH0FFE, half 0xH3C01)"), 0x3c01u);
  EXPECT_EQ(Evaluate("bfloat", "call bfloat @llvm.fma.bf16(bfloat 0xR3F81, bfloat 0xR3FC0, bfloat 0xRAB80)"), 0x3fc1u);
  EXPECT_EQ(Evaluate("half", "call half @llvm.fma.f16(half 0xH6400, half 0xH6400, half 0xH0001)"), 0x7c00u);
  EXPECT_EQ(
      Evaluate("bfloat", "call bfloat @llvm.nvvm.fma.rn.relu.bf16(bfloat 0xRBF80, bfloat 0xR3F80, bfloat 0xR0000)"),
      0u);
  EXPECT_EQ(Evaluate("half", "fadd half 0xH3C00, 0xH1000"), 0x3c00u);
  EXPECT_EQ(Evaluate("bfloat", "fmul bfloat 0xR3F81, 0xR3F81"), 0x3f82u);
  EXPECT_EQ(Evaluate("bfloat", "fptrunc float 0x3FF0100000000000 to bfloat"), 0x3f80u);
  EXPECT_EQ(Evaluate("bfloat", "fptrunc double 0x3FF0100000000001 to bfloat"), 0x3f81u);
  EXPECT_EQ(
      Evaluate("<2 x bfloat>", "fadd <2 x bfloat> <bfloat 0xR3F80, bfloat 0xR4000>, <bfloat 0xR3F80, bfloat 0xR4000>"),
      0x40804000u);
  EXPECT_EQ(Evaluate("float", "fpext half 0xH3555 to float"), std::bit_cast<uint32_t>(0.333251953125f));
}

TEST(EmulatorRows, FastMathFlagsChangeNothing) {
  // Contracted, this would be fma(x, x, -x * x rounded) != 0.
  std::vector<float> data = {1.1f, -1.1f * 1.1f};
  EmulatedLaunch launch;
  launch.arguments = {AddressOf(data)};
  ASSERT_EQ(RunText(R"(
define ptx_kernel void @kernel(ptr addrspace(1) %p) {
  %q = getelementptr float, ptr addrspace(1) %p, i32 1
  %x = load float, ptr addrspace(1) %p
  %c = load float, ptr addrspace(1) %q
  %xx = fmul contract float %x, %x
  %r = fadd contract float %xx, %c
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  store float %r, ptr addrspace(1) %q
  ret void
})",
                    launch),
            absl::OkStatus());
  EXPECT_EQ(data[1], 0.0f);
}

TEST(EmulatorRows, Integers) {
  EXPECT_EQ(Evaluate("i32", "call i32 @llvm.nvvm.mulhi.i(i32 -2, i32 3)"), 0xffffffffu);
  EXPECT_EQ(Evaluate("i32", "call i32 @llvm.nvvm.mulhi.ui(i32 -2, i32 3)"), 2u);
  EXPECT_EQ(Evaluate("i64", "call i64 @llvm.nvvm.mulhi.ull(i64 -1, i64 -1)"), ~uint64_t{1});
  EXPECT_EQ(Evaluate("i64", "call i64 @llvm.nvvm.mulhi.ll(i64 -1, i64 -1)"), 0u);
  EXPECT_EQ(Evaluate("i32", "call i32 @llvm.nvvm.sad.i(i32 -5, i32 7, i32 100)"), 112u);
  EXPECT_EQ(Evaluate("i32", "call i32 @llvm.nvvm.prmt(i32 u0x83828180, i32 u0x77767574, i32 u0xb470)"), 0xff747780u);
  EXPECT_EQ(Evaluate("i32", "call i32 @llvm.nvvm.idp4a.s.u(i32 u0xff000002, i32 u0xff000003, i32 10)"),
            static_cast<uint32_t>(10 + 6 - 255));
  EXPECT_EQ(Evaluate("i32", "call i32 @llvm.bitreverse.i32(i32 1)"), 0x80000000u);
}

}  // namespace
}  // namespace trivet::jit
