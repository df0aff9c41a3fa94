"""Not a tile at all."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.expand_dims(None, -1)  # wrong


ARGS = {}
