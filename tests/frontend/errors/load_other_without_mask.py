"""`other` says nothing without a mask."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    tl.load(x, other=0.0)  # wrong


ARGS = {"x": "*fp32"}
