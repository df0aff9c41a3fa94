// Conversions with a rounding mode or to narrow formats (PTX ISA, "cvt").
#include <bit>
#include <cmath>
#include <limits>

#include "jit/emulator/cta.h"
#include "jit/emulator/rows.h"
#include "vm/numerics/float_formats.h"

namespace trivet::jit {

namespace {

constexpr vm::Rounding kRoundings[] = {vm::Rounding::kNearestEven, vm::Rounding::kTowardZero, vm::Rounding::kDown,
                                       vm::Rounding::kUp};
#define TRIVET_ROUNDINGS "{rn|rz|rm|rp}"

double RoundToInteger(double x, int rounding) {
  switch (rounding) {
    case 0:
      return std::nearbyint(x);
    case 1:
      return std::trunc(x);
    case 2:
      return std::floor(x);
    default:
      return std::ceil(x);
  }
}

// To the nearest integer that there is. NaN: 0 from f32 to 32 bits; otherwise only the top bit is set.
template <typename T>
uint64_t ToInteger(double x, int rounding, bool from_double) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(x)) return from_double || sizeof(T) == 8 ? uint64_t{1} << (8 * sizeof(T) - 1) : 0;
  const double rounded = RoundToInteger(x, rounding);
  if (rounded <= static_cast<double>(Limits::min())) return ToSlot(Limits::min());
  if (rounded >= static_cast<double>(Limits::max())) return ToSlot(Limits::max());
  return ToSlot(static_cast<T>(rounded));
}

// {f|d}2{i|ui|ll|ull}.{rn|rz|rm|rp}{|.ftz}
void FloatToInteger(const Call& call) {
  const auto& choice = call.site.choice;
  const bool from_double = choice[0] == 1;
  const double x = from_double ? FromSlot<double>(call.in[0]) : FromSlot<float>(call.in[0]);
  // A subnormal that .ftz makes zero rounds to 0 in the modes rn and rz anyway; in the others it would matter.
  const bool flushed = choice[3] == 1 && std::fabs(x) < 0x1p-126;
  const double value = flushed ? 0 : x;
  switch (choice[1]) {
    case 0:
      call.out[0] = ToInteger<int32_t>(value, choice[2], from_double);
      return;
    case 1:
      call.out[0] = ToInteger<uint32_t>(value, choice[2], from_double);
      return;
    case 2:
      call.out[0] = ToInteger<int64_t>(value, choice[2], from_double);
      return;
    default:
      call.out[0] = ToInteger<uint64_t>(value, choice[2], from_double);
  }
}

// The T nearest to an integer: `toward` is one below or above in magnitude where the default rounding went wrong.
template <typename T>
T FromInteger(__int128 value, int rounding) {
  const T nearest = static_cast<T>(value);
  const auto exact = static_cast<__int128>(nearest);  // |nearest| <= 2^64
  const bool too_big = exact > value;
  const bool too_small = exact < value;
  const T infinity = std::numeric_limits<T>::infinity();
  switch (rounding) {
    case 1:
      if (value > 0 && too_big) return std::nextafter(nearest, T{0});
      if (value < 0 && too_small) return std::nextafter(nearest, T{0});
      return nearest;
    case 2:
      return too_big ? std::nextafter(nearest, -infinity) : nearest;
    case 3:
      return too_small ? std::nextafter(nearest, infinity) : nearest;
    default:
      return nearest;
  }
}

// {i|ui|ll|ull}2{f|d}.{rn|rz|rm|rp}
void IntegerToFloat(const Call& call) {
  const auto& choice = call.site.choice;
  const __int128 values[] = {FromSlot<int32_t>(call.in[0]), FromSlot<uint32_t>(call.in[0]),
                             FromSlot<int64_t>(call.in[0]), call.in[0]};
  const __int128 value = values[choice[0]];
  call.out[0] =
      choice[1] == 0 ? ToSlot(FromInteger<float>(value, choice[2])) : ToSlot(FromInteger<double>(value, choice[2]));
}

