"""The truth of many values."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    a = tl.load(x + tl.arange(0, 64))
    if a > 0:  # wrong
        tl.store(x, 1.0)


ARGS = {"x": "*fp32"}
