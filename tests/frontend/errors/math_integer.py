"""exp of an integer."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    tl.exp(n)  # wrong


ARGS = {"n": "i32"}
