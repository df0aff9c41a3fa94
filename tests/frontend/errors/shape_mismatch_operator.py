"""Two tiles of different length."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    a = tl.zeros([64], tl.float32)
    b = tl.zeros([32], tl.float32)
    c = a + b  # wrong
    tl.store(x + tl.arange(0, 64), c)


ARGS = {"x": "*fp32"}
