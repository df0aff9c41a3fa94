// The verifier: accepts every op of the zoo; one row for each way of being wrong, with what the author reads.
#include "vm/bytecode/verifier.h"

#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/op_zoo.h"
#include "vm/bytecode/builder.h"

namespace trivet::vm {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Type kI1 = Type::Scalar(DType::kI1);
const Type kI32 = Type::Scalar(DType::kI32);
const Type kI64 = Type::Scalar(DType::kI64);
const Type kF32 = Type::Scalar(DType::kF32);
const Type kPtr = Type::Pointer(DType::kF32);

Type Tile(std::vector<int64_t> shape, DType dtype = DType::kF32) { return Type::Tile(shape, dtype); }

std::vector<std::string> Messages(const Module& module, const Limits& limits = {}) {
  std::vector<std::string> messages;
  for (const Problem& problem : FindProblems(module, limits)) messages.push_back(problem.ToString(module));
  return messages;
}

TEST(VerifierTest, AcceptsEveryOp) {
  EXPECT_THAT(Messages(MakeOpZoo()), IsEmpty());
  EXPECT_THAT(Messages(MakeOpZoo(OpLevel::kLowered)), IsEmpty());
}
TEST(VerifierTest, AcceptsTheSample) { EXPECT_THAT(Messages(MakeSampleModule()), IsEmpty()); }

// A module with one helper @f, whose body `make` fills; a return ends it.
struct Draft {
  Module module;
  Draft() { AddFunction("f"); }

