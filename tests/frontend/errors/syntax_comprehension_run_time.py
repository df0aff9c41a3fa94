"""A list of a length that only the running kernel knows."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    [i for i in range(n)]  # wrong


ARGS = {"n": "i32"}
