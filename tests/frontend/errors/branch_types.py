"""One name, two types."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    value = tl.zeros([8], tl.float32)
    if n > 0:
        value = tl.zeros([16], tl.float32)  # wrong
    tl.store(x + tl.arange(0, 8), value)


ARGS = {"x": "*fp32", "n": "i32"}
