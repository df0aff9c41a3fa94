"""Reading one element of a tile."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    a = tl.load(x + tl.arange(0, 8))
    tl.store(x, a[0])  # wrong


ARGS = {"x": "*fp32"}
