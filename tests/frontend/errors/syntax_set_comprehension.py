"""A set and a dictionary made by loops."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    {i for i in range(4)}  # wrong
    {i: i for i in range(4)}  # wrong


ARGS = {}
