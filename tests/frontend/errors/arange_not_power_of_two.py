"""100 elements."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.arange(0, 100)  # wrong


ARGS = {}
