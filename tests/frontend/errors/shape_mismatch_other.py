"""`other` of another length."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, n):
    offsets = tl.arange(0, 64)
    tl.load(x + offsets, mask=offsets < n, other=tl.zeros([32], tl.float32))  # wrong


ARGS = {"x": "*fp32", "n": "i32"}
