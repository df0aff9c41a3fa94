"""A mistake in the combine function of a reduction."""

import trivet as triton
import trivet.language as tl


@triton.jit
def add(a, b):
    return a + missing  # wrong


@triton.jit
def kernel():
    tl.reduce(tl.arange(0, 8), 0, add)


ARGS = {}
