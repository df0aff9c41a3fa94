"""A name that nothing defines."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    tl.store(x, y)  # wrong


ARGS = {"x": "*fp32"}
