"""A bound that is a tile."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    for i in range(tl.arange(0, 8)):  # wrong
        pass


ARGS = {}
