"""Three names, two values."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(p):
    a, b, c = p  # wrong
    a + b + c


ARGS = {"p": ("i32", "i32")}
