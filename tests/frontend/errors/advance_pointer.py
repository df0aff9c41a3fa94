"""tl.advance with a plain pointer."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    tl.advance(x, (16,))  # wrong


ARGS = {"x": "*fp32"}
