"""A tuple doesn't change."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(p):
    p[0] = 1  # wrong


ARGS = {"p": ("i32", "i32")}
