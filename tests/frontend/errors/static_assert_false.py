"""A condition that is known and false."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(BLOCK: tl.constexpr):
    tl.static_assert(BLOCK % 32 == 0, f"BLOCK must be a multiple of 32, not {BLOCK}")  # wrong


ARGS = {"BLOCK": 48}
