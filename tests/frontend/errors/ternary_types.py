"""Two sides that don't meet."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    a = tl.arange(0, 8) if n > 0 else tl.arange(0, 16)  # wrong


ARGS = {"n": "i32"}
