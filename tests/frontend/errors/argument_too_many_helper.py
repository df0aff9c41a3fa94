"""More than the helper takes."""

import trivet as triton
import trivet.language as tl


@triton.jit
def twice(value):
    return value * 2


@triton.jit
def kernel():
    twice(3, 4)  # wrong


ARGS = {}
