"""A size that is a float."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(n: tl.constexpr):
    tl.arange(0, n / 2)  # wrong


ARGS = {"n": 64}
