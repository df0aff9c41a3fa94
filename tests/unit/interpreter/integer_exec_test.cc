// Integer ops, cmpi included, on edge values of every type, against arithmetic on __int128 written from the
// definitions.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/interpreter/handler_harness.h"

namespace trivet::vm {
namespace {

using Wide = __int128;

// An integer type as a range of numbers modulo 2^bits.
struct IntegerModel {
  DType dtype;
  int bits;
  bool is_signed;
  int storage_bytes;

  explicit IntegerModel(const DTypeInfo& info)
      : dtype(info.dtype),
        bits(info.bits),
        is_signed(info.dtype_class == DTypeClass::kSigned),
        storage_bytes(info.storage_bytes) {}

  Wide modulus() const { return Wide{1} << bits; }
  Wide least() const { return is_signed ? -(modulus() / 2) : 0; }
  Wide largest() const { return least() + modulus() - 1; }
  // The number of this type that is congruent to x.
  Wide Wrap(Wide x) const {
    Wide residue = x % modulus();
    if (residue < 0) residue += modulus();
    return residue > largest() ? residue - modulus() : residue;
  }
  // x as a number without sign.
  Wide Unsigned(Wide x) const { return x < 0 ? x + modulus() : x; }

  std::vector<Wide> Edges() const {
    std::vector<Wide> edges;
    for (Wide x : {Wide{0},
                   Wide{1},
                   Wide{2},
                   Wide{3},
                   Wide{5},
                   Wide{7},
                   Wide{10},
                   Wide{bits} - 1,
                   Wide{bits},
                   Wide{bits} + 1,
                   Wide{100},
                   Wide{-1},
                   Wide{-2},
                   Wide{-3},
                   Wide{-7},
                   Wide{-100},
                   least(),
                   least() + 1,
                   largest(),
                   largest() - 1,
                   largest() / 2,
                   largest() / 3,
                   modulus() / 2,
                   (Wide{1} << (bits / 2)) - 1,
                   Wide{1} << (bits / 2),
                   Wide{0x123456789abcdef0}}) {
      edges.push_back(Wrap(x));
    }
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    return edges;
  }
  Bytes Store(const std::vector<Wide>& numbers) const {
    Bytes bytes(numbers.size() * static_cast<size_t>(storage_bytes));
    for (size_t i = 0; i < numbers.size(); ++i) {
      SetWord(bytes, storage_bytes, static_cast<int64_t>(i), static_cast<uint64_t>(numbers[i]));
    }
    return bytes;
  }
  Wide Load(const Bytes& bytes, size_t i) const {
    const uint64_t word = WordAt(bytes, storage_bytes, static_cast<int64_t>(i));
    // An i1 other than 0 and 1 is no value at all.
    EXPECT_TRUE(bits > 1 || word <= 1) << "i1 holds " << word;
    return Wrap(static_cast<Wide>(word));
  }
};

std::vector<IntegerModel> IntegerTypes() {
  std::vector<IntegerModel> types;
  for (const DTypeInfo& info : AllDTypes()) {
    if (info.dtype_class != DTypeClass::kFloat) types.emplace_back(info);
  }
  return types;
}

Wide FloorDivide(Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

using BinaryModel = std::function<Wide(const IntegerModel&, Wide, Wide)>;

// Checks op on all pairs of edge values of every integer type.
void CheckBinary(Op op, const BinaryModel& model) {
  for (const IntegerModel& type : IntegerTypes()) {
    std::vector<Wide> lhs;
    std::vector<Wide> rhs;
    for (Wide a : type.Edges()) {
      for (Wide b : type.Edges()) {
        lhs.push_back(a);
        rhs.push_back(b);
      }
    }
    const Bytes got = RunElementwise(op, {type.dtype, type.dtype}, type.dtype, {type.Store(lhs), type.Store(rhs)});
    for (size_t i = 0; i < lhs.size(); ++i) {
      EXPECT_TRUE(type.Load(got, i) == type.Wrap(model(type, lhs[i], rhs[i])))
          << InfoOf(op).text << " " << InfoOf(type.dtype).text << " " << static_cast<int64_t>(lhs[i]) << ", "
          << static_cast<int64_t>(rhs[i]) << " gave " << static_cast<int64_t>(type.Load(got, i));
    }
  }
}

void CheckUnary(Op op, const std::function<Wide(const IntegerModel&, Wide)>& model) {
  for (const IntegerModel& type : IntegerTypes()) {
    const std::vector<Wide> x = type.Edges();
    const Bytes got = RunElementwise(op, {type.dtype}, type.dtype, {type.Store(x)});
    for (size_t i = 0; i < x.size(); ++i) {
      EXPECT_TRUE(type.Load(got, i) == type.Wrap(model(type, x[i])))
          << InfoOf(op).text << " " << InfoOf(type.dtype).text << " " << static_cast<int64_t>(x[i]) << " gave "
          << static_cast<int64_t>(type.Load(got, i));
    }
  }
}

TEST(IntegerExec, AddSubMulWrap) {
  CheckBinary(Op::kAddI, [](const auto&, Wide a, Wide b) { return a + b; });
  CheckBinary(Op::kSubI, [](const auto&, Wide a, Wide b) { return a - b; });
  // Residues are multiplied, so that the product of two u64 fits.
  CheckBinary(Op::kMulI, [](const auto&, Wide a, Wide b) {
    return static_cast<Wide>(
        static_cast<uint64_t>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b)));
  });
}

TEST(IntegerExec, DivisionTruncatesAndByZeroGivesAllOnes) {
  CheckBinary(Op::kDivI, [](const auto&, Wide a, Wide b) { return b == 0 ? Wide{-1} : a / b; });
  CheckBinary(Op::kRemI, [](const auto&, Wide a, Wide b) { return b == 0 ? Wide{-1} : a % b; });
}

TEST(IntegerExec, MulHiIsTheUpperHalf) {
  CheckBinary(Op::kMulHi, [](const IntegerModel& type, Wide a, Wide b) {
    if (!type.is_signed) {
      return static_cast<Wide>((static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b)) >> type.bits);
    }
    return FloorDivide(a * b, type.modulus());
  });
}

