"""A loop over a number."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    for i in n:  # wrong
        pass


ARGS = {"n": "i32"}
