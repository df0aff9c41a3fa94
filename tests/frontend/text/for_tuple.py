"""A loop over a tuple is unrolled; each value may have its own type."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x, p):
    for v in p:
        tl.store(x, v)


ARGS = {"x": "*fp32", "p": ("i32", "fp32")}
