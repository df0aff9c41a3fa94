"""A combine function that returns too much."""

import trivet as triton
import trivet.language as tl


@triton.jit
def both(a, b):
    return a, b


@triton.jit
def kernel():
    tl.reduce(tl.arange(0, 8), 0, both)  # wrong


ARGS = {}
