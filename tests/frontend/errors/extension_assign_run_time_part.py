"""An assignment to a part of an axis at an index that only the running kernel knows."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    a = tl.zeros([4, 8], tl.float32)
    a[n, 0:2] = 1.0  # wrong


ARGS = {"n": "i32"}
PORTABILITY = "off"
