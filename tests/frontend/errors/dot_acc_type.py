"""An accumulator of another kind."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.dot(tl.zeros([16, 16], tl.int8), tl.zeros([16, 16], tl.int8), tl.zeros([16, 16], tl.float32))  # wrong


ARGS = {}
