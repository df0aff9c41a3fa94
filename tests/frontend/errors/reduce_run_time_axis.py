"""An axis that only the running kernel knows."""

import trivet as triton
import trivet.language as tl


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def kernel(n):
    tl.reduce(tl.zeros([8, 4], tl.float32), n, add)  # wrong


ARGS = {"n": "i32"}
