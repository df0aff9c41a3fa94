"""An axis outside the tile."""

import trivet as triton
import trivet.language as tl


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def kernel():
    tl.reduce(tl.zeros([8, 4], tl.float32), 2, add)  # wrong


ARGS = {}
