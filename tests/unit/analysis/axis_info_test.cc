// What the analyses are to find, by example; that it is true is the property test's part.
#include "jit/analysis/axis_info.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vm/bytecode/parser.h"
#include "vm/bytecode/verifier.h"

namespace trivet::jit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A function and what is found about it.
class Analyzed {
 public:
  explicit Analyzed(absl::string_view text, const ArgumentFacts& facts = {}, Trust trust = Trust::kNothing)
      : module_(Parsed(text)),
        ranges_(RangeAnalysis::Run(fn(), facts)),
        axes_(AxisInfoAnalysis::Run(fn(), facts, ranges_, trust)) {}

  const vm::Function& fn() const { return module_.functions[0]; }
  ValueId Named(absl::string_view name) const {
    for (uint32_t i = 0; i < fn().num_values(); ++i) {
      if (fn().value(ValueId(i)).name == name) return ValueId(i);
    }
    ADD_FAILURE() << "no value is named " << name;
    return ValueId(0);
  }
  const AxisInfo& operator[](absl::string_view name) const { return axes_.Get(Named(name)); }
  Range range(absl::string_view name) const { return ranges_.Get(Named(name)); }
  std::string Why(absl::string_view name) const { return axes_.Why(fn(), Named(name)); }
  const RangeAnalysis& ranges() const { return ranges_; }
  const AxisInfoAnalysis& axes() const { return axes_; }

 private:
  static vm::Module Parsed(absl::string_view text) {
    absl::StatusOr<vm::Module> module = vm::Parse(text);
    EXPECT_TRUE(module.ok()) << module.status().message();
    const absl::Status legal = vm::VerifyModule(*module);
    EXPECT_TRUE(legal.ok()) << legal.message();
    return *std::move(module);
  }

  vm::Module module_;
  RangeAnalysis ranges_;
  AxisInfoAnalysis axes_;
};

ArgumentFact MultipleOf(int64_t divisibility, bool is_positive = false) {
  ArgumentFact fact;
  fact.divisibility = divisibility;
  fact.is_positive = is_positive;
  return fact;
}

// The example in axis_info.h.
constexpr char kMaskedAdd[] = R"(kernel @k(%x_ptr: ptr<f32>, %n: i32) {
  %pid = program_id axis=0 : i32
  %size = constant 128 : i32
  %b = muli %pid, %size
  %o = arange start=0 end=128 : tile<128xi32>
  %bs = splat %b : tile<128xi32>
  %offs = addi %bs, %o
  %ns = splat %n : tile<128xi32>
  %mask = cmpi %offs, %ns predicate=lt : tile<128xi1>
  %x = splat %x_ptr : tile<128xptr<f32>>
  %p = addptr %x, %offs
  return
}
)";

TEST(AxisInfoTest, VectorAddOfAlignedArguments) {
  const Analyzed k(kMaskedAdd, {{MultipleOf(16), MultipleOf(16)}});
  EXPECT_THAT(k["b"].divisibility, ElementsAre(128));
  EXPECT_THAT(k["o"].contiguity, ElementsAre(128));
  EXPECT_THAT(k["o"].divisibility, ElementsAre(kMaxDivisibility));
  EXPECT_THAT(k["bs"].constancy, ElementsAre(128));
  EXPECT_THAT(k["offs"].contiguity, ElementsAre(128));
  EXPECT_THAT(k["offs"].divisibility, ElementsAre(128));
  EXPECT_THAT(k["mask"].constancy, ElementsAre(16));
  EXPECT_THAT(k["p"].contiguity, ElementsAre(128));
  EXPECT_THAT(k["p"].divisibility, ElementsAre(16));
  EXPECT_EQ(k["p"].ElementsPerAccess(0), 4);
  EXPECT_THAT(k.Why("p"), HasSubstr("addptr of %x: contiguity 1, divisibility 16"));
}

TEST(AxisInfoTest, NothingPromisedNothingVectorised) {
  const Analyzed k(kMaskedAdd);
  EXPECT_THAT(k["mask"].constancy, ElementsAre(1));
  EXPECT_EQ(k["p"].ElementsPerAccess(0), 1);
}

// Rows of a matrix whose stride is a run-time multiple of 8.
TEST(AxisInfoTest, MatrixTile) {
  const Analyzed k(R"(kernel @k(%a: ptr<f16>, %stride: i32) {
  %r = arange start=0 end=16 : tile<16xi32>
  %c = arange start=0 end=64 : tile<64xi32>
  %r2 = expand_dims %r axis=1 : tile<16x1xi32>
  %c2 = expand_dims %c axis=0 : tile<1x64xi32>
  %ss = splat %stride : tile<16x1xi32>
  %rs = muli %r2, %ss
  %rb = broadcast %rs : tile<16x64xi32>
  %cb = broadcast %c2 : tile<16x64xi32>
  %offs = addi %rb, %cb
  %base = splat %a : tile<16x64xptr<f16>>
  %p = addptr %base, %offs
  %t = trans %p order=[1, 0] : tile<64x16xptr<f16>>
  return
}
)",
                   {{MultipleOf(16), MultipleOf(8)}});
  EXPECT_THAT(k["offs"].contiguity, ElementsAre(1, 64));
  EXPECT_THAT(k["offs"].divisibility, ElementsAre(1, 8));
  EXPECT_THAT(k["rb"].constancy, ElementsAre(1, 64));
  EXPECT_THAT(k["p"].contiguity, ElementsAre(1, 8)) << "beyond 8 elements an i32 offset might wrap";
  EXPECT_EQ(k["p"].ElementsPerAccess(1), 8);
  EXPECT_EQ(k["p"].FastestAxis(), 1);
  EXPECT_EQ(k["t"].FastestAxis(), 0);
}

