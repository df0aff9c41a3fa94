// Arithmetic (PTX ISA, "Floating Point Instructions", "Integer Arithmetic Instructions"). Approximations are computed
// in f64 and rounded once; comparisons with the hardware need its documented error as tolerance.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "jit/emulator/cta.h"
#include "jit/emulator/rows.h"
#include "vm/numerics/directed_rounding.h"
#include "vm/numerics/float_formats.h"

namespace trivet::jit {

namespace {

// Pattern of the rounding modes, in the order of kRoundings.
constexpr vm::Rounding kRoundings[] = {vm::Rounding::kNearestEven, vm::Rounding::kTowardZero, vm::Rounding::kDown,
                                       vm::Rounding::kUp, vm::Rounding::kNearestEven};
#define TRIVET_ROUNDINGS "{rn|rz|rm|rp}"

// .ftz: subnormals become zeros of the same sign.
template <typename T>
T Flush(bool ftz, T x) {
  return ftz && std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(T{0}, x) : x;
}

// .sat: to [0, 1], NaN to 0.
template <typename T>
T Saturate(bool sat, T x) {
  if (!sat) return x;
  return x > 0 ? std::min(x, T{1}) : T{0};
}

// Runs `work` with float or double, as the last choice of a pattern "...{f|d}" says.
template <template <typename> class Work>
void ForType(const Call& call, int choice) {
  if (choice == 0) {
    Work<float>::Run(call);
  } else {
    Work<double>::Run(call);
  }
}

// --- add, mul, div, fma, with a rounding mode -------------------------------------------------------------------

template <typename T>
struct BinaryWork {
  // {add|mul|div}.{rn|rz|rm|rp}{|.ftz}{|.sat}.{f|d}
  static void Run(const Call& call) {
    const auto& choice = call.site.choice;
    const bool ftz = choice[2] == 1;
    const T x = Flush(ftz, FromSlot<T>(call.in[0]));
    const T y = Flush(ftz, FromSlot<T>(call.in[1]));
    T result;
    const std::span<const T> xs(&x, 1), ys(&y, 1);
    const std::span<T> out(&result, 1);
    const vm::Rounding rounding = kRoundings[choice[1]];
    if (choice[0] == 0) vm::AddRounded(rounding, xs, ys, out);
    if (choice[0] == 1) vm::MulRounded(rounding, xs, ys, out);
    if (choice[0] == 2) vm::DivRounded(rounding, xs, ys, out);
    call.out[0] = ToSlot(Saturate(choice[3] == 1, Flush(ftz, result)));
  }
};
void Binary(const Call& call) { ForType<BinaryWork>(call, call.site.choice[4]); }

template <typename T>
struct FmaWork {
  // fma.{rn|rz|rm|rp}{|.ftz}{|.sat}.{f|d}
  static void Run(const Call& call) {
    const auto& choice = call.site.choice;
    const bool ftz = choice[1] == 1;
    const T x = Flush(ftz, FromSlot<T>(call.in[0]));
    const T y = Flush(ftz, FromSlot<T>(call.in[1]));
    const T z = Flush(ftz, FromSlot<T>(call.in[2]));
    T result;
    vm::FmaRounded(kRoundings[choice[0]], std::span<const T>(&x, 1), std::span<const T>(&y, 1),
                   std::span<const T>(&z, 1), std::span<T>(&result, 1));
    call.out[0] = ToSlot(Saturate(choice[2] == 1, Flush(ftz, result)));
  }
};
void Fma(const Call& call) { ForType<FmaWork>(call, call.site.choice[3]); }

// --- One operand ------------------------------------------------------------------------------------------------

template <typename T>
struct RootWork {
  // {rcp|sqrt}.{rn|rz|rm|rp|approx}{|.ftz}.{f|d}
  static void Run(const Call& call) {
    const auto& choice = call.site.choice;
    const bool ftz = choice[2] == 1;
    const T x = Flush(ftz, FromSlot<T>(call.in[0]));
    T result;
    const std::span<const T> in(&x, 1);
    const std::span<T> out(&result, 1);
    if (choice[0] == 0) vm::RcpRounded(kRoundings[choice[1]], in, out);
    if (choice[0] == 1) vm::SqrtRounded(kRoundings[choice[1]], in, out);
    call.out[0] = ToSlot(Flush(ftz, result));
  }
};
void Root(const Call& call) { ForType<RootWork>(call, call.site.choice[3]); }

// The value of the type that a pattern's alternatives {f|f32|d|f64|f16|v2f16|f16x2|bf16|v2bf16|bf16x2} name. 16-bit
// types come in pairs or alone; `function` maps a double, and the result is rounded to the type.
#define TRIVET_FLOATS "{f32|f64|f16x2|f16|v2f16|bf16x2|bf16|v2bf16|f|d}"

template <typename Function>
void MapFloats(const Call& call, int type, int operands, bool ftz, Function&& function) {
  const auto narrow = [&](vm::FloatFormat format) {
    call.out[0] = 0;
    for (int i = 0; i < 2; ++i) {
      double values[3] = {};
      for (int operand = 0; operand < operands; ++operand) {
        values[operand] = vm::DecodeFloat(format, static_cast<uint32_t>(call.in[operand] >> (16 * i)) & 0xffff);
      }
      const uint32_t code =
          vm::EncodeFloat(format, function(values), vm::Rounding::kNearestEven, vm::Overflow::kInfinity);
      call.out[0] |= static_cast<uint64_t>(code) << (16 * i);
    }
  };
  switch (type) {
    case 1:
    case 9: {
      double values[3] = {};
      for (int operand = 0; operand < operands; ++operand) values[operand] = FromSlot<double>(call.in[operand]);
      call.out[0] = ToSlot(static_cast<double>(function(values)));
      return;
    }
    case 2:
    case 3:
    case 4:
      return narrow(vm::FloatFormat::kF16);
    case 5:
    case 6:
    case 7:
      return narrow(vm::FloatFormat::kBF16);
    default: {
      double values[3] = {};
      for (int operand = 0; operand < operands; ++operand) {
        values[operand] = static_cast<double>(Flush(ftz, FromSlot<float>(call.in[operand])));
      }
      call.out[0] = ToSlot(Flush(ftz, static_cast<float>(function(values))));
    }
  }
}

// {ex2|lg2|sin|cos|tanh|rsqrt}.approx{|.ftz}.TYPE
void Approximate(const Call& call) {
  const auto& choice = call.site.choice;
  MapFloats(call, choice[2], 1, choice[1] == 1, [&](const double* x) -> double {
    switch (choice[0]) {
      case 0:
        return std::exp2(*x);
      case 1:
        return std::log2(*x);
      case 2:
        return std::sin(*x);
      case 3:
        return std::cos(*x);
      case 4:
        return std::tanh(*x);
      default:
        return 1 / std::sqrt(*x);
    }
  });
}

// {floor|ceil|round|trunc|fabs|neg|saturate}{|.ftz}.TYPE; round is to the nearest, ties to even.
void Unary(const Call& call) {
  const auto& choice = call.site.choice;
  MapFloats(call, choice[2], 1, choice[1] == 1, [&](const double* x) -> double {
    switch (choice[0]) {
      case 0:
        return std::floor(*x);
      case 1:
        return std::ceil(*x);
      case 2:
        return std::nearbyint(*x);
      case 3:
        return std::trunc(*x);
      case 4:
        return std::fabs(*x);
      case 5:
        return -*x;
      default:
        return Saturate(true, *x);
    }
  });
}

// div.{approx|full}{|.ftz}{|.f}
void DivideApproximately(const Call& call) {
  MapFloats(call, 0, 2, call.site.choice[1] == 1, [](const double* x) { return x[0] / x[1]; });
}

// f{min|max}{|.ftz}{|.nan}{|.xorsign.abs}.TYPE. -0 is less than 0; without .nan, a NaN loses against a number.
void MinMax(const Call& call) {
  const auto& choice = call.site.choice;
  MapFloats(call, choice[4], 2, choice[1] == 1, [&](const double* values) -> double {
    double x = values[0];
    double y = values[1];
    const bool negative = std::signbit(x) != std::signbit(y);
    if (choice[3] == 1) {
      x = std::fabs(x);
      y = std::fabs(y);
    }
    double result;
    if (std::isnan(x) || std::isnan(y)) {
      result = choice[2] == 1 || (std::isnan(x) && std::isnan(y)) ? std::numeric_limits<double>::quiet_NaN()
               : std::isnan(x)                                    ? y
                                                                  : x;
    } else if (x == y) {
      result = std::signbit(x) == (choice[0] == 0) ? x : y;
    } else {
      result = (x < y) == (choice[0] == 0) ? x : y;
    }
    return choice[3] == 1 ? std::copysign(result, negative ? -1.0 : 1.0) : result;
  });
}

// x * y + z so that rounding it once more, to 16 bits, is rounding once: exact, or rounded to odd. The product of two
// 11-bit significands is exact in a double; see Boldo and Melquiond, "Emulation of FMA and correctly rounded sums",
// 2008.
double FmaToOdd(double x, double y, double z) {
  const double product = x * y;
  const double sum = product + z;
  if (!std::isfinite(sum)) return sum;
  const double z_part = sum - product;
  const double error = (product - (sum - z_part)) + (z - z_part);
  const auto bits = std::bit_cast<uint64_t>(sum);
  if (error == 0 || (bits & 1) != 0) return sum;
  // Towards the error by one unit: away from zero when both have one sign.
  return std::bit_cast<double>((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

// fma.rn{|.ftz}{|.sat|.relu}.TYPE for 16-bit types, and llvm.fma.TYPE
void FmaNarrow(const Call& call) {
  const auto& choice = call.site.choice;
  MapFloats(call, choice[2], 3, false, [&](const double* x) -> double {
    const double result = FmaToOdd(x[0], x[1], x[2]);
    if (choice[1] == 1) return Saturate(true, result);
    if (choice[1] == 2 && !std::isnan(result)) return std::max(result, 0.0);
    return result;
  });
}
void FmaLlvm(const Call& call) {
  MapFloats(call, call.site.choice[0], 3, false, [](const double* x) { return FmaToOdd(x[0], x[1], x[2]); });
}

// --- Integers ---------------------------------------------------------------------------------------------------

// The types of {s|us|i|ui|ll|ull}.
template <typename Function>
void ForInteger(int type, Function&& function) {
  switch (type) {
    case 0:
      return function(int16_t{});
    case 1:
      return function(uint16_t{});
    case 2:
      return function(int32_t{});
    case 3:
      return function(uint32_t{});
    case 4:
      return function(int64_t{});
    default:
      return function(uint64_t{});
  }
}

// mulhi.TYPE
void MulHi(const Call& call) {
  ForInteger(call.site.choice[0], [&]<typename T>(T) {
    // Extended by sign or zeros; of the product only bits below 128 matter.
    const auto extend = [](uint64_t slot) { return static_cast<unsigned __int128>(FromSlot<T>(slot)); };
    call.out[0] = ToSlot(static_cast<T>((extend(call.in[0]) * extend(call.in[1])) >> (8 * sizeof(T))));
  });
}

// mul24.{i|ui}: the low 32 bits of the product of the low 24 bits.
void Mul24(const Call& call) {
  const auto extend = [&](uint64_t slot) {
    const auto bits = static_cast<uint32_t>(slot) << 8;
    return call.site.choice[0] == 0 ? static_cast<int64_t>(static_cast<int32_t>(bits) >> 8)
                                    : static_cast<int64_t>(bits >> 8);
  };
  call.out[0] = static_cast<uint32_t>(extend(call.in[0]) * extend(call.in[1]));
}

// sad.TYPE: z + |x - y|
void Sad(const Call& call) {
  ForInteger(call.site.choice[0], [&]<typename T>(T) {
    const T x = FromSlot<T>(call.in[0]);
    const T y = FromSlot<T>(call.in[1]);
    const uint64_t distance = x > y ? static_cast<uint64_t>(x) - static_cast<uint64_t>(y)
                                    : static_cast<uint64_t>(y) - static_cast<uint64_t>(x);
    call.out[0] = ToSlot(static_cast<T>(call.in[2] + distance));
  });
}

// prmt(a, b, selector): each nibble of the selector picks a byte of {b, a}, or, with its top bit, that byte's sign.
void Prmt(const Call& call) {
  const uint64_t bytes = (call.in[1] << 32) | FromSlot<uint32_t>(call.in[0]);
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const auto selector = static_cast<uint32_t>(call.in[2] >> (4 * i)) & 15;
    uint32_t byte = static_cast<uint32_t>(bytes >> (8 * (selector & 7))) & 0xff;
    if ((selector & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  call.out[0] = result;
}

// {fshl|fshr}.clamp.i32(high, low, shift): a funnel shift by at most 32.
void FunnelShift(const Call& call) {
  const uint64_t both = (call.in[0] << 32) | FromSlot<uint32_t>(call.in[1]);
  const uint64_t shift = std::min<uint64_t>(FromSlot<uint32_t>(call.in[2]), 32);
  call.out[0] = static_cast<uint32_t>(call.site.choice[0] == 0 ? (both << shift) >> 32 : both >> shift);
}

// idp4a.{s|u}.{s|u}(a, b, c): c plus the dot product of four bytes each.
void Dp4a(const Call& call) {
  const auto byte = [](uint64_t word, int i, int is_unsigned) {
    const auto bits = static_cast<uint8_t>(word >> (8 * i));
    return is_unsigned != 0 ? static_cast<int64_t>(bits) : static_cast<int64_t>(static_cast<int8_t>(bits));
  };
  int64_t sum = FromSlot<int32_t>(call.in[2]);
  for (int i = 0; i < 4; ++i) {
    sum += byte(call.in[0], i, call.site.choice[0]) * byte(call.in[1], i, call.site.choice[1]);
  }
  call.out[0] = static_cast<uint32_t>(sum);
}

constexpr Row kRows[] = {
    {"{add|mul|div}." TRIVET_ROUNDINGS "{|.ftz}{|.sat}.{f|d}", Binary},
    {"fma." TRIVET_ROUNDINGS "{|.ftz}{|.sat}.{f|d}", Fma},
    {"fma.rn{|.ftz}{|.sat|.relu}." TRIVET_FLOATS, FmaNarrow},
    {"llvm.fma.{-|-|f16x2|f16|v2f16|bf16x2|bf16|v2bf16}", FmaLlvm},
    {"{rcp|sqrt}.{rn|rz|rm|rp|approx}{|.ftz}.{f|d}", Root},
    {"sqrt.f", [](const Call& call) { call.out[0] = ToSlot(std::sqrt(FromSlot<float>(call.in[0]))); }},
    {"{ex2|lg2|sin|cos|tanh|rsqrt}.approx{|.ftz}." TRIVET_FLOATS, Approximate},
    {"{floor|ceil|round|trunc|fabs|neg|saturate}{|.ftz}." TRIVET_FLOATS, Unary},
    {"div.{approx|full}{|.ftz}{|.f}", DivideApproximately},
    {"f{min|max}{|.ftz}{|.nan}{|.xorsign.abs}." TRIVET_FLOATS, MinMax},
    {"mulhi.{s|us|i|ui|ll|ull}", MulHi},
    {"mul24.{i|ui}", Mul24},
    {"sad.{s|us|i|ui|ll|ull}", Sad},
    {"prmt", Prmt},
    {"{fshl|fshr}.clamp.i32", FunnelShift},
    {"idp4a.{s|u}.{s|u}", Dp4a},
};

}  // namespace

std::span<const Row> ArithmeticRows() { return kRows; }

}  // namespace trivet::jit