// d2f.{rn|rz|rm|rp}{|.ftz}
void DoubleToFloat(const Call& call) {
  const float result = vm::RoundToF32(FromSlot<double>(call.in[0]), kRoundings[call.site.choice[0]]);
  const bool flushed = call.site.choice[1] == 1 && std::fpclassify(result) == FP_SUBNORMAL;
  call.out[0] = ToSlot(flushed ? std::copysign(0.0f, result) : result);
}

// One value to a narrow format. .relu makes negative values and NaN zero.
uint32_t Narrow(vm::FloatFormat format, double x, vm::Rounding rounding, bool relu, bool saturates) {
  if (relu && !(x > 0)) return 0;
  const bool always = vm::InfoOf(format).default_overflow == vm::Overflow::kSaturate;
  return vm::EncodeFloat(format, x, rounding, saturates || always ? vm::Overflow::kSaturate : vm::Overflow::kInfinity);
}

constexpr vm::FloatFormat k16Bits[] = {vm::FloatFormat::kBF16, vm::FloatFormat::kF16};

// ff2{bf16x2|f16x2}.{rn|rz}{|.relu}{|.satfinite}(high, low)
void FloatsTo16(const Call& call) {
  const auto& choice = call.site.choice;
  const auto narrow = [&](uint64_t slot) {
    return Narrow(k16Bits[choice[0]], static_cast<double>(FromSlot<float>(slot)), kRoundings[choice[1]], choice[2] == 1,
                  choice[3] == 1);
  };
  call.out[0] = narrow(call.in[1]) | static_cast<uint64_t>(narrow(call.in[0])) << 16;
}

// f2{bf16|f16}.{rn|rz}{|.relu}{|.satfinite}
void FloatTo16(const Call& call) {
  const auto& choice = call.site.choice;
  call.out[0] = Narrow(k16Bits[choice[0]], static_cast<double>(FromSlot<float>(call.in[0])), kRoundings[choice[1]],
                       choice[2] == 1, choice[3] == 1);
}

// f2tf32.{rn|rz|rna}{|.relu}{|.satfinite}: an f32 with 13 zero bits at the end.
void FloatToTf32(const Call& call) {
  constexpr vm::Rounding kModes[] = {vm::Rounding::kNearestEven, vm::Rounding::kTowardZero, vm::Rounding::kNearestAway};
  const auto& choice = call.site.choice;
  call.out[0] = Narrow(vm::FloatFormat::kTF32, static_cast<double>(FromSlot<float>(call.in[0])), kModes[choice[0]],
                       choice[1] == 1, choice[2] == 1)
                << 13;
}

// The 8-bit (and smaller, in a byte each) formats of {e4m3x2|e5m2x2|e2m1x2}, and their 4 or 8 bits.
constexpr vm::FloatFormat kPairs[] = {vm::FloatFormat::kF8E4M3, vm::FloatFormat::kF8E5M2, vm::FloatFormat::kF4E2M1};

uint64_t PackPair(vm::FloatFormat format, double high, double low, bool relu) {
  const int bits = vm::InfoOf(format).bits;
  const auto narrow = [&](double x) {
    return static_cast<uint64_t>(Narrow(format, x, vm::Rounding::kNearestEven, relu, true));
  };
  return narrow(low) | narrow(high) << bits;
}

// ff.to.{e4m3x2|e5m2x2|e2m1x2}.rn{|.relu}{|.satfinite}(high, low)
void FloatsToPair(const Call& call) {
  call.out[0] = PackPair(kPairs[call.site.choice[0]], static_cast<double>(FromSlot<float>(call.in[0])),
                         static_cast<double>(FromSlot<float>(call.in[1])), call.site.choice[1] == 1);
}

double Half(uint64_t slot, int index) {
  return vm::DecodeFloat(vm::FloatFormat::kF16, static_cast<uint32_t>(slot >> (16 * index)) & 0xffff);
}

// f16x2.to.{e4m3x2|e5m2x2}.rn{|.relu}
void HalvesToPair(const Call& call) {
  call.out[0] =
      PackPair(kPairs[call.site.choice[0]], Half(call.in[0], 1), Half(call.in[0], 0), call.site.choice[1] == 1);
}

