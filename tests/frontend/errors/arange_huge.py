"""More elements than a tile may have."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.arange(0, 1 << 30)  # wrong


ARGS = {}
