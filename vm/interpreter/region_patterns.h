// Recognises what the region of a reduce or scan computes, so that the common combines run as typed loops.
//
// Recognising only chooses a faster loop: a recognised combine gives the bits that running the region would give
// (NaN payloads aside), in the order of combination that exec_reduce.cc and exec_scan.cc define for all regions.
#pragma once

#include <cstdint>

#include "vm/bytecode/module.h"

namespace trivet::vm {

enum class CombineKind : uint8_t {
  kUnknown,
  kAdd,
  kMul,
  kMin,
  kMax,  // integers; floats to nearest even, NaN ignored by min and max
  kMinPropagateNan,
  kMaxPropagateNan,  // floats
  kAnd,
  kOr,
  kXor,  // integers
  // (value1, index1, value2, index2) -> the pair that wins: the first if its value is larger (smaller), or, in the
  // Left forms, if the values are equal and its index is the lower. A comparison with NaN is false.
  kArgMaxLeft,
  kArgMaxFast,
  kArgMinLeft,
  kArgMinFast,
};

// What `region` of `function` computes; kUnknown if it is none of these. Calls to straight-line helpers are looked
// into, operands of commutative ops may come in either order, and `a > b` may be written `b < a`.
CombineKind RecogniseCombine(const Module& module, const Function& function, RegionId region);

}  // namespace trivet::vm
