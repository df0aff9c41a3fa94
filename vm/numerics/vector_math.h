// The mathematical functions of the language over spans of f32 and f64: the values that define what a tier
// should compute. The list, with accuracies, is math_functions.def.
//
// How results come about, best first:
//
// * f32 functions that kernels live on (exp*, log*, sin, cos, tan, sinpi, cospi, tanh, sinh, cosh, erf,
//   sqrt, rsqrt): one branch-free kernel in f64 (double_kernels.h), then one rounding to f32. The kernel's
//   error is below 2^-36, so that only values within 2^-12 ulp of the middle between two floats may go the
//   wrong way. Loops vectorise. Kernels use no fused multiply-add: their bits don't depend on the host.
// * Other f32 functions: the host's f64 function, rounded to f32.
// * f64: the host's libm, which glibc documents to 1 or 2 ulp; or x87 extended precision for functions that
//   libm lacks (special_functions.h).
//
// Special values follow C17 annex F; math_functions.def says where a function is not in C. Subnormals are
// neither flushed on input nor on output. Functions set no errno and may raise any floating-point flag; they
// expect the default rounding mode.
//
// Spans have equal length and are disjoint or identical (in place). Thread-safe.

#ifndef TRIVET_VM_NUMERICS_VECTOR_MATH_H_
#define TRIVET_VM_NUMERICS_VECTOR_MATH_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace trivet::vm {

enum class MathFunction : uint8_t {
#define TRIVET_MATH_ANY(Name, ...) k##Name,
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
};

// What a function takes and returns; see the head of math_functions.def.
enum class MathKind : uint8_t {
  kUnary,
  kBinary,
  kTernary,
  kQuaternary,
  kOrder,
  kExponent,
  kPredicate,
  kInteger,
};

// A row of math_functions.def.
struct MathFunctionInfo {
  MathFunction function;
  MathKind kind;
  const char* text;
  double reference_ulp_f32;  // -1: no bound in ulp
  double reference_ulp_f64;
  int tier_ulp_f32;
  int tier_ulp_f64;
  const char* doc;
};

// All rows, in the order of the enum.
std::span<const MathFunctionInfo> MathFunctions();
const MathFunctionInfo& InfoOf(MathFunction function);

// One pair of overloads per row: math::Exp(x, out), math::Pow(x, y, out), math::Jn(n, x, out), ...
namespace math {

#define TRIVET_MATH_UNARY(Name, ...)                         \
  void Name(std::span<const float> x, std::span<float> out); \
  void Name(std::span<const double> x, std::span<double> out);
#define TRIVET_MATH_BINARY(Name, ...)                                                  \
  void Name(std::span<const float> x, std::span<const float> y, std::span<float> out); \
  void Name(std::span<const double> x, std::span<const double> y, std::span<double> out);
#define TRIVET_MATH_TERNARY(Name, ...)                                                                           \
  void Name(std::span<const float> x, std::span<const float> y, std::span<const float> z, std::span<float> out); \
  void Name(std::span<const double> x, std::span<const double> y, std::span<const double> z, std::span<double> out);
#define TRIVET_MATH_QUATERNARY(Name, ...)                                                                           \
  void Name(std::span<const float> x, std::span<const float> y, std::span<const float> z, std::span<const float> w, \
            std::span<float> out);                                                                                  \
  void Name(std::span<const double> x, std::span<const double> y, std::span<const double> z,                        \
            std::span<const double> w, std::span<double> out);
#define TRIVET_MATH_ORDER(Name, ...)                                                     \
  void Name(std::span<const int32_t> n, std::span<const float> x, std::span<float> out); \
  void Name(std::span<const int32_t> n, std::span<const double> x, std::span<double> out);
#define TRIVET_MATH_EXPONENT(Name, ...)                                                  \
  void Name(std::span<const float> x, std::span<const int32_t> n, std::span<float> out); \
  void Name(std::span<const double> x, std::span<const int32_t> n, std::span<double> out);
#define TRIVET_MATH_PREDICATE(Name, ...)                       \
  void Name(std::span<const float> x, std::span<uint8_t> out); \
  void Name(std::span<const double> x, std::span<uint8_t> out);
#define TRIVET_MATH_INTEGER(Name, ...)                         \
  void Name(std::span<const float> x, std::span<int32_t> out); \
  void Name(std::span<const double> x, std::span<int32_t> out);
#include "vm/numerics/math_functions.def"
#undef TRIVET_MATH_UNARY
#undef TRIVET_MATH_BINARY
#undef TRIVET_MATH_TERNARY
#undef TRIVET_MATH_QUATERNARY
#undef TRIVET_MATH_ORDER
#undef TRIVET_MATH_EXPONENT
#undef TRIVET_MATH_PREDICATE
#undef TRIVET_MATH_INTEGER

}  // namespace math
}  // namespace trivet::vm

#endif  // TRIVET_VM_NUMERICS_VECTOR_MATH_H_
