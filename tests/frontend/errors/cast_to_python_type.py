"""Python's own number types."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    n.to(float)  # wrong


ARGS = {"n": "i32"}
