"""A context manager."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    with open("f") as f:  # wrong
        a = 1
    tl.store(x, a)


ARGS = {"x": "*fp32"}
