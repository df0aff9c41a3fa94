"""A variable whose value is known decides as a constant does."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    n = 3
    if n > 2:
        tl.store(x, n)


ARGS = {"x": "*i32"}
