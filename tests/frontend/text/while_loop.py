"""The condition is a region of its own, over the carried values."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    i = 0
    while i < n and tl.load(x + i) != 0:
        i += 1
    tl.store(x, i)


ARGS = {"x": "*i32", "n": "i32"}
