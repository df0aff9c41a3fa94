"""Only axes of 1 are repeated."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.broadcast_to(tl.arange(0, 8), [4, 16])  # wrong


ARGS = {}
