"""A new name with two types, used afterwards."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    if n > 0:
        value = tl.zeros([16], tl.float32)
    else:
        value = tl.zeros([8], tl.float32)
    tl.store(x + tl.arange(0, 8), value)  # wrong


ARGS = {"x": "*fp32", "n": "i32"}
