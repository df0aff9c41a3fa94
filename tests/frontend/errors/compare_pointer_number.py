"""A pointer and a float."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    x < 1.5  # wrong


ARGS = {"x": "*fp32"}
