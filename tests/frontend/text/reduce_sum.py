"""The combine function is inlined into the region of the reduce."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    tl.store(x, tl.sum(tl.load(x + tl.arange(0, 8))))


ARGS = {"x": "*fp32"}
