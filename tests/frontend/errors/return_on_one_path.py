"""A value on one path, nothing on the other."""

import trivet as triton
import trivet.language as tl


@triton.jit
def pick(n):  # wrong
    if n > 0:
        return 1


@triton.jit
def kernel(n):
    pick(n)


ARGS = {"n": "i32"}
