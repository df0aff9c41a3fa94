"""Only pairs are split."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.split(tl.zeros([8, 4], tl.float32))  # wrong


ARGS = {}
