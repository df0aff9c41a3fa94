"""Bits of floats."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    tl.atomic_and(x, 1)  # wrong


ARGS = {"x": "*fp32"}
