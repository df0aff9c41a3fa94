"""Not a type."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    n.to(32)  # wrong


ARGS = {"n": "i32"}
