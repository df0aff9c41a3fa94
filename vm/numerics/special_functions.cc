#include "vm/numerics/special_functions.h"

#include <math.h>  // for lgammal_r, jnl, ynl

#include <cmath>
#include <limits>

namespace trivet::vm::special {
namespace {

using Extended = long double;

constexpr Extended kPi = 3.14159265358979323846264338327950288L;
constexpr Extended kSqrtPi = 1.77245385090551602729816748334114518L;
constexpr Extended kSqrt2 = 1.41421356237309504880168872420969808L;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// sin or cos of pi x, for x = quadrant / 2 + fraction with |fraction| <= 1/4.
Extended SinOfQuadrant(Extended fraction, int quadrant) {
  const Extended value = (quadrant & 1) != 0 ? std::cos(kPi * fraction) : std::sin(kPi * fraction);
  return (quadrant & 2) != 0 ? -value : value;
}

struct HalfTurns {
  Extended fraction;
  int quadrant;
};
HalfTurns Reduce(double x) {
  const double turns = std::fmod(x, 2.0);  // exact, |turns| < 2
  const double quadrant = std::nearbyint(2.0 * turns);
  return {static_cast<Extended>(turns) - 0.5L * quadrant, static_cast<int>(quadrant)};
}

// A first value for y with erfc(y) = 1 - x, given log((1-x)(1+x)): S. Winitzki's closed form (2008), within 0.4%.
Extended InverseErfGuess(Extended log_product) {
  constexpr Extended kA = 0.147L;
  const Extended t = 2 / (kPi * kA) + log_product / 2;
  const Extended product = log_product / kA;
  return std::sqrt(-product / (std::sqrt(t * t - product) + t));
}

// Halley's iteration on g(y) = `residual(y)`, where g' = slope_sign * 2/sqrt(pi) e^(-y^2) and g''/g' = -2y.
template <typename Residual>
Extended Refine(Extended y, Extended slope_sign, Residual residual) {
  for (int i = 0; i < 8; ++i) {
    const Extended step = residual(y) / (slope_sign * 2 / kSqrtPi * std::exp(-y * y));
    const Extended next = y - step / (1 + step * y);
    const bool settled = std::fabs(next - y) <= 0x1p-62L * std::fabs(next);
    y = next;
    if (settled) break;
  }
  return y;
}

// erf^-1 for 0 <= x <= 1/2.
Extended ErfinvCentre(Extended x) {
  if (x < 0x1p-40L) return x * kSqrtPi / 2;  // the next term, pi x^2 / 12 of it, is below 2^-80
  const Extended guess = InverseErfGuess(std::log1p(-x * x));
  return Refine(guess, 1, [x](Extended y) { return std::erf(y) - x; });
}

// erfc^-1 for 0 < q <= 1/2.
Extended ErfcinvTail(Extended q) {
  const Extended guess = InverseErfGuess(std::log(q) + std::log(2 - q));
  return Refine(guess, -1, [q](Extended y) { return std::erfc(y) - q; });
}

// erfc^-1 for 0 < q < 2; 1 - q and 2 - q are exact where they are used, for every q that is an f64.
Extended ErfcinvAnywhere(Extended q) {
  if (q > 1.5L) return -ErfcinvTail(2 - q);
  if (q > 1) return -ErfinvCentre(q - 1);
  if (q > 0.5L) return ErfinvCentre(1 - q);
  return ErfcinvTail(q);
}

// Erfcx for x >= 8 by Laplace's continued fraction, sqrt(pi) erfcx(x) = 1/(x + (1/2)/(x + (2/2)/(x + ...))):
// sixty levels leave less than 2^-70.
Extended ErfcxFraction(Extended x) {
  Extended tail = x;
  for (int level = 60; level > 0; --level) tail = x + (0.5L * level) / tail;
  return 1 / (kSqrtPi * tail);
}

// I_order(x), order 0 or 1, x >= 0. Up to 50 the power series, all of whose terms are positive; above, Hankel's
// asymptotic expansion (Abramowitz and Stegun 9.7.1), whose smallest term is below e^-100.
Extended BesselI(int order, Extended x) {
  constexpr Extended kNegligible = 0x1p-70L;
  if (x <= 50) {
    const Extended quarter_square = x * x / 4;
    Extended term = order == 0 ? 1 : x / 2;
    Extended sum = term;
    for (int k = 1; term > sum * kNegligible; ++k) {
      term *= quarter_square / (static_cast<Extended>(k) * (k + order));
      sum += term;
    }
    return sum;
  }
  const Extended mu = 4 * order * order;
  Extended term = 1;
  Extended sum = 1;
  for (int k = 1; k < 100 && std::fabs(term) > kNegligible; ++k) {
    const Extended odd = 2 * k - 1;
    term *= -(mu - odd * odd) / (8 * x * k);
    sum += term;
  }
  // e^x in two factors: e^x alone overflows f64-sized long doubles before I_0 does.
  const Extended half = std::exp(x / 2);
  return half / std::sqrt(2 * kPi * x) * sum * half;
}

constexpr int32_t kLargestOrder = 1'000'000;

}  // namespace

double Sinpi(double x) {
  if (!std::isfinite(x)) return kNan;
  const HalfTurns turns = Reduce(x);
  const auto value = static_cast<double>(SinOfQuadrant(turns.fraction, turns.quadrant));
  return value == 0 ? std::copysign(value, x) : value;
}

double Cospi(double x) {
  if (!std::isfinite(x)) return kNan;
  const HalfTurns turns = Reduce(x);
  return static_cast<double>(SinOfQuadrant(turns.fraction, turns.quadrant + 1)) + 0.0;  // -0 becomes +0
}

double Erfinv(double x) {
  const double a = std::fabs(x);
  if (!(a <= 1)) return kNan;
  if (a == 1) return std::copysign(kInfinity, x);
  const Extended y = a <= 0.5 ? ErfinvCentre(a) : ErfcinvTail(1 - static_cast<Extended>(a));
  return std::copysign(static_cast<double>(y), x);
}

double Erfcinv(double q) {
  if (!(q >= 0 && q <= 2)) return kNan;
  if (q == 0) return kInfinity;
  if (q == 2) return -kInfinity;
  return static_cast<double>(ErfcinvAnywhere(q));
}

double Normcdfinv(double p) {
  if (!(p >= 0 && p <= 1)) return kNan;
  if (p == 0) return -kInfinity;
  if (p == 1) return kInfinity;
  return static_cast<double>(-kSqrt2 * ErfcinvAnywhere(2 * static_cast<Extended>(p))) + 0.0;
}

double Normcdf(double x) { return static_cast<double>(std::erfc(-x / kSqrt2) / 2); }

double Erfcx(double x) {
  const Extended wide = x;
  if (wide >= 8) return static_cast<double>(ErfcxFraction(wide));
  if (wide < -30) return kInfinity;
  return static_cast<double>(std::exp(wide * wide) * std::erfc(wide));
}

double Lgamma(double x) {
  int sign;  // lgamma itself writes a global
  return static_cast<double>(lgammal_r(x, &sign));
}

double CylBesselI0(double x) {
  if (std::isnan(x)) return kNan;
  const double a = std::fabs(x);
  return a > 800 ? kInfinity : static_cast<double>(BesselI(0, a));
}

double CylBesselI1(double x) {
  if (std::isnan(x)) return kNan;
  const double a = std::fabs(x);
  return std::copysign(a > 800 ? kInfinity : static_cast<double>(BesselI(1, a)), x);
}

double Jn(int32_t n, double x) {
  if (n < 0 || std::isnan(x)) return kNan;
  if (n > kLargestOrder) return std::fabs(x) < n / 2 || std::isinf(x) ? 0.0 : kNan;
  return static_cast<double>(jnl(n, x));
}

double Yn(int32_t n, double x) {
  if (n < 0 || !(x >= 0)) return kNan;
  if (n > kLargestOrder) return x < n / 2 ? -kInfinity : (std::isinf(x) ? 0.0 : kNan);
  return static_cast<double>(ynl(n, x));
}

namespace {
Extended ExtendedNorm(std::initializer_list<double> components) {
  Extended sum = 0;
  bool infinite = false;
  for (const double component : components) {
    const Extended wide = component;
    sum += wide * wide;
    infinite |= std::isinf(component);
  }
  return infinite ? std::numeric_limits<Extended>::infinity() : std::sqrt(sum);
}
}  // namespace

double Norm(std::initializer_list<double> components) { return static_cast<double>(ExtendedNorm(components)); }
double Rnorm(std::initializer_list<double> components) { return static_cast<double>(1 / ExtendedNorm(components)); }

}  // namespace trivet::vm::special
