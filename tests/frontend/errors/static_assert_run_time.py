"""A condition that only the running kernel knows."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    tl.static_assert(n > 0)  # wrong


ARGS = {"n": "i32"}
