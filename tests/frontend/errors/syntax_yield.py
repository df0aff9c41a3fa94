"""A generator."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    yield n  # wrong


ARGS = {"n": "i32"}