// Offsets that begin anywhere: no vector is safe, but a layout should still follow them.
TEST(AxisInfoTest, LayoutsMayIgnoreOverflow) {
  constexpr char kText[] = R"(kernel @k(%a: ptr<f32>, %n: i32) {
  %o = arange start=0 end=64 : tile<64xi32>
  %ns = splat %n : tile<64xi32>
  %offs = addi %o, %ns
  %base = splat %a : tile<64xptr<f32>>
  %p = addptr %base, %offs
  return
}
)";
  EXPECT_THAT(Analyzed(kText)["p"].contiguity, ElementsAre(1));
  EXPECT_THAT(Analyzed(kText, {}, Trust::kArithmetic)["p"].contiguity, ElementsAre(64));
}

// Rows that wrap around at M, as in the matmul tutorial.
TEST(AxisInfoTest, RemainderKeepsRunsIfTheDivisorIsPositive) {
  constexpr char kText[] = R"(kernel @k(%m: i32) {
  %pid = program_id axis=0 : i32
  %size = constant 64 : i32
  %b = muli %pid, %size
  %o = arange start=0 end=64 : tile<64xi32>
  %ms = splat %m : tile<64xi32>
  %r = remi %o, %ms
  %row = divi %o, %ms
  %bs = splat %b : tile<64xi32>
  %offs = addi %o, %bs
  %may_be_negative = remi %offs, %ms
  return
}
)";
  const Analyzed positive(kText, {{MultipleOf(16, true)}});
  EXPECT_THAT(positive["r"].contiguity, ElementsAre(16));
  EXPECT_THAT(positive["r"].divisibility, ElementsAre(16));
  EXPECT_THAT(positive["row"].constancy, ElementsAre(16));
  EXPECT_THAT(positive["may_be_negative"].contiguity, ElementsAre(1)) << "pid * 64 may wrap";
  EXPECT_THAT(Analyzed(kText, {{MultipleOf(16)}})["r"].contiguity, ElementsAre(1)) << "the divisor may be 0";
  EXPECT_THAT(Analyzed(kText, {{MultipleOf(16)}}, Trust::kRemainders)["may_be_negative"].contiguity, ElementsAre(16));
}

// Every predicate against a bound that is a multiple of 4: which masks come in groups of four.
TEST(AxisInfoTest, ComparisonsThatComeInRuns) {
  for (const auto& [predicate, run, swapped_run] :
       {std::tuple{"lt", 4, 1}, {"ge", 4, 1}, {"gt", 1, 4}, {"le", 1, 4}, {"eq", 1, 1}, {"ne", 1, 1}}) {
    const Analyzed k(absl::StrCat(R"(kernel @k(%n: i32) {
  %o = arange start=0 end=64 : tile<64xi32>
  %ns = splat %n : tile<64xi32>
  %mask = cmpi %o, %ns predicate=)",
                                  predicate, R"( : tile<64xi1>
  %swapped = cmpi %ns, %o predicate=)",
                                  predicate, R"( : tile<64xi1>
  return
}
)"),
                     {{MultipleOf(4)}});
    EXPECT_THAT(k["mask"].constancy, ElementsAre(run)) << predicate;
    EXPECT_THAT(k["swapped"].constancy, ElementsAre(swapped_run)) << predicate;
  }
}

// Pointers that move on by a multiple of the tile keep their alignment.
TEST(AxisInfoTest, LoopCarriedPointers) {
  const Analyzed k(R"(kernel @k(%a: ptr<f16>, %n: i32) {
  %zero = constant 0 : i32
  %step = constant 32 : i32
  %o = arange start=0 end=32 : tile<32xi32>
  %base = splat %a : tile<32xptr<f16>>
  %p0 = addptr %base, %o
  %end = for %zero, %n, %step, %p0 : tile<32xptr<f16>> {
  ^(%i: i32, %p: tile<32xptr<f16>>):
    %by = constant 32 : tile<32xi32>
    %next = addptr %p, %by
    yield %next
  }
  return
}
)",
                   {{MultipleOf(16), MultipleOf(1)}});
  EXPECT_THAT(k["p"].contiguity, ElementsAre(32));
  EXPECT_THAT(k["p"].divisibility, ElementsAre(16));
  EXPECT_THAT(k["end"].divisibility, ElementsAre(16));
  EXPECT_THAT(k["i"].divisibility, ElementsAre(32));
  EXPECT_EQ(k.range("i").lo, 0);
}

