#include "jit/emulator/host_functions.h"

#include <bit>
#include <cmath>
#include <cstdint>

#include "vm/numerics/float_formats.h"
#include "vm/numerics/vector_math.h"

namespace trivet::jit {

namespace {

// Half and bfloat pass in the low 16 bits of a floating-point register (System V and AAPCS64), as these floats do: the
// C++ compilers in use don't all know the types.
template <typename T>
float Pack(T value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value.bits));
}
template <typename T>
T Unpack(float value) {
  return T{static_cast<uint16_t>(std::bit_cast<uint32_t>(value))};
}

float TruncateToBf16(float x) { return Pack(vm::Round<vm::BF16>(x)); }
float TruncateDoubleToBf16(double x) { return Pack(vm::Round<vm::BF16>(x)); }
float TruncateToF16(float x) { return Pack(vm::Round<vm::F16>(x)); }
float TruncateDoubleToF16(double x) { return Pack(vm::Round<vm::F16>(x)); }
float ExtendF16(float x) { return vm::Widen(Unpack<vm::F16>(x)); }
double ExtendF16ToDouble(float x) { return vm::Widen(Unpack<vm::F16>(x)); }
float ExtendBf16(float x) { return vm::Widen(Unpack<vm::BF16>(x)); }

// libdevice by the reference's functions, one value at a time. The names agree: "__nv_" and the text of the row, and
// "f" for f32.
#define TRIVET_MATH_UNARY(Name, ...)                                  \
  template <typename T>                                               \
  T Name(T x) {                                                       \
    T out;                                                            \
    vm::math::Name(std::span<const T>(&x, 1), std::span<T>(&out, 1)); \
    return out;                                                       \
  }
#define TRIVET_MATH_BINARY(Name, ...)                                                            \
  template <typename T>                                                                          \
  T Name(T x, T y) {                                                                             \
    T out;                                                                                       \
    vm::math::Name(std::span<const T>(&x, 1), std::span<const T>(&y, 1), std::span<T>(&out, 1)); \
    return out;                                                                                  \
  }
#define TRIVET_MATH_TERNARY(Name, ...)                                                              \
  template <typename T>                                                                             \
  T Name(T x, T y, T z) {                                                                           \
    T out;                                                                                          \
    vm::math::Name(std::span<const T>(&x, 1), std::span<const T>(&y, 1), std::span<const T>(&z, 1), \
                   std::span<T>(&out, 1));                                                          \
    return out;                                                                                     \
  }
#define TRIVET_MATH_QUATERNARY(Name, ...)                                                           \
  template <typename T>                                                                             \
  T Name(T x, T y, T z, T w) {                                                                      \
    T out;                                                                                          \
    vm::math::Name(std::span<const T>(&x, 1), std::span<const T>(&y, 1), std::span<const T>(&z, 1), \
                   std::span<const T>(&w, 1), std::span<T>(&out, 1));                               \
    return out;                                                                                     \
  }
#define TRIVET_MATH_ORDER(Name, ...)                                                                   \
  template <typename T>                                                                                \
  T Name(int32_t n, T x) {                                                                             \
    T out;                                                                                             \
    vm::math::Name(std::span<const int32_t>(&n, 1), std::span<const T>(&x, 1), std::span<T>(&out, 1)); \
    return out;                                                                                        \
  }
#define TRIVET_MATH_EXPONENT(Name, ...)                                                                \
  template <typename T>                                                                                \
  T Name(T x, int32_t n) {                                                                             \
    T out;                                                                                             \
    vm::math::Name(std::span<const T>(&x, 1), std::span<const int32_t>(&n, 1), std::span<T>(&out, 1)); \
    return out;                                                                                        \
  }
#define TRIVET_MATH_PREDICATE(Name, ...)                                    \
  template <typename T>                                                     \
  int32_t Name(T x) {                                                       \
    uint8_t out;                                                            \
    vm::math::Name(std::span<const T>(&x, 1), std::span<uint8_t>(&out, 1)); \
    return out;                                                             \
  }
#define TRIVET_MATH_INTEGER(Name, ...)                                      \
  template <typename T>                                                     \
  int32_t Name(T x) {                                                       \
    int32_t out;                                                            \
    vm::math::Name(std::span<const T>(&x, 1), std::span<int32_t>(&out, 1)); \
    return out;                                                             \
  }
namespace reference {
#include "vm/numerics/math_functions.def"
}  // namespace reference
#undef TRIVET_MATH_UNARY
#undef TRIVET_MATH_BINARY
#undef TRIVET_MATH_TERNARY
#undef TRIVET_MATH_QUATERNARY
#undef TRIVET_MATH_ORDER
#undef TRIVET_MATH_EXPONENT
#undef TRIVET_MATH_PREDICATE
#undef TRIVET_MATH_INTEGER

// The others.
float Divide(float x, float y) { return x / y; }
int32_t MulHi(int32_t x, int32_t y) { return static_cast<int32_t>((static_cast<int64_t>(x) * y) >> 32); }
uint32_t UMulHi(uint32_t x, uint32_t y) { return static_cast<uint32_t>((static_cast<uint64_t>(x) * y) >> 32); }
int64_t MulHi64(int64_t x, int64_t y) { return static_cast<int64_t>((static_cast<__int128>(x) * y) >> 64); }
uint64_t UMulHi64(uint64_t x, uint64_t y) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(x) * y) >> 64);
}
int32_t Popc(uint32_t x) { return std::popcount(x); }
int32_t Popc64(uint64_t x) { return std::popcount(x); }
int32_t Clz(uint32_t x) { return std::countl_zero(x); }
int32_t Clz64(uint64_t x) { return std::countl_zero(x); }
int32_t Ffs(uint32_t x) { return x == 0 ? 0 : std::countr_zero(x) + 1; }
int32_t Ffs64(uint64_t x) { return x == 0 ? 0 : std::countr_zero(x) + 1; }
int32_t Abs(int32_t x) { return x < 0 ? static_cast<int32_t>(0u - static_cast<uint32_t>(x)) : x; }
int64_t Abs64(int64_t x) { return x < 0 ? static_cast<int64_t>(uint64_t{0} - static_cast<uint64_t>(x)) : x; }

