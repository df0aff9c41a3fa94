"""A number where a pointer belongs."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    tl.load(n + tl.arange(0, 8))  # wrong


ARGS = {"n": "i32"}
