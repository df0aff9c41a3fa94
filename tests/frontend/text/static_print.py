"""Printed while compiling; nothing is left of it."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, BLOCK: tl.constexpr):
    v = tl.load(x + tl.arange(0, BLOCK))
    tl.static_print("v is", v.dtype, f"{BLOCK:04d}", v, end="!\n")


ARGS = {"x": "*fp32", "BLOCK": 8}
