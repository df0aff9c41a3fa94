"""`**` of a run-time value."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    n**2  # wrong


ARGS = {"n": "fp32"}
