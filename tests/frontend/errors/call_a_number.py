"""A number isn't a function."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    n(3)  # wrong


ARGS = {"n": "i32"}
