"""A loop over the elements of a tile."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    for a in tl.load(x + tl.arange(0, 8)):  # wrong
        tl.store(x, a)


ARGS = {"x": "*fp32"}
