"""A chain is nested."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    if n == 0:
        a = 10
    elif n == 1:
        a = 20
    else:
        a = 30
    tl.store(x, a)


ARGS = {"x": "*i32", "n": "i32"}
