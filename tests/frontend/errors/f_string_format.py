"""A format that the value doesn't have."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(BLOCK: tl.constexpr):
    tl.static_print(f"{BLOCK:zz}")  # wrong


ARGS = {"BLOCK": 64}
