"""Minus a pointer."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    -x  # wrong


ARGS = {"x": "*fp32"}
