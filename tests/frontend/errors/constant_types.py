"""A number plus text."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    0 + "a"  # wrong


ARGS = {}
