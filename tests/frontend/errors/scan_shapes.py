"""Two tiles of different shape."""

import trivet as triton
import trivet.language as tl


@triton.jit
def both(a, b, c, d):
    return a + c, b + d


@triton.jit
def kernel():
    tl.associative_scan((tl.arange(0, 8), tl.arange(0, 4)), 0, both)  # wrong


ARGS = {}
