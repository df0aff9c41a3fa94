"""A row at an index that only the running kernel knows."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    a = tl.zeros([4, 8], tl.float32)
    tl.sum(a[n, :])  # wrong


ARGS = {"n": "i32"}
PORTABILITY = "off"
