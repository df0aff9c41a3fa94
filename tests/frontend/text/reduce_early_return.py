"""A combine function with several returns is called, not inlined."""

import trivet as triton
import trivet.language as tl


@triton.jit
def pick(a, b):
    if a > b:
        return a
    return b


@triton.jit
def kernel(x):
    tl.store(x, tl.reduce(tl.load(x + tl.arange(0, 8)), 0, pick))


ARGS = {"x": "*fp32"}
