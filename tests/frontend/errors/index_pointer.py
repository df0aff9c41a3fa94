"""Reading through a pointer as in C."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    a = x[0]  # wrong
    tl.store(x + 1, a)


ARGS = {"x": "*fp32"}
