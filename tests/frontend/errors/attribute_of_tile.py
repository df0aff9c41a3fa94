"""An attribute that tiles don't have."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    a = tl.load(x + tl.arange(0, 8))
    tl.store(x, a.first)  # wrong


ARGS = {"x": "*fp32"}
