"""An index that only the running kernel knows."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(p, n):
    p[n] + 1  # wrong


ARGS = {"p": ("i32", "i32"), "n": "i32"}
