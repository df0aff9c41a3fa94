"""A tuple without names."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(p):
    p.first + 1  # wrong


ARGS = {"p": ("i32", "i32")}
