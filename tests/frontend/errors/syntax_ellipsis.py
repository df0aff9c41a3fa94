"""`...` in an index."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.arange(0, 8)[..., None]  # wrong


ARGS = {}
