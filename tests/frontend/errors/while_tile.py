"""A loop on many values."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    a = tl.load(x + tl.arange(0, 64))
    while a > 0:  # wrong
        a -= 1
    tl.store(x + tl.arange(0, 64), a)


ARGS = {"x": "*fp32"}
