"""A number takes the tile's type if its kind is the same or lower, else the tile moves."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(h, i):
    a = tl.load(h)
    b = tl.load(i)
    tl.store(h, a * 2)
    tl.store(h, a + 1.5)
    tl.store(i, b + 1)
    tl.store(h, b * 0.5)


ARGS = {"h": "*fp16", "i": "*i8"}
