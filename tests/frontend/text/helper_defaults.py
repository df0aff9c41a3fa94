"""Defaults, keyword arguments in any order, and None."""

import trivet as triton
import trivet.language as tl


@triton.jit
def load(pointer, offset=0, mask=None, scale: tl.constexpr = 1.0):
    value = tl.load(pointer + offset, mask=mask)
    if scale != 1.0:
        value *= scale
    return value


@triton.jit
def kernel(x):
    tl.store(x, load(x) + load(scale=2.0, offset=4, pointer=x))


ARGS = {"x": "*fp32"}