TEST(IntegerExec, BitwiseOps) {
  CheckBinary(Op::kAndI, [](const auto&, Wide a, Wide b) { return a & b; });
  CheckBinary(Op::kOrI, [](const auto&, Wide a, Wide b) { return a | b; });
  CheckBinary(Op::kXorI, [](const auto&, Wide a, Wide b) { return a ^ b; });
}

TEST(IntegerExec, ShiftsPastTheWidth) {
  CheckBinary(Op::kShl, [](const IntegerModel& type, Wide a, Wide b) {
    Wide shifted = type.Unsigned(a);
    for (Wide i = 0; i < std::min<Wide>(type.Unsigned(b), 64); ++i) shifted = type.Unsigned(type.Wrap(shifted * 2));
    return shifted;
  });
  CheckBinary(Op::kShr, [](const IntegerModel& type, Wide a, Wide b) {
    Wide shifted = a;
    for (Wide i = 0; i < std::min<Wide>(type.Unsigned(b), 64); ++i) shifted = FloorDivide(shifted, 2);
    return shifted;
  });
}

TEST(IntegerExec, MinMax) {
  CheckBinary(Op::kMinI, [](const auto&, Wide a, Wide b) { return std::min(a, b); });
  CheckBinary(Op::kMaxI, [](const auto&, Wide a, Wide b) { return std::max(a, b); });
}

TEST(IntegerExec, UnaryBitOps) {
  CheckUnary(Op::kAbsI, [](const auto&, Wide x) { return x < 0 ? -x : x; });
  CheckUnary(Op::kClz, [](const IntegerModel& type, Wide x) {
    Wide zeros = type.bits;
    for (Wide u = type.Unsigned(x); u != 0; u /= 2) --zeros;
    return zeros;
  });
  CheckUnary(Op::kPopc, [](const IntegerModel& type, Wide x) {
    Wide ones = 0;
    for (Wide u = type.Unsigned(x); u != 0; u /= 2) ones += u % 2;
    return ones;
  });
  CheckUnary(Op::kFfs, [](const IntegerModel& type, Wide x) {
    Wide position = 0;
    for (Wide i = type.bits; i > 0; --i) {
      if ((type.Unsigned(x) >> static_cast<int>(i - 1)) % 2 == 1) position = i;
    }
    return position;
  });
  CheckUnary(Op::kBrev, [](const IntegerModel& type, Wide x) {
    Wide reversed = 0;
    Wide u = type.Unsigned(x);
    for (int i = 0; i < type.bits; ++i, u /= 2) reversed = reversed * 2 + u % 2;
    return reversed;
  });
}

