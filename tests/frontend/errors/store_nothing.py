"""None isn't a value."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    tl.store(x, None)  # wrong


ARGS = {"x": "*fp32"}
