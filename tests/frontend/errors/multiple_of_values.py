"""More values than axes."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.multiple_of(tl.arange(0, 8), (8, 8))  # wrong


ARGS = {}
