"""A plain number as a global."""

import trivet as triton
import trivet.language as tl

SCALE = 2.5


@triton.jit
def kernel(x):
    tl.store(x, SCALE)  # wrong


ARGS = {"x": "*fp32"}
