// How far a faster tier's result may be from the reference interpreter's. One bound, in the units of the result:
//
//   |tier - reference| <= ulp * ulp_of(reference) + ulp_per_argument * |x| * ulp_of(reference) + absolute
//                         + relative_to_terms * sum of |terms|
//
// where ulp_of is the spacing of the result's format at the reference value, `x` the (first) operand, and the terms are
// the summands of a reduction, scan or dot (for a dot, the products; for remf, see kRemainder). NaN must meet NaN,
// infinity the same infinity. The sign of a zero counts only where the bound is all zero.
//
// docs/semantics.md documents these numbers; cross-checking and the op cases use them.

#ifndef TRIVET_VM_NUMERICS_TOLERANCE_H_
#define TRIVET_VM_NUMERICS_TOLERANCE_H_

#include <cstdint>
#include <span>

#include "vm/numerics/float_formats.h"
#include "vm/numerics/vector_math.h"

namespace trivet::vm {

struct Tolerance {
  double ulp = 0;
  double ulp_per_argument = 0;
  double absolute = 0;
  double relative_to_terms = 0;

  bool is_exact() const { return ulp == 0 && ulp_per_argument == 0 && absolute == 0 && relative_to_terms == 0; }
};

// Kinds of ops that are not mathematical functions.
enum class OpClass : uint8_t {
  kExact,      // integer, bitwise, comparison, select, shape, memory, min and max, exact casts
  kRounded,    // add, sub, mul, fma, casts, the _rn/_rz/_ru/_rd forms: IEEE in every tier, hence equal
  kDivide,     // the `/` operator on floats: f32 may use div.full (2 ulp, PTX ISA)
  kRemainder,  // the `%` operator on floats: x - y * trunc(x / y) as a tier divides. Two terms: y, and 2^-21 x (f64:
               // 2^-50)
  kSum,        // sums by reduce, scan or floating-point atomics: the order of summation is the tier's
  kDotIeee,    // dot with exact products; order of summation free
  kDotTf32,    // dot on operands cut off to tf32
  kDotTf32x3,  // dot as three tf32 dots
  kDotNarrow,  // dot of f16, bf16 or f8 operands: products are exact in f32
};

// A row per class: tolerance for results that are f32, of `terms` summands.
struct OpClassInfo {
  OpClass op_class;
  const char* text;
  const char* reason;
};
std::span<const OpClassInfo> OpClasses();

// Tolerance of class `op_class` for a result computed in f32, also if it is then rounded to a narrower format (whose
// ulp is then meant). `terms` is the number of summands of one result element (K for a dot); it matters to
// the summing classes only.
Tolerance ToleranceFor(OpClass op_class, int64_t terms = 1);
Tolerance ToleranceForF64(OpClass op_class, int64_t terms = 1);

// Tolerance of a mathematical function. For f16 and bf16 it is computed in f32 and rounded once more, so one
// ulp of the narrow format covers what a tier's f32 function may do.
Tolerance ToleranceFor(MathFunction function, FloatFormat format);
Tolerance ToleranceForF64(MathFunction function);

// Spacing of `format` around `value` (of the binade of |value|; the smallest subnormal at and near 0).
double UlpOf(FloatFormat format, double value);
double UlpOfF64(double value);

}  // namespace trivet::vm

#endif  // TRIVET_VM_NUMERICS_TOLERANCE_H_
