"""A mask of floats."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    tl.load(x + tl.arange(0, 8), mask=tl.zeros([8], tl.float32))  # wrong


ARGS = {"x": "*fp32"}
