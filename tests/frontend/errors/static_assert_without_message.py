"""The same, with nothing to say."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    tl.static_assert(isinstance(0, tl.tensor))  # wrong


ARGS = {}
