"""Exceptions."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    try:  # wrong
        a = tl.load(x)
    except ValueError:
        a = 0.0
    tl.store(x, a)


ARGS = {"x": "*fp32"}
