"""Reading a part of a tile."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    a = tl.load(x + tl.arange(0, 8))
    tl.sum(a[0:4])  # wrong


ARGS = {"x": "*fp32"}
