#include "tests/support/op_zoo.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "vm/base/check.h"
#include "vm/bytecode/builder.h"

namespace trivet::vm {
namespace {

using Attrs = absl::InlinedVector<Attribute, 1>;

const Type kI32 = Type::Scalar(DType::kI32);
const Type kI64 = Type::Scalar(DType::kI64);
const Type kI1 = Type::Scalar(DType::kI1);
const Type kF32 = Type::Scalar(DType::kF32);
const Type kTileF32 = Type::Tile({4, 8}, DType::kF32);
const Type kTileI32 = Type::Tile({4, 8}, DType::kI32);
const Type kTileI1 = Type::Tile({4, 8}, DType::kI1);
const Type kPtrF32 = Type::Pointer(DType::kF32);
const Type kTilePtr = Type::PointerTile({4, 8}, DType::kF32);
const Type kBlock = Type::BlockPtr({4, 8}, DType::kF32);
const Type kDesc = Type::Desc({4, 8}, DType::kF32);

// Operand types (none for an absent one), result types and attributes of one op without regions.
struct Recipe {
  std::vector<Type> operands;
  std::vector<Type> results;
  Attrs attrs = {};
};

std::vector<int64_t> Ints(std::vector<int64_t> values) { return values; }

// The types that the rule of `info` allows. Rules of ops with regions and of terminators are not asked for.
Recipe RecipeFor(const OpInfo& info) {
  const auto fixed = static_cast<size_t>(info.num_fixed_operands());
  switch (info.rule) {
    case TypeRule::kConstant:
      return {{}, {kTileF32}, {BitsOf(DType::kF32, 1.5)}};
    case TypeRule::kArange:
      return {{}, {Type::Tile({8}, DType::kI32)}, {int64_t{-2}, int64_t{6}}};
    case TypeRule::kScalarI32:
      return {{}, {kI32}, {int64_t{1}}};
    case TypeRule::kSameInteger:
      return {std::vector<Type>(fixed, kTileI32), {kTileI32}};
    case TypeRule::kSameFloat:
      return {std::vector<Type>(fixed, kTileF32), {kTileF32}};
    case TypeRule::kIntFloat:
      return {{kTileI32, kTileF32}, {kTileF32}};
    case TypeRule::kFloatInt:
      return {{kTileF32, kTileI32}, {kTileF32}};
    case TypeRule::kFloatToI32:
      return {{kTileF32}, {kTileI32}};
    case TypeRule::kFloatToBool:
      return {{kTileF32}, {kTileI1}};
    case TypeRule::kCompareInteger:
      return {{kTileI32, kTileI32}, {kTileI1}, {static_cast<int64_t>(CmpPredicate::kLt)}};
    case TypeRule::kCompareFloat:
      return {{kTileF32, kTileF32}, {kTileI1}, {static_cast<int64_t>(CmpPredicate::kGe)}};
    case TypeRule::kSelect:
      return {{kTileI1, kTileF32, kTileF32}, {kTileF32}};
    case TypeRule::kCast:
      return {{kTileF32}, {kTileF32.WithDType(DType::kF8E4M3)}, {int64_t{0}, int64_t{1}}};
    case TypeRule::kBitcast:
      return {{kTileF32}, {kTileF32.WithDType(DType::kU32)}};
    case TypeRule::kPtrToInt:
      return {{kTilePtr}, {kTilePtr.WithDType(DType::kI64)}};
    case TypeRule::kIntToPtr:
      return {{kTilePtr.WithDType(DType::kU64)}, {kTilePtr}};
    case TypeRule::kSplat:
      return {{kPtrF32}, {kTilePtr}};
    case TypeRule::kBroadcast:
      return {{Type::Tile({4, 1}, DType::kF32)}, {kTileF32}};
    case TypeRule::kExpandDims:
      return {{Type::Tile({4}, DType::kF32)}, {Type::Tile({4, 1}, DType::kF32)}, {int64_t{1}}};
    case TypeRule::kReshape:
      return {{kTileF32}, {Type::Tile({2, 2, 8}, DType::kF32)}};
    case TypeRule::kTrans:
      return {{kTileF32}, {Type::Tile({8, 4}, DType::kF32)}, {Ints({1, 0})}};
    case TypeRule::kJoin:
      return {{kTileF32, kTileF32}, {Type::Tile({4, 8, 2}, DType::kF32)}};
    case TypeRule::kSplit:
      return {{Type::Tile({4, 8, 2}, DType::kF32)}, {kTileF32, kTileF32}};
    case TypeRule::kCat:
      return {{kTileF32, kTileF32}, {Type::Tile({4, 16}, DType::kF32)}, {int64_t{1}}};
    case TypeRule::kSameType:
      return {{kTileF32}, {kTileF32}};
    case TypeRule::kSameTypeAxis:
      return {{kTileF32}, {kTileF32}, {int64_t{1}}};
    case TypeRule::kGather:
      return {{kTileF32, Type::Tile({2, 8}, DType::kI32)}, {Type::Tile({2, 8}, DType::kF32)}, {int64_t{0}}};
    case TypeRule::kSlice:
      return {{kTileF32}, {Type::Tile({2, 3}, DType::kF32)}, {Ints({1, 0}), Ints({2, 3})}};
    case TypeRule::kInsertSlice:
      return {{kTileF32, Type::Tile({2, 3}, DType::kF32)}, {kTileF32}, {Ints({1, 0}), Ints({2, 3})}};
    case TypeRule::kExtract:
      return {{kTileF32, kI32, kI64}, {kF32}};
    case TypeRule::kHistogram:
      return {{kTileI32, kTileI1}, {Type::Tile({16}, DType::kI32)}};
    case TypeRule::kTopK:
      return {{kTileF32}, {Type::Tile({4, 2}, DType::kF32)}, {int64_t{1}}};
    case TypeRule::kDot:
      return {{Type::Tile({4, 16}, DType::kF16), Type::Tile({16, 8}, DType::kF16), kTileF32}, {kTileF32}};
    case TypeRule::kDotScaled:
      return {{Type::Tile({4, 16}, DType::kU8), Type::Tile({4, 1}, DType::kU8), Type::Tile({32, 8}, DType::kF8E4M3),
               Type(), kTileF32},
              {kTileF32},
              {static_cast<int64_t>(ScaledFormat::kE2M1), static_cast<int64_t>(ScaledFormat::kE4M3), int64_t{0},
               int64_t{1}, int64_t{1}}};
    case TypeRule::kAddPtr:
      return {{kTilePtr, kTileI32}, {kTilePtr}};
    case TypeRule::kLoad:
      return {{kTilePtr, kTileI1, kTileF32}, {kTileF32}};
    case TypeRule::kStore:
      return {{kTilePtr, kTileF32, kTileI1}, {}};
    case TypeRule::kAtomicRmw:
      return {{kTilePtr, kTileF32, Type()}, {kTileF32}};
    case TypeRule::kAtomicCas:
      return {{kPtrF32, kF32, kF32}, {kF32}, {static_cast<int64_t>(MemoryOrder::kAcqRel)}};
    case TypeRule::kMakeBlockPtr:
      return {{kPtrF32, kI64, kI64, kI64, kI64, kI32, kI32}, {kBlock}, {Ints({1, 0})}};
    case TypeRule::kAdvance:
      return {{kBlock, kI32, kI32}, {kBlock}};
    case TypeRule::kBlockLoad:
      return {{kBlock}, {kTileF32}, {Ints({0, 1}), static_cast<int64_t>(Padding::kZero)}};
    case TypeRule::kBlockStore:
      return {{kBlock, kTileF32}, {}, {Ints({1})}};
    case TypeRule::kMakeDesc:
      return {{kPtrF32, kI32, kI32, kI64, kI64}, {kDesc}, {static_cast<int64_t>(Padding::kNan)}};
    case TypeRule::kDescLoad:
      return {{kDesc, kI32, kI32}, {kTileF32}};
    case TypeRule::kDescStore:
      return {{kDesc, kTileF32, kI32, kI32}, {}};
    case TypeRule::kDescGather:
      return {{Type::Desc({1, 8}, DType::kF32), Type::Tile({4}, DType::kI32), kI32}, {kTileF32}};
    case TypeRule::kDescScatter:
      return {{Type::Desc({1, 8}, DType::kF32), kTileF32, Type::Tile({4}, DType::kI32), kI32}, {}};
    case TypeRule::kDescReduce:
      return {{kDesc, kTileF32, kI32, kI32}, {}, {static_cast<int64_t>(AtomicOp::kMax)}};
    case TypeRule::kNoTypes:
      return {};
    case TypeRule::kAnyValues:
      return {{kTileF32, kI32}, {}, {std::string("x, \"i\" ="), int64_t{1}, Ints({0, 1})}};
    case TypeRule::kAssert:
      return {std::vector<Type>(fixed, kTileI1), {}};
    case TypeRule::kHint:
      return {{kI32}, {kI32}, {static_cast<int64_t>(HintKind::kMultipleOf), Ints({16})}};
    case TypeRule::kReduce:
    case TypeRule::kScan:
    case TypeRule::kMapElementwise:
    case TypeRule::kFor:
    case TypeRule::kWhile:
    case TypeRule::kIf:
    case TypeRule::kTerminator:
    case TypeRule::kCall:
      break;
  }
  TRIVET_CHECK(false, info.text);
}

// Makes one function. Lines count up, so that every op has a location of its own.
class FunctionMaker {
 public:
  FunctionMaker(Module* module, std::string name, bool is_kernel = false)
      : module_(module), builder_(&function_, RegionId(0)) {
    function_.name = std::move(name);
    function_.is_kernel = is_kernel;
    function_.location = {module->InternFile("zoo.py"), static_cast<uint32_t>(10 * module->functions.size() + 1), 1};
    function_.body = function_.AddRegion();
    builder_.set_region(function_.body);
    line_ = function_.location.line;
  }