  Function& AddFunction(absl::string_view name, bool is_kernel = false) {
    module.functions.emplace_back();
    Function& function = module.functions.back();
    function.name = std::string(name);
    function.is_kernel = is_kernel;
    function.body = function.AddRegion();
    return function;
  }
  Function& f() { return module.functions[0]; }
  Builder b() { return Builder(&f(), f().body); }
  Builder in(RegionId region) { return Builder(&f(), region); }
  ValueId Param(const Type& type) { return f().AddParam(f().body, type); }
  void Return(std::vector<ValueId> values = {}) { b().Create(Op::kReturn, values, {}); }
  // An op on fresh parameters of these types; a default Type is an absent operand.
  OpId Make(Op op, const std::vector<Type>& operands, const std::vector<Type>& results,
            absl::InlinedVector<Attribute, 1> attrs = {}) {
    std::vector<ValueId> values;
    for (const Type& type : operands) values.push_back(type.is_none() ? ValueId::None() : Param(type));
    return b().Create(op, values, results, std::move(attrs));
  }
  // A region with parameters of these types that ends in `terminator` of the values that `pick` chooses.
  RegionId Region(const std::vector<Type>& params, Op terminator = Op::kYield,
                  const std::function<std::vector<ValueId>(const std::vector<ValueId>&)>& pick = {}) {
    const RegionId region = f().AddRegion();
    std::vector<ValueId> values;
    for (const Type& type : params) values.push_back(f().AddParam(region, type));
    in(region).Create(terminator, pick ? pick(values) : std::vector<ValueId>{}, {});
    return region;
  }
};

using Values = std::vector<ValueId>;

// --- Type rules: one op each, the message of the first problem.
struct RuleCase {
  const char* name;
  Op op;
  std::vector<Type> operands;
  std::vector<Type> results;
  absl::InlinedVector<Attribute, 1> attrs;
  const char* message;
};

class RuleTest : public ::testing::TestWithParam<RuleCase> {};

TEST_P(RuleTest, Reports) {
  const RuleCase& c = GetParam();
  Draft draft;
  draft.Make(c.op, c.operands, c.results, c.attrs);
  draft.Return();
  EXPECT_THAT(Messages(draft.module), Contains(AllOf(HasSubstr("in @f, op 0: "), HasSubstr(c.message))));
}

Attribute Ints(std::vector<int64_t> values) { return values; }
Attribute Int(int64_t value) { return value; }

INSTANTIATE_TEST_SUITE_P(
    All, RuleTest,
    ::testing::ValuesIn(std::vector<RuleCase>{
        RuleCase{"ConstantBits",
                 Op::kConstant,
                 {},
                 {Type::Scalar(DType::kI8)},
                 {Int(256)},
                 "constant: value 0x100 does not fit the 8 bits of i8"},
        RuleCase{"ConstantNegative", Op::kConstant, {}, {kI32}, {Int(-1)}, "does not fit the 32 bits of i32"},
        RuleCase{"ConstantPointer", Op::kConstant, {}, {kPtr}, {Int(0)}, "result must be numbers: it is ptr<f32>"},
        RuleCase{"ArangeEmpty",
                 Op::kArange,
                 {},
                 {Tile({4}, DType::kI32)},
                 {Int(4), Int(4)},
                 "arange: end must be above start: they are 4 and 4"},
        RuleCase{"ArangeResult",
                 Op::kArange,
                 {},
                 {Tile({4}, DType::kI32)},
                 {Int(0), Int(8)},
                 "result must be tile<8xi32>: it is tile<4xi32>"},
        RuleCase{"ProgramIdAxis", Op::kProgramId, {}, {kI32}, {Int(3)}, "axis must be within 0..2: it is 3"},
        RuleCase{"AddShapes",
                 Op::kAddI,
                 {Tile({4}, DType::kI32), Tile({8}, DType::kI32)},
                 {Tile({4}, DType::kI32)},
                 {},
                 "addi: types differ: lhs is tile<4xi32>, rhs is tile<8xi32>"},
        RuleCase{"AddFloats", Op::kAddI, {kF32, kF32}, {kF32}, {}, "addi: lhs must be integers: it is f32"},
        RuleCase{"DivBool", Op::kDivI, {kI1, kI1}, {kI1}, {}, "lhs must be integers other than i1: it is i1"},
        RuleCase{"AddResult", Op::kAddF, {kF32, kF32}, {kI32}, {}, "types differ: lhs is f32, result is i32"},
        RuleCase{"AddFIntegers", Op::kAddF, {kI32, kI32}, {kI32}, {}, "lhs must be floats: it is i32"},
        RuleCase{"JnOrder", Op::kBesselJn, {kI64, kF32}, {kF32}, {}, "order must be i32: it is i64"},
        RuleCase{"LdexpExponent", Op::kLdexp, {kF32, kF32}, {kF32}, {}, "exponent must be i32: it is f32"},
        RuleCase{"IlogbResult", Op::kIlogb, {kF32}, {kF32}, {}, "result must be i32: it is f32"},
        RuleCase{"IsNanShape", Op::kIsNan, {Tile({4})}, {kI1}, {}, "shapes differ: x is tile<4xf32>, result is i1"},
        RuleCase{"CmpIFloats", Op::kCmpI, {kF32, kF32}, {kI1}, {Int(0)}, "lhs must be integers or pointers: it is f32"},
        RuleCase{"CmpFResult", Op::kCmpF, {kF32, kF32}, {kI32}, {Int(0)}, "result must be i1: it is i32"},
        RuleCase{"SelectCondition", Op::kSelect, {kI32, kF32, kF32}, {kF32}, {}, "condition must be i1: it is i32"},
        RuleCase{"SelectShape",
                 Op::kSelect,
                 {Tile({4}, DType::kI1), kF32, kF32},
                 {kF32},
                 {},
                 "shapes differ: condition is tile<4xi1>, if_true is f32"},
        RuleCase{"CastPointer", Op::kCast, {kPtr}, {kI64}, {}, "x must be numbers: it is ptr<f32>"},
        RuleCase{"CastShape", Op::kCast, {Tile({4})}, {Tile({8}, DType::kF16)}, {}, "shapes differ"},
        RuleCase{"BitcastWidth", Op::kBitcast, {kF32}, {kI64}, {}, "widths differ: x is f32, result is i64"},
        RuleCase{"BitcastPointer", Op::kBitcast, {kPtr}, {kI64}, {}, "use ptr_to_int or int_to_ptr"},
        RuleCase{
            "PtrToIntWidth", Op::kPtrToInt, {kPtr}, {kI32}, {}, "result must be one of i64, u64 to hold an address"},
        RuleCase{"IntToPtrResult", Op::kIntToPtr, {kI64}, {kF32}, {}, "result must be pointers: it is f32"},
        RuleCase{"SplatTile", Op::kSplat, {Tile({1})}, {Tile({4})}, {}, "x must be a scalar: it is tile<1xf32>"},
        RuleCase{"SplatElement",
                 Op::kSplat,
                 {kI32},
                 {Tile({4})},
                 {},
                 "element types differ: x is i32, result is tile<4xf32>"},
        RuleCase{"BroadcastRank", Op::kBroadcast, {Tile({1})}, {Tile({1, 4})}, {}, "ranks differ"},
        RuleCase{"BroadcastExtent",
                 Op::kBroadcast,
                 {Tile({2, 1})},
                 {Tile({4, 4})},
                 {},
                 "axis 0 can't be repeated: x is tile<2x1xf32>, result is tile<4x4xf32>"},
        RuleCase{
            "ExpandAxis", Op::kExpandDims, {Tile({4})}, {Tile({1, 4})}, {Int(2)}, "axis must be within 0..1: it is 2"},
        RuleCase{
            "ExpandResult", Op::kExpandDims, {Tile({4})}, {Tile({4, 1})}, {Int(0)}, "result must be tile<1x4xf32>"},
        RuleCase{"ReshapeCount", Op::kReshape, {Tile({4, 4})}, {Tile({8})}, {}, "number of elements differs"},
        RuleCase{
            "TransLength", Op::kTrans, {Tile({4, 8})}, {Tile({8, 4})}, {Ints({1})}, "order needs 2 numbers, has 1"},
        RuleCase{"TransTwice", Op::kTrans, {Tile({4, 8})}, {Tile({8, 4})}, {Ints({1, 1})}, "order holds axis 1 twice"},
        RuleCase{"TransRange", Op::kTrans, {Tile({4, 8})}, {Tile({8, 4})}, {Ints({-1, 0})}, "within 0..1: it holds -1"},
        RuleCase{
            "TransResult", Op::kTrans, {Tile({4, 8})}, {Tile({4, 8})}, {Ints({1, 0})}, "result must be tile<8x4xf32>"},
        RuleCase{"JoinResult", Op::kJoin, {kF32, kF32}, {Tile({1})}, {}, "result must be tile<2xf32>"},
        RuleCase{"SplitExtent", Op::kSplit, {Tile({2, 4})}, {Tile({2}), Tile({2})}, {}, "the last extent must be 2"},
        RuleCase{"CatExtent", Op::kCat, {Tile({4, 2}), Tile({8, 2})}, {Tile({4, 4})}, {Int(1)}, "axis 0 differs"},
        RuleCase{"FlipAxis", Op::kFlip, {Tile({4})}, {Tile({4})}, {Int(1)}, "axis must be within 0..0: it is 1"},
        RuleCase{"SortPointers",
                 Op::kSort,
                 {Type::PointerTile({4}, DType::kF32)},
                 {Type::PointerTile({4}, DType::kF32)},
                 {Int(0)},
                 "x must be numbers"},
        RuleCase{"GatherIndex", Op::kGather, {Tile({4}), Tile({4})}, {Tile({4})}, {Int(0)}, "index must be integers"},
        RuleCase{"GatherExtent",
                 Op::kGather,
                 {Tile({4, 2}), Tile({4, 4}, DType::kI32)},
                 {Tile({4, 4})},
                 {Int(0)},
                 "axis 1 differs"},
        RuleCase{"SliceOutside",
                 Op::kSlice,
                 {Tile({8})},
                 {Tile({4})},
                 {Ints({2}), Ints({2})},
                 "axis 0 reaches outside: start 2, step 2"},
        RuleCase{"SliceStep", Op::kSlice, {Tile({8})}, {Tile({4})}, {Ints({0}), Ints({0})}, "steps must be at least 1"},
        RuleCase{
            "SliceHugeStart", Op::kSlice, {Tile({8})}, {Tile({1})}, {Ints({INT64_MAX}), Ints({INT64_MAX})}, "outside"},
        RuleCase{"InsertResult",
                 Op::kInsertSlice,
                 {Tile({8}), Tile({2})},
                 {Tile({2})},
                 {Ints({0}), Ints({1})},
                 "types differ: x is tile<8xf32>, result is tile<2xf32>"},
        RuleCase{"ExtractCount", Op::kExtract, {Tile({4, 4}), kI32}, {kF32}, {}, "needs 2 indices, has 1"},
        RuleCase{"ExtractIndex",
                 Op::kExtract,
                 {Tile({4}), kF32},
                 {kF32},
                 {},
                 "index 0 must be a scalar of i32, i64: it is f32"},
        RuleCase{"HistogramResult",
                 Op::kHistogram,
                 {Tile({4}, DType::kI32), Type()},
                 {Tile({4})},
                 {},
                 "result must be a tile of i32 of rank 1"},
        RuleCase{
            "HistogramFloats", Op::kHistogram, {Tile({4}), Type()}, {Tile({4}, DType::kI32)}, {}, "x must be integers"},
        RuleCase{"TopKTooMany",
                 Op::kTopK,
                 {Tile({4})},
                 {Tile({8})},
                 {Int(0)},
                 "k is 8, more than the 4 elements along axis 0"},
        RuleCase{"DotK",
                 Op::kDot,
                 {Tile({64, 32}, DType::kF16), Tile({16, 64}, DType::kF16), Tile({64, 64})},
                 {Tile({64, 64})},
                 {},
                 "dot: K differs: a is tile<64x32xf16>, b is tile<16x64xf16>"},
        RuleCase{
            "DotM", Op::kDot, {Tile({4, 4}), Tile({4, 4}), Tile({8, 4})}, {Tile({8, 4})}, {}, "dot: M differs: a is"},
        RuleCase{
            "DotN", Op::kDot, {Tile({4, 4}), Tile({4, 4}), Tile({4, 8})}, {Tile({4, 8})}, {}, "dot: N differs: b is"},
        RuleCase{"DotBatch",
                 Op::kDot,
                 {Tile({2, 4, 4}), Tile({3, 4, 4}), Tile({2, 4, 4})},
                 {Tile({2, 4, 4})},
                 {},
                 "dot: batch differs"},
        RuleCase{
            "DotRank", Op::kDot, {Tile({4}), Tile({4}), Tile({4})}, {Tile({4})}, {}, "a must be a tile of rank 2 or 3"},
        RuleCase{"DotPair",
                 Op::kDot,
                 {Tile({4, 4}, DType::kF16), Tile({4, 4}), Tile({4, 4})},
                 {Tile({4, 4})},
                 {},
                 "no dot of these element types"},
        RuleCase{"DotAcc",
                 Op::kDot,
                 {Tile({4, 4}, DType::kI8), Tile({4, 4}, DType::kI8), Tile({4, 4})},
                 {Tile({4, 4})},
                 {},
                 "acc must be i32 for i8 inputs: it is tile<4x4xf32>"},
        RuleCase{"DotScaledK",
                 Op::kDotScaled,
                 {Tile({4, 16}, DType::kU8), Type(), Tile({16, 4}, DType::kBF16), Type(), Tile({4, 4})},
                 {Tile({4, 4})},
                 {Int(0), Int(3), Int(0), Int(1), Int(0)},
                 "dot_scaled: K, unpacked, differs"},
        RuleCase{"DotScaledStorage",
                 Op::kDotScaled,
                 {Tile({4, 32}), Type(), Tile({32, 4}, DType::kBF16), Type(), Tile({4, 4})},
                 {Tile({4, 4})},
                 {Int(1), Int(3)},
                 "a must be one of f8e4m3, u8 for format e4m3"},
        RuleCase{
            "DotScaledScale",
            Op::kDotScaled,
            {Tile({4, 32}, DType::kBF16), Tile({4, 2}, DType::kU8), Tile({32, 4}, DType::kBF16), Type(), Tile({4, 4})},
            {Tile({4, 4})},
            {Int(3), Int(3)},
            "a_scale must be tile<4x1xu8>: it is tile<4x2xu8>"},
        RuleCase{
            "AddPtrShape", Op::kAddPtr, {kPtr, Tile({4}, DType::kI32)}, {kPtr}, {}, "shapes differ: ptr is ptr<f32>"},
        RuleCase{"AddPtrNumbers", Op::kAddPtr, {kI64, kI64}, {kI64}, {}, "ptr must be pointers: it is i64"},
        RuleCase{"LoadValue", Op::kLoad, {kPtr}, {kI32}, {}, "result must be f32 for ptr is ptr<f32>: it is i32"},
        RuleCase{"LoadMask", Op::kLoad, {kPtr, kI32}, {kF32}, {}, "mask must be i1: it is i32"},
        RuleCase{"LoadOther", Op::kLoad, {kPtr, Type(), kF32}, {kF32}, {}, "other needs a mask"},
        RuleCase{"LoadOtherType",
                 Op::kLoad,
                 {kPtr, kI1, kI32},
                 {kF32},
                 {},
                 "other must be f32 for ptr is ptr<f32>: it is i32"},
        RuleCase{"LoadNumbers", Op::kLoad, {kF32}, {kF32}, {}, "ptr must be pointers: it is f32"},
        RuleCase{"StoreValue", Op::kStore, {kPtr, Tile({4})}, {}, {}, "value must be f32 for ptr is ptr<f32>"},
        RuleCase{"AtomicAnd", Op::kAtomicRmw, {kPtr, kF32}, {kF32}, {Int(1)}, "value must be integers: it is f32"},
        RuleCase{"AtomicBool",
                 Op::kAtomicRmw,
                 {Type::Pointer(DType::kI1), kI1},
                 {kI1},
                 {Int(1)},
                 "integers of 8 or more bits"},
        RuleCase{"CasCompare", Op::kAtomicCas, {kPtr, kI32, kF32}, {kF32}, {}, "compare must be f32"},
        RuleCase{"BlockPtrCount",
                 Op::kMakeBlockPtr,
                 {kPtr, kI64, kI64},
                 {Type::BlockPtr({4}, DType::kF32)},
                 {Ints({0})},
                 "needs 3 shape_strides_offsets, has 2"},
        RuleCase{"BlockPtrOffset",
                 Op::kMakeBlockPtr,
                 {kPtr, kI64, kI64, kI64},
                 {Type::BlockPtr({4}, DType::kF32)},
                 {Ints({0})},
                 "offset 0 must be a scalar i32: it is i64"},
        RuleCase{"BlockPtrOrder",
                 Op::kMakeBlockPtr,
                 {kPtr, kI64, kI64, kI32},
                 {Type::BlockPtr({4}, DType::kF32)},
                 {Ints({})},
                 "order needs 1 numbers, has 0"},
        RuleCase{"BlockPtrElement",
                 Op::kMakeBlockPtr,
                 {kPtr, kI64, kI64, kI32},
                 {Type::BlockPtr({4}, DType::kF16)},
                 {Ints({0})},
                 "element types differ"},
        RuleCase{"AdvanceCount",
                 Op::kAdvance,
                 {Type::BlockPtr({4}, DType::kF32)},
                 {Type::BlockPtr({4}, DType::kF32)},
                 {},
                 "needs 1 deltas, has 0"},
        RuleCase{"BlockLoadAxes",
                 Op::kBlockLoad,
                 {Type::BlockPtr({4}, DType::kF32)},
                 {Tile({4})},
                 {Ints({1})},
                 "boundary_check must hold axes within 0..0: it holds 1"},
        RuleCase{"BlockStoreValue",
                 Op::kBlockStore,
                 {Type::BlockPtr({4}, DType::kF32), Tile({8})},
                 {},
                 {},
                 "value must be tile<4xf32> for block is blockptr<4xf32>: it is tile<8xf32>"},
        RuleCase{"DescStride",
                 Op::kMakeDesc,
                 {kPtr, kI32, kI32},
                 {Type::Desc({4}, DType::kF32)},
                 {},
                 "stride 0 must be a scalar i64: it is i32"},
        RuleCase{"DescLoadOffsets",
                 Op::kDescLoad,
                 {Type::Desc({4, 4}, DType::kF32), kI32},
                 {Tile({4, 4})},
                 {},
                 "needs 2 offsets, has 1"},
        RuleCase{"DescStoreValue",
                 Op::kDescStore,
                 {Type::Desc({4}, DType::kF32), kF32, kI32},
                 {},
                 {},
                 "value must be tile<4xf32>"},
        RuleCase{"DescGatherRows",
                 Op::kDescGather,
                 {Type::Desc({2, 4}, DType::kF32), Tile({8}, DType::kI32), kI32},
                 {Tile({8, 4})},
                 {},
                 "desc must be a descriptor of one row"},
        RuleCase{"DescScatterValue",
                 Op::kDescScatter,
                 {Type::Desc({1, 4}, DType::kF32), Tile({8, 8}), Tile({8}, DType::kI32), kI32},
                 {},
                 {},
                 "value must be tile<8x4xf32>"},
        RuleCase{"DescReduceKind",
                 Op::kDescReduce,
                 {Type::Desc({4}, DType::kF32), Tile({4}), kI32},
                 {},
                 {Int(6)},
                 "kind can't be xchg"},
        RuleCase{"PrintFlags",
                 Op::kPrint,
                 {kF32},
                 {},
                 {std::string("x"), Int(0), Ints({0, 1})},
                 "is_signed needs 1 numbers, has 2"},
        RuleCase{
            "PrintDesc", Op::kPrint, {Type::Desc({4}, DType::kF32)}, {}, {}, "values 0 must be a scalar or a tile"},
        RuleCase{"AssertMask", Op::kAssert, {kI1, Tile({4}, DType::kI1)}, {}, {}, "shapes differ: condition is i1"},
        RuleCase{"AssumeNumber", Op::kAssume, {kI32}, {}, {}, "condition must be i1: it is i32"},
        RuleCase{"HintCount",
                 Op::kHint,
                 {Tile({4, 4}, DType::kI32)},
                 {Tile({4, 4}, DType::kI32)},
                 {Int(0), Ints({16})},
                 "values needs 2 numbers, has 1"},
        RuleCase{"HintZero", Op::kHint, {kI32}, {kI32}, {Int(0), Ints({0})}, "values must be at least 1: one is 0"},
        RuleCase{"UnknownEnum", Op::kCmpI, {kI32, kI32}, {kI1}, {Int(17)}, "cmpi: predicate has no value 17"},
        RuleCase{"BadFlag", Op::kDivF, {kF32, kF32}, {kF32}, {Int(0), Int(2)}, "divf: precise must be 0 or 1: it is 2"},
        RuleCase{"NoSuchFunction", Op::kCall, {}, {}, {Int(7)}, "call: callee names function 7 of 1"},
        RuleCase{"AttributeKind", Op::kProgramId, {}, {kI32}, {std::string("x")}, "program_id: axis must be a number"},
        RuleCase{"MissingOperand", Op::kAddF, {kF32, Type()}, {kF32}, {}, "addf: rhs is missing"}}),
    [](const ::testing::TestParamInfo<RuleCase>& param_info) { return std::string(param_info.param.name); });

TEST(VerifierTest, ReportsAllThatIsWrongWithOneOp) {
  Draft draft;
  draft.Make(Op::kDot, {Tile({4, 2}), Tile({4, 4}), Tile({8, 8})}, {Tile({8, 8})});
  draft.Return();
  EXPECT_EQ(Messages(draft.module).size(), 3u);  // K, M, N
}

TEST(VerifierTest, DotTakesMixedFloat8AndWideAccumulators) {
  Draft draft;
  draft.Make(Op::kDot, {Tile({4, 4}, DType::kF8E4M3), Tile({4, 4}, DType::kF8E5M2), Tile({4, 4})}, {Tile({4, 4})});
  draft.Make(Op::kDot, {Tile({4, 4}, DType::kF64), Tile({4, 4}, DType::kF64), Tile({4, 4}, DType::kF64)},
             {Tile({4, 4}, DType::kF64)});
  draft.Return();
  EXPECT_THAT(Messages(draft.module), IsEmpty());
}

TEST(VerifierTest, DotScaledUnpacksAlongMAndNWithoutKPack) {
  Draft draft;
  draft.Make(Op::kDotScaled,
             {Tile({2, 32}, DType::kU8), Tile({4, 1}, DType::kU8), Tile({32, 4}, DType::kU8), Tile({8, 1}, DType::kU8),
              Tile({4, 8})},
             {Tile({4, 8})}, {Int(0), Int(0), Int(0), Int(0), Int(0)});
  draft.Return();
  EXPECT_THAT(Messages(draft.module), IsEmpty());
}

// --- Structure.
struct StructureCase {
  const char* name;
  std::function<void(Draft&)> make;
  const char* message;
};

class StructureTest : public ::testing::TestWithParam<StructureCase> {};

TEST_P(StructureTest, Reports) {
  Draft draft;
  GetParam().make(draft);
  EXPECT_THAT(Messages(draft.module), Contains(HasSubstr(GetParam().message)));
}

// A for loop over i32 with one carried f32 and this region.
void AddLoop(Draft& d, RegionId region, std::vector<Type> results = {kF32}) {
  const ValueId n = d.Param(kI32);
  d.b().Create(Op::kFor, {n, n, n, d.Param(kF32)}, results, {}, {region});
}

INSTANTIATE_TEST_SUITE_P(
    All, StructureTest,
    ::testing::ValuesIn(std::vector<StructureCase>{
        StructureCase{"NoBody", [](Draft& d) { d.f().body = RegionId::None(); }, "in @f: has no body"},
        StructureCase{"EmptyRegion", [](Draft&) {}, "a region is empty"},
        StructureCase{"NoTerminator", [](Draft& d) { d.Make(Op::kBarrier, {}, {}); },
                      "barrier: a region ends in a terminator, not in this op"},
        StructureCase{"TwoTerminators", [](Draft& d) { d.Return(); d.Return(); }, "return: stands before the end of its region"},
        StructureCase{"NoName", [](Draft& d) { d.f().name = ""; }, "a function has no name"},
        StructureCase{"SameName", [](Draft& d) { d.AddFunction("f"); }, "two functions are called @f"},
        StructureCase{"UnsortedMetadata", [](Draft& d) { d.module.metadata = {{"b", ""}, {"a", ""}}; }, "not sorted: \"a\""},
        StructureCase{"TooFewOperands", [](Draft& d) { d.Make(Op::kAddF, {kF32, kF32}, {kF32});
                                                       d.f().op(OpId(0)).operands.pop_back(); },
                      "addf: needs 2 operands, has 1"},
        StructureCase{"TooManyResults", [](Draft& d) { d.Make(Op::kAddF, {kF32, kF32}, {kF32, kF32}); }, "needs 1 results, has 2"},
        StructureCase{"TooFewAttributes", [](Draft& d) { d.Make(Op::kAddF, {kF32, kF32}, {kF32});
                                                         d.f().op(OpId(0)).attrs.clear(); },
                      "needs 1 attributes, has 0"},
        StructureCase{"TooFewRegions", [](Draft& d) { d.Make(Op::kIf, {kI1}, {}); }, "if: needs 2 regions, has 0"},
        StructureCase{"SharedRegion", [](Draft& d) { const RegionId r = d.Region({});
                                                     d.b().Create(Op::kIf, {d.Param(kI1)}, {}, {}, {r, r}); },
                      "if: region 1 belongs to another op"},
        StructureCase{"NoSuchRegion", [](Draft& d) { d.b().Create(Op::kIf, {d.Param(kI1)}, {}, {}, {RegionId(8), RegionId(9)}); },
                      "region 0 is no region of the function"},
        StructureCase{"NoSuchOperand", [](Draft& d) { d.b().Create(Op::kNegF, {d.Param(kF32)}, {kF32});
                                                      d.f().op(OpId(0)).operands[0] = ValueId(99); },
                      "negf: x is no value of the function"},
        StructureCase{"NoSuchOp", [](Draft& d) { d.f().region(d.f().body).ops.push_back(OpId(99)); }, "an op that the function does not have"},
        StructureCase{"OpTwice", [](Draft& d) { const OpId op = d.Make(Op::kBarrier, {}, {});
                                                d.f().region(d.f().body).ops.push_back(op); },
                      "barrier: stands in two places"},
        StructureCase{"UnknownOp", [](Draft& d) { d.Make(Op::kBarrier, {}, {});
                                                  d.f().op(OpId(0)).opcode = static_cast<Op>(kNumOps); },
                      "not an op of the table"},
        StructureCase{"UseBeforeDefinition", [](Draft& d) { const ValueId later = d.f().AddValue(kF32);
                                                            d.b().Create(Op::kNegF, {later}, {kF32}); },
                      "negf: x is used where it is not defined"},
        StructureCase{"UseOfOwnResult", [](Draft& d) { const OpId op = d.Make(Op::kNegF, {kF32}, {kF32});
                                                       d.f().op(op).operands[0] = d.f().op(op).result(); },
                      "negf: x is used where it is not defined"},
        StructureCase{"UseOutsideRegion", [](Draft& d) { const RegionId yes = d.f().AddRegion();
                                                         const ValueId inner = d.in(yes).ConstantF(kF32, 1);
                                                         d.in(yes).Create(Op::kYield, {}, {});
                                                         d.b().Create(Op::kIf, {d.Param(kI1)}, {}, {}, {yes, d.Region({})});
                                                         d.b().Create(Op::kNegF, {inner}, {kF32}); },
                      "negf: x is used where it is not defined"},
        StructureCase{"DefinedTwice", [](Draft& d) { const OpId op = d.Make(Op::kNegF, {kF32}, {kF32});
                                                     d.f().op(op).results[0] = d.f().op(op).operands[0]; },
                      "negf: result 0 is defined twice"},
        StructureCase{"ExtentZero", [](Draft& d) { d.Param(Tile({4, 0})); }, "type of value 0: an extent of 0"},
        StructureCase{"NoneType", [](Draft& d) { d.Param(Type()); }, "type of value 0: it is none"},
        StructureCase{"TileTooLarge", [](Draft& d) { d.Param(Tile({1 << 20, 1 << 20})); }, "has more than 1048576 elements"},
        StructureCase{"TileOverflow", [](Draft& d) { d.Param(Tile({INT64_MAX, INT64_MAX})); }, "has more than 1048576 elements"},
        StructureCase{"RankTooLarge", [](Draft& d) { d.Param(Tile(std::vector<int64_t>(25, 1))); }, "rank 25, the limit is 24"},
        StructureCase{"PointerDepth", [](Draft& d) { d.Param(Type::Pointer(DType::kF32, 5)); }, "pointers to pointers 5 deep"},
        StructureCase{"BlockRank0", [](Draft& d) { d.Param(Type::Desc({}, DType::kF32)); }, "a block of rank 0"},
        StructureCase{"ResultType", [](Draft& d) { d.f().result_types = {Type()}; }, "in @f: result type: it is none"},
        StructureCase{"TypeOfResult", [](Draft& d) { d.Make(Op::kSplat, {kF32}, {Tile({0})}); }, "splat: type of a result: an extent of 0"},
        StructureCase{"NoSuchFile", [](Draft& d) { d.f().location = {3, 1, 1}; }, "location names file 3 of 0"},
        StructureCase{"KernelResults", [](Draft& d) { d.f().is_kernel = true; d.f().result_types = {kF32}; }, "a kernel returns nothing"},
        StructureCase{"KernelTile", [](Draft& d) { d.f().is_kernel = true; d.Param(Tile({4})); d.Return(); },
                      "a kernel takes scalars, pointers and descriptors"},
        StructureCase{"ReturnCount", [](Draft& d) { d.f().result_types = {kF32}; d.Return(); },
                      "return: number of values differs: 0, results of @f are 1"},
        StructureCase{"ReturnType", [](Draft& d) { d.f().result_types = {kF32}; d.Return({d.Param(kI32)}); },
                      "return: types differ: number 0 of the values is i32, of the results of @f f32"},
        StructureCase{"YieldInBody", [](Draft& d) { d.b().Create(Op::kYield, {}, {}); }, "yield: the body of a function ends in return"},
        StructureCase{"BreakOutside", [](Draft& d) { d.b().Create(Op::kBreak, {}, {}); }, "break: is not inside a loop"},
        StructureCase{"ConditionOutside", [](Draft& d) { d.b().Create(Op::kCondition, {d.Param(kI1)}, {}); },
                      "condition: only ends the first region of a while"},
        StructureCase{"ForCounter", [](Draft& d) { AddLoop(d, d.Region({kI64, kF32}, Op::kYield, [](const Values& p) { return Values{p[1]}; })); },
                      "for: types differ: number 0 of the parameters of the region is i64, of the counter and carried values i32"},
        StructureCase{"ForBounds", [](Draft& d) { d.b().Create(Op::kFor, {d.Param(kI32), d.Param(kI64), d.Param(kI32)}, {}, {}, {d.Region({kI32})}); },
                      "for: types differ: lower is i32, upper is i64"},
        StructureCase{"ForFloatBounds", [](Draft& d) { const ValueId x = d.Param(kF32);
                                                       d.b().Create(Op::kFor, {x, x, x}, {}, {}, {d.Region({kF32})}); },
                      "for: lower must be integers other than i1: it is f32"},
        StructureCase{"ForResults", [](Draft& d) { AddLoop(d, d.Region({kI32, kF32}, Op::kYield, [](const Values& p) { return Values{p[1]}; }), {}); },
                      "for: number of results differs: 0, initial values are 1"},
        StructureCase{"ForYield", [](Draft& d) { AddLoop(d, d.Region({kI32, kF32}, Op::kYield, [](const Values& p) { return Values{p[0]}; })); },
                      "yield: types differ: number 0 of the values is i32, of the results of the for f32"},
        StructureCase{"ForBreak", [](Draft& d) { AddLoop(d, d.Region({kI32, kF32}, Op::kBreak)); },
                      "break: number of values differs: 0, results of the for are 1"},
        StructureCase{"ForContinue", [](Draft& d) { AddLoop(d, d.Region({kI32, kF32}, Op::kContinue)); }, "continue: number of values differs"},
        StructureCase{"ForStages", [](Draft& d) { const ValueId n = d.Param(kI32);
                                                  d.b().Create(Op::kFor, {n, n, n}, {}, {Int(-1)}, {d.Region({kI32})}); },
                      "for: num_stages must be within 0.."},
        StructureCase{"IfCondition", [](Draft& d) { d.b().Create(Op::kIf, {d.Param(kI32)}, {}, {}, {d.Region({}), d.Region({})}); },
                      "if: condition must be i1: it is i32"},
        StructureCase{"IfYield", [](Draft& d) { d.b().Create(Op::kIf, {d.Param(kI1)}, {kF32}, {}, {d.Region({}), d.Region({})}); },
                      "yield: number of values differs: 0, results of the if are 1"},
        StructureCase{"IfParams", [](Draft& d) { d.b().Create(Op::kIf, {d.Param(kI1)}, {}, {}, {d.Region({kI32}), d.Region({})}); },
                      "if: number of parameters of region 0 differs: 1"},
        StructureCase{"WhileEnd", [](Draft& d) { d.b().Create(Op::kWhile, {}, {}, {}, {d.Region({}), d.Region({})}); },
                      "yield: the first region of a while ends in condition"},
        StructureCase{"WhileCondition", [](Draft& d) { const ValueId n = d.Param(kI32);
                                                       const RegionId first = d.Region({}, Op::kCondition, [&](const Values&) { return Values{n}; });
                                                       d.b().Create(Op::kWhile, {}, {}, {}, {first, d.Region({})}); },
                      "condition: condition must be i1: it is i32"},
        StructureCase{"WhileValues", [](Draft& d) { const ValueId n = d.Param(kI1);
                                                    const RegionId first = d.Region({kI32}, Op::kCondition, [&](const Values&) { return Values{n}; });
                                                    d.b().Create(Op::kWhile, {d.Param(kI32)}, {kI32}, {}, {first, d.Region({kI32})}); },
                      "condition: number of values differs: 0, results of the while are 1"},
        StructureCase{"WhileYield", [](Draft& d) { const ValueId n = d.Param(kI1);
                                                   const RegionId first = d.Region({kI32}, Op::kCondition, [&](const Values&) { return Values{n}; });
                                                   d.b().Create(Op::kWhile, {d.Param(kI32)}, {}, {}, {first, d.Region({})}); },
                      "yield: number of values differs: 0, carried values of the while are 1"},
        StructureCase{"BreakInWhileCondition",
                      [](Draft& d) { const ValueId c = d.Param(kI1);
                                     const RegionId first = d.f().AddRegion();
                                     d.in(first).Create(Op::kIf, {c}, {}, {}, {d.Region({}, Op::kBreak), d.Region({})});
                                     d.in(first).Create(Op::kCondition, {c}, {});
                                     d.b().Create(Op::kWhile, {}, {}, {}, {first, d.Region({})}); },
                      "break: is not inside a loop"},
        StructureCase{"ReduceNothing", [](Draft& d) { d.b().Create(Op::kReduce, {}, {}, {}, {d.Region({})}); }, "reduce: needs at least one input"},
        StructureCase{"ReduceShapes", [](Draft& d) { d.b().Create(Op::kReduce, {d.Param(Tile({4})), d.Param(Tile({8}))}, {kF32, kF32}, {}, {d.Region({})}); },
                      "reduce: shapes differ: inputs 0 is tile<4xf32>, inputs 1 is tile<8xf32>"},
        StructureCase{"ReduceAxis", [](Draft& d) { d.b().Create(Op::kReduce, {d.Param(Tile({4}))}, {kF32}, {Int(1)}, {d.Region({kF32, kF32})}); },
                      "reduce: axis must be within 0..0: it is 1"},
        StructureCase{"ReduceResult", [](Draft& d) { d.b().Create(Op::kReduce, {d.Param(Tile({4, 2}))}, {kF32}, {}, {d.Region({kF32, kF32})}); },
                      "number 0 of the results is f32, of the inputs without the axis tile<2xf32>"},
        StructureCase{"ReduceParams", [](Draft& d) { d.b().Create(Op::kReduce, {d.Param(Tile({4}))}, {kF32}, {}, {d.Region({kF32})}); },
                      "reduce: number of parameters of the region differs: 1, elements of the inputs, twice, are 2"},
        StructureCase{"ReduceYield", [](Draft& d) { d.b().Create(Op::kReduce, {d.Param(Tile({4}))}, {kF32}, {}, {d.Region({kF32, kF32})}); },
                      "yield: number of values differs: 0, elements of the inputs are 1"},
        StructureCase{"ReduceReturn", [](Draft& d) { d.b().Create(Op::kReduce, {d.Param(Tile({4}))}, {kF32}, {}, {d.Region({kF32, kF32}, Op::kReturn)}); },
                      "return: can't leave the region of a reduce"},
        StructureCase{"ReduceStore",
                      [](Draft& d) { const ValueId p = d.Param(kPtr);
                                     const RegionId r = d.f().AddRegion();
                                     const ValueId a = d.f().AddParam(r, kF32);
                                     d.f().AddParam(r, kF32);
                                     d.in(r).Create(Op::kStore, {p, a}, {});
                                     d.in(r).Create(Op::kYield, {a}, {});
                                     d.b().Create(Op::kReduce, {d.Param(Tile({4}))}, {kF32}, {}, {r}); },
                      "store: may not stand in the region of a reduce"},
        StructureCase{"ReduceCallsImpure",
                      [](Draft& d) { const RegionId r = d.f().AddRegion();
                                     const ValueId a = d.f().AddParam(r, kF32);
                                     d.f().AddParam(r, kF32);
                                     d.in(r).Create(Op::kCall, {}, {}, {Int(1)});
                                     d.in(r).Create(Op::kYield, {a}, {});
                                     d.b().Create(Op::kReduce, {d.Param(Tile({4}))}, {kF32}, {}, {r});
                                     d.Return();
                                     Function& g = d.AddFunction("g");
                                     Builder(&g, g.body).Create(Op::kBarrier, {}, {});
                                     Builder(&g, g.body).Create(Op::kReturn, {}, {}); },
                      "call: may not stand in the region of a reduce, scan or map_elementwise: @g is not pure"},
        StructureCase{"ScanResult", [](Draft& d) { d.b().Create(Op::kScan, {d.Param(Tile({4}))}, {kF32}, {}, {d.Region({kF32, kF32})}); },
                      "scan: types differ: number 0 of the results is f32, of the inputs tile<4xf32>"},
        StructureCase{"MapPack", [](Draft& d) { d.b().Create(Op::kMapElementwise, {d.Param(Tile({4}))}, {Tile({4})}, {Int(3)}, {d.Region({kF32, kF32, kF32})}); },
                      "map_elementwise: pack is 3, which does not divide the 4 elements"},
        StructureCase{"MapHugePack", [](Draft& d) { d.b().Create(Op::kMapElementwise, {d.Param(Tile({4}))}, {Tile({4})}, {Int(INT64_MAX)}, {d.Region({})}); },
                      "map_elementwise: pack must be within 1..4"},
        StructureCase{"MapYield", [](Draft& d) { d.b().Create(Op::kMapElementwise, {d.Param(Tile({4}))}, {Tile({4})}, {Int(2)}, {d.Region({kF32, kF32})}); },
                      "yield: number of values differs: 0, elements of the results are 2"},
        StructureCase{"CallArguments", [](Draft& d) { d.AddFunction("g"); d.b().Create(Op::kCall, {d.Param(kF32)}, {}, {Int(1)}); },
                      "call: number of arguments differs: 1, parameters of @g are 0"},
        StructureCase{"CallResults", [](Draft& d) { d.AddFunction("g"); d.b().Create(Op::kCall, {}, {kF32}, {Int(1)}); },
                      "call: number of results differs: 1, results of @g are 0"},
        StructureCase{"CallKernel", [](Draft& d) { d.AddFunction("g", true); d.b().Create(Op::kCall, {}, {}, {Int(1)}); },
                      "call: @g is a kernel"},
        StructureCase{"Recursion", [](Draft& d) { d.b().Create(Op::kCall, {}, {}, {Int(1)});
                                                  d.Return();
                                                  Function& g = d.AddFunction("g");
                                                  Builder(&g, g.body).Create(Op::kCall, {}, {}, {Int(0)});
                                                  Builder(&g, g.body).Create(Op::kReturn, {}, {}); },
                      "call: recursion: @f calls @g calls @f"},
        StructureCase{"SelfRecursion", [](Draft& d) { d.b().Create(Op::kCall, {}, {}, {Int(0)}); d.Return(); },
                      "call: recursion: @f calls @f"}}),
    [](const ::testing::TestParamInfo<StructureCase>& param_info) { return std::string(param_info.param.name); });

// --- Limits.
TEST(VerifierTest, LimitsNesting) {
  Draft draft;
  const ValueId condition = draft.Param(kI1);
  RegionId outer = draft.f().body;
  std::vector<RegionId> open = {outer};
  for (int depth = 0; depth < 200; ++depth) {
    const RegionId inner = draft.f().AddRegion();
    draft.in(outer).Create(Op::kIf, {condition}, {}, {}, {inner, draft.Region({})});
    open.push_back(outer = inner);
  }
  for (size_t i = 1; i < open.size(); ++i) draft.in(open[i]).Create(Op::kYield, {}, {});
  draft.Return();
  EXPECT_THAT(Messages(draft.module), ElementsAre(HasSubstr("if: nested more than 100 deep")));
}

TEST(VerifierTest, LimitsSizes) {
  const Module zoo = MakeOpZoo();
  Limits limits;
  limits.max_functions = 3;
  limits.max_ops = 10;
  limits.max_values = 10;
  limits.max_string_bytes = 4;
  limits.max_problems = 1000;
  EXPECT_THAT(Messages(zoo, limits),
              AllOf(Contains(HasSubstr("too many functions: ")), Contains(HasSubstr("too many ops: ")),
                    Contains(HasSubstr("too many values: ")), Contains(HasSubstr("metadata of ")),
                    Contains(HasSubstr("a file name has 6 bytes, the limit is 4"))));
  limits = Limits();
  limits.max_tile_elements = 16;
  EXPECT_THAT(Messages(zoo, limits), Contains(HasSubstr("has more than 16 elements")));
  limits = Limits();
  limits.max_value_bytes = 64;
  EXPECT_THAT(Messages(zoo, limits), Contains(HasSubstr("bytes, the limit is 64")));
}

// A callee with many parameters, called wrongly many times: each call may cost what it holds, not what the callee does.
TEST(VerifierTest, StaysLinearInCalls) {
  Draft draft;
  for (int i = 0; i < 20'000; ++i) draft.Make(Op::kCall, {}, {}, {Int(1)});
  draft.Return();
  Function& g = draft.AddFunction("g");
  for (int i = 0; i < 200'000; ++i) g.AddParam(g.body, kF32);
  Builder(&g, g.body).Create(Op::kReturn, {}, {});
  Limits limits;
  limits.max_problems = 1'000'000;
  EXPECT_EQ(FindProblems(draft.module, limits).size(), 20'000u);  // 4e9 steps if it were quadratic
}

TEST(VerifierTest, StopsAtTheProblemLimit) {
  Draft draft;
  for (int i = 0; i < 100; ++i) draft.Make(Op::kAddF, {kF32, kI32}, {kF32});
  draft.Return();
  EXPECT_EQ(Messages(draft.module).size(), 50u);
}

TEST(VerifierTest, StatusNamesTheFirstPlaceAndCountsTheRest) {
  Draft draft;
  draft.f().location = {draft.module.InternFile("matmul.py"), 3, 1};
  Builder builder = draft.b();
  builder.set_location({0, 31, 21});
  const ValueId x = draft.Param(kF32);
  const ValueId i = draft.Param(kI32);
  builder.Create(Op::kAddF, {x, i}, {kF32});
  builder.Create(Op::kAddF, {i, i}, {kI32});
  builder.Create(Op::kReturn, {}, {});
  const absl::Status status = VerifyModule(draft.module);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "matmul.py:31:21: in @f: addf: types differ: lhs is f32, rhs is i32 (and 1 more)");
}

}  // namespace
}  // namespace trivet::vm
