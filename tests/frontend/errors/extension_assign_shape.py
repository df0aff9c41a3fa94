"""A part gets a value of another shape."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    a = tl.zeros([8], tl.float32)
    a[0:4] = tl.zeros([2], tl.float32)  # wrong
    tl.store(x + tl.arange(0, 8), a)


ARGS = {"x": "*fp32"}
PORTABILITY = "off"
