"""An operation without what it needs."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    tl.store(x)  # wrong


ARGS = {"x": "*fp32"}
