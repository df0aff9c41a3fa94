"""`a += 1` without a value before."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    a += 1  # wrong


ARGS = {}
