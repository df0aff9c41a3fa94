"""An import inside a kernel."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    import math  # wrong
    from os import path as p  # wrong

    math.sqrt(n)
    p


ARGS = {"n": "fp32"}
