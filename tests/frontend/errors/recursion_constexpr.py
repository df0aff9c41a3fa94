"""A recursion over compile-time values without an end."""

import trivet as triton
import trivet.language as tl


@triton.jit
def count(n: tl.constexpr):
    return count(n + 1)  # wrong


@triton.jit
def kernel():
    count(0)


ARGS = {}
