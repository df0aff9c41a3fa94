"""A keyword that the helper doesn't have."""

import trivet as triton
import trivet.language as tl


@triton.jit
def twice(value):
    return value * 2


@triton.jit
def kernel():
    twice(vlaue=3)  # wrong


ARGS = {}
