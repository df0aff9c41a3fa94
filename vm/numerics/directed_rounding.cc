#include "vm/numerics/directed_rounding.h"

#include <cfenv>
#include <cmath>

#include "vm/numerics/independent_loop.h"

namespace trivet::vm {
namespace {

int HostMode(Rounding rounding) {
  switch (rounding) {
    case Rounding::kNearestEven:
      return FE_TONEAREST;
    case Rounding::kTowardZero:
      return FE_TOWARDZERO;
    case Rounding::kUp:
      return FE_UPWARD;
    case Rounding::kDown:
      return FE_DOWNWARD;
    case Rounding::kNearestAway:
      return FE_TONEAREST;  // excluded by contract
  }
  return FE_TONEAREST;
}

// The calling thread computes in `rounding` while this lives. GCC doesn't implement `#pragma STDC FENV_ACCESS`; what
// keeps arithmetic inside are the barriers: it works on memory, whose loads can't move above the first, nor stores
// below the second.
class ScopedRounding {
 public:
  explicit ScopedRounding(Rounding rounding) : previous_(std::fegetround()) {
    std::fesetround(HostMode(rounding));
    asm volatile("" ::: "memory");
  }
  ~ScopedRounding() {
    asm volatile("" ::: "memory");
    std::fesetround(previous_);
  }
  ScopedRounding(const ScopedRounding&) = delete;
  ScopedRounding& operator=(const ScopedRounding&) = delete;

 private:
  int previous_;
};

template <typename F, typename Function>
void Map(Rounding rounding, std::span<const F> x, std::span<F> out, Function function) {
  const ScopedRounding scope(rounding);
  const F* source = x.data();
  F* result = out.data();
  const size_t count = x.size();
  TRIVET_INDEPENDENT_LOOP
  for (size_t i = 0; i < count; ++i) result[i] = function(source[i]);
}

template <typename F, typename Function>
void Map(Rounding rounding, std::span<const F> x, std::span<const F> y, std::span<F> out, Function function) {
  const ScopedRounding scope(rounding);
  const F* first = x.data();
  const F* second = y.data();
  F* result = out.data();
  const size_t count = x.size();
  TRIVET_INDEPENDENT_LOOP
  for (size_t i = 0; i < count; ++i) result[i] = function(first[i], second[i]);
}

template <typename F>
void MapFma(Rounding rounding, std::span<const F> x, std::span<const F> y, std::span<const F> z, std::span<F> out) {
  const ScopedRounding scope(rounding);
  const F* first = x.data();
  const F* second = y.data();
  const F* third = z.data();
  F* result = out.data();
  const size_t count = x.size();
  TRIVET_INDEPENDENT_LOOP
  for (size_t i = 0; i < count; ++i) result[i] = std::fma(first[i], second[i], third[i]);
}

}  // namespace

#define TRIVET_BINARY(Name, op)                                                                               \
  void Name(Rounding rounding, std::span<const float> x, std::span<const float> y, std::span<float> out) {    \
    Map(rounding, x, y, out, [](float a, float b) { return a op b; });                                        \
  }                                                                                                           \
  void Name(Rounding rounding, std::span<const double> x, std::span<const double> y, std::span<double> out) { \
    Map(rounding, x, y, out, [](double a, double b) { return a op b; });                                      \
  }
TRIVET_BINARY(AddRounded, +)
TRIVET_BINARY(SubRounded, -)
TRIVET_BINARY(MulRounded, *)
TRIVET_BINARY(DivRounded, /)
#undef TRIVET_BINARY

void FmaRounded(Rounding rounding, std::span<const float> x, std::span<const float> y, std::span<const float> z,
                std::span<float> out) {
  MapFma(rounding, x, y, z, out);
}
void FmaRounded(Rounding rounding, std::span<const double> x, std::span<const double> y, std::span<const double> z,
                std::span<double> out) {
  MapFma(rounding, x, y, z, out);
}

void SqrtRounded(Rounding rounding, std::span<const float> x, std::span<float> out) {
  Map(rounding, x, out, [](float a) { return std::sqrt(a); });
}
void SqrtRounded(Rounding rounding, std::span<const double> x, std::span<double> out) {
  Map(rounding, x, out, [](double a) { return std::sqrt(a); });
}

void RcpRounded(Rounding rounding, std::span<const float> x, std::span<float> out) {
  Map(rounding, x, out, [](float a) { return 1.0f / a; });
}
void RcpRounded(Rounding rounding, std::span<const double> x, std::span<double> out) {
  Map(rounding, x, out, [](double a) { return 1.0 / a; });
}

}  // namespace trivet::vm
