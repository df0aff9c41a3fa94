"""Halves of different length."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.join(tl.arange(0, 8), tl.arange(0, 16))  # wrong


ARGS = {}
