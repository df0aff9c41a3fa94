"""A mask of another length."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    tl.load(x + tl.arange(0, 64), mask=tl.arange(0, 32) < n)  # wrong


ARGS = {"x": "*fp32", "n": "i32"}
