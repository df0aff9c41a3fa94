"""A size that is an argument of the launch."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    tl.arange(0, n)  # wrong


ARGS = {"n": "i32"}
