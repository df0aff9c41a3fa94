"""Two returns that don't agree."""

import trivet as triton
import trivet.language as tl


@triton.jit
def pick(n):
    if n > 0:
        return tl.arange(0, 4)
    return tl.arange(0, 8)  # wrong


@triton.jit
def kernel(n):
    pick(n)


ARGS = {"n": "i32"}
