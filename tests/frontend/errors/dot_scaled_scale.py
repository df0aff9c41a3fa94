"""A scale for 16 elements along K where one for 32 is meant."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    scale = tl.full([32, 4], 127, tl.uint8)
    a = tl.zeros([32, 64], tl.uint8)
    b = tl.zeros([64, 32], tl.uint8)
    tl.dot_scaled(a, scale, "e5m2", b, None, "e5m2")  # wrong


ARGS = {}
