"""An accumulator of another shape."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.dot(tl.zeros([32, 16], tl.float16), tl.zeros([16, 32], tl.float16), tl.zeros([16, 16], tl.float32))  # wrong


ARGS = {}
