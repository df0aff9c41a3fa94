// Ops that move elements, against the definition of each by indices, for element sizes 1, 2, 4 and 8 and for shapes
// that meet every path of StridedCopy: long and short rows, fills, transposes larger than a block, merged axes.
#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/interpreter/handler_harness.h"
#include "vm/interpreter/strided_copy.h"

namespace trivet::vm {
namespace {

using Index = std::vector<int64_t>;

const std::vector<DType>& ElementTypes() {
  static const std::vector<DType>& types = *new std::vector<DType>{DType::kI8, DType::kF16, DType::kF32, DType::kI64};
  return types;
}

int64_t Flatten(const Index& shape, const Index& index) {
  int64_t flat = 0;
  for (size_t i = 0; i < shape.size(); ++i) flat = flat * shape[i] + index[i];
  return flat;
}

Index Unflatten(const Index& shape, int64_t flat) {
  Index index(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    index[i] = flat % shape[i];
    flat /= shape[i];
  }
  return index;
}

int64_t Count(const Index& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

// A value whose elements differ from their neighbours near and far.
Bytes Numbered(const Index& shape, DType dtype, uint64_t seed = 1) {
  const int bytes = InfoOf(dtype).storage_bytes;
  Bytes value(static_cast<size_t>(Count(shape) * bytes));
  for (int64_t i = 0; i < Count(shape); ++i)
    SetWord(value, bytes, i, (static_cast<uint64_t>(i) + seed) * 0x9e3779b97f4a7c15u >> 7);
  return value;
}

// Expects result[index] == x[source(index)] for every index of the result.
void ExpectPicks(const Bytes& result, const Index& result_shape, const Bytes& x, const Index& x_shape, DType dtype,
                 const std::function<Index(const Index&)>& source, const std::string& what) {
  const int bytes = InfoOf(dtype).storage_bytes;
  ASSERT_EQ(result.size(), static_cast<size_t>(Count(result_shape) * bytes)) << what;
  for (int64_t i = 0; i < Count(result_shape); ++i) {
    ASSERT_EQ(WordAt(result, bytes, i), WordAt(x, bytes, Flatten(x_shape, source(Unflatten(result_shape, i)))))
        << what << " element " << i << " of " << ShapeToString(result_shape) << " " << InfoOf(dtype).text;
  }
}

TEST(ShapeExec, Splat) {
  for (DType dtype : ElementTypes()) {
    const Bytes x = Numbered({1}, dtype);
    const Bytes got = RunOp1({Op::kSplat, {Type::Scalar(dtype)}, {Type::Tile({9, 7}, dtype)}}, {x});
    ExpectPicks(
        got, {9, 7}, x, {1}, dtype, [](const Index&) { return Index{0}; }, "splat");
  }
}

TEST(ShapeExec, Broadcast) {
  const struct {
    Index from, to;
  } cases[] = {{{1, 40}, {33, 40}},         {{33, 1}, {33, 40}},          {{1, 1}, {5, 6}},
               {{7, 1, 9}, {7, 5, 9}},      {{1, 5, 1}, {4, 5, 6}},       {{3, 4}, {3, 4}},
               {{64, 1}, {64, 2}},          {{2, 1, 3, 1}, {2, 4, 3, 5}}, {{1}, {100}},
               {{1, 2, 1, 2}, {3, 2, 2, 2}}};
  for (DType dtype : ElementTypes()) {
    for (const auto& c : cases) {
      const Bytes x = Numbered(c.from, dtype);
      const Bytes got = RunOp1({Op::kBroadcast, {Type::Tile(c.from, dtype)}, {Type::Tile(c.to, dtype)}}, {x});
      ExpectPicks(
          got, c.to, x, c.from, dtype,
          [&](Index index) {
            for (size_t i = 0; i < index.size(); ++i) index[i] = c.from[i] == 1 ? 0 : index[i];
            return index;
          },
          "broadcast");
    }
  }
}

TEST(ShapeExec, ExpandDimsAndReshapeKeepTheOrder) {
  const Bytes x = Numbered({6, 4}, DType::kF32);
  const Type from = Type::Tile({6, 4}, DType::kF32);
  EXPECT_EQ(RunOp1({Op::kExpandDims, {from}, {Type::Tile({6, 1, 4}, DType::kF32)}, {int64_t{1}}}, {x}), x);
  EXPECT_EQ(RunOp1({Op::kReshape, {from}, {Type::Tile({2, 12}, DType::kF32)}}, {x}), x);
  EXPECT_EQ(RunOp1({Op::kReshape, {from}, {Type::Tile({24}, DType::kF32)}, {int64_t{1}}}, {x}), x);
  const Bytes pointer = BytesOf<uint64_t>({0xfeedbeef});
  EXPECT_EQ(RunOp1({Op::kExpandDims, {Type::Pointer(DType::kF32)}, {Type::PointerTile({1}, DType::kF32)}}, {pointer}),
            pointer);
}

TEST(ShapeExec, TransposeByEveryOrder) {
  const Index shapes[] = {{70, 45},    {2, 64},   {64, 2},      {8, 100},       {1, 9},
                          {3, 40, 35}, {5, 1, 9}, {2, 3, 4, 5}, {2, 2, 2, 2, 2}};
  for (DType dtype : ElementTypes()) {
    for (const Index& shape : shapes) {
      Index order(shape.size());
      std::iota(order.begin(), order.end(), 0);
      const Bytes x = Numbered(shape, dtype);
      do {
        Index to;
        for (int64_t axis : order) to.push_back(shape[static_cast<size_t>(axis)]);
        const Bytes got = RunOp1({Op::kTrans, {Type::Tile(shape, dtype)}, {Type::Tile(to, dtype)}, {order}}, {x});
        ExpectPicks(
            got, to, x, shape, dtype,
            [&](const Index& index) {
              Index source(index.size());
              for (size_t i = 0; i < index.size(); ++i) source[static_cast<size_t>(order[i])] = index[i];
              return source;
            },
            "trans");
      } while (std::next_permutation(order.begin(), order.end()));
    }
  }
}

TEST(ShapeExec, JoinAndSplit) {
  for (DType dtype : ElementTypes()) {
    const int bytes = InfoOf(dtype).storage_bytes;
    const Type half = Type::Tile({5, 13}, dtype);
    const Type both = Type::Tile({5, 13, 2}, dtype);
    const Bytes lhs = Numbered({5, 13}, dtype, 1);
    const Bytes rhs = Numbered({5, 13}, dtype, 1000);
    const Bytes joined = RunOp1({Op::kJoin, {half, half}, {both}}, {lhs, rhs});
    for (int64_t i = 0; i < 65; ++i) {
      EXPECT_EQ(WordAt(joined, bytes, 2 * i), WordAt(lhs, bytes, i));
      EXPECT_EQ(WordAt(joined, bytes, 2 * i + 1), WordAt(rhs, bytes, i));
    }
    const auto parts = RunOp({Op::kSplit, {both}, {half, half}}, {joined});
    ASSERT_TRUE(parts.ok()) << parts.status();
    EXPECT_EQ((*parts)[0], lhs);
    EXPECT_EQ((*parts)[1], rhs);
  }
  // Of scalars: a pair, and back.
  const Type scalar = Type::Scalar(DType::kI32);
  const Bytes pair = RunOp1({Op::kJoin, {scalar, scalar}, {Type::Tile({2}, DType::kI32)}},
                            {BytesOf<int32_t>({3}), BytesOf<int32_t>({4})});
  EXPECT_EQ(ElementsOf<int32_t>(pair), (std::vector<int32_t>{3, 4}));
  EXPECT_EQ(*RunOp({Op::kSplit, {Type::Tile({2}, DType::kI32)}, {scalar, scalar}}, {pair}),
            (std::vector<Bytes>{BytesOf<int32_t>({3}), BytesOf<int32_t>({4})}));
}

TEST(ShapeExec, CatAlongEachAxis) {
  for (DType dtype : ElementTypes()) {
    for (int64_t axis = 0; axis < 3; ++axis) {
      const auto at = static_cast<size_t>(axis);
      Index left{3, 4, 5};
      Index right = left;
      right[at] = 2;
      Index to = left;
      to[at] += 2;
      const Bytes lhs = Numbered(left, dtype, 1);
      const Bytes rhs = Numbered(right, dtype, 500);
      const Bytes got = RunOp1(
          {Op::kCat, {Type::Tile(left, dtype), Type::Tile(right, dtype)}, {Type::Tile(to, dtype)}, {axis}}, {lhs, rhs});
      const int bytes = InfoOf(dtype).storage_bytes;
      for (int64_t i = 0; i < Count(to); ++i) {
        Index index = Unflatten(to, i);
        const bool is_left = index[at] < left[at];
        if (!is_left) index[at] -= left[at];
        EXPECT_EQ(WordAt(got, bytes, i),
                  is_left ? WordAt(lhs, bytes, Flatten(left, index)) : WordAt(rhs, bytes, Flatten(right, index)));
      }
    }
  }
}

TEST(ShapeExec, FlipAlongEachAxis) {
  for (DType dtype : ElementTypes()) {
    for (const Index& shape : {Index{37}, Index{6, 50}, Index{50, 6}, Index{3, 4, 5}}) {
      for (size_t axis = 0; axis < shape.size(); ++axis) {
        const Bytes x = Numbered(shape, dtype);
        const Type type = Type::Tile(shape, dtype);
        const Bytes got = RunOp1({Op::kFlip, {type}, {type}, {static_cast<int64_t>(axis)}}, {x});
        ExpectPicks(
            got, shape, x, shape, dtype,
            [&](Index index) {
              index[axis] = shape[axis] - 1 - index[axis];
              return index;
            },
            "flip");
      }
    }
  }
}

struct SliceCase {
  Index whole, part, starts, steps;
};

const std::vector<SliceCase>& SliceCases() {
  static const std::vector<SliceCase>& cases = *new std::vector<SliceCase>{
      {{100}, {30}, {7}, {1}},
      {{100}, {30}, {7}, {3}},
      {{100}, {34}, {99}, {-3}},
      {{8, 64}, {4, 32}, {2, 5}, {1, 1}},
      {{8, 64}, {4, 32}, {0, 1}, {2, 2}},
      {{8, 64}, {8, 64}, {0, 0}, {1, 1}},
      {{9, 6, 7}, {3, 6, 2}, {8, 0, 5}, {-4, 1, 1}},
      {{16, 4}, {16, 1}, {0, 3}, {1, 1}},
  };
  return cases;
}

TEST(ShapeExec, Slice) {
  for (DType dtype : ElementTypes()) {
    for (const SliceCase& c : SliceCases()) {
      const Bytes x = Numbered(c.whole, dtype);
      const Bytes got =
          RunOp1({Op::kSlice, {Type::Tile(c.whole, dtype)}, {Type::Tile(c.part, dtype)}, {c.starts, c.steps}}, {x});
      ExpectPicks(
          got, c.part, x, c.whole, dtype,
          [&](Index index) {
            for (size_t i = 0; i < index.size(); ++i) index[i] = c.starts[i] + index[i] * c.steps[i];
            return index;
          },
          "slice");
    }
  }
}

TEST(ShapeExec, InsertSlice) {
  for (DType dtype : ElementTypes()) {
    const int bytes = InfoOf(dtype).storage_bytes;
    for (const SliceCase& c : SliceCases()) {
      const Type whole = Type::Tile(c.whole, dtype);
      const Bytes x = Numbered(c.whole, dtype, 1);
      const Bytes part = Numbered(c.part, dtype, 5000);
      Bytes expected = x;
      for (int64_t i = 0; i < Count(c.part); ++i) {
        Index index = Unflatten(c.part, i);
        for (size_t k = 0; k < index.size(); ++k) index[k] = c.starts[k] + index[k] * c.steps[k];
        SetWord(expected, bytes, Flatten(c.whole, index), WordAt(part, bytes, i));
      }
      EXPECT_EQ(RunOp1({Op::kInsertSlice, {whole, Type::Tile(c.part, dtype)}, {whole}, {c.starts, c.steps}}, {x, part}),
                expected)
          << ShapeToString(c.whole) << " " << InfoOf(dtype).text;
    }
  }
}

TEST(ShapeExec, GatherAlongEachAxis) {
  for (DType dtype : ElementTypes()) {
    for (DType index_dtype : {DType::kI32, DType::kI64, DType::kU8}) {
      const int index_bytes = InfoOf(index_dtype).storage_bytes;
      for (const Index& from : {Index{40}, Index{6, 9}, Index{3, 4, 5}, Index{2, 700}}) {
        for (size_t axis = 0; axis < from.size(); ++axis) {
          Index to = from;
          to[axis] = 11;
          if (from[axis] == 700) to[axis] = 600;
          const Bytes x = Numbered(from, dtype);
          Bytes indices(static_cast<size_t>(Count(to) * index_bytes));
          const auto pick = [&](int64_t i) { return (i * 7 + 3) % std::min<int64_t>(from[axis], 256); };
          for (int64_t i = 0; i < Count(to); ++i) SetWord(indices, index_bytes, i, static_cast<uint64_t>(pick(i)));
          const Bytes got = RunOp1({Op::kGather,
                                    {Type::Tile(from, dtype), Type::Tile(to, index_dtype)},
                                    {Type::Tile(to, dtype)},
                                    {static_cast<int64_t>(axis)}},
                                   {x, indices});
          ExpectPicks(
              got, to, x, from, dtype,
              [&](Index index) {
                index[axis] = pick(Flatten(to, index));
                return index;
              },
              "gather");
        }
      }
    }
  }
}

TEST(ShapeExec, GatherOutsideIsATrap) {
  const Type x = Type::Tile({2, 4}, DType::kF32);
  const Type index = Type::Tile({2, 3}, DType::kI32);
  const OpCall call{Op::kGather, {x, index}, {Type::Tile({2, 3}, DType::kF32)}, {int64_t{1}}};
  for (int32_t bad : {4, -1}) {
    const auto got = RunOp(call, {Numbered({2, 4}, DType::kF32), BytesOf<int32_t>({0, 1, 2, 3, bad, 0})});
    EXPECT_EQ(got.status().message(),
              "gather: index " + std::to_string(bad) + " is outside axis 1, whose extent is 4 @4");
  }
}

TEST(ShapeExec, Extract) {
  const Bytes x = Numbered({3, 4, 5}, DType::kF16);
  const OpCall call{Op::kExtract,
                    {Type::Tile({3, 4, 5}, DType::kF16), Type::Scalar(DType::kI32), Type::Scalar(DType::kI64),
                     Type::Scalar(DType::kI32)},
                    {Type::Scalar(DType::kF16)}};
  const auto run = [&](int32_t i, int64_t j, int32_t k) {
    return RunOp(call, {x, BytesOf<int32_t>({i}), BytesOf<int64_t>({j}), BytesOf<int32_t>({k})});
  };
  for (int32_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 4; ++j) {
      for (int32_t k = 0; k < 5; ++k)
        EXPECT_EQ(WordAt((*run(i, j, k))[0], 2, 0), WordAt(x, 2, Flatten({3, 4, 5}, {i, j, k})));
    }
  }
  EXPECT_EQ(run(0, 4, 0).status().message(), "extract: index 4 is outside axis 1, whose extent is 4 @-1");
  EXPECT_EQ(run(-1, 0, 0).status().message(), "extract: index -1 is outside axis 0, whose extent is 3 @-1");
}

TEST(StridedCopy, MergesAxesThatRunOn) {
  // [2, 3, 4] to the same place: one row.
  const StridedAxis whole[] = {{2, 12, 12}, {3, 4, 4}, {4, 1, 1}};
  EXPECT_EQ(StridedCopy::Plan(whole, 0, 0, 4).axes().size(), 1u);
  // A broadcast in the middle keeps three; extents of 1 vanish.
  const StridedAxis middle[] = {{2, 9, 81}, {9, 0, 9}, {1, 5, 5}, {9, 1, 1}};
  EXPECT_EQ(StridedCopy::Plan(middle, 0, 0, 4).axes().size(), 3u);
}

}  // namespace
}  // namespace trivet::vm
