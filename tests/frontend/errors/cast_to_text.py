"""A type that there isn't."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    n.to("float33")  # wrong


ARGS = {"n": "i32"}