TEST(AxisInfoTest, HintsAndAssumes) {
  const Analyzed k(R"(kernel @k(%a: ptr<f32>, %m: i32, %n: i32) {
  %sixteen = constant 16 : i32
  %zero = constant 0 : i32
  %rem = remi %m, %sixteen
  %is_multiple = cmpi %rem, %zero predicate=eq : i1
  assume %is_multiple
  %is_positive = cmpi %n, %zero predicate=gt : i1
  assume %is_positive
  %o = arange start=0 end=8 : tile<8xi32>
  %ns = splat %n : tile<8xi32>
  %x = muli %o, %ns
  %x1 = hint %x kind=multiple_of values=[24]
  %x2 = hint %x1 kind=max_contiguous values=[4]
  return
}
)");
  EXPECT_THAT(k["m"].divisibility, ElementsAre(16));
  EXPECT_EQ(k.range("n").lo, 1);
  EXPECT_THAT(k["x2"].contiguity, ElementsAre(4));
  EXPECT_THAT(k["x2"].divisibility, ElementsAre(8));
}

// What is only assumed in a branch, or after something that may leave, is not known before.
TEST(AxisInfoTest, AssumesHoldOnlyWhereTheyAreReached) {
  const Analyzed k(R"(func @f(%c: i1, %m: i32, %n: i32) -> i32 {
  %zero = constant 0 : i32
  %m_positive = cmpi %m, %zero predicate=gt : i1
  %n_positive = cmpi %n, %zero predicate=gt : i1
  if %c {
    assume %m_positive
    yield
  } else {
    return %n
  }
  assume %n_positive
  return %m
}
)");
  EXPECT_LT(k.range("m").lo, 0);
  EXPECT_LT(k.range("n").lo, 0);
}

TEST(AxisInfoTest, BlockPointersAsTheTilesTheyStandFor) {
  const Analyzed k(R"(kernel @k(%a: ptr<f16>, %m: i64, %n: i64, %stride: i64, %row: i32) {
  %one = constant 1 : i64
  %zero = constant 0 : i32
  %64 = constant 64 : i32
  %block = make_block_ptr %a, %m, %n, %stride, %one, %row, %zero order=[1, 0] : blockptr<16x64xf16>
  %next = advance %block, %zero, %64
  %odd = advance %block, %zero, %row
  return
}
)",
                   {{MultipleOf(16), MultipleOf(1), MultipleOf(32), MultipleOf(8), MultipleOf(2)}});
  EXPECT_THAT(k["block"].contiguity, ElementsAre(1, 64));
  EXPECT_THAT(k["block"].divisibility, ElementsAre(2, 16));
  EXPECT_THAT(k["block"].constancy, ElementsAre(1, 32)) << "elements that share a boundary check";
  EXPECT_EQ(k["next"].ElementsPerAccess(1), 8);
  EXPECT_EQ(k["odd"].ElementsPerAccess(1), 2);
  EXPECT_THAT(k["odd"].constancy, ElementsAre(1, 2));
}

TEST(RangeAnalysisTest, MasksThatAreAlwaysTrue) {
  const Analyzed k(R"(kernel @k(%n: i32) {
  %o = arange start=0 end=64 : tile<64xi32>
  %limit = constant 64 : tile<64xi32>
  %mask = cmpi %o, %limit predicate=lt : tile<64xi1>
  %zeros = constant 0 : tile<64xi32>
  %never = cmpi %o, %zeros predicate=lt : tile<64xi1>
  %low = constant 15 : tile<64xi32>
  %r = andi %o, %low
  return
}
)");
  EXPECT_TRUE(k.ranges().IsAlwaysTrue(k.Named("mask")));
  EXPECT_TRUE(k.ranges().IsAlwaysFalse(k.Named("never")));
  EXPECT_EQ(k.range("r"), (Range{0, 15}));
  EXPECT_EQ(k.ranges().Why(k.fn(), k.Named("mask")), "%mask is [1, 1]: %o is [0, 63], %limit is [64, 64]");
}

// A carried value that grows is given up on; one that doesn't keeps its range.
TEST(RangeAnalysisTest, CarriedValuesAreWidened) {
  const Analyzed k(R"(kernel @k(%n: i32) {
  %zero = constant 0 : i32
  %one = constant 1 : i32
  %a, %b = for %zero, %n, %one, %zero, %one : i32, i32 {
  ^(%i: i32, %count: i32, %flag: i32):
    %count.1 = addi %count, %one
    %flag.1 = subi %one, %flag
    yield %count.1, %flag.1
  }
  return
}
)");
  EXPECT_EQ(k.range("count"), Range::Full(vm::DType::kI32));
  EXPECT_EQ(k.range("flag"), (Range{0, 1}));
  EXPECT_EQ(k.range("i"), (Range{0, 2147483646}));
}

}  // namespace
}  // namespace trivet::jit
