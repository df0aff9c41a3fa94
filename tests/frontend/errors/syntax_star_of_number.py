"""Only a tuple can be spread."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    tl.zeros([*n], tl.float32)  # wrong


ARGS = {"n": "i32"}
