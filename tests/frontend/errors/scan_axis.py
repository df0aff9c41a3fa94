"""An axis outside the tile."""

import trivet as triton
import trivet.language as tl


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def kernel():
    tl.associative_scan(tl.zeros([8, 4], tl.float32), -3, add)  # wrong


ARGS = {}
