// Carries out a conversion plan on the CPU, moving the indices of elements, and checks everything that conversion.h
// promises.
#pragma once

#include <string>

#include "jit/layout/conversion.h"

namespace trivet::jit {

// Runs `plan`, which must be one from `from` to `to`. Empty if every register of every thread ends with its element and
// no promise was broken; else what went wrong first.
std::string RunConversion(const ConversionPlan& plan, const TileLayout& from, const TileLayout& to, int element_bits);

// Wavefronts of all accesses of a kShared plan by one warp.
int TotalWavefronts(const ScratchAccess& access);

}  // namespace trivet::jit
