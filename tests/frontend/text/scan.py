"""A running sum from the back."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    tl.store(x + tl.arange(0, 8), tl.cumsum(tl.load(x + tl.arange(0, 8)), 0, reverse=True))


ARGS = {"x": "*i32"}
