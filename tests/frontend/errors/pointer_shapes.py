"""Offsets that don't meet."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    tl.load(x + tl.arange(0, 8)[:, None] + tl.arange(0, 4)[:, None])  # wrong


ARGS = {"x": "*fp32"}
