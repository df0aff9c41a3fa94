"""More axes than there are."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.arange(0, 8)[:, :]  # wrong


ARGS = {}
