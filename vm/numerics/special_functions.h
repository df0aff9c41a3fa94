// Functions that C's library lacks, and the f64 ones that it computes less well than the reference should: one
// value, evaluated in extended precision (long double: 64 mantissa bits on x86, 113 on arm64) and rounded to f64.
// The errors in math_functions.def are theirs. vector_math.h says what each means and its special values.

#ifndef TRIVET_VM_NUMERICS_SPECIAL_FUNCTIONS_H_
#define TRIVET_VM_NUMERICS_SPECIAL_FUNCTIONS_H_

#include <cstdint>
#include <initializer_list>

namespace trivet::vm::special {

double Sinpi(double x);
double Cospi(double x);

double Erfinv(double x);
double Erfcinv(double q);
double Erfcx(double x);
double Normcdf(double x);
double Normcdfinv(double p);

double Lgamma(double x);

double CylBesselI0(double x);
double CylBesselI1(double x);

// Orders above a million are answered where the function has underflown (|x| < n/2: 0, or -infinity for Yn),
// and are NaN elsewhere: the recurrence takes time proportional to n.
double Jn(int32_t n, double x);
double Yn(int32_t n, double x);

// sqrt of the sum of squares, without overflow or underflow on the way; infinite if any component is, even
// beside a NaN (as hypot). And its reciprocal.
double Norm(std::initializer_list<double> components);
double Rnorm(std::initializer_list<double> components);

}  // namespace trivet::vm::special

#endif  // TRIVET_VM_NUMERICS_SPECIAL_FUNCTIONS_H_
