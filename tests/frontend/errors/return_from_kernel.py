"""A kernel has nobody to return to."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    return tl.load(x)  # wrong


ARGS = {"x": "*fp32"}