template <typename R, typename... A>
void* Address(R (*function)(A...)) {
  return reinterpret_cast<void*>(function);
}

const HostSymbol kSymbols[] = {
    {"__truncsfbf2", Address(TruncateToBf16)},
    {"__truncdfbf2", Address(TruncateDoubleToBf16)},
    {"__truncsfhf2", Address(TruncateToF16)},
    {"__truncdfhf2", Address(TruncateDoubleToF16)},
    {"__gnu_f2h_ieee", Address(TruncateToF16)},
    {"__extendhfsf2", Address(ExtendF16)},
    {"__extendhfdf2", Address(ExtendF16ToDouble)},
    {"__extendbfsf2", Address(ExtendBf16)},
#define TRIVET_MATH_ANY(Name, text, ...) \
  {"__nv_" text "f", Address(reference::Name<float>)}, {"__nv_" text, Address(reference::Name<double>)},
#define TRIVET_MATH_UNARY TRIVET_MATH_ANY
#define TRIVET_MATH_BINARY TRIVET_MATH_ANY
#define TRIVET_MATH_TERNARY TRIVET_MATH_ANY
#define TRIVET_MATH_QUATERNARY TRIVET_MATH_ANY
#define TRIVET_MATH_ORDER TRIVET_MATH_ANY
#define TRIVET_MATH_EXPONENT TRIVET_MATH_ANY
#define TRIVET_MATH_PREDICATE TRIVET_MATH_ANY
#define TRIVET_MATH_INTEGER TRIVET_MATH_ANY
#include "vm/numerics/math_functions.def"
#undef TRIVET_MATH_UNARY
#undef TRIVET_MATH_BINARY
#undef TRIVET_MATH_TERNARY
#undef TRIVET_MATH_QUATERNARY
#undef TRIVET_MATH_ORDER
#undef TRIVET_MATH_EXPONENT
#undef TRIVET_MATH_PREDICATE
#undef TRIVET_MATH_INTEGER
#undef TRIVET_MATH_ANY
    // Names that go their own way.
    {"__nv_isnand", Address(reference::IsNan<double>)},
    {"__nv_isinfd", Address(reference::IsInf<double>)},
    {"__nv_finitef", Address(reference::IsFinite<float>)},
    {"__nv_isfinited", Address(reference::IsFinite<double>)},
    {"__nv_signbitd", Address(reference::SignBit<double>)},
    {"__nv_nearbyintf", Address(reference::RoundEven<float>)},
    {"__nv_nearbyint", Address(reference::RoundEven<double>)},
    {"__nv_scalbnf", Address(reference::Ldexp<float>)},
    {"__nv_scalbn", Address(reference::Ldexp<double>)},
    {"__nv_fabsf", Address<float, float>(std::fabs)},
    {"__nv_fabs", Address<double, double>(std::fabs)},
    {"__nv_fminf", Address<float, float, float>(std::fmin)},
    {"__nv_fmin", Address<double, double, double>(std::fmin)},
    {"__nv_fmaxf", Address<float, float, float>(std::fmax)},
    {"__nv_fmax", Address<double, double, double>(std::fmax)},
    {"__nv_fmaf", Address<float, float, float, float>(std::fma)},
    {"__nv_fma", Address<double, double, double, double>(std::fma)},
    {"__nv_fdividef", Address(Divide)},
    {"__nv_fast_fdividef", Address(Divide)},
    {"__nv_fast_expf", Address(reference::Exp<float>)},
    {"__nv_fast_exp10f", Address(reference::Exp10<float>)},
    {"__nv_fast_logf", Address(reference::Log<float>)},
    {"__nv_fast_log2f", Address(reference::Log2<float>)},
    {"__nv_fast_log10f", Address(reference::Log10<float>)},
    {"__nv_fast_sinf", Address(reference::Sin<float>)},
    {"__nv_fast_cosf", Address(reference::Cos<float>)},
    {"__nv_fast_tanf", Address(reference::Tan<float>)},
    {"__nv_fast_powf", Address(reference::Pow<float>)},
    {"__nv_mulhi", Address(MulHi)},
    {"__nv_umulhi", Address(UMulHi)},
    {"__nv_mul64hi", Address(MulHi64)},
    {"__nv_umul64hi", Address(UMulHi64)},
    {"__nv_popc", Address(Popc)},
    {"__nv_popcll", Address(Popc64)},
    {"__nv_clz", Address(Clz)},
    {"__nv_clzll", Address(Clz64)},
    {"__nv_ffs", Address(Ffs)},
    {"__nv_ffsll", Address(Ffs64)},
    {"__nv_abs", Address(Abs)},
    {"__nv_llabs", Address(Abs64)},
};

}  // namespace

std::span<const HostSymbol> HostSymbols() { return kSymbols; }

const HostSymbol* FindHostSymbol(absl::string_view name) {
  for (const HostSymbol& symbol : kSymbols) {
    if (name == symbol.name) return &symbol;
  }
  return nullptr;
}

}  // namespace trivet::jit
