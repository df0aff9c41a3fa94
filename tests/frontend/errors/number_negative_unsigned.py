"""A negative number meets an unsigned tile."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    n + -1  # wrong


ARGS = {"n": "u32"}
