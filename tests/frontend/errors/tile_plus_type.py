"""A type isn't a number."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    n + tl.float32  # wrong


ARGS = {"n": "i32"}
