"""A number."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    tl.dot(n, tl.zeros([32, 16], tl.float32))  # wrong


ARGS = {"n": "fp32"}
