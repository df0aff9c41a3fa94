"""Assigned in one branch only."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    if n > 0:
        value = 1.0
    tl.store(x, value)  # wrong


ARGS = {"x": "*fp32", "n": "i32"}
