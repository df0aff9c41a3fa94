// cast between every pair of element types, in every rounding and with and without saturation; bitcast; pointers as
// integers. Expected values go through long double, which holds every integer and every float exactly.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/interpreter/float_model.h"
#include "tests/unit/interpreter/handler_harness.h"

namespace trivet::vm {
namespace {

using LD = long double;

// Bits of values worth a test: edges of floats; of integers, those that don't fit narrower types and ties of floats.
std::vector<uint64_t> EdgeWords(const DTypeInfo& info) {
  if (info.dtype_class == DTypeClass::kFloat) return FloatModel::Of(info.dtype).Edges();
  if (info.bits == 1) return {0, 1};
  std::vector<uint64_t> words;
  for (int bit = 0; bit < info.bits; ++bit) {
    const uint64_t power = uint64_t{1} << bit;
    for (uint64_t word :
         {power, power - 1, power + 1, power + (power >> 8), power + (power >> 9), power + (power >> 11),
          power + (power >> 11) + 1, power + (power >> 11) - 1, power + (power >> 12) - 1, power + (power >> 24),
          power + (power >> 24) + 1, power + (power >> 24) - 1, power + (power >> 53), power + (power >> 53) + 1,
          power + 3 * (power >> 53) - 1}) {
      words.push_back(word);
      words.push_back(~word + 1);
    }
  }
  return words;
}

bool IsSigned(const DTypeInfo& info) { return info.dtype_class == DTypeClass::kSigned; }

// The number that the low bits of `word` stand for.
LD IntegerValue(const DTypeInfo& info, uint64_t word) {
  const int unused = 64 - 8 * info.storage_bytes;
  return IsSigned(info) ? static_cast<LD>(static_cast<int64_t>(word << unused) >> unused)
                        : static_cast<LD>((word << unused) >> unused);
}

LD ValueOf(const DTypeInfo& info, uint64_t word) {
  return info.dtype_class == DTypeClass::kFloat ? FloatModel::Of(info.dtype).Decode(word) : IntegerValue(info, word);
}

// A float as an integer: truncated, kept inside the type's range. NaN is 0, but from f64 or to 64 bits the top bit.
uint64_t TruncateAndSaturate(const DTypeInfo& from, const DTypeInfo& to, LD value) {
  const LD least = IsSigned(to) ? -std::ldexp(LD{1}, to.bits - 1) : LD{0};
  const LD largest = std::ldexp(LD{1}, IsSigned(to) ? to.bits - 1 : to.bits) - 1;
  if (std::isnan(value)) return from.bits == 64 || to.bits == 64 ? uint64_t{1} << (to.bits - 1) : 0;
  const LD clamped = std::min(std::max(std::trunc(value), least), largest);
  return clamped < 0 ? static_cast<uint64_t>(static_cast<int64_t>(clamped)) : static_cast<uint64_t>(clamped);
}

uint64_t ExpectedCast(const DTypeInfo& from, const DTypeInfo& to, uint64_t word, ModelRounding rounding,
                      ModelOverflow overflow) {
  const LD value = ValueOf(from, word);
  if (to.bits == 1) return value != 0 ? 1 : 0;
  const bool from_float = from.dtype_class == DTypeClass::kFloat;
  if (to.dtype_class == DTypeClass::kFloat) {
    if (from.dtype == to.dtype) return word;
    if (to.bits >= 32) overflow = ModelOverflow::kInfinity;  // they don't saturate
    return FloatModel::Of(to.dtype).Encode(value, rounding, overflow);
  }
  if (from_float) return TruncateAndSaturate(from, to, value);
  return static_cast<uint64_t>(static_cast<__int128>(value));  // low bits: wraps, or extends the source's sign
}

TEST(CastExec, EveryPair) {
  for (const DTypeInfo& from : AllDTypes()) {
    const std::vector<uint64_t> words = EdgeWords(from);
    Bytes operand(words.size() * static_cast<size_t>(from.storage_bytes));
    for (size_t i = 0; i < words.size(); ++i) SetWord(operand, from.storage_bytes, static_cast<int64_t>(i), words[i]);
    for (const DTypeInfo& to : AllDTypes()) {
      const uint64_t mask = to.storage_bytes == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * to.storage_bytes)) - 1;
      for (int64_t rounding = 0; rounding < 4; ++rounding) {
        for (int64_t saturate = 0; saturate < 2; ++saturate) {
          const Bytes got = RunElementwise(Op::kCast, {from.dtype}, to.dtype, {operand}, {rounding, saturate});
          for (size_t i = 0; i < words.size(); ++i) {
            const uint64_t expected =
                ExpectedCast(from, to, words[i], static_cast<ModelRounding>(rounding),
                             saturate != 0 ? ModelOverflow::kSaturate : ModelOverflow::kInfinity) &
                mask;
            const uint64_t word = WordAt(got, to.storage_bytes, static_cast<int64_t>(i));
            const bool same = to.dtype_class == DTypeClass::kFloat ? FloatModel::Of(to.dtype).SameCode(word, expected)
                                                                   : word == expected;
            ASSERT_TRUE(same) << from.text << " -> " << to.text << " of "
                              << static_cast<double>(
                                     ValueOf(from, WordAt(operand, from.storage_bytes, static_cast<int64_t>(i))))
                              << " rounding " << rounding << " saturate " << saturate << std::hex << " gave " << word
                              << ", not " << expected;
          }
        }
      }
    }
  }
}

