"""The mistake shows inside a function of the library."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.sum(tl.arange(0, 8), axis=1)  # wrong


ARGS = {}
