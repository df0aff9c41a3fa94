"""Extents whose product is no 64-bit number."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.reshape(tl.arange(0, 64), [1 << 32, 1 << 32, -1])  # wrong


ARGS = {}
