"""A shape with 33."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.full((4, 33), 0, tl.int64)  # wrong


ARGS = {}
