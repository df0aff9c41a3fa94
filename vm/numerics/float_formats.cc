// Bulk conversions. F16C does f16; everything else is the inlined conversion in a loop that vectorises.

#include "vm/numerics/float_formats.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

#include "vm/numerics/independent_loop.h"

namespace trivet::vm {
namespace {

static_assert(
    [] {
      for (size_t i = 0; i < kFloatFormatCount; ++i) {
        const FloatFormatInfo& info = kFloatFormats[i];
        if (static_cast<size_t>(info.format) != i) return false;
        if (info.bits != (info.specials == Specials::kScale ? 0 : 1) + info.exponent_bits + info.mantissa_bits)
          return false;
      }
      return true;
    }(),
    "kFloatFormats has its rows in the order of the enum, and fields that fill the width");

// With constant modes this vectorises; see EncodeGeneric.
template <Rounding kRounding, Overflow kOverflow, typename T, typename Source>
void RoundLoop(std::span<const Source> in, std::span<T> out) {
  const Source* source = in.data();
  T* result = out.data();
  const size_t count = in.size();
  TRIVET_INDEPENDENT_LOOP
  for (size_t i = 0; i < count; ++i) result[i] = Round<T>(source[i], kRounding, kOverflow);
}

// Compiled for the modes that programs use; the rare ones share a loop that looks at the mode per element.
template <typename T, typename Source>
void RoundAny(std::span<const Source> in, std::span<T> out, Rounding rounding, Overflow overflow) {
  constexpr Rounding kDefault = T::kInfo.default_rounding;
  const bool saturates = overflow == Overflow::kSaturate;
  if (rounding == kDefault) {
    return saturates ? RoundLoop<kDefault, Overflow::kSaturate>(in, out)
                     : RoundLoop<kDefault, Overflow::kInfinity>(in, out);
  }
  if (rounding == Rounding::kTowardZero) {
    return saturates ? RoundLoop<Rounding::kTowardZero, Overflow::kSaturate>(in, out)
                     : RoundLoop<Rounding::kTowardZero, Overflow::kInfinity>(in, out);
  }
  for (size_t i = 0; i < in.size(); ++i) out[i] = Round<T>(in[i], rounding, overflow);
}

#if defined(__F16C__)

// VCVTPS2PH with its rounding as an immediate; it ignores MXCSR's flush-to-zero, and keeps NaN payloads as
// EncodeGeneric does. Returns how many elements it converted, a multiple of eight.
template <int kMode>
size_t RoundToF16Vectors(std::span<const float> in, std::span<F16> out) {
  size_t i = 0;
  for (; i + 8 <= in.size(); i += 8) {
    const __m128i codes = _mm256_cvtps_ph(_mm256_loadu_ps(in.data() + i), kMode);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out.data() + i), codes);
  }
  return i;
}

size_t RoundToF16Vectors(std::span<const float> in, std::span<F16> out, Rounding rounding) {
  switch (rounding) {
    case Rounding::kNearestEven:
      return RoundToF16Vectors<_MM_FROUND_TO_NEAREST_INT>(in, out);
    case Rounding::kTowardZero:
      return RoundToF16Vectors<_MM_FROUND_TO_ZERO>(in, out);
    case Rounding::kUp:
      return RoundToF16Vectors<_MM_FROUND_TO_POS_INF>(in, out);
    case Rounding::kDown:
      return RoundToF16Vectors<_MM_FROUND_TO_NEG_INF>(in, out);
    case Rounding::kNearestAway:
      return 0;
  }
  return 0;
}

size_t WidenF16Vectors(std::span<const F16> in, std::span<float> out) {
  size_t i = 0;
  for (; i + 8 <= in.size(); i += 8) {
    const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in.data() + i));
    _mm256_storeu_ps(out.data() + i, _mm256_cvtph_ps(codes));
  }
  return i;
}

#else

size_t RoundToF16Vectors(std::span<const float>, std::span<F16>, Rounding) { return 0; }
size_t WidenF16Vectors(std::span<const F16>, std::span<float>) { return 0; }

#endif  // defined(__F16C__)

template <typename T, typename Result>
void WidenLoop(std::span<const T> in, std::span<Result> out) {
  const T* source = in.data();
  Result* result = out.data();
  const size_t count = in.size();
  TRIVET_INDEPENDENT_LOOP
  for (size_t i = 0; i < count; ++i) result[i] = Widen(source[i]);
}

}  // namespace