  Builder& b() {
    builder_.set_location({function_.location.file, ++line_, 5});
    return builder_;
  }
  Function& function() { return function_; }
  ValueId Param(const Type& type, absl::string_view name) { return function_.AddParam(function_.body, type, name); }
  // A region with parameters of these types; what `fill` makes goes there.
  template <typename Fill>
  RegionId Region(const std::vector<Type>& params, const Fill& fill) {
    const RegionId region = function_.AddRegion();
    for (const Type& type : params) function_.AddParam(region, type, "");
    const RegionId outer = builder_.region();
    builder_.set_region(region);
    std::vector<ValueId> values(function_.region(region).params.begin(), function_.region(region).params.end());
    fill(values);
    builder_.set_region(outer);
    return region;
  }
  void End(Op terminator, const std::vector<ValueId>& values) { b().Create(terminator, values, {}); }
  // Returns the results of `op` and adds the function to the module.
  void Return(OpId op) {
    std::vector<ValueId> results;
    if (op) results.assign(function_.op(op).results.begin(), function_.op(op).results.end());
    for (ValueId result : results) function_.result_types.push_back(function_.type(result));
    End(Op::kReturn, results);
    module_->functions.push_back(std::move(function_));
  }

 private:
  Module* module_;
  Function function_;
  Builder builder_;
  uint32_t line_ = 0;
};

// Parameters are named after the operands; those of a variadic tail are numbered.
void AddSimple(const OpInfo& info, FunctionMaker* maker) {
  const Recipe recipe = RecipeFor(info);
  std::vector<ValueId> operands;
  const auto fixed = static_cast<size_t>(info.num_fixed_operands());
  for (size_t i = 0; i < recipe.operands.size(); ++i) {
    const std::string name =
        i < fixed ? info.operands[i].name : absl::StrCat(info.operands.back().name, "_", i - fixed);
    operands.push_back(recipe.operands[i].is_none() ? ValueId::None() : maker->Param(recipe.operands[i], name));
  }
  const OpId op = maker->b().Create(info.op, operands, recipe.results, recipe.attrs);
  if (!recipe.results.empty()) maker->function().value(maker->function().op(op).result()).name = "r";
  maker->Return(op);
}

// reduce, scan: a sum of floats and a minimum of integers at once.
void AddCombine(const OpInfo& info, FunctionMaker* maker) {
  const ValueId x = maker->Param(kTileF32, "x");
  const ValueId y = maker->Param(kTileI32, "y");
  const RegionId region = maker->Region({kF32, kI32, kF32, kI32}, [&](const std::vector<ValueId>& p) {
    const ValueId sum = maker->b().Elementwise(Op::kAddF, {p[0], p[2]});
    const ValueId least = maker->b().Elementwise(Op::kMinI, {p[1], p[3]});
    maker->End(Op::kYield, {sum, least});
  });
  const std::vector<int64_t> shape = info.op == Op::kReduce ? std::vector<int64_t>{8} : std::vector<int64_t>{4, 8};
  maker->Return(maker->b().Create(info.op, {x, y}, {Type::Tile(shape, DType::kF32), Type::Tile(shape, DType::kI32)},
                                  {int64_t{0}}, {region}));
}

// Two elements of each input at a time, and a branch on one of them.
void AddMap(const OpInfo& info, FunctionMaker* maker) {
  const ValueId x = maker->Param(kTileF32, "x");
  const ValueId y = maker->Param(kTileI32, "y");
  const RegionId region = maker->Region({kF32, kF32, kI32, kI32}, [&](const std::vector<ValueId>& p) {
    const ValueId less = maker->b().Create1(Op::kCmpI, {p[2], p[3]}, kI1, {static_cast<int64_t>(CmpPredicate::kLt)});
    const RegionId yes = maker->Region({}, [&](const auto&) { maker->End(Op::kYield, {p[0]}); });
    const RegionId no = maker->Region({}, [&](const auto&) { maker->End(Op::kYield, {p[1]}); });
    const ValueId chosen = maker->b().Create1(Op::kIf, {less}, kF32, {}, {yes, no});
    maker->End(Op::kYield, {chosen, p[0]});
  });
  maker->Return(maker->b().Create(info.op, {x, y}, {kTileF32}, {int64_t{2}}, {region}));
}

// for: sums the counter; leaves by break or goes on by continue when it is asked to.
void AddFor(Op inside, FunctionMaker* maker) {
  const ValueId n = maker->Param(kI32, "n");
  const ValueId zero = maker->b().ConstantI(kI32, 0);
  const ValueId one = maker->b().ConstantI(kI32, 1);
  const RegionId body = maker->Region({kI32, kI32}, [&](const std::vector<ValueId>& p) {
    const ValueId sum = maker->b().Elementwise(Op::kAddI, {p[0], p[1]});
    if (inside != Op::kFor) {
      const ValueId big = maker->b().Create1(Op::kCmpI, {sum, n}, kI1, {static_cast<int64_t>(CmpPredicate::kGt)});
      const RegionId yes = maker->Region({}, [&](const auto&) { maker->End(inside, {sum}); });
      const RegionId no = maker->Region({}, [&](const auto&) { maker->End(Op::kYield, {}); });
      maker->b().Create(Op::kIf, {big}, {}, {}, {yes, no});
    }
    maker->End(Op::kYield, {sum});
  });
  maker->Return(
      maker->b().Create(Op::kFor, {zero, n, one, zero}, {kI32}, {int64_t{3}, int64_t{0}, int64_t{1}}, {body}));
}

// while: halves until nothing is left, and counts; the results have other types than the carried values.
void AddWhile(FunctionMaker* maker) {
  const ValueId n = maker->Param(kI32, "n");
  const ValueId zero = maker->b().ConstantI(kI32, 0);
  const ValueId one = maker->b().ConstantI(kI32, 1);
  const RegionId condition = maker->Region({kI32, kI32}, [&](const std::vector<ValueId>& p) {
    const ValueId more = maker->b().Create1(Op::kCmpI, {p[0], zero}, kI1, {static_cast<int64_t>(CmpPredicate::kGt)});
    const ValueId wide = maker->b().Create1(Op::kCast, {p[1]}, kI64);
    maker->End(Op::kCondition, {more, p[0], wide});
  });
  const RegionId body = maker->Region({kI32, kI64}, [&](const std::vector<ValueId>& p) {
    const ValueId half = maker->b().Elementwise(Op::kShr, {p[0], one});
    const ValueId narrow = maker->b().Create1(Op::kCast, {p[1]}, kI32);
    const ValueId count = maker->b().Elementwise(Op::kAddI, {narrow, one});
    maker->End(Op::kYield, {half, count});
  });
  maker->Return(maker->b().Create(Op::kWhile, {n, zero}, {kI32, kI64}, {}, {condition, body}));
}

// if: one region yields, the other may return at once.
void AddIf(Op inside, FunctionMaker* maker) {
  const ValueId condition = maker->Param(kI1, "condition");
  const ValueId x = maker->Param(kTileF32, "x");
  const RegionId yes = maker->Region({}, [&](const auto&) { maker->End(inside, {x}); });
  const RegionId no = maker->Region({}, [&](const auto&) {
    const ValueId y = maker->b().Elementwise(Op::kNegF, {x});
    maker->End(Op::kYield, {y});
  });
  maker->Return(maker->b().Create(Op::kIf, {condition}, {kTileF32}, {}, {yes, no}));
}

void AddCall(const Module& module, FunctionMaker* maker) {
  const FunctionId callee = module.FindFunction("zoo_addf");
  const ValueId x = maker->Param(kTileF32, "x");
  maker->Return(maker->b().Create(Op::kCall, {x, x}, {kTileF32}, {int64_t{callee.index()}}));
}

void AddZooFunction(Module* module, const OpInfo& info) {
  FunctionMaker maker(module, absl::StrCat("zoo_", info.text));
  switch (info.op) {
    case Op::kReduce:
    case Op::kScan:
      return AddCombine(info, &maker);
    case Op::kMapElementwise:
      return AddMap(info, &maker);
    case Op::kFor:
    case Op::kBreak:
    case Op::kContinue:
      return AddFor(info.op, &maker);
    case Op::kWhile:
    case Op::kCondition:
      return AddWhile(&maker);
    case Op::kIf:
    case Op::kYield:
      return AddIf(Op::kYield, &maker);
    case Op::kReturn:
      return AddIf(Op::kReturn, &maker);
    case Op::kCall:
      return AddCall(*module, &maker);
    default:
      return AddSimple(info, &maker);
  }
}

}  // namespace

Module MakeOpZoo(OpLevel level) {
  Module module;
  for (const OpInfo& info : AllOps()) {
    if (info.level == level) AddZooFunction(&module, info);
  }
  module.SetMetadata("num_warps", "4");
  module.SetMetadata("note", "every op once");
  return module;
}

Module MakeSampleModule() {
  Module module;
  {
    // relu(x) = max(x, 0)
    FunctionMaker relu(&module, "relu");
    const ValueId x = relu.Param(Type::Tile({8}, DType::kF32), "x");
    const ValueId zero = relu.b().ConstantF(Type::Tile({8}, DType::kF32), 0.0);
    relu.Return(relu.b().Create(Op::kMaxF, {x, zero}, {Type::Tile({8}, DType::kF32)}, {int64_t{1}}));
  }
  // Each program: y[0:n] = relu(x[0:n]), eight at a time.
  FunctionMaker copy(&module, "copy_rows", /*is_kernel=*/true);
  const Type tile_i32 = Type::Tile({8}, DType::kI32);
  const Type tile_f32 = Type::Tile({8}, DType::kF32);
  const Type tile_ptr = Type::PointerTile({8}, DType::kF32);
  const ValueId x = copy.Param(kPtrF32, "x");
  const ValueId y = copy.Param(kPtrF32, "y");
  const ValueId n = copy.Param(kI32, "n");
  const ValueId zero = copy.b().ConstantI(kI32, 0);
  const ValueId step = copy.b().ConstantI(kI32, 8);
  const ValueId lanes = copy.b().Create1(Op::kArange, {}, tile_i32, {int64_t{0}, int64_t{8}});
  const ValueId limit = copy.b().Create1(Op::kSplat, {n}, tile_i32);
  const ValueId xs = copy.b().Create1(Op::kSplat, {x}, tile_ptr);
  const ValueId ys = copy.b().Create1(Op::kSplat, {y}, tile_ptr);
  const RegionId body = copy.Region({kI32}, [&](const std::vector<ValueId>& p) {
    const ValueId start = copy.b().Create1(Op::kSplat, {p[0]}, tile_i32);
    const ValueId at = copy.b().Elementwise(Op::kAddI, {start, lanes});
    const ValueId mask = copy.b().Create1(Op::kCmpI, {at, limit}, Type::Tile({8}, DType::kI1),
                                          {static_cast<int64_t>(CmpPredicate::kLt)});
    const ValueId from = copy.b().Elementwise(Op::kAddPtr, {xs, at});
    const ValueId to = copy.b().Elementwise(Op::kAddPtr, {ys, at});
    const ValueId loaded = copy.b().Create1(Op::kLoad, {from, mask}, tile_f32);
    const ValueId result = copy.b().Create1(Op::kCall, {loaded}, tile_f32, {int64_t{0}});
    copy.b().Create(Op::kStore, {to, result, mask}, {});
    copy.End(Op::kYield, {});
  });
  copy.b().Create(Op::kFor, {zero, n, step}, {}, {int64_t{2}}, {body});
  copy.Return(OpId::None());
  return module;
}

}  // namespace trivet::vm
