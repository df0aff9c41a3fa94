"""Unrolled loops inside one another, without end for all practical purposes."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel():
    for i in tl.static_range(3000):
        for j in tl.static_range(3000):  # wrong
            pass


ARGS = {}
