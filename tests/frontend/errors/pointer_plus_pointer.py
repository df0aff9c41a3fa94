"""Two pointers have no sum."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, y):
    tl.load(x + y)  # wrong


ARGS = {"x": "*fp32", "y": "*fp32"}
