"""Vectors."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.dot(tl.zeros([32], tl.float16), tl.zeros([32], tl.float16))  # wrong


ARGS = {}
