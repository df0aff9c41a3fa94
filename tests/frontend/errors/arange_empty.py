"""The end before the start."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.arange(8, 0)  # wrong


ARGS = {}
