"""raise in a branch that is compiled."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(MODE: tl.constexpr):
    if MODE == "slow":
        pass
    else:
        raise ValueError(f"unknown mode {MODE}")  # wrong


ARGS = {"MODE": tl.constexpr("fast")}
