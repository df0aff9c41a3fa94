"""A tile through one pointer."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    tl.store(x, tl.zeros([8], tl.float32))  # wrong


ARGS = {"x": "*fp32"}
