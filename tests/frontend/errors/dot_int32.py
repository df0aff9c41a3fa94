"""An element type without a product."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.dot(tl.zeros([16, 16], tl.int32), tl.zeros([16, 16], tl.int32))  # wrong


ARGS = {}
