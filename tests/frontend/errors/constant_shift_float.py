"""A compile-time float has no bits."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    1.0 << 1  # wrong


ARGS = {}
