"""A value of another shape."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    tl.atomic_add(x + tl.arange(0, 8), tl.arange(0, 16))  # wrong


ARGS = {"x": "*i32"}
