"""A combine function that isn't one."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.reduce(tl.arange(0, 8), 0, max)  # wrong


ARGS = {}
