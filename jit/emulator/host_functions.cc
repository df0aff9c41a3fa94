#include "jit/emulator/host_functions.h"

#include <bit>
#include <cmath>
#include <cstdint>

#include "vm/numerics/float_formats.h"

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

// libdevice functions that libm lacks. (CUDA math API.)
float Rsqrt(float x) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x))); }
double RsqrtDouble(double x) { return 1.0 / std::sqrt(x); }
template <typename T>
T NormalCdf(T x) {
  return static_cast<T>(0.5 * std::erfc(-static_cast<double>(x) * 0.70710678118654752440));
}
template <typename T>
T Erfcx(T x) {
  const long double wide = x;
  if (wide < 25) return static_cast<T>(std::exp(wide * wide) * std::erfc(wide));
  const long double inverse = 1 / (wide * wide);  // asymptotic series, 1/(x sqrt(pi)) (1 - 1/2x^2 + 3/4x^4 - ...)
  return static_cast<T>(0.56418958354775628695L / wide * (1 - inverse / 2 * (1 - inverse * 3 / 2)));
}
template <typename T>
T SinPi(T x) {
  return static_cast<T>(std::sin(std::fmod(static_cast<long double>(x), 2.0L) * 3.14159265358979323846L));
}
template <typename T>
T CosPi(T x) {
  return static_cast<T>(std::cos(std::fmod(static_cast<long double>(x), 2.0L) * 3.14159265358979323846L));
}
template <typename T>
T PowInt(T x, int32_t n) {
  return static_cast<T>(std::pow(static_cast<double>(x), n));
}
float SaturateFloat(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }
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
int32_t IsNan(float x) { return std::isnan(x); }
int32_t IsNanDouble(double x) { return std::isnan(x); }
int32_t IsInf(float x) { return std::isinf(x); }
int32_t IsInfDouble(double x) { return std::isinf(x); }
int32_t IsFinite(float x) { return std::isfinite(x); }
int32_t IsFiniteDouble(double x) { return std::isfinite(x); }
int32_t SignBit(float x) { return std::signbit(x); }
int32_t SignBitDouble(double x) { return std::signbit(x); }
int32_t Abs(int32_t x) { return x < 0 ? static_cast<int32_t>(0u - static_cast<uint32_t>(x)) : x; }
int64_t Abs64(int64_t x) { return x < 0 ? static_cast<int64_t>(uint64_t{0} - static_cast<uint64_t>(x)) : x; }

template <typename R, typename... A>
void* Address(R (*function)(A...)) {
  return reinterpret_cast<void*>(function);
}

