"""A mapping as keywords."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, o):
    tl.load(x, **o)  # wrong


ARGS = {"x": "*fp32", "o": ("i32", "i32")}