// {e4m3x2|e5m2x2|e2m1x2}.to.f16x2.rn{|.relu}: exact.
void PairToHalves(const Call& call) {
  const vm::FloatFormat format = kPairs[call.site.choice[0]];
  const int bits = vm::InfoOf(format).bits;
  call.out[0] = 0;
  for (int i = 0; i < 2; ++i) {
    const auto code = static_cast<uint32_t>(call.in[0] >> (bits * i)) & ((uint32_t{1} << bits) - 1);
    const uint32_t half = Narrow(vm::FloatFormat::kF16, vm::DecodeFloat(format, code), vm::Rounding::kNearestEven,
                                 call.site.choice[1] == 1, false);
    call.out[0] |= static_cast<uint64_t>(half) << (16 * i);
  }
}

// ff.to.ue8m0x2.{rz|rp}{|.satfinite}(high, low)
void FloatsToScales(const Call& call) {
  const auto scale = [&](uint64_t slot) {
    return static_cast<uint64_t>(Narrow(vm::FloatFormat::kF8E8M0, static_cast<double>(FromSlot<float>(slot)),
                                        call.site.choice[0] == 0 ? vm::Rounding::kTowardZero : vm::Rounding::kUp, false,
                                        true));
  };
  call.out[0] = scale(call.in[1]) | scale(call.in[0]) << 8;
}

void ScalesToBf16(const Call& call) {
  call.out[0] = 0;
  for (int i = 0; i < 2; ++i) {
    const double value = vm::DecodeFloat(vm::FloatFormat::kF8E8M0, static_cast<uint32_t>(call.in[0] >> (8 * i)) & 0xff);
    call.out[0] |=
        static_cast<uint64_t>(Narrow(vm::FloatFormat::kBF16, value, vm::Rounding::kNearestEven, false, false))
        << (16 * i);
  }
}

// f2h.rn{|.ftz} and bf2h.rn{|.ftz}: to f16, as an integer.
void FloatToHalfBits(const Call& call) {
  call.out[0] = Narrow(vm::FloatFormat::kF16, static_cast<double>(FromSlot<float>(call.in[0])),
                       vm::Rounding::kNearestEven, false, false);
}
void Bf16ToHalfBits(const Call& call) {
  call.out[0] =
      Narrow(vm::FloatFormat::kF16, vm::DecodeFloat(vm::FloatFormat::kBF16, static_cast<uint32_t>(call.in[0]) & 0xffff),
             vm::Rounding::kNearestEven, false, false);
}

constexpr Row kRows[] = {
    {"{f|d}2{i|ui|ll|ull}." TRIVET_ROUNDINGS "{|.ftz}", FloatToInteger},
    {"{i|ui|ll|ull}2{f|d}." TRIVET_ROUNDINGS, IntegerToFloat},
    {"d2f." TRIVET_ROUNDINGS "{|.ftz}", DoubleToFloat},
    {"ff2{bf16x2|f16x2}.{rn|rz}{|.relu}{|.satfinite}", FloatsTo16},
    {"f2{bf16|f16}.{rn|rz}{|.relu}{|.satfinite}", FloatTo16},
    {"f2tf32.{rn|rz|rna}{|.relu}{|.satfinite}", FloatToTf32},
    {"ff.to.{e4m3x2|e5m2x2|e2m1x2}.rn{|.relu}{|.satfinite}", FloatsToPair},
    {"f16x2.to.{e4m3x2|e5m2x2}.rn{|.relu}", HalvesToPair},
    {"{e4m3x2|e5m2x2|e2m1x2}.to.f16x2.rn{|.relu}", PairToHalves},
    {"ff.to.ue8m0x2.{rz|rp}{|.satfinite}", FloatsToScales},
    {"ue8m0x2.to.bf16x2", ScalesToBf16},
    {"f2h.rn{|.ftz}", FloatToHalfBits},
    {"bf2h.rn{|.ftz}", Bf16ToHalfBits},
    {"lohi.i2d", [](const Call& call) { call.out[0] = FromSlot<uint32_t>(call.in[0]) | call.in[1] << 32; }},
    {"d2i.{lo|hi}", [](const Call& call) { call.out[0] = call.in[0] >> (32 * call.site.choice[0]); }},
};

}  // namespace

std::span<const Row> ConversionRows() { return kRows; }

}  // namespace trivet::jit
