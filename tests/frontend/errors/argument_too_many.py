"""More than the operation takes."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.arange(0, 8, 1)  # wrong


ARGS = {}
