"""Python's math on a run-time value."""

import math

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    math.sqrt(n)  # wrong


ARGS = {"n": "fp32"}
