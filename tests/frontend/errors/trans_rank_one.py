"""A vector has no transpose."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.trans(tl.arange(0, 8))  # wrong


ARGS = {}
