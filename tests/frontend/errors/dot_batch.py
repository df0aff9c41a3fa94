"""Two batches."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.dot(tl.zeros([2, 16, 16], tl.float16), tl.zeros([4, 16, 16], tl.float16))  # wrong


ARGS = {}
