"""Assigned in the branch that is not compiled."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, FAST: tl.constexpr):
    if FAST:
        value = 1.0
    tl.store(x, value)  # wrong


ARGS = {"x": "*fp32", "FAST": False}
