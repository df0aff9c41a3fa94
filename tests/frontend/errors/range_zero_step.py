"""A loop that never moves."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    for i in range(0, n, 0):  # wrong
        pass


ARGS = {"n": "i32"}
