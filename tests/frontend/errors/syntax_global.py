"""A kernel can't change a global."""

import trivet as triton
import trivet.language as tl

COUNT = tl.constexpr(0)


@triton.jit
def kernel():
    global COUNT  # wrong
    COUNT = 1


ARGS = {}
