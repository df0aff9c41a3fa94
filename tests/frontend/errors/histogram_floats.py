"""Bins of floats."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.histogram(tl.zeros([8], tl.float32), 4)  # wrong


ARGS = {}
