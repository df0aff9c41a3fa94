"""A keyword that the operation doesn't have."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    tl.load(x, masks=True)  # wrong


ARGS = {"x": "*fp32"}