uint32_t EncodeFloat(FloatFormat format, double value, Rounding rounding, Overflow overflow) {
  if (format == FloatFormat::kF8E8M0) return internal::EncodeScale(value, rounding, overflow);
  return internal::EncodeGeneric(InfoOf(format), value, rounding, overflow);
}

double DecodeFloat(FloatFormat format, uint32_t code) { return internal::DecodeGeneric(InfoOf(format), code); }

template <NarrowFloatElement T>
void WidenToF32(std::span<const T> in, std::span<float> out) {
  if constexpr (std::is_same_v<T, F16>) {
    const size_t done = WidenF16Vectors(in, out);
    WidenLoop(in.subspan(done), out.subspan(done));
  } else {
    WidenLoop(in, out);
  }
}

template <NarrowFloatElement T>
void WidenToF64(std::span<const T> in, std::span<double> out) {
  WidenLoop(in, out);
}

template <NarrowFloatElement T>
void RoundFromF32(std::span<const float> in, std::span<T> out, Rounding rounding, Overflow overflow) {
  if constexpr (std::is_same_v<T, F16>) {
    if (overflow == Overflow::kInfinity) {
      const size_t done = RoundToF16Vectors(in, out, rounding);
      return RoundAny(in.subspan(done), out.subspan(done), rounding, overflow);
    }
  }
  RoundAny(in, out, rounding, overflow);
}

template <NarrowFloatElement T>
void RoundFromF64(std::span<const double> in, std::span<T> out, Rounding rounding, Overflow overflow) {
  RoundAny(in, out, rounding, overflow);
}

#define TRIVET_INSTANTIATE(T)                                                              \
  template void WidenToF32<T>(std::span<const T>, std::span<float>);                       \
  template void WidenToF64<T>(std::span<const T>, std::span<double>);                      \
  template void RoundFromF32<T>(std::span<const float>, std::span<T>, Rounding, Overflow); \
  template void RoundFromF64<T>(std::span<const double>, std::span<T>, Rounding, Overflow);
TRIVET_INSTANTIATE(F16)
TRIVET_INSTANTIATE(BF16)
TRIVET_INSTANTIATE(F8E4M3)
TRIVET_INSTANTIATE(F8E5M2)
TRIVET_INSTANTIATE(F8E4B8)
TRIVET_INSTANTIATE(F8E5B16)
TRIVET_INSTANTIATE(F8E4B15)
TRIVET_INSTANTIATE(F4E2M1)
TRIVET_INSTANTIATE(F8E8M0)
#undef TRIVET_INSTANTIATE

void RoundToTf32(std::span<const float> in, std::span<float> out, Rounding rounding) {
  const float* source = in.data();
  float* result = out.data();
  const size_t count = in.size();
  if (rounding == Rounding::kNearestAway) {
    TRIVET_INDEPENDENT_LOOP
    for (size_t i = 0; i < count; ++i) result[i] = RoundToTf32(source[i], Rounding::kNearestAway);
  } else if (rounding == Rounding::kTowardZero) {
    TRIVET_INDEPENDENT_LOOP
    for (size_t i = 0; i < count; ++i) result[i] = RoundToTf32(source[i], Rounding::kTowardZero);
  } else {
    for (size_t i = 0; i < count; ++i) result[i] = RoundToTf32(source[i], rounding);
  }
}

void RoundToF32(std::span<const double> in, std::span<float> out, Rounding rounding) {
  const double* source = in.data();
  float* result = out.data();
  const size_t count = in.size();
  if (rounding == Rounding::kNearestEven) {
    TRIVET_INDEPENDENT_LOOP
    for (size_t i = 0; i < count; ++i) result[i] = static_cast<float>(source[i]);
  } else {
    for (size_t i = 0; i < count; ++i) result[i] = RoundToF32(source[i], rounding);
  }
}

void UnpackF4(std::span<const uint8_t> packed, std::span<F4E2M1> elements) {
  for (size_t i = 0; i < packed.size(); ++i) {
    elements[2 * i].bits = packed[i] & 0xf;
    elements[2 * i + 1].bits = packed[i] >> 4;
  }
}

void PackF4(std::span<const F4E2M1> elements, std::span<uint8_t> packed) {
  for (size_t i = 0; i < packed.size(); ++i) {
    packed[i] = static_cast<uint8_t>((elements[2 * i].bits & 0xf) | (elements[2 * i + 1].bits & 0xf) << 4);
  }
}

}  // namespace trivet::vm
