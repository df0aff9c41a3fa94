"""An assertion with parentheses is one of a tuple."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    assert (n > 0, "n must be positive")  # wrong


ARGS = {"n": "i32"}
