"""A precision that there isn't."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.dot(tl.zeros([16, 16], tl.float32), tl.zeros([16, 16], tl.float32), input_precision="fp32")  # wrong


ARGS = {}
