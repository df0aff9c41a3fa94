"""A tuple merges item by item."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    p = (1.0, n)
    if n > 0:
        p = (2.0, n + 1)
    tl.store(x + p[1], p[0])


ARGS = {"x": "*fp32", "n": "i32"}
