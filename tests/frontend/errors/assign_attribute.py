"""Setting an attribute."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    x.value = 1.0  # wrong


ARGS = {"x": "*fp32"}
