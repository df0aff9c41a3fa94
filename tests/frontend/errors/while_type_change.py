"""The same in a while loop."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    i = 0
    while i < n:
        i = i + 1.5  # wrong


ARGS = {"n": "i32"}