TEST(IntegerExec, Comparisons) {
  const struct {
    CmpPredicate predicate;
    bool less, equal, greater;
  } cases[] = {{CmpPredicate::kEq, false, true, false}, {CmpPredicate::kNe, true, false, true},
               {CmpPredicate::kLt, true, false, false}, {CmpPredicate::kLe, true, true, false},
               {CmpPredicate::kGt, false, false, true}, {CmpPredicate::kGe, false, true, true}};
  for (const IntegerModel& type : IntegerTypes()) {
    std::vector<Wide> lhs;
    std::vector<Wide> rhs;
    for (Wide a : type.Edges()) {
      for (Wide b : type.Edges()) {
        lhs.push_back(a);
        rhs.push_back(b);
      }
    }
    for (const auto& c : cases) {
      const Bytes got = RunElementwise(Op::kCmpI, {type.dtype, type.dtype}, DType::kI1,
                                       {type.Store(lhs), type.Store(rhs)}, {static_cast<int64_t>(c.predicate)});
      for (size_t i = 0; i < lhs.size(); ++i) {
        const bool expected = lhs[i] < rhs[i] ? c.less : lhs[i] > rhs[i] ? c.greater : c.equal;
        EXPECT_EQ(got[i], expected ? 1 : 0)
            << InfoOf(type.dtype).text << " predicate " << static_cast<int>(c.predicate);
      }
    }
  }
}

// Addresses are compared without a sign.
TEST(IntegerExec, PointersCompareAsUnsigned) {
  const Type pointers = Type::PointerTile({3}, DType::kF32);
  const Bytes lhs = BytesOf<uint64_t>({1, uint64_t{1} << 63, 5});
  const Bytes rhs = BytesOf<uint64_t>({uint64_t{1} << 63, 1, 5});
  const OpCall less{
      Op::kCmpI, {pointers, pointers}, {Type::Tile({3}, DType::kI1)}, {static_cast<int64_t>(CmpPredicate::kLt)}};
  EXPECT_EQ(RunOp1(less, {lhs, rhs}), (Bytes{1, 0, 0}));
}

TEST(ConstantExec, ConstantsOfEveryWidth) {
  for (const DTypeInfo& info : AllDTypes()) {
    const int64_t bits = info.bits == 1 ? 1 : 0x1122334455667788;
    for (const Type& type : {Type::Scalar(info.dtype), Type::Tile({5, 13}, info.dtype)}) {
      const Bytes got = RunOp1({Op::kConstant, {}, {type}, {bits}}, {});
      for (int64_t i = 0; i < type.num_elements(); ++i) {
        const uint64_t mask = info.storage_bytes == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * info.storage_bytes)) - 1;
        EXPECT_EQ(WordAt(got, info.storage_bytes, i), static_cast<uint64_t>(bits) & mask) << info.text;
      }
    }
  }
}

TEST(ConstantExec, Arange) {
  const Bytes got = RunOp1({Op::kArange, {}, {Type::Tile({70}, DType::kI32)}, {int64_t{-6}, int64_t{64}}}, {});
  const std::vector<int32_t> numbers = ElementsOf<int32_t>(got);
  for (int32_t i = 0; i < 70; ++i) EXPECT_EQ(numbers[static_cast<size_t>(i)], i - 6);
}

TEST(ConstantExec, ProgramIdAndNumPrograms) {
  for (int64_t axis = 0; axis < 3; ++axis) {
    const OpCall id{Op::kProgramId, {}, {Type::Scalar(DType::kI32)}, {axis}};
    EXPECT_EQ(ElementsOf<int32_t>(RunOp1(id, {})), std::vector<int32_t>{static_cast<int32_t>(11 * (axis + 1))});
    OpCall num{Op::kNumPrograms, {}, {Type::Scalar(DType::kI32)}, {axis}};
    EXPECT_EQ(ElementsOf<int32_t>(RunOp1(num, {})), std::vector<int32_t>{static_cast<int32_t>(100 * (axis + 1))});
    num.lanes = 3;
    EXPECT_EQ(ElementsOf<int32_t>(RunOp1(num, {})), std::vector<int32_t>(3, static_cast<int32_t>(100 * (axis + 1))));
  }
}

}  // namespace
}  // namespace trivet::vm
