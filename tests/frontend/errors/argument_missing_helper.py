"""A helper without what it needs."""

import trivet as triton
import trivet.language as tl


@triton.jit
def twice(value, factor):
    return value * factor


@triton.jit
def kernel():
    twice(3)  # wrong


ARGS = {}
