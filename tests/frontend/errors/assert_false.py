"""Python's assert over a constant."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(BLOCK: tl.constexpr):
    assert BLOCK >= 32, "BLOCK is too small"  # wrong


ARGS = {"BLOCK": 16}
