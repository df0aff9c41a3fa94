// add, sub, mul, div, sqrt, fma and reciprocal under a chosen rounding mode, over spans of f32 and f64
// (libdevice's add_rn, mul_rz, div_ru, fma_rd, sqrt_rn, rcp_ru, ...). All are correctly rounded; subnormals are
// kept; overflow is IEEE's (the largest finite value where the mode points inwards).
//
// The host's rounding mode is changed for the duration of a call, on the calling thread only, and restored.
// Without a hardware fused multiply-add the fma forms are slow, not wrong.
//
// Spans have equal length and are disjoint or identical. `rounding` is any mode but kNearestAway.

#ifndef TRIVET_VM_NUMERICS_DIRECTED_ROUNDING_H_
#define TRIVET_VM_NUMERICS_DIRECTED_ROUNDING_H_

#include <span>

#include "vm/numerics/float_formats.h"

namespace trivet::vm {

void AddRounded(Rounding rounding, std::span<const float> x, std::span<const float> y, std::span<float> out);
void AddRounded(Rounding rounding, std::span<const double> x, std::span<const double> y, std::span<double> out);

void SubRounded(Rounding rounding, std::span<const float> x, std::span<const float> y, std::span<float> out);
void SubRounded(Rounding rounding, std::span<const double> x, std::span<const double> y, std::span<double> out);

void MulRounded(Rounding rounding, std::span<const float> x, std::span<const float> y, std::span<float> out);
void MulRounded(Rounding rounding, std::span<const double> x, std::span<const double> y, std::span<double> out);

void DivRounded(Rounding rounding, std::span<const float> x, std::span<const float> y, std::span<float> out);
void DivRounded(Rounding rounding, std::span<const double> x, std::span<const double> y, std::span<double> out);

// x * y + z, rounded once.
void FmaRounded(Rounding rounding, std::span<const float> x, std::span<const float> y, std::span<const float> z,
                std::span<float> out);
void FmaRounded(Rounding rounding, std::span<const double> x, std::span<const double> y, std::span<const double> z,
                std::span<double> out);

void SqrtRounded(Rounding rounding, std::span<const float> x, std::span<float> out);
void SqrtRounded(Rounding rounding, std::span<const double> x, std::span<double> out);

// 1 / x.
void RcpRounded(Rounding rounding, std::span<const float> x, std::span<float> out);
void RcpRounded(Rounding rounding, std::span<const double> x, std::span<double> out);

}  // namespace trivet::vm

#endif  // TRIVET_VM_NUMERICS_DIRECTED_ROUNDING_H_
