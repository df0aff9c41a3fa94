"""A tuple isn't a number."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n, p):
    n + p  # wrong


ARGS = {"n": "i32", "p": ("i32", "i32")}
