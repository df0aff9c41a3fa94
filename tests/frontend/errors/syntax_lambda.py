"""A function without a name."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    f = lambda a: a + 1  # wrong
    f(n)


ARGS = {"n": "i32"}
