"""An operation that the language doesn't have."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    tl.store(x, tl.zeroes([4], tl.float32))  # wrong


ARGS = {"x": "*fp32"}
