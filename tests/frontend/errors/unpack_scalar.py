"""A number isn't a tuple."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    a, b = n  # wrong
    a + b


ARGS = {"n": "i32"}