// A function of one or two arguments in f32 ("__nv_expf") and f64 ("__nv_exp").
#define TRIVET_LIBM1(name) \
  {"__nv_" #name "f", Address<float, float>(std::name)}, { "__nv_" #name, Address<double, double>(std::name) }
#define TRIVET_LIBM2(name)                                        \
  {"__nv_" #name "f", Address<float, float, float>(std::name)}, { \
    "__nv_" #name, Address<double, double, double>(std::name)     \
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
    TRIVET_LIBM1(acos),
    TRIVET_LIBM1(acosh),
    TRIVET_LIBM1(asin),
    TRIVET_LIBM1(asinh),
    TRIVET_LIBM1(atan),
    TRIVET_LIBM1(atanh),
    TRIVET_LIBM1(cbrt),
    TRIVET_LIBM1(ceil),
    TRIVET_LIBM1(cos),
    TRIVET_LIBM1(cosh),
    TRIVET_LIBM1(erf),
    TRIVET_LIBM1(erfc),
    TRIVET_LIBM1(exp),
    TRIVET_LIBM1(exp2),
    TRIVET_LIBM1(expm1),
    TRIVET_LIBM1(fabs),
    TRIVET_LIBM1(floor),
    TRIVET_LIBM1(lgamma),
    TRIVET_LIBM1(log),
    TRIVET_LIBM1(log10),
    TRIVET_LIBM1(log1p),
    TRIVET_LIBM1(log2),
    TRIVET_LIBM1(logb),
    TRIVET_LIBM1(nearbyint),
    TRIVET_LIBM1(rint),
    TRIVET_LIBM1(round),
    TRIVET_LIBM1(sin),
    TRIVET_LIBM1(sinh),
    TRIVET_LIBM1(sqrt),
    TRIVET_LIBM1(tan),
    TRIVET_LIBM1(tanh),
    TRIVET_LIBM1(tgamma),
    TRIVET_LIBM1(trunc),
    TRIVET_LIBM2(atan2),
    TRIVET_LIBM2(copysign),
    TRIVET_LIBM2(fdim),
    TRIVET_LIBM2(fmax),
    TRIVET_LIBM2(fmin),
    TRIVET_LIBM2(fmod),
    TRIVET_LIBM2(hypot),
    TRIVET_LIBM2(nextafter),
    TRIVET_LIBM2(pow),
    TRIVET_LIBM2(remainder),
    {"__nv_fmaf", Address<float, float, float, float>(std::fma)},
    {"__nv_fma", Address<double, double, double, double>(std::fma)},
    {"__nv_exp10f", Address(exp10f)},
    {"__nv_exp10", Address(exp10)},
    {"__nv_j0f", Address(j0f)},
    {"__nv_j0", Address(j0)},
    {"__nv_j1f", Address(j1f)},
    {"__nv_j1", Address(j1)},
    {"__nv_y0f", Address(y0f)},
    {"__nv_y0", Address(y0)},
    {"__nv_y1f", Address(y1f)},
    {"__nv_y1", Address(y1)},
    {"__nv_rsqrtf", Address(Rsqrt)},
    {"__nv_rsqrt", Address(RsqrtDouble)},
    {"__nv_normcdff", Address(NormalCdf<float>)},
    {"__nv_normcdf", Address(NormalCdf<double>)},
    {"__nv_erfcxf", Address(Erfcx<float>)},
    {"__nv_erfcx", Address(Erfcx<double>)},
    {"__nv_sinpif", Address(SinPi<float>)},
    {"__nv_sinpi", Address(SinPi<double>)},
    {"__nv_cospif", Address(CosPi<float>)},
    {"__nv_cospi", Address(CosPi<double>)},
    {"__nv_fast_expf", Address<float, float>(std::exp)},
    {"__nv_fast_exp10f", Address(exp10f)},
    {"__nv_fast_logf", Address<float, float>(std::log)},
    {"__nv_fast_log2f", Address<float, float>(std::log2)},
    {"__nv_fast_log10f", Address<float, float>(std::log10)},
    {"__nv_fast_sinf", Address<float, float>(std::sin)},
    {"__nv_fast_cosf", Address<float, float>(std::cos)},
    {"__nv_fast_tanf", Address<float, float>(std::tan)},
    {"__nv_fast_powf", Address<float, float, float>(std::pow)},
    {"__nv_fast_fdividef", Address(Divide)},
    {"__nv_fdividef", Address(Divide)},
    {"__nv_saturatef", Address(SaturateFloat)},
    {"__nv_ldexpf", Address<float, float, int>(std::ldexp)},
    {"__nv_ldexp", Address<double, double, int>(std::ldexp)},
    {"__nv_scalbnf", Address<float, float, int>(std::scalbn)},
    {"__nv_scalbn", Address<double, double, int>(std::scalbn)},
    {"__nv_powif", Address(PowInt<float>)},
    {"__nv_powi", Address(PowInt<double>)},
    {"__nv_ilogbf", Address<int, float>(std::ilogb)},
    {"__nv_ilogb", Address<int, double>(std::ilogb)},
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
    {"__nv_isnanf", Address(IsNan)},
    {"__nv_isnand", Address(IsNanDouble)},
    {"__nv_isinff", Address(IsInf)},
    {"__nv_isinfd", Address(IsInfDouble)},
    {"__nv_finitef", Address(IsFinite)},
    {"__nv_isfinited", Address(IsFiniteDouble)},
    {"__nv_signbitf", Address(SignBit)},
    {"__nv_signbitd", Address(SignBitDouble)},
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
