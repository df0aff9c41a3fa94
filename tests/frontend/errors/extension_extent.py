"""A shape that is empty, and one that is too large."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.zeros([0], tl.float32)  # wrong
    tl.zeros([1000, 1000, 1000], tl.float32)  # wrong


ARGS = {}
PORTABILITY = "off"
