"""A name given in the condition only."""

import trivet as triton
import trivet.language as tl


@triton.jit
def kernel(x):
    i = 0
    while (v := tl.load(x + i)) > 0:
        i += v  # wrong


ARGS = {"x": "*i32"}
