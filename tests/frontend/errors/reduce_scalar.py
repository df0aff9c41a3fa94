"""A scalar has nothing to sum."""

import trivet as triton
import trivet.language as tl


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def kernel(n):
    tl.reduce(n, 0, add)  # wrong


ARGS = {"n": "fp32"}
