"""Writing one element of a tile."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    a = tl.load(x + tl.arange(0, 8))
    a[0] = 1.0  # wrong
    tl.store(x + tl.arange(0, 8), a)


ARGS = {"x": "*fp32"}
