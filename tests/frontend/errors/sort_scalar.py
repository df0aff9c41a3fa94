"""Nothing to sort."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    tl.sort(n)  # wrong


ARGS = {"n": "i32"}
