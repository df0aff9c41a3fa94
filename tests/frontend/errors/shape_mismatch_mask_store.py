"""The same in a store."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    tl.store(x + tl.arange(0, 64), 1.0, mask=tl.arange(0, 32) < n)  # wrong


ARGS = {"x": "*fp32", "n": "i32"}
