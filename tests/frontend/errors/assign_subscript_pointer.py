"""Writing through a pointer as in C."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    x[0] = 1.0  # wrong


ARGS = {"x": "*fp32"}
