"""Rows and columns mixed up."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    a = tl.zeros([64, 32], tl.float32)
    row = tl.arange(0, 64)
    a * row[None, :]  # wrong


ARGS = {}
