"""A set."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    {n, n + 1}  # wrong


ARGS = {"n": "i32"}
