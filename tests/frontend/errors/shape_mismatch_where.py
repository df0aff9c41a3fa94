"""The condition has another shape."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    a = tl.zeros([64], tl.float32)
    b = tl.arange(0, 32) < 7
    tl.where(b, a, 0.0)  # wrong


ARGS = {}
