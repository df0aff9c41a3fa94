"""A pointer has no double."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    tl.load(x * 2)  # wrong


ARGS = {"x": "*fp32"}
