"""`@` of tiles."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.zeros([16, 16], tl.float16) @ tl.zeros([16, 16], tl.float16)  # wrong


ARGS = {}
