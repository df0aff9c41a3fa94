"""A variable that was deleted."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    a = n + 1
    del a
    a + 1  # wrong


ARGS = {"n": "i32"}
