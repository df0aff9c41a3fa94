"""A slice of nothing."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    a = tl.load(x + tl.arange(0, 8))
    tl.sum(a[4:4])  # wrong
    tl.sum(a[::-1])  # wrong
    tl.sum(a[8:])  # wrong


ARGS = {"x": "*fp32"}
PORTABILITY = "off"