TEST(CastExec, SixtyFourBitIntegersRoundOnceToF16) {
  // 2049 is a tie between 2048 and 2050; f64 can't tell 2049 * 2^k + 1 from it, a second rounding would go to even.
  const std::vector<int64_t> x{2049, (int64_t{2049} << 4) + 1, -((int64_t{2049} << 4) + 1)};
  const Bytes got = RunElementwise(Op::kCast, {DType::kI64}, DType::kF16, {BytesOf(x)});
  EXPECT_EQ(ElementsOf<uint16_t>(got), (std::vector<uint16_t>{0x6800, 0x7801, 0xf801}));
  // The same in bf16, which has room for all 64 bits: 257 * 2^54 is a tie, one more isn't.
  const std::vector<int64_t> wide{int64_t{257} << 54, (int64_t{257} << 54) + 1};
  const Bytes narrow = RunElementwise(Op::kCast, {DType::kI64}, DType::kBF16, {BytesOf(wide)});
  EXPECT_EQ(ElementsOf<uint16_t>(narrow), (std::vector<uint16_t>{0x5e80, 0x5e81}));
}

TEST(CastExec, LongTilesCrossChunks) {
  std::vector<float> x(2000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) / 8;
  const Bytes half = RunElementwise(Op::kCast, {DType::kF32}, DType::kF16, {BytesOf(x)});
  const Bytes brain = RunElementwise(Op::kCast, {DType::kF16}, DType::kBF16, {half});
  const FloatModel& model = FloatModel::Of(DType::kBF16);
  for (int64_t i = 0; i < 2000; ++i) {
    EXPECT_EQ(WordAt(brain, 2, i), model.Encode(static_cast<LD>(i) / 8)) << i;
  }
}

TEST(BitcastExec, EqualWidthsKeepBits) {
  for (const DTypeInfo& from : AllDTypes()) {
    const std::vector<uint64_t> words = EdgeWords(from);
    Bytes operand(words.size() * static_cast<size_t>(from.storage_bytes));
    for (size_t i = 0; i < words.size(); ++i) SetWord(operand, from.storage_bytes, static_cast<int64_t>(i), words[i]);
    for (const DTypeInfo& to : AllDTypes()) {
      if (to.storage_bytes != from.storage_bytes) continue;
      Bytes expected = operand;
      if (to.bits == 1 && from.bits != 1) {
        for (uint8_t& byte : expected) byte &= 1;
      }
      EXPECT_EQ(RunElementwise(Op::kBitcast, {from.dtype}, to.dtype, {operand}), expected)
          << from.text << " " << to.text;
    }
  }
}

TEST(BitcastExec, PointersKeepTheirAddress) {
  const Bytes addresses = BytesOf<uint64_t>({1, 0x7fffdeadbeef, ~uint64_t{0}});
  const Type f32 = Type::PointerTile({3}, DType::kF32);
  const Type i8 = Type::PointerTile({3}, DType::kI8);
  const Type numbers = Type::Tile({3}, DType::kI64);
  EXPECT_EQ(RunOp1({Op::kBitcast, {f32}, {i8}}, {addresses}), addresses);
  EXPECT_EQ(RunOp1({Op::kPtrToInt, {f32}, {numbers}}, {addresses}), addresses);
  EXPECT_EQ(RunOp1({Op::kIntToPtr, {numbers}, {f32}}, {addresses}), addresses);
}

}  // namespace
}  // namespace trivet::vm
