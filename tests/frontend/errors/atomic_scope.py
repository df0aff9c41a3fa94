"""A scope that there isn't."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    tl.atomic_add(x, 1, scope="warp")  # wrong


ARGS = {"x": "*i32"}
