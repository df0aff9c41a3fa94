"""Membership of a run-time value in a tile."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n):
    if n in tl.arange(0, 8):  # wrong
        pass


ARGS = {"n": "i32"}
