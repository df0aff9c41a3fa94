"""A method that tiles don't have."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    tl.load(x + tl.arange(0, 8)).mean()  # wrong


ARGS = {"x": "*fp32"}
