"""An element that the tile doesn't have."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    a = tl.load(x + tl.arange(0, 8))
    tl.store(x, a[8])  # wrong
    tl.store(x, a[-9])  # wrong


ARGS = {"x": "*fp32"}
PORTABILITY = "off"
