"""`//` of floats."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(a):
    a // 2.0  # wrong


ARGS = {"a": "fp32"}
