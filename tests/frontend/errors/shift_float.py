"""`<<` of floats."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(a):
    a << 1  # wrong


ARGS = {"a": "fp32"}
