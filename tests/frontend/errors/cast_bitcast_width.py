"""Bits that don't fit."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    n.to(tl.int16, bitcast=True)  # wrong


ARGS = {"n": "fp32"}
