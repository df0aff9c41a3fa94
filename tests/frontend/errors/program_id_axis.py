"""A fourth axis."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.program_id(3)  # wrong


ARGS = {}
