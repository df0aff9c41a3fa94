"""A reshape that loses elements."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.reshape(tl.arange(0, 64), [8, 4])  # wrong


ARGS = {}
