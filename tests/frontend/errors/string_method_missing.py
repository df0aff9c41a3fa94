"""A method that strings don't have."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(MODE: tl.constexpr):
    MODE.shout()  # wrong


ARGS = {"MODE": tl.constexpr("fast")}
