"""By position and by name."""

import trivet as triton
import trivet.language as tl


@triton.jit
def twice(value):
    return value * 2


@triton.jit
def kernel():
    twice(3, value=4)  # wrong


ARGS = {}
