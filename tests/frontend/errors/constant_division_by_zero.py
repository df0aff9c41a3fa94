"""A compile-time division by zero."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(BLOCK: tl.constexpr, N: tl.constexpr):
    BLOCK // N  # wrong


ARGS = {"BLOCK": 64, "N": 0}
