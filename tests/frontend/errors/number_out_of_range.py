"""A number that the tile's type can't hold."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    n + 300  # wrong


ARGS = {"n": "i8"}
