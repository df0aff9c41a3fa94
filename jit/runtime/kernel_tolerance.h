// How far the results of a whole kernel may be from the reference's: the tolerances of its ops, put together.
//
// docs/semantics.md bounds each op by itself, given equal operands. Over a whole launch operands differ already, sums
// have as many terms as loops have turns, and the sizes of the terms are not known. So this is an estimate, on the
// generous side, made to tell a wrong kernel from a rounded one:
//
//   |tier - reference| <= ulp * ulp_of(reference) + relative * (largest magnitude in the tensor)
//
//   ulp        the sum of the ulps of the kernel's inexact ops, at least 1 if there are any. exp's, which grows with
//              its argument, is taken at 88, where f32 ends.
//   relative   the same errors once more, in units of the tensor: a later subtraction may have laid them bare. And for
//              each sum or dot its relative_to_terms, times sqrt(terms) for how much larger the terms may be
//              together than their sum is; in a loop, which may go on with the sum, for 64 times as many terms.
//
// A kernel all of whose ops are exact must give equal bits.
#pragma once

#include <cstdint>

#include "vm/bytecode/module.h"
#include "vm/numerics/tolerance.h"

namespace trivet::jit {

struct KernelTolerance {
  double ulp = 0;
  double relative = 0;
  // The value that some atomic gave back is used: which program gets which is up to the tier, and so may be all that
  // follows from it.
  bool depends_on_order = false;

  // The bound for a tensor whose largest magnitude is known.
  vm::Tolerance For(double largest_magnitude) const { return {.ulp = ulp, .absolute = relative * largest_magnitude}; }
};

// The tolerance of `kernel` and all that it calls, launched with so many programs, each of which may add to one element
// by atomics. The module must be verified.
KernelTolerance ToleranceOfKernel(const vm::Module& module, FunctionId kernel, int64_t num_programs);

}  // namespace trivet::jit
