"""Text after a value."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    print("n is", n, "today")  # wrong


ARGS = {"n": "i32"}
